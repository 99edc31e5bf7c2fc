/* parts.h - addresses of the parts of QEMU's RISC-V board `virt`, from its device tree. Private to this folder. */
#ifndef HAL_RISCV_VIRT_PARTS_H
#define HAL_RISCV_VIRT_PARTS_H

#include "hal/bare/device_tree.h"

/* Written by board_start() on hart 0 before other harts have work; constant afterwards. */
struct board_parts {
    struct device_tree tree;
    uintptr_t tree_at;
    uintptr_t uart;     /* 16550 */
    uintptr_t finisher; /* "sifive,test0": a written word ends the machine */
    uintptr_t clint;    /* for each hart a word that interrupts it, and the tick of its timer */
    uintptr_t plic;     /* device interrupts; 0: none, and only time ends an idle wait */
    uint64_t tick_ns;   /* of the timer */
    uint64_t memory_end;
    unsigned harts; /* 1 .. BOARD_HARTS, numbered from 0 */
};
extern struct board_parts board_parts;

#endif
