/* descriptors.h - limit of open descriptors: each host for programs needs some. */
#ifndef LIVE_DESCRIPTORS_H
#define LIVE_DESCRIPTORS_H

/* Raises the limit of this process and its children to the user's maximum. */
void descriptors_allow(void);

/* Returns advice for an error message if the limit caused it (EMFILE; EBADF of a requested number); else "". */
const char *descriptors_advice(int error);

#endif
