/* copies.h - packets that a link may have repeated.
 *
 * One that was sent over such a link, and came, may come once more, within a while. So what crossed such links is
 * remembered for that while, and no longer: memory follows the rate of a capture and the share that is repeated, not
 * its length. */
#ifndef HXMESH_TOOLS_VERIFY_COPIES_H
#define HXMESH_TOOLS_VERIFY_COPIES_H

#include "tools/capture/frame.h"
#include "tools/capture/map.h"

#include <stdbool.h>

/* A packet that came by a cable, which its copy does alike. */
struct hx_crossing {
    struct hx_key key;
    uint32_t cable;
    uint16_t vc, hops;
};

/* Invariant: what was noted since `turned_ns` is in `recent`, what was noted between that and the turn before in
 * `older`, and nothing else is anywhere. */
struct hx_copies {
    struct hx_map recent, older; /* crossing: how often it was sent, and copied */
    struct hx_map made;          /* packet: how often a link repeated it, or may have */
    uint64_t turned_ns;
    uint64_t count; /* all of them */
};

void hx_copies_begin(struct hx_copies *c);
void hx_copies_free(struct hx_copies *c);

/* A packet came that was sent. */
void hx_copies_note(struct hx_copies *c, const struct hx_crossing *one);
/* One came that was not sent. false: it is no copy, for all that came have been copied already. */
bool hx_copies_take(struct hx_copies *c, const struct hx_crossing *one);

/* Whether the last turn is longer ago than that: then what waits for being taken is to be looked at, and all turns
 * over. What was noted is remembered for so long at least, and twice as long at most. */
bool hx_copies_are_due(const struct hx_copies *c, uint64_t time_ns, uint64_t while_ns);
void hx_copies_turn(struct hx_copies *c, uint64_t time_ns);

/* A link may have repeated the packet where that could not be seen, for it was damaged. */
void hx_copies_allow(struct hx_copies *c, const struct hx_key *key);

/* How often links repeated the packet, or may have. */
unsigned hx_copies_of(const struct hx_copies *c, const struct hx_key *key);

#endif
