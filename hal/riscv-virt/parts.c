/* parts.c - reads the board's device tree (parts.h). */
#include "parts.h"
#include "board.h" /* circle: declares board_start(), the first call of the board */
#include "hal/bare/bare.h"
#include "stacks.h"

enum { TREE_MOST = 4 << 20, NS_PER_S = 1000000000 };

/* Console and end at QEMU's addresses, for a panic before the tree is read. */
struct board_parts board_parts = {.uart = 0x10000000, .finisher = 0x00100000, .harts = 1};

/* From the image (link.ld). */
extern const char image_start[], memory_start[];

static uintptr_t device(const char *compatible)
{
    struct device_range range;
    if (!device_tree_next(&board_parts.tree, "compatible", compatible, 0, &range))
        bare_die("the device tree has no %s", compatible);
    return (uintptr_t)range.address;
}

static void find_timer(void)
{
    uint32_t hz;
    board_parts.clint = device("riscv,clint0");
    if (!device_tree_number(&board_parts.tree, "timebase-frequency", &hz))
        bare_die("the device tree has no frequency of the timer");
    board_parts.tick_ns = hz && NS_PER_S % hz == 0 ? NS_PER_S / hz : 0;
    if (board_parts.tick_ns == 0)
        bare_die("the timer has %u ticks a second, which are not of whole nanoseconds", hz);
}

static void find_memory(void)
{
    struct device_range memory;
    if (!device_tree_next(&board_parts.tree, "device_type", "memory", 0, &memory))
        bare_die("the device tree has no memory");
    uint64_t end = memory.address + memory.bytes;
    if (memory.address > (uintptr_t)image_start || end <= (uintptr_t)memory_start)
        bare_die("the device tree has memory at %lx .. %lx, where the image is not", memory.address, end);
    board_parts.memory_end = end;
}

/* Counts hart 0, which runs this, and those with consecutive numbers after it. */
static void count_harts(void)
{
    struct device_range hart;
    unsigned n = 1;
    while (n < BOARD_HARTS && device_tree_next(&board_parts.tree, "device_type", "cpu", n, &hart) && hart.address == n)
        n++;
    board_parts.harts = n;
}

void board_start(const void *tree)
{
    board_parts.tree_at = (uintptr_t)tree;
    const char *fault = device_tree_open(&board_parts.tree, tree, TREE_MOST);
    if (fault)
        bare_die("the device tree at %lx %s", board_parts.tree_at, fault);
    board_parts.uart = device("ns16550a");
    board_parts.finisher = device("sifive,test0");
    struct device_range plic;
    if (device_tree_next(&board_parts.tree, "compatible", "riscv,plic0", 0, &plic))
        board_parts.plic = (uintptr_t)plic.address;
    find_timer();
    find_memory();
    count_harts();
}

static bool find_place(unsigned place, struct device_range *found)
{
    uint64_t least = 0;
    for (unsigned n = 0; n <= place; n++, least = found->address + 1)
        if (!device_tree_next(&board_parts.tree, "compatible", "virtio,mmio", least, found))
            return false;
    return true;
}

uintptr_t board_virtio(unsigned place)
{
    struct device_range range;
    return find_place(place, &range) ? (uintptr_t)range.address : 0;
}

/* Context 0 of the PLIC is hart 0 in machine mode; its threshold is 0 at reset. */
void board_virtio_wakes(unsigned place)
{
    enum { ENABLED = 0x2000 / 4, BITS = 32 };
    volatile uint32_t *plic = (volatile uint32_t *)board_parts.plic;
    struct device_range range;
    if (!plic || !find_place(place, &range) || range.interrupt == 0)
        return;
    plic[range.interrupt] = 1; /* priority */
    plic[ENABLED + range.interrupt / BITS] |= UINT32_C(1) << range.interrupt % BITS;
}
