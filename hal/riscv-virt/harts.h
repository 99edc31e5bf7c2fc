/* harts.h - functions of harts, within this folder. */
#ifndef HAL_RISCV_VIRT_HARTS_H
#define HAL_RISCV_VIRT_HARTS_H

/* Returns the number of the calling hart. */
static inline unsigned board_hart(void)
{
    unsigned long hart;
    __asm__ volatile("csrr %0, mhartid" : "=r"(hart));
    return (unsigned)hart;
}

/* For start code, on each hart but the first: sleeps until there is work (board_hart_start()), and does it. */
_Noreturn void board_hart_wait(unsigned hart);

/* Puts the calling hart to sleep for good. */
_Noreturn void board_hart_end(void);

#endif
