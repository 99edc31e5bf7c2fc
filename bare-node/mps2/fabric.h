/* fabric.h - a fabric in one image: a row of three accelerators, switch and endpoint each, joined by wires in memory.
 * Every one sends to both others; what the outer ones send each other passes the switch between them. */
#ifndef HAL_MPS2_FABRIC_H
#define HAL_MPS2_FABRIC_H

#include <stdbool.h>

/* Runs it until all has come, or too long, with long messages and with short ones; says what came and what it cost, in
 * ticks of the board's counter. Whether everything came as it was sent, once. */
bool fabric_run(void);

#endif
