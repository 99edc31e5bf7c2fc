/* descriptors.h - descriptors, of which hosts that are programs take some each. */
#ifndef LIVE_DESCRIPTORS_H
#define LIVE_DESCRIPTORS_H

/* Lets this process, and those that it starts, have as many as its user may. */
void descriptors_allow(void);

/* What to say behind an error: how to have more, where they have run out (EMFILE, or EBADF of one that was asked for by
 * its number); else nothing. */
const char *descriptors_advice(int error);

#endif
