/* mpi_tags.c - numbers communicators, and pairs of communicator and tag (mpi_tags.h). */
#include "schedule/mpi_tags.h"
#include "base/error.h"
#include "base/table.h"

enum { TAG_BITS = 20, NEAR_COMMUNICATORS = 2048, FAR_BIT = 31 };

/* Keys have numbers in the order of their first use. */
struct numbered {
    uint64_t key;
    uint32_t number;
};

/* Communicators of a group that the rank has made so far. */
struct made {
    uint32_t rank, count;
};

struct mpi_tags {
    struct hx_table communicators; /* struct numbered; key: group, and count of former ones of this group */
    struct hx_table tags;          /* struct numbered; key: communicator and tag */
    struct made *made;             /* [room], by group */
    size_t room;
};

struct mpi_tags *mpi_tags_new(void)
{
    struct mpi_tags *t = hx_allocate(1, sizeof *t);
    t->communicators = t->tags = hx_table_make(sizeof(uint64_t), sizeof(struct numbered));
    return t;
}

void mpi_tags_free(struct mpi_tags *t)
{
    if (!t)
        return;
    hx_table_free(&t->communicators);
    hx_table_free(&t->tags);
    HX_FREE(t->made, t);
}

static uint32_t number_of(struct hx_table *t, uint64_t key)
{
    struct numbered *n = hx_table_find(t, &key);
    if (!n) {
        n = hx_table_add(t, &key);
        n->number = (uint32_t)t->count - 1;
    }
    return n->number;
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
