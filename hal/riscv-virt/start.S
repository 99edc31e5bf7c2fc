# start.S - the first instructions of an image on QEMU's RISC-V board `virt`, in machine mode, and its traps.
#
# The board jumps to the start of memory on every hart, with the device tree's address in a1. Hart 0 goes on; the others sleep for good.

    .section .text.start, "ax"
    .globl start
start:
    csrw mie, zero
    csrr t0, mhartid
    bnez t0, sleep
    la t0, trap
    csrw mtvec, t0
    la sp, stack_end

    la t0, bss_start            # .bss is zero
    la t1, bss_end
1:  bgeu t0, t1, 2f
    sd zero, 0(t0)
    addi t0, t0, 8
    j 1b

2:  la t0, stack_start          # what is still painted was never used
    li t1, 0x5AC0FFEE           # BARE_PAINT
3:  bgeu t0, sp, 4f
    sw t1, 0(t0)
    addi t0, t0, 4
    j 3b

4:  mv a0, a1                   # nothing above touches it
    call board_start
    call image_main
    call board_end

sleep:
    wfi
    j sleep

# Every trap is the end: it is an error, or the watchdog. It keeps nothing, but for what the message says.
    .balign 4
trap:
    la sp, trap_stack_end
    csrr a0, mcause
    csrr a1, mepc
    csrr a2, mtval
    call board_trap
