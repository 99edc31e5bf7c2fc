/* bare.h - what a board gives to an image without an operating system.
 *
 *     start code --> image_main() --> board_*: console, time, sleep, the end
 *                                 '-> bare_*:  text, memory, panic      (built on board_*)
 *
 * A board (hal/riscv-virt/, hal/mps2/) gives start code, a linker script and board_*; of the optional ones only those
 * that its images call. Freestanding. A board may have several harts (processors that fetch their own instructions).
 * Only the first runs image_main() and uses text, memory and traps; any hart may panic. */
#ifndef HAL_BARE_H
#define HAL_BARE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- given by the image ---- */

/* Called once, with zeroed .bss and interrupts that lead to bare_panic. Returns the image's exit code. */
int image_main(void);

/* ---- given by the board ---- */

/* Writes a character to the console, and waits until it is taken. */
void board_put(char c);
/* Returns monotonic nanoseconds. */
uint64_t board_now(void);
/* Begins a panic: from then on only the caller's characters reach the console, on a new line. Returns its hart, 0 the
 * first. A second caller on another hart sleeps forever. */
unsigned board_panic(void);
/* Ends the image. Code 0: success; any other: failure. */
_Noreturn void board_end(unsigned code);
/* Returns the free memory, *bytes long. */
void *board_memory(size_t *bytes);
/* Returns the lowest address of the stack, and its end. Unused stack is BARE_PAINT at the start. */
const uint32_t *board_stack(const uint32_t **end);

/* ---- optional ---- */

/* Returns the next character of the console; -1: none. */
int board_get(void);
/* Returns a cycle counter, or the nearest that the board has. */
uint32_t board_cycles(void);
/* Sleeps for at most `ns`. */
void board_idle_wait(uint64_t ns);
/* Arms a watchdog: unless it is called again on this hart within `ns`, the image panics, with the place. */
void board_watch(uint64_t ns);
/* Returns the number of harts, the first included. */
unsigned board_harts(void);
/* Makes a sleeping hart, 1 .. board_harts() - 1, call work(of), once. `work` must not return. */
void board_hart_start(unsigned hart, void (*work)(void *of), void *of);

/* ---- built on the board ---- */

#define BARE_PAINT UINT32_C(0x5AC0FFEE)

/* As printf: %d %u %x with l or ll, %zu, %s, %c and %%; 0N before the letter of a number: at least N digits. */
__attribute__((format(printf, 1, 2))) void bare_print(const char *format, ...);
__attribute__((format(printf, 1, 0))) void bare_print_list(const char *format, va_list arguments);

/* Ends the image with a message on the console; names any hart but the first. */
__attribute__((format(printf, 2, 3))) _Noreturn void bare_panic(const char *where, const char *format, ...);

#define BARE_TEXT_OF(x) #x
#define BARE_TEXT(x)    BARE_TEXT_OF(x)
#define bare_die(...)   bare_panic(__FILE__ ":" BARE_TEXT(__LINE__), __VA_ARGS__)

/* Return zeroed bytes, aligned to 64; panic if memory runs out. Taken memory is kept. bare_give_back() frees all
 * borrowed memory, except what was borrowed before the last take. */
void *bare_take(size_t bytes);
void *bare_borrow(size_t bytes);
void bare_give_back(void);

/* Returns the bytes of stack used so far. */
uint32_t bare_stack_used(void);

#endif
