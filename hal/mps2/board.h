/* board.h - what Arm's MPS2 board has beyond bare.h: what its vectors lead to. */
#ifndef HAL_MPS2_BOARD_H
#define HAL_MPS2_BOARD_H

#include <stdint.h>

_Noreturn void board_start(void);
_Noreturn void board_trap(const uint32_t *pushed);

#endif
