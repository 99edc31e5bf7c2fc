# start.S - the first instructions of an image on QEMU's RISC-V board `virt`, in machine mode, and its traps.
#
# The board jumps to the start of memory on every hart, with the device tree's address in a1. Hart 0 goes on; the others
# wait for its work. Harts without a stack sleep for good.
#include "stacks.h"

    .section .stack, "aw", @nobits
    .balign 16
    .globl stacks
stacks:
    .space BOARD_HARTS * (BOARD_STACK + BOARD_TRAP_STACK)

    .section .text.start, "ax"
    .globl start
start:
    csrw mie, zero
    la t0, trap
    csrw mtvec, t0
    csrr a0, mhartid
    li t0, BOARD_HARTS
    bltu a0, t0, 1f
    call board_hart_end

1:  addi t0, a0, 1              # the end of its stack
    li t1, BOARD_STACK + BOARD_TRAP_STACK
    mul t0, t0, t1
    la sp, stacks
    add sp, sp, t0
    csrw mscratch, sp           # the stack of traps
    li t1, BOARD_TRAP_STACK
    sub sp, sp, t1
    beqz a0, 2f
    call board_hart_wait

2:  la t0, bss_start            # zero .bss
    la t1, bss_end
3:  bgeu t0, t1, 4f
    sd zero, 0(t0)
    addi t0, t0, 8
    j 3b

4:  la t0, stacks               # paint the unused stack
    li t1, 0x5AC0FFEE           # BARE_PAINT
5:  bgeu t0, sp, 6f
    sw t1, 0(t0)
    addi t0, t0, 4
    j 5b

6:  mv a0, a1                   # still the device tree
    call board_start
    call image_main
    call board_end

# Every trap ends the image: an error, or the watchdog. It saves no registers.
    .balign 4
trap:
    csrr sp, mscratch
    csrr a0, mcause
    csrr a1, mepc
    csrr a2, mtval
    call board_trap
