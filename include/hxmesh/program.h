/* program.h - a program of your own as a host of a running live fabric: it sends messages and takes what arrives.
 *
 *     hxmesh serve "2x2 Hx2Mesh" --name lab          keeps a fabric running whose hosts are for programs; so does `hxmesh up`
 *
 *     struct hx_program *p;
 *     int error = hx_program_open(&p, "lab", "a0,0");      a host is held by one program at a time
 *     while (hx_program_send(p, to, tag, data, bytes, context) == -EAGAIN)
 *         take(p);                                         hx_program_poll(), and what it brings
 *     hx_program_close(p);
 *
 * Data that flows. A message is bytes for another host, with a tag of 64 bits that is the receiver's to understand. One
 * of up to HX_PROGRAM_SHORT bytes goes out at once, into memory that the receiver keeps ready for each other host (8
 * messages), and arrives there whole: ARRIVED, which lends its bytes until hx_program_release(). A longer one is
 * announced first: ANNOUNCED; the receiver says by hx_program_accept() where it shall go, and hears RECEIVED when all
 * of it is there. The sender hears SENT when its bytes may change and all of them are at the receiver's host (of a
 * short one: not that the program there has taken it). Nothing is dropped: where a receiver does not take, its senders
 * hear -EAGAIN.
 *
 * Order. ARRIVED and ANNOUNCED of one sender come in the order of its hx_program_send(), whatever ways packets take:
 * the library puts them in order. RECEIVED and SENT come as they happen.
 *
 * Who is there. A program may be opened, closed, or killed at any time, and another one take its host. To a host
 * without a program hx_program_send() says -EAGAIN. When a peer's program has closed or died, those who have met it
 * hear GONE: within 50 ms, where workers have a core and there is a way, and else when there is one, or when another
 * one comes in its place. What was under way to it is FAILED with -ECONNRESET before that, and so is what was accepted
 * from it and is not whole.
 *
 * Zero copy. hx_program_alloc() gives memory that the fabric reads and writes itself: what is sent from there, or
 * accepted into it, is copied by nobody else. Any other memory may be used just as well, and is copied once.
 *
 * Errors are negative errno values. Threads: calls about one hx_program are made by one thread at a time; any number of
 * them may be open. fork(): the child must not use what its parent opened, and the host is held until it has ended,
 * too, or has become another program. */
#ifndef HXMESH_PROGRAM_H
#define HXMESH_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "hxmesh/begin.h"

enum {
    HX_PROGRAM_PACKET = 8160,  /* bytes: a message of so many is one packet */
    HX_PROGRAM_SHORT = 16352,  /* bytes: longer ones are announced */
    HX_PROGRAM_NAME_BYTES = 32 /* room for the name of a host */
};

struct hx_program;

enum hx_program_event_type {
    HX_PROGRAM_SENT,      /* .context, as given to hx_program_send */
    HX_PROGRAM_FAILED,    /* .context of a send or an accept, .error: -ECONNRESET; what finds no way is sent again */
    HX_PROGRAM_ARRIVED,   /* .peer .tag .data .bytes; to be given back by hx_program_release() */
    HX_PROGRAM_ANNOUNCED, /* .peer .tag .bytes .ticket; to be answered by hx_program_accept(), at any time */
    HX_PROGRAM_RECEIVED,  /* .context, as given to hx_program_accept; .peer .tag .bytes: of these as many as there was
                          * room */
    HX_PROGRAM_GONE       /* .peer: its program has gone; what comes from there from now on is another one's */
};

struct hx_program_event {
    enum hx_program_event_type type;
    int error;
    uint32_t peer;   /* number of a host */
    uint32_t ticket; /* ARRIVED, ANNOUNCED: what release and accept know it by */
    uint64_t tag;
    uint64_t bytes;
    void *data;
    void *context;
    uint32_t note; /* ARRIVED, ANNOUNCED: as given to hx_program_send_noted(), else 0 */
};

/* Opens a host of a fabric of this user. `fabric`: its --name; NULL: the only one that has hosts for programs. `host`:
 * its name ("a0,1") or number ("2"). -ENOENT: no such fabric is there for programs, or it has no such host. -ENOTUNIQ:
 * several fabrics are. -EBUSY: another program has it. -EPROTO: another version of hxmesh. -ETIMEDOUT: nobody serves
 * it. -EMFILE, -ENFILE: this process, or that of the fabric, may open no more. */
int hx_program_open(struct hx_program **opened, const char *fabric, const char *host);

/* Whether a fabric of this name (NULL: any) has hosts for programs: 0, or -ENOENT, or why it is not known. */
int hx_program_find(const char *fabric);

/* Closes it: what is under way is given up, and lent and allocated memory is gone. Who must not lose what he sent waits
 * for SENT before. */
void hx_program_close(struct hx_program *p);

/* Number of this host, and how many there are: hosts are 0 .. hosts - 1, of which some may be without anybody. */
uint32_t hx_program_self(const struct hx_program *p);
uint32_t hx_program_hosts(const struct hx_program *p);

/* Name of a host, as in reports ("a0,1"); -EINVAL: there is none of this number. */
int hx_program_name(const struct hx_program *p, uint32_t host, char name[HX_PROGRAM_NAME_BYTES]);

/* Memory of the fabric, aligned to 64 bytes; NULL: there is no room (128 MiB in all). NULL may be freed. */
void *hx_program_alloc(struct hx_program *p, size_t bytes);
void hx_program_free(struct hx_program *p, void *data);

/* Begins to send. Returns 0: SENT or FAILED will come, and until then the bytes must not change. -EAGAIN: not now; it
 * may be when hx_program_poll() or hx_program_wait() has returned. -EINVAL: no such host. A host may send to itself. */
int hx_program_send(struct hx_program *p, uint32_t to, uint64_t tag, const void *data, uint64_t bytes, void *context);

/* The same, with 32 bits more that the receiver sees beside the tag. */
int hx_program_send_noted(struct hx_program *p, uint32_t to, uint64_t tag, uint32_t note, const void *data,
                          uint64_t bytes, void *context);

/* Says where an announced message shall go: `bytes` of room; what is beyond is not sent. RECEIVED or FAILED will come.
 * -EINVAL: no such ticket. */
int hx_program_accept(struct hx_program *p, uint32_t ticket, void *data, uint64_t bytes, void *context);

/* Gives back what ARRIVED lent, in any order; each must be given back once. */
void hx_program_release(struct hx_program *p, const struct hx_program_event *arrived);

/* Does what there is to do, and says what happened: up to `room` events. Where there is nothing again and again it lets
 * others have the core first. Returns how many, or -ECONNABORTED: the fabric has ended; nothing but hx_program_close()
 * makes sense any more. */
int hx_program_poll(struct hx_program *p, struct hx_program_event *events, unsigned room);

/* Waits until hx_program_poll() may have something to say, or hx_program_send() a better answer. It takes in what has
 * come, so that waiting alone makes room to send; what poll would say is kept, and while there is any it does not
 * sleep. timeout_ms -1: for ever. Returns 0, -ETIMEDOUT, -EINTR a signal came, or -ECONNABORTED. */
int hx_program_wait(struct hx_program *p, int timeout_ms);

#include "hxmesh/end.h"

#endif
