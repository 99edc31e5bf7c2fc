/* board.c - QEMU's RISC-V board `virt` as bare.h wants it: UART, timer, the device that ends it, memory, and traps. Where they are, the
 * device tree says that the board hands over. */
#include "board.h"
#include "hal/bare/bare.h"
#include "hal/bare/device_tree.h"

/* Of the image (link.ld). */
extern uint8_t memory_start[], memory_end[];
extern const uint32_t stack_start[], stack_end[];
extern const char image_start[], text_given[];

/* ---- what the tree says ---- */

enum { TREE_MOST = 4 << 20, NS_PER_S = 1000000000 };

/* Until it is read there are a console and an end where QEMU has them, so that a panic can say that it cannot be read. */
static struct {
    struct device_tree tree;
    uintptr_t tree_at;
    uintptr_t uart;     /* 16550 */
    uintptr_t finisher; /* "sifive,test0": a word written to it ends the machine */
    uintptr_t timer;    /* CLINT: mtimecmp of hart 0 */
    uint64_t tick_ns;   /* of the timer */
    uint64_t memory_end;
} board = {.uart = 0x10000000, .finisher = 0x00100000};

static uintptr_t device(const char *compatible)
{
    struct device_range range;
    if (!device_tree_next(&board.tree, "compatible", compatible, 0, &range))
        bare_die("the device tree has no %s", compatible);
    return (uintptr_t)range.address;
}

void board_start(const void *tree)
{
    struct device_range memory;
    uint32_t hz;
    board.tree_at = (uintptr_t)tree;
    const char *fault = device_tree_open(&board.tree, tree, TREE_MOST);
    if (fault)
        bare_die("the device tree at %lx %s", board.tree_at, fault);
    board.uart = device("ns16550a");
    board.finisher = device("sifive,test0");
    board.timer = device("riscv,clint0");
    if (!device_tree_number(&board.tree, "timebase-frequency", &hz))
        bare_die("the device tree has no frequency of the timer");
    board.tick_ns = hz && NS_PER_S % hz == 0 ? NS_PER_S / hz : 0;
    if (board.tick_ns == 0)
        bare_die("the timer has %u ticks a second, which are not of whole nanoseconds", hz);
    if (!device_tree_next(&board.tree, "device_type", "memory", 0, &memory))
        bare_die("the device tree has no memory");
    board.memory_end = memory.address + memory.bytes;
    if (memory.address > (uintptr_t)image_start || board.memory_end <= (uintptr_t)memory_start)
        bare_die("the device tree has memory at %lx .. %lx, where the image is not", memory.address, board.memory_end);
}

uintptr_t board_virtio(unsigned place)
{
    struct device_range range = {.address = 0};
    uint64_t least = 0;
    for (unsigned n = 0; n <= place; n++, least = range.address + 1)
        if (!device_tree_next(&board.tree, "compatible", "virtio,mmio", least, &range))
            return 0;
    return (uintptr_t)range.address;
}

/* ---- registers ---- */

enum { TIMER_COMPARE = 0x4000, UART_STATUS = 5, UART_HAS_COME = 0x01, UART_TAKES = 0x20 };
enum { FINISHER_PASS = 0x5555, FINISHER_FAIL = 0x3333 };
enum { CAUSE_TIMER = 7, TIMER_BIT = 1 << CAUSE_TIMER, INTERRUPTS_ON = 1 << 3 };

static volatile uint8_t *uart(unsigned at)
{
    return (volatile uint8_t *)(board.uart + at);
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
    return ticks() * board.tick_ns;
}

static uint64_t watched_until;

static void interrupt_at(uint64_t tick)
{
    *(volatile uint64_t *)(board.timer + TIMER_COMPARE) = tick;
}

/* Interrupts are off meanwhile: the timer ends the sleep, and is no trap. */
void board_nap(uint64_t ns)
{
    __asm__ volatile("csrc mstatus, %0" : : "r"(INTERRUPTS_ON));
    __asm__ volatile("csrs mie, %0" : : "r"(TIMER_BIT));
    interrupt_at(ticks() + ns / board.tick_ns);
    __asm__ volatile("wfi");
    interrupt_at(watched_until);
    __asm__ volatile("csrs mstatus, %0" : : "r"(INTERRUPTS_ON));
}

void board_watch(uint64_t ns)
{
    watched_until = ticks() + ns / board.tick_ns;
    interrupt_at(watched_until);
    __asm__ volatile("csrs mie, %0" : : "r"(TIMER_BIT));
    __asm__ volatile("csrs mstatus, %0" : : "r"(INTERRUPTS_ON));
}

/* ---- memory ---- */

/* The tree stays where it is: it is asked for devices later. */
void *board_memory(size_t *bytes)
{
    uintptr_t end = (uintptr_t)memory_end;
    end = board.memory_end < end ? (uintptr_t)board.memory_end : end;
    end = board.tree_at > (uintptr_t)memory_start && board.tree_at < end ? board.tree_at : end;
    *bytes = end - (uintptr_t)memory_start;
    return memory_start;
}

const uint32_t *board_stack(const uint32_t **end)
{
    *end = stack_end;
    return stack_start;
}

const char *board_text(void)
{
    if (board.memory_end <= (uintptr_t)text_given)
        bare_die("memory ends at %lx, and what the image is told begins at %lx (-m 100)", board.memory_end,
                 (unsigned long)(uintptr_t)text_given);
    return text_given;
}

/* ---- the end ---- */

_Noreturn void board_end(unsigned code)
{
    volatile uint32_t *finisher = (volatile uint32_t *)board.finisher;
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
