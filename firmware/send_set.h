/* send_set.h - a set of sends with round-robin search: two levels of words, so the cost is independent of its size. */
#ifndef HX_SEND_SET_H
#define HX_SEND_SET_H

#include "bits.h"
#include "hxmesh/endpoint.h"

static inline void hx_send_set_put(struct hx_send_set *set, unsigned send, bool in)
{
    uint64_t *word = &set->word[send / 64];
    uint64_t bit = (uint64_t)1 << send % 64;
    *word = in ? *word | bit : *word & ~bit;
    bit = (uint64_t)1 << send / 64;
    set->filled = *word ? set->filled | bit : set->filled & ~bit;
}

static inline bool hx_send_set_has(const struct hx_send_set *set, unsigned send)
{
    return set->word[send / 64] >> send % 64 & 1U;
}

/* Returns the first member at or after `from` (below HX_MAX_SENDS), else the first of all. The set is not empty. */
static inline unsigned hx_send_set_next(const struct hx_send_set *set, unsigned from)
{
    if (set->filled == 1)
        return hx_next_bit(set->word[0], from < 64 ? from : 0); /* the common case: up to 64 sends */
    unsigned at = from / 64;
    uint64_t here = set->filled >> at & 1U ? set->word[at] & UINT64_MAX << from % 64 : 0;
    if (here)
        return at * 64 + (unsigned)__builtin_ctzll(here);
    uint64_t beyond = set->filled & ~(UINT64_MAX >> (63 - at));
    at = (unsigned)__builtin_ctzll(beyond ? beyond : set->filled);
    return at * 64 + (unsigned)__builtin_ctzll(set->word[at]);
}

/* Returns the send at a place. */
static inline unsigned hx_endpoint_sender(const struct hx_endpoint *ep, unsigned place)
{
    return ep->sender ? ep->sender[place] : place;
}

#endif
