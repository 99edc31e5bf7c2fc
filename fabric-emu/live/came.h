/* came.h - what came by a cable of an external accelerator on which no neighbour could be met: for the one line that
 * ends the run, so that a node of another plane or another version is not taken for one that is not there. */
#ifndef CAME_H
#define CAME_H

#include "fabric.h"
#include "hal/wire/wire.h"

enum { CAME_TEXT = 160 };

/* Notes a frame that is none of this cable's; unsealed: but for its seal. */
void came_note(struct fab_came *came, const uint8_t *frame, uint32_t bytes, bool unsealed);

/* Writes and returns what came in place of a neighbour of that plane; NULL: nothing, and nobody. */
const char *came_text(char text[CAME_TEXT], const struct fab_cable *cable, const struct wire *wire, unsigned plane);

#endif
