/* bare.h - what an image without an operating system has from its board, whatever the board is.
 *
 *     start code --> image_main() --> board_*: console, time, sleep, the end
 *                                 '-> bare_*:  text, memory, panic      (made of the former)
 *
 * A board (hal/riscv-virt/, hal/mps2/) gives start code, a linker script and board_*; of those that an image may do
 * without, what its images call. Freestanding. A board may have several harts (processors that fetch instructions of
 * their own): image_main() runs on the first, and text, memory and traps are its alone, but for a panic, which is any
 * hart's. */
#ifndef HAL_BARE_H
#define HAL_BARE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- what the image gives ---- */

/* Called once, with zeroed .bss and interrupts that lead to bare_panic. Its value is the image's exit code. */
int image_main(void);

/* ---- what the board gives ---- */

/* Puts one character on the console, waiting until it is taken. */
void board_put(char c);
/* Nanoseconds since some moment before the start; never back. */
uint64_t board_now(void);
/* The caller is about to end the image: from now on its characters alone are taken, on a line of their own. Returns its
 * hart, 0 the first. Who is not the first to call sleeps for good. */
unsigned board_panic(void);
/* Ends the image. Code 0: as wished; any other: it failed. */
_Noreturn void board_end(unsigned code);
/* Memory that is nobody's: *bytes of it. */
void *board_memory(size_t *bytes);
/* The stack's lowest and highest end. Everything below the stack pointer is BARE_PAINT when the image starts. */
const uint32_t *board_stack(const uint32_t **end);

/* ---- and what an image may do without ---- */

/* The next character that came in by the console; -1: there is none. */
int board_get(void);
/* Counts with the processor: cycles, or what the board has instead of them. */
uint32_t board_cycles(void);
/* Sleeps for so many nanoseconds at most. */
void board_idle_wait(uint64_t ns);
/* Unless it is called again within `ns` on the same hart, the image ends in a panic that says where that was. */
void board_watch(uint64_t ns);
/* How many harts there are, the first included. */
unsigned board_harts(void);
/* Has a hart, 1 .. board_harts() - 1, which sleeps until then, call work(of), once. It never returns. */
void board_hart_start(unsigned hart, void (*work)(void *of), void *of);

/* ---- what is made of it ---- */

#define BARE_PAINT UINT32_C(0x5AC0FFEE)

/* As printf: %d %u %x with l or ll, %zu, %s, %c and
 * %%; 0N before the letter of a number: so many digits at least. */
__attribute__((format(printf, 1, 2))) void bare_print(const char *format, ...);
__attribute__((format(printf, 1, 0))) void bare_print_list(const char *format, va_list arguments);

/* Ends the image, and says where and why on the console; of a hart other than the first, which. */
__attribute__((format(printf, 2, 3))) _Noreturn void bare_panic(const char *where, const char *format, ...);

#define BARE_TEXT_OF(x) #x
#define BARE_TEXT(x)    BARE_TEXT_OF(x)
#define bare_die(...)   bare_panic(__FILE__ ":" BARE_TEXT(__LINE__), __VA_ARGS__)

/* So many zeroed bytes, aligned to 64. There is no end of it but a panic. Taken: for good. Borrowed: until all that is
 * borrowed is given back at once, but for what was borrowed before something was taken, which is never there again. */
void *bare_take(size_t bytes);
void *bare_borrow(size_t bytes);
void bare_give_back(void);

/* Bytes of stack that were ever used. */
uint32_t bare_stack_used(void);

#endif
