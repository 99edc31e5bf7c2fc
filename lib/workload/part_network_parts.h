/* part_network_parts.h - what the files of messages in parts (part_network.h) share.
 *
 *     part_messages.c  messages: from their hosts, and when they have come in
 *     part_nodes.c     parts at nodes: which link takes which part */
#ifndef PART_NETWORK_PARTS_H
#define PART_NETWORK_PARTS_H

#include "base/time_heap.h"
#include "workload/part_network.h"

enum { NONE = UINT32_MAX };

enum part_event_kind { HOP, OUTPUT, CREDIT, RELEASE, ARRIVE };

struct event {
    struct time_key key;
    uint32_t index; /* HOP: part; OUTPUT, CREDIT: port; RELEASE: host; ARRIVE: message */
    uint8_t kind, plane;
    uint64_t bytes; /* CREDIT, RELEASE: that wait no more */
};

/* A message, until it is acknowledged; or an element of the list of free ones. */
struct message {
    struct part_message m;
    uint32_t next;         /* in the list of free ones */
    uint32_t slot;         /* of its host */
    uint64_t age;          /* place among all messages */
    bool acknowledges;     /* it goes from m.to to m.from */
    uint32_t all, packets; /* packets, and those that have not left */
    uint32_t packets_of_part;
    uint32_t parts; /* that have not arrived */
};

/* slot: messages that have left or not, until they are acknowledged; a message takes the lowest one that is NONE. */
struct host {
    uint32_t *slot;
    size_t slots, room;
    uint64_t turn[HX_MAX_PLANES]; /* slot, or in order age, from which a message is served next on a plane */
    unsigned at_once;             /* messages that leave at once in order; 0: all take turns */
    uint32_t waiting_messages;    /* that have packets which have not left */
};

struct part {
    uint32_t message, state, packet; /* packet: bytes of its first packet */
    uint64_t bytes;
    double slowness; /* seconds a byte of the link that it came over */
    uint64_t head;   /* ps: when its first block has come in */
    uint64_t tail;   /* ps: when its last byte has come in */
    uint64_t ports;  /* that it may leave by, bits */
    uint32_t next;   /* in the list of those that wait at a node, or of free ones */
    uint32_t link;   /* port that it came over; NONE: from the endpoint */
    uint8_t plane, input;
};

/* A port of a plane, with the link behind it. */
struct output {
    uint64_t free;   /* ps: when the link is */
    uint64_t beyond; /* bytes that it carried and that have not left the next node */
    uint8_t turn;    /* input that is served next */
    bool noted;      /* an event looks for a part that waits */
};

/* A node of a plane. */
struct node {
    uint32_t first, last; /* parts that wait */
    uint64_t wanted;      /* ports that they may leave by, bits */
};

struct part_network {
    const struct collective_loads *l;
    unsigned planes;
    struct host *host;
    uint64_t *waiting;     /* [planes * hosts]: bytes of a host on a plane that wait */
    uint64_t *local;       /* [planes * hosts]: ps, when the host's links could have carried all before */
    double *injects;       /* [hosts]: seconds a byte of all links of a host to a plane */
    struct output *output; /* [planes * ports] */
    double *carried;       /* [ports]: bytes so far, of all planes */
    struct node *node;     /* [planes * nodes] */
    uint32_t *node_of;     /* [ports] */
    uint64_t ahead;        /* ps before its link is free that an output takes the next part (hal/virtual/timing.h) */
    uint64_t entry;        /* ps from an endpoint to its first node */
    uint64_t leaving;      /* ps from the last node to an endpoint */
    struct time_heap events;
    struct message *message;
    size_t messages, messages_room;
    uint32_t free_message;
    uint64_t age; /* messages so far */
    struct part *part;
    size_t parts, parts_room;
    uint32_t free_part;
};

static inline void part_push(struct part_network *n, struct event event)
{
    time_heap_push(&n->events, &event.key);
}

static inline double slowness_of(const struct part_network *n, uint32_t port)
{
    return n->l->slowness[port] * n->planes;
}

static inline uint64_t ps_of(double slowness, uint64_t bytes)
{
    return (uint64_t)(1e12 * slowness * (double)bytes + 0.5);
}

/* Serves a part that comes at `head`. Returns when its last byte has gone, and sets when its first has. */
static inline uint64_t serve(uint64_t *link, uint64_t head, uint64_t ps, uint64_t tail, uint64_t *start)
{
    *start = *link > head ? *link : head;
    *link = *start + ps;
    return *link > tail ? *link : tail;
}

static inline uint32_t local_port(const struct part_network *n, uint32_t host)
{
    return n->l->g->node[host].first_port + HX_LOCAL;
}

static inline uint32_t host_port(const struct part_network *n, uint32_t host)
{
    uint32_t port = 0;
    while (hx_fabric_far(n->l->g, host, port).node == HX_NOWHERE)
        port++;
    return n->l->g->node[host].first_port + port;
}

static inline uint32_t source_of(const struct message *m)
{
    return m->acknowledges ? m->m.to : m->m.from;
}

static inline struct output *output_at(const struct part_network *n, unsigned plane, uint32_t port)
{
    return &n->output[(size_t)plane * n->l->g->ports + port];
}

/* A part comes to the next node, or starts at its first. */
void part_hop(struct part_network *n, uint64_t now, uint32_t index);
/* An output looks for a part that waits. */
void part_take_waiting(struct part_network *n, uint64_t now, uint32_t port, unsigned plane);

#endif
