/* choices.c - a table of the different collectives (choices.h). */
#include "schedule/choices.h"
#include "base/blobs.h"
#include "hxmesh/endpoint.h"
#include "hxmesh/error.h"

#include <stdlib.h>

struct key {
    uint64_t bytes;
    uint32_t group, root;
    uint8_t kind, algorithm, fill[6];
};

/* Invariant: choice[i] is of the i-th key. Addresses stay, as executors keep them. */
struct schedule_choices {
    struct hx_blobs keys;
    struct executor_choice *choice;
};

static struct key key_of(const struct schedule_operation *o)
{
    return (struct key){
        .bytes = o->amount, .group = o->peer, .root = o->tag, .kind = o->collective, .algorithm = o->algorithm};
}

static uint32_t find(const struct schedule_choices *c, const struct schedule_operation *o)
{
    const struct key key = key_of(o);
    return hx_blobs_find(&c->keys, &key, sizeof key);
}

static void add_keys(struct schedule_choices *c, const struct schedule *s)
{
    for (uint64_t i = 0; i < s->head->operations; i++) {
        const struct key key = key_of(&s->operation[i]);
        if (s->operation[i].kind == SCHEDULE_COLLECTIVE)
            (void)hx_blobs_add(&c->keys, &key, sizeof key);
    }
    c->choice = hx_allocate(c->keys.count + 1, sizeof *c->choice);
}

/* made[i]: the i-th choice was filled. */
static bool fill_choice(struct schedule_choices *c, bool *made, const struct schedule *s,
                        const struct schedule_operation *o, schedule_fill *fill, void *of, struct hx_problem *problem)
{
    uint32_t number = o->kind == SCHEDULE_COLLECTIVE ? find(c, o) : HX_NO_BLOB;
    if (number == HX_NO_BLOB || made[number])
        return true;
    made[number] = true;
    c->choice[number].direct = o->collective > SCHEDULE_ALL_REDUCE || schedule_group_size(s, o->peer) == 1;
    return c->choice[number].direct || fill(of, s, o, &c->choice[number], problem);
}

struct schedule_choices *schedule_choices_make(const struct schedule *s, schedule_fill *fill, void *of,
                                               struct hx_problem *problem)
{
    struct schedule_choices *c = hx_allocate(1, sizeof *c);
    bool good = true;
    add_keys(c, s);
    bool *made = hx_allocate(c->keys.count + 1, sizeof *made);
    for (uint64_t i = 0; i < s->head->operations && good; i++)
        good = fill_choice(c, made, s, &s->operation[i], fill, of, problem);
    free(made);
    if (good)
        return c;
    schedule_choices_free(c);
    return NULL;
}

void schedule_choices_free(struct schedule_choices *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->keys.count; i++) {
        free((void *)(uintptr_t)c->choice[i].position);
        free((void *)(uintptr_t)c->choice[i].place);
    }
    hx_blobs_free(&c->keys);
    HX_FREE(c->choice, c);
}

const struct executor_choice *schedule_choose(const void *of, const struct schedule_operation *o)
{
    const struct schedule_choices *c = of;
    return &c->choice[find(c, o)];
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
