/* parts.h - where the parts of QEMU's RISC-V board `virt` are, as its device tree says. Of this folder alone. */
#ifndef HAL_RISCV_VIRT_PARTS_H
#define HAL_RISCV_VIRT_PARTS_H

#include "hal/bare/device_tree.h"

/* Written by board_start() on hart 0, before any other hart has work; fixed from then on. */
struct board_parts {
    struct device_tree tree;
    uintptr_t tree_at;
    uintptr_t uart;     /* 16550 */
    uintptr_t finisher; /* "sifive,test0": a word written to it ends the machine */
    uintptr_t clint;    /* of each hart a word that interrupts it, and the tick that does */
    uintptr_t plic;     /* of interrupts of devices; 0: there is none, and nothing but time ends a nap */
    uint64_t tick_ns;   /* of the timer */
    uint64_t memory_end;
    unsigned harts; /* 1 .. BOARD_HARTS: their numbers are below that */
};
extern struct board_parts board_parts;

#endif
