/* support_lingering.h - a descriptor that takes long to close, as a peer may pass it. */
#ifndef SUPPORT_LINGERING_H
#define SUPPORT_LINGERING_H

enum { LINGERING_S = 120 };

/* Opens a socket with a last close of this duration: it lingers, since *peer does not read. -1: this machine has no
 * loopback interface. */
int lingering_open(int *peer);

#endif
