/* choices.c - a table of the different collectives (choices.h). */
#include "schedule/choices.h"
#include "hxmesh/endpoint.h"
#include "hxmesh/error.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

struct key {
    uint64_t bytes;
    uint32_t group, root;
    uint8_t kind, algorithm, fill[6];
};

struct entry {
    UT_hash_handle hh;
    struct key key;
    struct executor_choice choice;
};

struct schedule_choices {
    struct entry *entries;
};

static struct key key_of(const struct schedule_operation *o)
{
    return (struct key){
        .bytes = o->amount, .group = o->peer, .root = o->tag, .kind = o->collective, .algorithm = o->algorithm};
}

static struct entry *find(const struct schedule_choices *c, const struct schedule_operation *o)
{
    const struct key key = key_of(o);
    struct entry *found;
    HASH_FIND(hh, c->entries, &key, sizeof key, found);
    return found;
}

static bool add(struct schedule_choices *c, const struct schedule *s, const struct schedule_operation *o,
                schedule_fill *fill, void *of, struct hx_problem *problem)
{
    if (o->kind != SCHEDULE_COLLECTIVE || find(c, o))
        return true;
    struct entry *entry = hx_allocate(1, sizeof *entry);
    entry->key = key_of(o);
    HASH_ADD(hh, c->entries, key, sizeof entry->key, entry);
    if (o->collective > SCHEDULE_ALL_REDUCE || schedule_group_size(s, o->peer) == 1) {
        entry->choice.direct = true;
        return true;
    }
    return fill(of, s, o, &entry->choice, problem);
}

struct schedule_choices *schedule_choices_make(const struct schedule *s, schedule_fill *fill, void *of,
                                               struct hx_problem *problem)
{
    struct schedule_choices *c = hx_allocate(1, sizeof *c);
    for (uint64_t i = 0; i < s->head->operations; i++) {
        if (!add(c, s, &s->operation[i], fill, of, problem)) {
            schedule_choices_free(c);
            return NULL;
        }
    }
    return c;
}

void schedule_choices_free(struct schedule_choices *c)
{
    struct entry *entry;
    struct entry *next;
    if (!c)
        return;
    HASH_ITER(hh, c->entries, entry, next)
    {
        HASH_DEL(c->entries, entry);
        free((void *)(uintptr_t)entry->choice.position);
        free((void *)(uintptr_t)entry->choice.place);
        free(entry);
    }
    free(c);
}

const struct executor_choice *schedule_choose(const void *of, const struct schedule_operation *o)
{
    return &find(of, o)->choice;
}

bool schedule_fill_plain(void *of, const struct schedule *s, const struct schedule_operation *o,
                         struct executor_choice *choice, struct hx_problem *problem)
{
    enum { SHORT = 64 * 1024 };
    uint32_t size = schedule_group_size(s, o->peer);
    bool tree = o->amount <= SHORT || size > UINT16_MAX;
    (void)of;
    choice->config = (struct hx_collective_config){.bytes = (o->amount + 3) & ~UINT64_C(3),
                                                   .columns = (uint16_t)size,
                                                   .rows = 1,
                                                   .root_column = (uint16_t)o->tag,
                                                   .kind = o->collective,
                                                   .algorithm = tree ? HX_BY_TREE : HX_BY_RING,
                                                   .window = HX_PEER_WINDOW};
    choice->config.chunk = hx_collective_chunk(&choice->config, 1);
    if (hx_collective_check(&choice->config) == HX_OK)
        return true;
    return hx_fail(problem, HX_EXIT_CONFIG, NULL, "a %s of %u ranks is larger than can be carried out",
                   schedule_collective_names[o->collective], size);
}
