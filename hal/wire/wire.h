/* wire.h - a cable that leaves the process: Ethernet frames in and out, by memif, a packet socket, a TAP or a pair of
 * sockets.
 *
 *     opener (supervisor)                    user (a worker; after it died, its successor)
 *     wire_open_*: the descriptor       ->
 *     wire_serve: who comes and goes    ->   wire_poll: is anybody there?  wire_receive, wire_send, wire_flush
 *     wire_close: all of it, its name   <-   wire_drop: what is this user's alone
 *
 * The descriptor (listening socket, packet socket, TAP) is made once, so that whatever the machine refuses is refused
 * before anything runs, and is inherited over fork. So is what a connection has besides: a user that is killed takes
 * nothing away from the other side, and its successor goes on where it was.
 *
 * A wire neither judges nor counts what it carries, and it may lose frames (a queue of the kernel that is full). A
 * frame is handed over by copy: what the other side changes meanwhile in memory that it shares is of no matter.
 *
 * One process at a time uses a wire; nothing here blocks. */
#ifndef WIRE_H
#define WIRE_H

#include "hxmesh/auth_tag.h"
#include "hxmesh/frame.h"
#include "memif.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    WIRE_TARGET_BYTES = 108,                           /* a socket's path or an interface's name, with its end */
    WIRE_MAX_FRAME = HX_MAX_FRAME + HX_AUTH_TAG_BYTES, /* the largest that is carried whole */
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
    int fd;                       /* memif: listens; else carries the frames */
    char target[WIRE_TARGET_BYTES];
    uint64_t inode;             /* memif: of its socket */
    struct memif_server server; /* the opener's */
    struct memif memif;         /* the user's, but for the offer */
};

/* ---- the opener ---- */

/* Each returns 0 or -errno, and leaves nothing behind if it fails. */

/* Listens at a socket that this user alone may connect to (0600); the other side connects (DPDK: role=client). One that
 * a dead process of this user left there is replaced. -EADDRINUSE: somebody listens there. -EPERM: what stands there is
 * another user's. -EEXIST: it is no socket. Both are left alone. -ENAMETOOLONG. Others as socket, bind. */
int wire_open_memif(struct wire *w, const char *path);
/* A packet socket on an interface that exists: one end of a veth, or any other. *mtu: what frames need, and then what
 * it has. -ENODEV: there is none of this name. -EMSGSIZE: its MTU is too small. -ENETDOWN: it is not up. -EPERM:
 * CAP_NET_RAW is missing. */
int wire_open_packet(struct wire *w, const char *interface, unsigned *mtu);
/* Creates a TAP, or takes one that was made for this user, with MTU and state as needed. The other side uses the
 * interface of that name. -EBUSY: somebody has it. -EPERM: CAP_NET_ADMIN is missing. -EMSGSIZE, -ENETDOWN: the same,
 * for want of that right, of one that exists. *mtu as above. -ENOENT: no /dev/net/tun. */
int wire_open_tap(struct wire *w, const char *interface, unsigned *mtu);
/* Makes a pair of datagram sockets and keeps one. *other: the one that a process which is started inherits; it is the
 * caller's, and closed on exec. `name`: of the wire. */
int wire_open_pair(struct wire *w, const char *name, int *other);

/* Takes in who comes and goes; call now and then. */
static inline void wire_serve(struct wire *w)
{
    if (w->kind->serve)
        w->kind->serve(w);
}

void wire_close(struct wire *w);

/* ---- the user ---- */

/* Whether somebody is there and frames can pass; call now and then. */
static inline bool wire_poll(struct wire *w)
{
    return w->kind->poll(w);
}

/* Copies the next frame to `frame`, WIRE_MAX_FRAME bytes: what is longer is cut there. Returns its bytes, 0: none is
 * there. */
static inline uint32_t wire_receive(struct wire *w, uint8_t *frame)
{
    return w->kind->receive(w, frame);
}

/* Copies a frame away. false: not now, or nobody is there. It is under way after wire_flush. */
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
