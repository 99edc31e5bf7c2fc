/* board.c - QEMU's RISC-V board `virt` for bare.h: console, timer, memory, the end, and traps. */
#include "board.h"
#include "hal/bare/bare.h"
#include "harts.h"
#include "parts.h"
#include "stacks.h"

#include <stdatomic.h>

/* ---- registers ---- */

enum { TIMER_COMPARE = 0x4000, UART_STATUS = 5, UART_HAS_COME = 0x01, UART_TAKES = 0x20 };
enum { FINISHER_PASS = 0x5555, FINISHER_FAIL = 0x3333 };
enum { CAUSE_TIMER = 7, TIMER_BIT = 1 << CAUSE_TIMER, DEVICE_BIT = 1 << 11, INTERRUPTS_ON = 1 << 3 };

static volatile uint8_t *uart(unsigned at)
{
    return (volatile uint8_t *)(board_parts.uart + at);
}

static uint64_t ticks(void)
{
    uint64_t now;
    __asm__ volatile("csrr %0, time" : "=r"(now));
    return now;
}

/* ---- console ---- */

/* Hart 0 writes lines; another hart writes only in a panic, and silences all others. Hart 0 sets `speaks`, then reads
 * `last`; the panicking hart sets `last`, then waits for `speaks`. So hart 0 may finish a line, and no number in it is
 * cut. */
static struct {
    _Atomic unsigned last;   /* hart + 1 in a panic; 0: none */
    _Atomic unsigned speaks; /* 1: hart 0 is within a line */
} console;

static bool may_speak(unsigned hart)
{
    unsigned within = 0;
    if (hart == 0)
        within = atomic_exchange(&console.speaks, 1);
    unsigned last = atomic_load(&console.last);
    return within || last == 0 || last == hart + 1;
}

void board_put(char c)
{
    unsigned hart = board_hart();
    bool may = may_speak(hart);
    while (may && !(*uart(UART_STATUS) & UART_TAKES)) {
    }
    if (may)
        *uart(0) = (uint8_t)c;
    if (hart == 0 && (!may || c == '\n'))
        atomic_store(&console.speaks, 0);
    if (!may)
        board_hart_end();
}

/* Does not wait for ever for a hart 0 that hangs within a line. */
unsigned board_panic(void)
{
    static const uint64_t patience_ns = UINT64_C(1000000000);
    unsigned hart = board_hart();
    unsigned last = 0;
    if (!atomic_compare_exchange_strong(&console.last, &last, hart + 1) && last != hart + 1) {
        if (hart == 0)
            atomic_store(&console.speaks, 0);
        board_hart_end();
    }
    uint64_t until = board_now() + patience_ns;
    while (hart != 0 && atomic_load(&console.speaks) && board_now() < until) {
    }
    if (atomic_load(&console.speaks))
        board_put('\n');
    return hart;
}

int board_get(void)
{
    return *uart(UART_STATUS) & UART_HAS_COME ? *uart(0) : -1;
}

/* ---- time ---- */

uint64_t board_now(void)
{
    return ticks() * board_parts.tick_ns;
}

static uint64_t watched_until[BOARD_HARTS]; /* ticks, per hart */

/* Of the calling hart. */
static void interrupt_at(uint64_t tick)
{
    ((volatile uint64_t *)(board_parts.clint + TIMER_COMPARE))[board_hart()] = tick;
}

void board_idle_wait_over(void)
{
    enum { CLAIM = 0x200004 / 4 };
    volatile uint32_t *plic = (volatile uint32_t *)board_parts.plic;
    for (uint32_t interrupt; plic && (interrupt = plic[CLAIM]) != 0;)
        plic[CLAIM] = interrupt;
}

/* With interrupts off, timer or device end the sleep without a trap. */
void board_idle_wait(uint64_t ns)
{
    __asm__ volatile("csrc mstatus, %0" : : "r"(INTERRUPTS_ON));
    __asm__ volatile("csrs mie, %0" : : "r"(TIMER_BIT | DEVICE_BIT));
    interrupt_at(ticks() + ns / board_parts.tick_ns);
    __asm__ volatile("wfi");
    __asm__ volatile("csrc mie, %0" : : "r"(DEVICE_BIT));
    interrupt_at(watched_until[board_hart()]);
    __asm__ volatile("csrs mstatus, %0" : : "r"(INTERRUPTS_ON));
}

void board_watch(uint64_t ns)
{
    uint64_t until = ticks() + ns / board_parts.tick_ns;
    watched_until[board_hart()] = until;
    interrupt_at(until);
    __asm__ volatile("csrs mie, %0" : : "r"(TIMER_BIT));
    __asm__ volatile("csrs mstatus, %0" : : "r"(INTERRUPTS_ON));
}

/* ---- memory ---- */

/* From the image (start.S, link.ld). */
extern uint8_t memory_start[], memory_end[];
extern const uint32_t stacks[];
extern const char text_given[];

/* Ends before the device tree, which is needed later. */
void *board_memory(size_t *bytes)
{
    uintptr_t end = (uintptr_t)memory_end;
    end = board_parts.memory_end < end ? (uintptr_t)board_parts.memory_end : end;
    end = board_parts.tree_at > (uintptr_t)memory_start && board_parts.tree_at < end ? board_parts.tree_at : end;
    *bytes = end - (uintptr_t)memory_start;
    return memory_start;
}

/* Of hart 0. */
const uint32_t *board_stack(const uint32_t **end)
{
    *end = stacks + BOARD_STACK / sizeof *stacks;
    return stacks;
}

const char *board_text(void)
{
    if (board_parts.memory_end <= (uintptr_t)text_given)
        bare_die("memory ends at %lx, before the text of the image at %lx (-m 100)", board_parts.memory_end,
                 (unsigned long)(uintptr_t)text_given);
    return text_given;
}

/* ---- the end ---- */

_Noreturn void board_end(unsigned code)
{
    volatile uint32_t *finisher = (volatile uint32_t *)board_parts.finisher;
    *finisher = code == 0 ? FINISHER_PASS : code << 16 | FINISHER_FAIL;
    board_hart_end();
}

_Noreturn void board_trap(uint64_t cause, uint64_t at, uint64_t value)
{
    if (cause == (UINT64_C(1) << 63 | CAUSE_TIMER))
        bare_die("the watchdog was not served: the image hangs at %lx", at);
    bare_die("trap %lx at %lx, of %lx", cause, at, value);
}
