/* copies.h - packets that a link may have repeated.
 *
 * A packet that crossed such a link may arrive again within a limited time. So crossings are remembered for that time
 * only: memory depends on the capture's rate and share of repeats, not on its length. */
#ifndef HXMESH_TOOLS_VERIFY_COPIES_H
#define HXMESH_TOOLS_VERIFY_COPIES_H

#include "base/table.h"
#include "tools/capture/frame.h"

#include <stdbool.h>

/* An arrival by a cable; a copy has equal fields. */
struct hx_crossing {
    struct hx_key key;
    uint32_t cable;
    uint16_t vc, hops;
};

/* Invariant: crossings since `turned_ns` are in `recent`, those between the previous turn and `turned_ns` in `older`.
 * Earlier ones are forgotten. */
struct hx_copies {
    struct hx_table recent, older; /* crossing: number of sendings, and of copies */
    struct hx_table made;          /* packet: number of possible repeats by links */
    uint64_t turned_ns;
    uint64_t count; /* of all copies */
};

void hx_copies_begin(struct hx_copies *c);
void hx_copies_free(struct hx_copies *c);

/* Notes an arrival that was sent. */
void hx_copies_note(struct hx_copies *c, const struct hx_crossing *one);
/* Takes an arrival that was not sent as a copy. false: it is none, as all noted arrivals have been copied already. */
bool hx_copies_take(struct hx_copies *c, const struct hx_crossing *one);

/* Whether the last turn is more than `while_ns` ago. The caller then checks unmatched arrivals and calls
 * hx_copies_turn. A crossing is remembered for `while_ns` to twice that. */
bool hx_copies_are_due(const struct hx_copies *c, uint64_t time_ns, uint64_t while_ns);
void hx_copies_turn(struct hx_copies *c, uint64_t time_ns);

/* Notes a possible repeat that was not recognized because the packet was damaged. */
void hx_copies_allow(struct hx_copies *c, const struct hx_key *key);

/* Number of times that links repeated the packet, or may have. */
unsigned hx_copies_of(const struct hx_copies *c, const struct hx_key *key);

#endif
