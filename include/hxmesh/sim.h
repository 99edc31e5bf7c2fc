/* sim.h - a fabric under the virtual clock inside a program: messages in, times out (libhxmesh-sim).
 *
 *     char error[HX_SIM_TEXT];
 *     struct hx_sim *f = hx_sim_open("16x16 Hx2Mesh", NULL, error);
 *     hx_sim_send(f, 0, 5, 1 << 20, 7, 42);                  1 MiB from host 0 to host 5, tag 7
 *     struct hx_sim_event e;
 *     while (hx_sim_next(f, HX_SIM_NEVER, &e) == HX_SIM_EVENT)
 *         printf("%d at host %u, %" PRIu64 " ps\n", e.type, e.host, e.time);
 *     hx_sim_close(f);
 *
 * Time is in picoseconds from the start, and never decreases. It stands still between two calls of hx_sim_next(): what
 * is posted begins now. A reaction at the host of the last event begins exactly then; so does anything else, unless its
 * host has done something later already, within a window of hx_sim_window() ps: then it begins after that.
 *
 * Results depend on the fabric, the options and the calls alone. They are those of `hxmesh run`.
 *
 * Messages between two hosts may arrive in another order than posted. Each is acknowledged by its receiver. While a
 * pair has its window of messages in flight, further ones wait at the sender.
 *
 * The library prints nothing, ends nothing, and takes no signals. hx_sim_open() uses getopt(): do not call it in a loop
 * of getopt() of your own. One thread at a time uses a fabric; other threads may open and use other fabrics
 * meanwhile. After HX_SIM_BROKEN a fabric can only be closed. */
#ifndef HXMESH_SIM_H
#define HXMESH_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "hxmesh/begin.h"
#pragma GCC visibility push(default)

struct hx_sim;

enum {
    HX_SIM_TEXT = 800, /* bytes of an error with its place */
    HX_SIM_NAME = 40,  /* bytes of a name */
};
#define HX_SIM_NEVER   UINT64_MAX
#define HX_SIM_MOST    ((uint64_t)1 << 62) /* ps: the last time */
#define HX_SIM_NO_HOST UINT32_MAX

/* What calls return. Negative: an error, said by hx_sim_error(). */
enum hx_sim_result {
    HX_SIM_OK = 0,
    HX_SIM_EVENT = 1,    /* hx_sim_next(): *event is set */
    HX_SIM_UNTIL = 2,    /* hx_sim_next(): the time has come */
    HX_SIM_IDLE = 3,     /* hx_sim_next(): nothing is left to happen */
    HX_SIM_LATER = 4,    /* hx_sim_next_within(): nothing happened so far; call again */
    HX_SIM_INVALID = -1, /* an argument; nothing was done */
    HX_SIM_BROKEN = -2   /* the machine refused memory, or the fabric is stuck */
};

enum hx_sim_type {
    HX_SIM_DELIVERED,    /* the whole message, at its receiver */
    HX_SIM_ACKNOWLEDGED, /* a message, at its sender */
    HX_SIM_FAILED,       /* a message, at its sender: the receiver cannot be reached. Or one of a collective, which ends
                            no more */
    HX_SIM_ENDED,        /* a collective, at one of its hosts: all has arrived there, what it sent is acknowledged */
    HX_SIM_TIMER,
    HX_SIM_FAULT /* begins; cookie: its number, in the order of time. Its end is no event */
};

struct hx_sim_event {
    enum hx_sim_type type;
    uint32_t host;     /* where it happens; of a timer as set. Fault: HX_SIM_NO_HOST */
    uint64_t time;     /* ps */
    uint64_t cookie;   /* as posted */
    uint32_t from, to; /* hosts, of a message; else HX_SIM_NO_HOST */
    uint32_t tag;      /* as posted */
    uint64_t bytes;    /* of a message */
};

/* A direction of a link between two switches, or a host and a switch. A packet counts when its way onto the link is
 * decided, which may be up to a window and a packet's time after hx_sim_now(). */
struct hx_sim_link {
    char from[HX_SIM_NAME], to[HX_SIM_NAME]; /* ports, as the report names them */
    uint64_t packets, bytes;                 /* sent since the start; bytes of whole blocks of 256 */
    uint64_t busy;                           /* ps in which it sent */
};

/* Opens a fabric. fabric: a spec ("4x4 Hx2Mesh", `hxmesh topologies`) or a file. options: those of `hxmesh run` but for
 * outputs and the wall clock, a word each ("--planes", "2"), NULL at the end; NULL: none. With --traffic (or jobs) the
 * fabric runs that, and its events are timers and faults; nothing can be posted. Returns NULL and writes one line to
 * error[HX_SIM_TEXT]. */
struct hx_sim *hx_sim_open(const char *fabric, const char *const *options, char error[HX_SIM_TEXT]);
void hx_sim_close(struct hx_sim *f);

/* The error of the last call that failed. It stays until the next such call. */
const char *hx_sim_error(const struct hx_sim *f);
/* What was said beside, a line each; "": nothing. It stays until the next call. */
const char *hx_sim_warnings(const struct hx_sim *f);

/* Hosts: numbers 0 .. hosts - 1. Those on boards that the spec says failed are there, but cannot be used. Faults of
 * --fault change nothing of that. */
uint32_t hx_sim_hosts(const struct hx_sim *f);
bool hx_sim_is_usable(const struct hx_sim *f, uint32_t host);
/* Writes "a3,1"; HX_SIM_INVALID: there is no such host. */
int hx_sim_host_name(struct hx_sim *f, uint32_t host, char name[HX_SIM_NAME]);
/* Returns the number of a host; HX_SIM_NO_HOST: none has this name. */
uint32_t hx_sim_host_of(const struct hx_sim *f, const char *name);

/* Posts a message between two hosts. bytes: 0 .. 2^44. */
int hx_sim_send(struct hx_sim *f, uint32_t from, uint32_t to, uint64_t bytes, uint32_t tag, uint64_t cookie);

/* Begins a collective at all its hosts. kind: "all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast",
 * "reduce", "gather", "scatter" or "barrier". host: [hosts], different ones, in the order of the group; the first is
 * the root. bytes: of the vector; of an all-to-all: of all that a host sends. algorithm: as of `hxmesh run`; NULL or
 * "best": the one that is estimated to be fastest. An event comes for each host. */
int hx_sim_collective(struct hx_sim *f, const char *kind, const uint32_t *host, uint32_t hosts, uint64_t bytes,
                      const char *algorithm, uint64_t cookie);

/* Sets a timer, at a time that has not passed. host: what is posted there at that time begins exactly then;
 * HX_SIM_NO_HOST: it is of none. */
int hx_sim_timer(struct hx_sim *f, uint32_t host, uint64_t time, uint64_t cookie);

/* Runs to the next event before `until`, or to that time. Events of one time come in the order: timers and faults as
 * set, then hosts by number. */
int hx_sim_next(struct hx_sim *f, uint64_t until, struct hx_sim_event *event);
/* The same, for about so many ms of real time: for callers that look at something else now and then. */
int hx_sim_next_within(struct hx_sim *f, uint64_t until, unsigned ms, struct hx_sim_event *event);

/* With --traffic that is over: when its last packet arrived. */
uint64_t hx_sim_now(const struct hx_sim *f);
/* The longest delay, ps, of what is posted at another host than that of the last event. */
uint64_t hx_sim_window(const struct hx_sim *f);

/* The text of a fault, "a0,1/E down at 10us"; NULL: there is no such. */
const char *hx_sim_fault(const struct hx_sim *f, uint64_t fault);

/* Directions of links: numbers 0 .. links - 1. */
uint32_t hx_sim_links(struct hx_sim *f);
int hx_sim_link(struct hx_sim *f, uint32_t link, struct hx_sim_link *found);

/* Ends the run, and returns the report of `hxmesh run --json` (docs/report.md). It stays until the fabric is closed;
 * nothing can be posted after that. NULL: an error. */
const char *hx_sim_report(struct hx_sim *f);

#pragma GCC visibility pop
#include "hxmesh/end.h"

#endif
