/* board.h - what QEMU's RISC-V board `virt` has beyond bare.h. */
#ifndef HAL_RISCV_VIRT_BOARD_H
#define HAL_RISCV_VIRT_BOARD_H

#include <stdint.h>

/* The text that whoever starts the machine puts behind the image's memory, 96 MiB after the start of it (-device
 * loader,addr=0x86000000,force-raw=on,file=TEXT), as another board would have it in its flash; it ends with a zero,
 * since memory that nobody wrote is zero. Empty: there is none. */
const char *board_text(void);

/* Where the registers are of the n-th place for a virtio device, in the order of their addresses; 0: there are not so
 * many. */
uintptr_t board_virtio(unsigned place);

/* An interrupt of the device at that place ends a nap of hart 0 from now on. */
void board_virtio_wakes(unsigned place);
/* Such a nap is over, and the drivers have had their devices withdraw what they asked for. */
void board_idle_wait_over(void);

/* Start code's: before all else, with the device tree that it was handed; and what ends in a trap. */
void board_start(const void *tree);
_Noreturn void board_trap(uint64_t cause, uint64_t at, uint64_t value);

#endif
