/* subsets.h - sets of `size` of the numbers 0 .. of-1: each of them, or some that are drawn by a seed.
 *
 *     struct hx_subsets s = hx_subsets_open(of, size, most, seed);
 *     while (hx_subsets_next(&s))
 *         ... s.member[0 .. size-1], ascending
 *     hx_subsets_close(&s);
 *
 * If there are at most `most` sets, each comes once, in order. Otherwise `most` different ones are drawn, all equally
 * likely. The same seed draws the same sets, and a larger `most` begins with the sets of a smaller one. */
#ifndef HXMESH_BASE_SUBSETS_H
#define HXMESH_BASE_SUBSETS_H

#include "base/blobs.h"

#include <stdbool.h>

struct hx_subsets {
    uint32_t of, size;
    uint64_t count; /* sets that come */
    bool all;       /* these are all there are */
    uint32_t *member;
    /* Private. */
    uint64_t given, random;
    struct hx_blobs drawn; /* the sets so far, unless all come */
};

/* size: 1 .. of; most: at least 1. */
struct hx_subsets hx_subsets_open(uint32_t of, uint32_t size, uint64_t most, uint64_t seed);
bool hx_subsets_next(struct hx_subsets *s);
void hx_subsets_close(struct hx_subsets *s);

/* Returns how many sets there are; UINT64_MAX: that many or more. */
uint64_t hx_subsets_number(uint32_t of, uint32_t size);

#endif
