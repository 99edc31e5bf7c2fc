/* board.h - targets of the vectors of Arm's MPS2 board. */
#ifndef HAL_MPS2_BOARD_H
#define HAL_MPS2_BOARD_H

#include <stdint.h>

_Noreturn void board_start(void);
_Noreturn void board_trap(const uint32_t *pushed);

#endif
