/* stacks.h - usable harts of QEMU's RISC-V board `virt`, and their stacks, for start.S and C. */
#ifndef HAL_RISCV_VIRT_STACKS_H
#define HAL_RISCV_VIRT_STACKS_H

#define BOARD_HARTS      5     /* harts of higher numbers sleep for good */
#define BOARD_STACK      32768 /* bytes of each hart */
#define BOARD_TRAP_STACK 1024  /* bytes above it, for the panic of a trap */

#endif
