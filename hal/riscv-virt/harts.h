/* harts.h - what the files of this folder tell each other of the harts. */
#ifndef HAL_RISCV_VIRT_HARTS_H
#define HAL_RISCV_VIRT_HARTS_H

/* The number of the hart that calls. */
static inline unsigned board_hart(void)
{
    unsigned long hart;
    __asm__ volatile("csrr %0, mhartid" : "=r"(hart));
    return (unsigned)hart;
}

/* Start code's, for each hart but the first: sleeps until it has work (board_hart_start()), and does it. */
_Noreturn void board_hart_wait(unsigned hart);

/* The hart that calls sleeps for good. */
_Noreturn void board_hart_end(void);

#endif
