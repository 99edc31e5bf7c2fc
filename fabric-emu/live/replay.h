/* replay.h - target of replayed frames: a port of a running fabric, or a network interface. */
#ifndef REPLAY_H
#define REPLAY_H

#include "attach.h"
#include "feed.h"

enum replay_result {
    REPLAY_SENT,
    REPLAY_TOO_LONG, /* for a packet, or for the interface */
    REPLAY_BUSY,     /* no room: try again */
    REPLAY_BROKEN    /* errno */
};

struct replay_target {
    /* port */
    struct attached fabric;
    struct feed *feed; /* NULL: an interface */
    int memory;
    bool taken; /* this process holds the slot */
    /* interface */
    int socket;
};

/* Opens a port, as `a5,3/p0/E`. Returns false: no such fabric or port, another replay runs, or no worker sends
 * there. */
bool replay_open_port(struct replay_target *t, const char *name, const char *port, struct hx_problem *problem);
/* Opens an interface. Returns false: it does not exist, or permission is missing. */
bool replay_open_interface(struct replay_target *t, const char *interface, struct hx_problem *problem);

enum replay_result replay_send(struct replay_target *t, const uint8_t *frame, uint32_t bytes);

/* Whether all frames given have been taken. */
bool replay_is_settled(const struct replay_target *t);
/* Whether the fabric has ended. */
bool replay_has_ended(const struct replay_target *t);

void replay_close(struct replay_target *t);

#endif
