/* fabric.h - a fabric in one image: a row of three accelerators, switch and endpoint each, joined by wires in memory.
 *
 * Each sends to both others; packets between the outer two pass the switch in the middle. */
#ifndef HAL_MPS2_FABRIC_H
#define HAL_MPS2_FABRIC_H

#include <stdbool.h>

/* Runs it with long and with short messages, until all have arrived or a step limit. Prints results and cost in ticks
 * of the board's counter. Returns true if all messages arrived intact, once. */
bool fabric_run(void);

#endif
