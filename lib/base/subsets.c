/* subsets.c - counts, enumerates and draws sets of numbers (subsets.h). */
#include "base/subsets.h"
#include "base/error.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

uint64_t hx_subsets_number(uint32_t of, uint32_t size)
{
    const uint32_t few = size < of - size ? size : of - size;
    uint64_t number = 1;
    for (uint32_t i = 1; i <= few; i++) {
        const unsigned __int128 next = (unsigned __int128)number * (of - few + i) / i;
        if (next >= UINT64_MAX)
            return UINT64_MAX;
        number = (uint64_t)next;
    }
    return number;
}

struct hx_subsets hx_subsets_open(uint32_t of, uint32_t size, uint64_t most, uint64_t seed)
{
    const uint64_t number = hx_subsets_number(of, size);
    struct hx_subsets s = {.of = of, .size = size, .all = number <= most, .random = seed};
    s.count = s.all ? number : most;
    s.member = hx_allocate(size, sizeof *s.member);
    return s;
}

void hx_subsets_close(struct hx_subsets *s)
{
    free(s->member);
    hx_blobs_free(&s->drawn);
    *s = (struct hx_subsets){.of = 0};
}

/* ---- all of them ---- */

static void take_next(struct hx_subsets *s)
{
    uint32_t at = s->size - 1;
    while (s->member[at] == s->of - s->size + at)
        at--;
    uint32_t member = s->member[at] + 1;
    for (; at < s->size; at++)
        s->member[at] = member++;
}

static void take_first(struct hx_subsets *s)
{
    for (uint32_t i = 0; i < s->size; i++)
        s->member[i] = i;
}

/* ---- drawn ones ---- */

/* Adds a member in order. Returns false if it is there. */
static bool add_member(uint32_t *members, uint32_t count, uint32_t member)
{
    uint32_t at = count;
    while (at > 0 && members[at - 1] > member)
        at--;
    if (at > 0 && members[at - 1] == member)
        return false;
    memmove(members + at + 1, members + at, (count - at) * sizeof *members);
    members[at] = member;
    return true;
}

/* Robert Floyd's way: each set is equally likely (Bentley, "Programming Pearls: A Sample of Brilliance", 1987). */
static void draw_members(struct hx_subsets *s)
{
    for (uint32_t i = 0; i < s->size; i++) {
        const uint32_t last = s->of - s->size + i;
        if (!add_member(s->member, i, hx_rng_below(&s->random, last + 1)))
            (void)add_member(s->member, i, last);
    }
}

/* Notes the set. Returns false if it was drawn before. */
static bool note(struct hx_subsets *s)
{
    return hx_blobs_add(&s->drawn, s->member, s->size * sizeof *s->member) == s->given;
}

bool hx_subsets_next(struct hx_subsets *s)
{
    if (s->given == s->count)
        return false;
    if (!s->all)
        do
            draw_members(s);
        while (!note(s));
    else if (s->given == 0)
        take_first(s);
    else
        take_next(s);
    s->given++;
    return true;
}
