/* support_lingering.h - a descriptor that takes long to close, as somebody may pass it. */
#ifndef SUPPORT_LINGERING_H
#define SUPPORT_LINGERING_H

enum { LINGERING_S = 120 };

/* A socket whose last close takes so long: what it sent is not taken by *peer, and it lingers. -1: this machine's
 * loopback is off. */
int lingering_open(int *peer);

#endif
