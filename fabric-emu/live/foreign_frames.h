/* foreign_frames.h - what came by a cable of an external accelerator on which no neighbour could be met: for the one line that
 * ends the run, so that a node of another plane or another version is not taken for one that is not there. */
#ifndef FOREIGN_FRAMES_H
#define FOREIGN_FRAMES_H

#include "fabric.h"
#include "hal/wire/wire.h"

enum { FOREIGN_FRAMES_TEXT = 160 };

/* Notes a frame that is none of this cable's; unsealed: but for its seal. */
void foreign_frames_note(struct fab_foreign_frames *foreign_frames, const uint8_t *frame, uint32_t bytes,
                         bool unauthenticated);

/* Writes and returns what came in place of a neighbour of that plane; NULL: nothing, and nobody. */
const char *foreign_frames_text(char text[FOREIGN_FRAMES_TEXT], const struct fab_cable *cable, const struct wire *wire,
                                unsigned plane);

#endif
