/* program.h - library by which a program becomes a host of a running live fabric: it sends and receives messages.
 *
 *     hxmesh serve "2x2 Hx2Mesh" --name lab          runs a fabric with hosts for programs; so does `hxmesh up`
 *
 *     struct hx_program *p;
 *     int error = hx_program_open(&p, "lab", "a0,0");      one program holds a host at a time
 *     while (hx_program_send(p, to, tag, data, bytes, context) == -EAGAIN)
 *         take(p);                                         hx_program_poll(), and handle its events
 *     hx_program_close(p);
 *
 * Messages. A message is bytes for another host, with a tag of 64 bits for the receiver. A message of up to
 * HX_PROGRAM_SHORT bytes goes at once, into memory that the receiver reserves for each other host (8 messages). It
 * arrives whole: ARRIVED, with bytes that stay valid until hx_program_release(). A longer message is announced first:
 * ANNOUNCED. The receiver gives its destination by hx_program_accept(), and gets RECEIVED when all of it is there. The
 * sender gets SENT when all bytes are at the receiver's host and the sender's may change; of a short message the
 * receiving program may not have taken them yet. Messages are never dropped: if a receiver does not take them, its
 * senders get -EAGAIN.
 *
 * Order. ARRIVED and ANNOUNCED of one sender come in the order of its hx_program_send(), whatever paths packets take.
 * RECEIVED and SENT come in any order.
 *
 * Lifetime. A program may open, close or die at any time, and another one may take its host. hx_program_send() to a
 * host without a program returns -EAGAIN. When a program has closed or died, the peers that communicated with it get
 * GONE: within 50 ms if workers have a core and a path exists; otherwise once a path exists or another program takes
 * the host. Messages in flight to it, and accepted ones from it that are incomplete, FAIL with -ECONNRESET before GONE.
 *
 * Zero copy. The fabric reads and writes memory of hx_program_alloc() directly, without a further copy. Other memory
 * works as well and is copied once.
 *
 * Errors are negative errno values. Threads: one thread at a time may call functions of one hx_program; any number of
 * them may be open. fork(): the child must not use what its parent opened. The host stays held until the child has
 * ended or called exec, too. */
#ifndef HXMESH_PROGRAM_H
#define HXMESH_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "hxmesh/begin.h"

enum {
    HX_PROGRAM_PACKET = 8160,  /* bytes of the largest message of one packet */
    HX_PROGRAM_SHORT = 16352,  /* bytes; longer messages are announced */
    HX_PROGRAM_NAME_BYTES = 32 /* size of a host's name */
};

struct hx_program;

enum hx_program_event_type {
    HX_PROGRAM_SENT,      /* .context, as given to hx_program_send */
    HX_PROGRAM_FAILED,    /* .context of a send or an accept, .error: -ECONNRESET. A message without a path waits */
    HX_PROGRAM_ARRIVED,   /* .peer .tag .data .bytes; give back by hx_program_release() */
    HX_PROGRAM_ANNOUNCED, /* .peer .tag .bytes .ticket; answer by hx_program_accept(), at any time */
    HX_PROGRAM_RECEIVED,  /* .context, as given to hx_program_accept; .peer .tag .bytes: limited to the room */
    HX_PROGRAM_GONE       /* .peer: its program has gone; later messages of the host are another program's */
};

struct hx_program_event {
    enum hx_program_event_type type;
    int error;
    uint32_t peer;   /* number of a host */
    uint32_t ticket; /* ARRIVED, ANNOUNCED: for release and accept */
    uint64_t tag;
    uint64_t bytes;
    void *data;
    void *context;
    uint32_t note; /* ARRIVED, ANNOUNCED: as given to hx_program_send_noted(), else 0 */
};

/* Opens a host of a fabric of this user. `fabric`: its --name; NULL: the only one that has hosts for programs. `host`:
 * its name ("a0,1") or number ("2"). -ENOENT: no such fabric or host. -ENOTUNIQ: several fabrics match. -EBUSY: another
 * program holds the host. -EPROTO: another version of hxmesh. -ETIMEDOUT: the fabric does not answer. -EMFILE, -ENFILE:
 * this process, or that of the fabric, may open no more files. */
int hx_program_open(struct hx_program **opened, const char *fabric, const char *host);

/* Returns 0 if a fabric of this name (NULL: any) has hosts for programs, -ENOENT if none has, or another error. */
int hx_program_find(const char *fabric);

/* Closes it. Messages in flight are abandoned, and lent and allocated memory becomes invalid. To lose no message, wait
 * for SENT first. */
void hx_program_close(struct hx_program *p);

/* Return the number of this host, and of all hosts: 0 .. hosts - 1. Some hosts may be without a program. */
uint32_t hx_program_self(const struct hx_program *p);
uint32_t hx_program_hosts(const struct hx_program *p);

/* Writes the name of a host, as in reports ("a0,1"). -EINVAL: no such host. */
int hx_program_name(const struct hx_program *p, uint32_t host, char name[HX_PROGRAM_NAME_BYTES]);

/* Allocates memory of the fabric, aligned to 64 bytes. NULL: it is used up (128 MiB in all). NULL may be freed. */
void *hx_program_alloc(struct hx_program *p, size_t bytes);
void hx_program_free(struct hx_program *p, void *data);

/* Begins to send. Returns 0: SENT or FAILED will come; the bytes must not change until then. -EAGAIN: no room; try
 * again after hx_program_poll() or hx_program_wait() returned. -EINVAL: no such host. A host may send to itself. */
int hx_program_send(struct hx_program *p, uint32_t to, uint64_t tag, const void *data, uint64_t bytes, void *context);

/* The same, with 32 bits more for the receiver. */
int hx_program_send_noted(struct hx_program *p, uint32_t to, uint64_t tag, uint32_t note, const void *data,
                          uint64_t bytes, void *context);

/* Gives the destination of an announced message: `bytes` of room; the rest is not sent. RECEIVED or FAILED will come.
 * -EINVAL: no such ticket. */
int hx_program_accept(struct hx_program *p, uint32_t ticket, void *data, uint64_t bytes, void *context);

/* Gives back the bytes of an ARRIVED event, exactly once, in any order. */
void hx_program_release(struct hx_program *p, const struct hx_program_event *arrived);

/* Makes progress and writes up to `room` events. Yields the core if repeated calls found no work. Returns the number of
 * events, or -ECONNABORTED: the fabric has ended, and only hx_program_close() may follow. */
int hx_program_poll(struct hx_program *p, struct hx_program_event *events, unsigned room);

/* Waits until hx_program_poll() may have events, or hx_program_send() may succeed. It receives what has come, which
 * makes room to send; poll returns these events later, and wait does not sleep while there are any. timeout_ms -1: no
 * limit. Returns 0, -ETIMEDOUT, -EINTR a signal came, or -ECONNABORTED. */
int hx_program_wait(struct hx_program *p, int timeout_ms);

#include "hxmesh/end.h"

#endif
