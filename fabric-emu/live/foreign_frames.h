/* foreign_frames.h - frames of an external cable that are not its neighbour's: tells a node of another plane or version
 * from one that is absent, for the error line of the run. */
#ifndef FOREIGN_FRAMES_H
#define FOREIGN_FRAMES_H

#include "fabric.h"
#include "hal/wire/wire.h"

enum { FOREIGN_FRAMES_TEXT = 160 };

/* Records a foreign frame; `unauthenticated`: only its authentication tag is wrong. */
void foreign_frames_note(struct fab_foreign_frames *foreign_frames, const uint8_t *frame, uint32_t bytes,
                         bool unauthenticated);

/* Writes and returns what arrived in place of a neighbour of that plane; NULL: nothing did. */
const char *foreign_frames_text(char text[FOREIGN_FRAMES_TEXT], const struct fab_cable *cable, const struct wire *wire,
                                unsigned plane);

#endif
