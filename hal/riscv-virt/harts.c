/* harts.c - the harts of QEMU's RISC-V board `virt` for bare.h. Hart 0 runs the image; each other one sleeps until hart
 * 0 gives it work and writes its word in the CLINT. */
#include "harts.h"
#include "hal/bare/bare.h"
#include "parts.h"
#include "stacks.h"

#include <stdatomic.h>

enum { SOFTWARE_BIT = 1 << 3 }; /* of mie and mip: the hart's word was written */

/* Written by hart 0 before it wakes the reader. */
static struct {
    void (*_Atomic work)(void *of);
    void *of;
} mailbox[BOARD_HARTS];

static volatile uint32_t *word_of(unsigned hart)
{
    return (volatile uint32_t *)board_parts.clint + hart;
}

unsigned board_harts(void)
{
    return board_parts.harts;
}

void board_hart_start(unsigned hart, void (*work)(void *of), void *of)
{
    mailbox[hart].of = of;
    atomic_store_explicit(&mailbox[hart].work, work, memory_order_release);
    *word_of(hart) = 1;
}

static bool is_woken(void)
{
    unsigned long pending;
    __asm__ volatile("csrr %0, mip" : "=r"(pending) : : "memory");
    return pending & SOFTWARE_BIT;
}

/* The image's memory is valid only after the wakeup: hart 0 zeroes it before. */
static void sleep_until_woken(void)
{
    __asm__ volatile("csrs mie, %0" : : "r"(SOFTWARE_BIT));
    while (!is_woken())
        __asm__ volatile("wfi");
    __asm__ volatile("csrc mie, %0" : : "r"(SOFTWARE_BIT));
}

_Noreturn void board_hart_wait(unsigned hart)
{
    void (*work)(void *of);
    sleep_until_woken();
    while (!(work = atomic_load_explicit(&mailbox[hart].work, memory_order_acquire))) {
    }
    *word_of(hart) = 0;
    work(mailbox[hart].of);
    bare_die("its work returned");
}

_Noreturn void board_hart_end(void)
{
    __asm__ volatile("csrw mie, zero");
    for (;;)
        __asm__ volatile("wfi");
}
