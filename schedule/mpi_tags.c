/* mpi_tags.c - numbers communicators, and pairs of communicator and tag (mpi_tags.h). */
#include "schedule/mpi_tags.h"
#include "base/error.h"

#include <stdlib.h>
#include <uthash.h>

enum { TAG_BITS = 20, NEAR_COMMUNICATORS = 2048, FAR = 31 };

struct pair {
    UT_hash_handle hh;
    uint64_t key;
    uint32_t number;
};

/* Communicators of a group that the rank has made so far. */
struct made {
    uint32_t rank, count;
};

struct mpi_tags {
    struct pair *communicators; /* key: group, and count of former ones of this group */
    struct pair *tags;          /* key: communicator and tag */
    struct made *made;          /* [room], by group */
    size_t room;
};

struct mpi_tags *mpi_tags_new(void)
{
    return hx_allocate(1, sizeof(struct mpi_tags));
}

static void free_pairs(struct pair **pairs)
{
    struct pair *pair;
    struct pair *next;
    HASH_ITER(hh, *pairs, pair, next)
    {
        HASH_DEL(*pairs, pair);
        free(pair);
    }
}

void mpi_tags_free(struct mpi_tags *t)
{
    if (!t)
        return;
    free_pairs(&t->communicators);
    free_pairs(&t->tags);
    HX_FREE(t->made, t);
}

/* Returns the number of a key: keys are numbered in the order of their first use. */
static uint32_t number_of(struct pair **pairs, uint64_t key)
{
    struct pair *pair;
    HASH_FIND(hh, *pairs, &key, sizeof key, pair);
    if (pair)
        return pair->number;
    pair = hx_allocate(1, sizeof *pair);
    pair->key = key;
    pair->number = HASH_COUNT(*pairs);
    HASH_ADD(hh, *pairs, key, sizeof key, pair);
    return pair->number;
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
    return UINT32_C(1) << FAR | number_of(&t->tags, (uint64_t)communicator << 32 | tag);
}
