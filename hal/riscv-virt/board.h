/* board.h - functions of QEMU's RISC-V board `virt` beyond bare.h. */
#ifndef HAL_RISCV_VIRT_BOARD_H
#define HAL_RISCV_VIRT_BOARD_H

#include <stdint.h>

/* Returns the text loaded after the image's memory, 96 MiB after its start (-device
 * loader,addr=0x86000000,force-raw=on,file=TEXT), like flash on another board. Unwritten memory is zero, which ends the
 * text. Empty: none was loaded. */
const char *board_text(void);

/* Returns the register address of the n-th virtio-mmio slot, in order of address; 0: there are fewer slots. */
uintptr_t board_virtio(unsigned place);

/* Lets interrupts of the device in that slot end an idle wait of hart 0. */
void board_virtio_wakes(unsigned place);
/* Ends such an idle wait. Drivers have disabled their devices' interrupts before. */
void board_idle_wait_over(void);

/* For start code: called first, with the device tree; and called by every trap. */
void board_start(const void *tree);
_Noreturn void board_trap(uint64_t cause, uint64_t at, uint64_t value);

#endif
