/* board.c - QEMU's RISC-V board `virt` as bare.h wants it: UART, timer, the device that ends it, and traps.
 *
 * Addresses are the board's (hw/riscv/virt.c of QEMU has the map); a board that reads its device tree would find the same. */
#include "board.h"
#include "hal/bare/bare.h"

/* ---- registers ---- */

#define FINISHER UINT32_C(0x00100000) /* "sifive,test0": a word written to it ends the machine */
#define TIMER    UINT32_C(0x02000000) /* CLINT: mtimecmp of hart 0 */
#define UART     UINT32_C(0x10000000) /* 16550 */
#define TICK_NS  UINT64_C(100)        /* of the timer: 10 MHz */

enum { TIMER_COMPARE = 0x4000, UART_STATUS = 5, UART_HAS_COME = 0x01, UART_TAKES = 0x20 };
enum { FINISHER_PASS = 0x5555, FINISHER_FAIL = 0x3333 };
enum { CAUSE_TIMER = 7, TIMER_BIT = 1 << CAUSE_TIMER, INTERRUPTS_ON = 1 << 3 };

static volatile uint8_t *uart(unsigned at)
{
    return (volatile uint8_t *)(uintptr_t)(UART + at);
}

static uint64_t ticks(void)
{
    uint64_t now;
    __asm__ volatile("csrr %0, time" : "=r"(now));
    return now;
}

/* ---- console ---- */

void board_put(char c)
{
    while (!(*uart(UART_STATUS) & UART_TAKES)) {
    }
    *uart(0) = (uint8_t)c;
}

int board_get(void)
{
    return *uart(UART_STATUS) & UART_HAS_COME ? *uart(0) : -1;
}

/* ---- time ---- */

uint64_t board_now(void)
{
    return ticks() * TICK_NS;
}

static uint64_t watched_until;

static void interrupt_at(uint64_t tick)
{
    *(volatile uint64_t *)(uintptr_t)(TIMER + TIMER_COMPARE) = tick;
}

/* Interrupts are off meanwhile: the timer ends the sleep, and is no trap. */
void board_nap(uint64_t ns)
{
    __asm__ volatile("csrc mstatus, %0" : : "r"(INTERRUPTS_ON));
    __asm__ volatile("csrs mie, %0" : : "r"(TIMER_BIT));
    interrupt_at(ticks() + ns / TICK_NS);
    __asm__ volatile("wfi");
    interrupt_at(watched_until);
    __asm__ volatile("csrs mstatus, %0" : : "r"(INTERRUPTS_ON));
}

void board_watch(uint64_t ns)
{
    watched_until = ticks() + ns / TICK_NS;
    interrupt_at(watched_until);
    __asm__ volatile("csrs mie, %0" : : "r"(TIMER_BIT));
    __asm__ volatile("csrs mstatus, %0" : : "r"(INTERRUPTS_ON));
}

/* ---- memory ---- */

extern uint8_t memory_start[], memory_end[];
extern const uint32_t stack_start[], stack_end[];
extern const char text_given[];

void *board_memory(size_t *bytes)
{
    *bytes = (uintptr_t)memory_end - (uintptr_t)memory_start;
    return memory_start;
}

const uint32_t *board_stack(const uint32_t **end)
{
    *end = stack_end;
    return stack_start;
}

const char *board_text(void)
{
    return text_given;
}

/* ---- the end ---- */

_Noreturn void board_end(unsigned code)
{
    volatile uint32_t *finisher = (volatile uint32_t *)(uintptr_t)FINISHER;
    *finisher = code == 0 ? FINISHER_PASS : code << 16 | FINISHER_FAIL;
    for (;;)
        __asm__ volatile("wfi");
}

_Noreturn void board_trap(uint64_t cause, uint64_t at, uint64_t value)
{
    if (cause == (UINT64_C(1) << 63 | CAUSE_TIMER))
        bare_die("the watchdog was not served: the image hangs at %lx", at);
    bare_die("trap %lx at %lx, of %lx", cause, at, value);
}
