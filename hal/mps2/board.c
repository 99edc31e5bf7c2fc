/* board.c - Arm's MPS2 board with a Cortex-M for bare.h: vectors, UART, SysTick, and the end by semihosting.
 *
 * Addresses are from Arm's application note AN500 and the ARMv7-M architecture. */
#include "board.h"
#include "hal/bare/bare.h"

/* ---- registers ---- */

#define UART0   UINT32_C(0x40004000)
#define SYSTICK UINT32_C(0xE000E010)
#define TICK_NS UINT64_C(40) /* 25 MHz */
#define WRAP    (UINT32_C(1) << 24)

enum { UART_DATA = 0, UART_STATE = 1, UART_CONTROL = 2, UART_DIVISOR = 4 };
enum { UART_FULL = 1, UART_SENDS = 1, UART_FAST = 16 };
enum {
    TICK_CONTROL = 0,
    TICK_RELOAD = 1,
    TICK_NOW = 2,
    TICK_ON = 7 /* with the processor's clock and interrupt */
};

static volatile uint32_t *uart(unsigned at)
{
    return (volatile uint32_t *)UART0 + at;
}

static volatile uint32_t *systick(unsigned at)
{
    return (volatile uint32_t *)SYSTICK + at;
}

/* ---- start and traps ---- */

extern uint32_t bss_start[], bss_end[], stack_start[], stack_end[];
extern uint8_t memory_start[], memory_end[];

static volatile uint32_t wraps; /* of SysTick */

static void count_wrap(void)
{
    wraps++;
}

/* Paints the unused stack, so that bare_stack_used() can measure it. */
_Noreturn void board_start(void)
{
    uint32_t *here = __builtin_frame_address(0);
    for (volatile uint32_t *at = bss_start; (uintptr_t)at < (uintptr_t)bss_end; at++)
        *at = 0;
    for (volatile uint32_t *at = stack_start; at < here - 64; at++)
        *at = BARE_PAINT;
    *uart(UART_DIVISOR) = UART_FAST;
    *uart(UART_CONTROL) = UART_SENDS;
    *systick(TICK_RELOAD) = WRAP - 1;
    *systick(TICK_NOW) = 0;
    *systick(TICK_CONTROL) = TICK_ON;
    board_end((unsigned)image_main());
}

/* The hardware has pushed r0-r3, r12, lr, pc, psr. */
_Noreturn void board_trap(const uint32_t *pushed)
{
    uint32_t number;
    __asm__ volatile("mrs %0, ipsr" : "=r"(number));
    bare_die("trap %u at %x", (unsigned)number, (unsigned)pushed[6]);
}

__attribute__((naked)) static void trap(void)
{
    __asm__ volatile("mov r0, sp\n b board_trap");
}

/* Vector table of the processor. */
struct vectors {
    const uint32_t *stack;  /* cppcheck-suppress unusedStructMember */
    void (*start)(void);    /* cppcheck-suppress unusedStructMember */
    void (*trap[13])(void); /* cppcheck-suppress unusedStructMember */
    void (*systick)(void);  /* cppcheck-suppress unusedStructMember */
};
__attribute__((section(".vectors"), used)) static const struct vectors vectors = {
    .stack = stack_end,
    .start = board_start,
    .trap = {trap, trap, trap, trap, trap, trap, trap, trap, trap, trap, trap, trap, trap},
    .systick = count_wrap};

/* ---- console ---- */

void board_put(char c)
{
    while (*uart(UART_STATE) & UART_FULL) {
    }
    *uart(UART_DATA) = (uint8_t)c;
}

/* ---- time ---- */

/* SysTick counts down; its interrupt counts wraps. */
static uint64_t ticks(void)
{
    uint32_t before;
    uint32_t now;
    do {
        before = wraps;
        now = *systick(TICK_NOW);
    } while (before != wraps);
    return (uint64_t)before * WRAP + (WRAP - 1 - now);
}

uint64_t board_now(void)
{
    return ticks() * TICK_NS;
}

uint32_t board_cycles(void)
{
    return (uint32_t)ticks();
}

/* ---- memory ---- */

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

/* ---- the end ---- */

unsigned board_panic(void)
{
    return 0;
}

/* Semihosting's SYS_EXIT_EXTENDED: the owner of the debug port, here QEMU, exits with the code. */
_Noreturn void board_end(unsigned code)
{
    enum { EXIT_EXTENDED = 0x20, APPLICATION_EXIT = 0x20026 };
    const uint32_t block[2] = {APPLICATION_EXIT, code};
    register uint32_t operation __asm__("r0") = EXIT_EXTENDED;
    register const uint32_t *argument __asm__("r1") = block;
    __asm__ volatile("bkpt 0xab" : : "r"(operation), "r"(argument) : "memory");
    for (;;)
        __asm__ volatile("wfi");
}
