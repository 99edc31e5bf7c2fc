/* mpi_tags.c - numbers communicators, and pairs of communicator and tag (mpi_tags.h). */
#include "schedule/mpi_tags.h"
#include "base/error.h"

#include <stdlib.h>

enum { TAG_BITS = 20, NEAR_COMMUNICATORS = 2048, FAR_BIT = 31 };

struct place {
    uint64_t key; /* plus 1; 0: free */
    uint32_t number;
};

/* Keys below 2^64 - 1 with numbers in the order of their first use: a table with open addressing, at most half full. */
struct numbering {
    struct place *place; /* [room]: a power of two */
    size_t room, count;
};

/* Communicators of a group that the rank has made so far. */
struct made {
    uint32_t rank, count;
};

struct mpi_tags {
    struct numbering communicators; /* key: group, and count of former ones of this group */
    struct numbering tags;          /* key: communicator and tag */
    struct made *made;              /* [room], by group */
    size_t room;
};

struct mpi_tags *mpi_tags_new(void)
{
    return hx_allocate(1, sizeof(struct mpi_tags));
}

void mpi_tags_free(struct mpi_tags *t)
{
    if (t)
        HX_FREE(t->communicators.place, t->tags.place, t->made, t);
}

/* Returns the place of a key, or the free one where it belongs. */
static struct place *find(const struct numbering *n, uint64_t key)
{
    size_t at = (key * UINT64_C(0x9E3779B97F4A7C15)) >> 32 & (n->room - 1);
    while (n->place[at].key && n->place[at].key != key + 1)
        at = (at + 1) & (n->room - 1);
    return &n->place[at];
}

static void grow(struct numbering *n)
{
    enum { FIRST_ROOM = 64 };
    const struct numbering former = *n;
    n->room = former.room ? 2 * former.room : FIRST_ROOM;
    n->place = hx_allocate(n->room, sizeof *n->place);
    for (size_t i = 0; i < former.room; i++) {
        if (former.place[i].key)
            *find(n, former.place[i].key - 1) = former.place[i];
    }
    free(former.place);
}

static uint32_t number_of(struct numbering *n, uint64_t key)
{
    if (2 * n->count >= n->room)
        grow(n);
    struct place *p = find(n, key);
    if (!p->key)
        *p = (struct place){key + 1, (uint32_t)n->count++};
    return p->number;
}

uint32_t mpi_tags_communicator(struct mpi_tags *t, uint32_t rank, uint32_t group)
{
    while (group >= t->room) {
        size_t used = t->room;
        t->made = hx_grow(t->made, used, &t->room, sizeof *t->made);
        for (size_t i = used; i < t->room; i++)
            t->made[i] = (struct made){0};
    }
    struct made *m = &t->made[group];
    if (m->rank != rank)
        *m = (struct made){.rank = rank};
    return number_of(&t->communicators, (uint64_t)group << 32 | m->count++);
}

uint32_t mpi_tags_tag(struct mpi_tags *t, uint32_t communicator, uint32_t tag)
{
    if (communicator < NEAR_COMMUNICATORS && tag < UINT32_C(1) << TAG_BITS)
        return communicator << TAG_BITS | tag;
    return UINT32_C(1) << FAR_BIT | number_of(&t->tags, (uint64_t)communicator << 32 | tag);
}
