/* posted.h - messages and collectives that a caller posts while time runs (include/hxmesh/sim.h).
 *
 * Data that flows. The caller posts a message at its source, or a collective at all of its members; the endpoints take
 * messages in the order of posting, a host's collectives in turn. What happens goes to `happened`, at the host where it
 * happens and at its time. The caller may post more there.
 *
 * Owners. A posted message has a slot. The number of the slot is the tag of its packets: so what arrives names it. A
 * slot is free again when its sender has the acknowledgement, which comes after the arrival. The slot of a message that
 * failed is not: packets of it may still arrive. A collective is freed when all members have ended.
 *
 * No more than a pair's window of messages is given to the endpoint, so it refuses none. A message to a peer with a
 * full window waits, and is passed by those to other peers. */
#ifndef POSTED_H
#define POSTED_H

#include "hxmesh/collective.h"
#include "workload/traffic.h"

enum posted_what {
    POSTED_ARRIVED,      /* at the receiver, whole */
    POSTED_ACKNOWLEDGED, /* at the sender */
    POSTED_FAILED,       /* at the sender: the receiver is unreachable. Also of a message of a collective */
    POSTED_ENDED         /* a collective, at a member */
};

struct posted_message {
    uint32_t from, to; /* hosts */
    uint32_t tag;      /* the caller's */
    uint64_t bytes;
    uint64_t cookie;
};

struct posted_event {
    enum posted_what what;
    uint32_t host;
    uint64_t now;                  /* ps */
    bool of_collective;            /* only the cookie is set */
    struct posted_message message; /* a copy */
};

struct posted;

/* *g must outlive it. It ends with the memory of its caller (fabric-emu/library/owned.h). */
struct posted *posted_open(const struct hx_fabric *g, void (*happened)(void *of, const struct posted_event *e),
                           void *of);

/* Adds a message between different hosts. The driver of the sender is to be woken. */
void posted_send(struct posted *p, const struct posted_message *m);

/* Adds a collective. config: of position 0; host: of each position, different. The drivers of all are to be woken. */
void posted_collective(struct posted *p, const struct hx_collective_config *config, const uint32_t *host,
                       uint64_t cookie);

#endif
