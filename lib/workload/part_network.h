/* part_network.h - messages on the links of a fabric, for estimates: without packets, credits and buffers.
 *
 * Data that flows. An estimate (schedule/estimate.h) hands over a message; its bytes go on as follows, and its arrival
 * comes back:
 *
 *     host        messages take turns by their slots, as an endpoint's do (firmware/endpoint.c); those to one host go
 *                 in order, or all of them do. A turn takes a part of the message: one packet or several, so that a message has
 *                 few parts. Parts leave over the endpoint's link, as long as few bytes of the host wait for its links
 *     link        takes a part's bytes at its rate. A part goes on with its first packet, and ends no earlier than it
 *                 came in
 *     node        sends a part on over a free link of its minimal paths; of several, over the one with the fewest bytes
 *                 that have not left its far end. Without one it waits: links serve inputs in turn (firmware/switch.c)
 *     plane       each has links of its own; a part takes the plane that has the fewest bytes of its host waiting
 *     endpoint    a message has arrived when its last part has; then a packet of a block goes back
 *
 * So no host sends or receives more than its links carry, no link carries more than its rate, and messages of all
 * operations share them. What is left out: a full buffer stops no link. */
#ifndef PART_NETWORK_H
#define PART_NETWORK_H

#include "workload/collective_loads.h"

enum { PART_MOST = 64 /* parts of a message, on each plane */ };

struct part_network;

struct part_network_options {
    bool in_order; /* a host sends its oldest messages, as many as it has links, in place of all at once */
};

/* *l must outlive the network. */
struct part_network *part_network_open(const struct collective_loads *l, struct part_network_options options);
/* NULL is allowed. */
void part_network_close(struct part_network *n);

struct part_message {
    uint32_t from, to; /* hosts */
    uint64_t bytes;
    uint32_t number; /* the caller's */
};

enum part_news { PART_NOTHING, PART_ARRIVED, PART_ACKNOWLEDGED };

void part_network_send(struct part_network *n, uint64_t now, const struct part_message *m);
/* ps of the next event; UINT64_MAX: none. */
uint64_t part_network_next(const struct part_network *n);
/* Carries out the next event. If a message has arrived, or its acknowledgement, sets its number. */
enum part_news part_network_step(struct part_network *n, uint32_t *number);

/* [ports]: bytes that each link has carried, of all planes. */
const double *part_network_carried(const struct part_network *n);

#endif
