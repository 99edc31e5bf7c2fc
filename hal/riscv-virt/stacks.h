/* stacks.h - the harts of QEMU's RISC-V board `virt` that an image can use, and the stack of each, for start.S and C
 * alike. */
#ifndef HAL_RISCV_VIRT_STACKS_H
#define HAL_RISCV_VIRT_STACKS_H

#define BOARD_HARTS      5     /* harts of higher numbers sleep for good */
#define BOARD_STACK      32768 /* bytes of each */
#define BOARD_TRAP_STACK 1024  /* bytes above it, for the message of a trap */

#endif
