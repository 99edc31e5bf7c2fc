/* wire.h - a cable that leaves the process: Ethernet frames by memif, packet socket, TAP or a pair of sockets.
 *
 *     opener (supervisor)                    user (a worker, or its successor after its death)
 *     wire_open_*: the descriptor       ->
 *     wire_serve: connects and ends     ->   wire_poll: can frames pass?  wire_receive, wire_send, wire_flush
 *     wire_close: all of it, its name   <-   wire_drop: the user's own state
 *
 * The descriptor (listening socket, packet socket, TAP) is opened once, so that refusals come before anything runs. It
 * and the connection's state are inherited over fork: a killed user disturbs no peer, and its successor continues.
 *
 * A wire neither validates nor counts frames, and may lose some (a full queue of the kernel). Frames are copied, so
 * later changes in shared memory do not matter.
 *
 * One process at a time uses a wire. Calls do not block. */
#ifndef WIRE_H
#define WIRE_H

#include "hxmesh/auth_tag.h"
#include "hxmesh/frame.h"
#include "memif.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    WIRE_TARGET_BYTES = 108,                           /* a socket's path or an interface's name, with its zero */
    WIRE_MAX_FRAME = HX_MAX_FRAME + HX_AUTH_TAG_BYTES, /* bytes of the largest frame */
    WIRE_ETHERNET_HEADER = 14                          /* bytes of a frame that an MTU does not count */
};

struct wire;

/* Any of serve, end, flush and drop may be NULL: there is nothing to do. */
struct wire_kind {
    void (*serve)(struct wire *);
    void (*end)(struct wire *);
    bool (*poll)(struct wire *);
    uint32_t (*receive)(struct wire *, uint8_t *frame);
    bool (*send)(struct wire *, const uint8_t *frame, uint32_t bytes);
    void (*flush)(struct wire *);
    void (*drop)(struct wire *);
};

struct wire {
    const struct wire_kind *kind; /* NULL: not open */
    int fd;                       /* memif: listening socket; else carries frames */
    char target[WIRE_TARGET_BYTES];
    uint64_t inode;             /* memif: of its socket */
    struct memif_server server; /* opener's state */
    struct memif memif;         /* user's state, except the offer */
};

/* ---- the opener ---- */

/* Each returns 0 or -errno, and leaves nothing behind on failure. */

/* Listens at a socket for this user alone (0600); the other side connects (DPDK: role=client). Replaces one that a dead
 * process of this user left. -EADDRINUSE: a process listens there. -EPERM: it is another user's. -EEXIST: it is no
 * socket. -ENAMETOOLONG. Others as socket, bind. */
int wire_open_memif(struct wire *w, const char *path);
/* Opens a packet socket on an existing interface, such as one end of a veth. *mtu: the MTU needed; returns the
 * interface's. -ENODEV: no such interface. -EMSGSIZE: its MTU is too small. -ENETDOWN: it is down. -EPERM: needs
 * CAP_NET_RAW. */
int wire_open_packet(struct wire *w, const char *interface, unsigned *mtu);
/* Creates a TAP, or opens one made for this user, and sets MTU and state as needed. The other side uses the interface
 * of that name. *mtu as above. -EBUSY: another process has it. -EPERM: needs CAP_NET_ADMIN. -EMSGSIZE, -ENETDOWN: needs
 * it to change the existing one. -ENOENT: no /dev/net/tun. */
int wire_open_tap(struct wire *w, const char *interface, unsigned *mtu);
/* Makes a pair of datagram sockets and keeps one. *other: for a started process to inherit; the caller's,
 * close-on-exec. `name`: of the wire. */
int wire_open_pair(struct wire *w, const char *name, int *other);

/* Handles connecting and leaving peers; call regularly. */
static inline void wire_serve(struct wire *w)
{
    if (w->kind->serve)
        w->kind->serve(w);
}

void wire_close(struct wire *w);

/* ---- the user ---- */

/* Returns true if the peer is there and frames can pass; call regularly. */
static inline bool wire_poll(struct wire *w)
{
    return w->kind->poll(w);
}

/* Copies the next frame to `frame`, WIRE_MAX_FRAME bytes; longer frames are cut. Returns its bytes, 0: none. */
static inline uint32_t wire_receive(struct wire *w, uint8_t *frame)
{
    return w->kind->receive(w, frame);
}

/* Copies a frame out; wire_flush sends it. Returns false without room or peer. */
static inline bool wire_send(struct wire *w, const uint8_t *frame, uint32_t bytes)
{
    return w->kind->send(w, frame, bytes);
}

static inline void wire_flush(struct wire *w)
{
    if (w->kind->flush)
        w->kind->flush(w);
}

static inline void wire_drop(struct wire *w)
{
    if (w->kind->drop)
        w->kind->drop(w);
}

#endif
