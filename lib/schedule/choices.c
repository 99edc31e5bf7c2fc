/* choices.c - a table of the different collectives (choices.h). */
#include "schedule/choices.h"
#include "base/blobs.h"
#include "hxmesh/endpoint.h"
#include "hxmesh/error.h"
#include "schedule/shares.h"

#include <stdlib.h>

struct key {
    uint64_t bytes;
    uint32_t group, tag;
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
        .bytes = o->amount, .group = o->peer, .tag = o->tag, .kind = o->collective, .algorithm = o->algorithm};
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
    return schedule_group_size(s, o->peer) == 1 || fill(of, s, o, &c->choice[number], problem);
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
        free((void *)(uintptr_t)c->choice[i].member);
        free((void *)(uintptr_t)c->choice[i].position);
        shares_free(&c->choice[i].config);
    }
    hx_blobs_free(&c->keys);
    HX_FREE(c->choice, c);
}

const struct executor_choice *schedule_choose(const void *of, const struct schedule_operation *o)
{
    const struct schedule_choices *c = of;
    return &c->choice[find(c, o)];
}

/* ---- collectives of the engine ---- */

static uint64_t round_up(uint64_t bytes, uint64_t multiple)
{
    return (bytes + multiple - 1) / multiple * multiple;
}

void schedule_set_vector(const struct schedule_operation *o, uint32_t size, struct hx_collective_config *config)
{
    config->kind = o->collective;
    config->size = size;
    config->window = HX_PEER_WINDOW;
    switch (o->collective) {
    case HX_COLLECTIVE_ALL_TO_ALL:
    case HX_GATHER:
    case HX_SCATTER:
        config->type = HX_UINT8;
        config->bytes = o->collective == HX_COLLECTIVE_ALL_TO_ALL && !o->tag ? round_up(o->amount, size) : o->amount;
        return;
    default:
        config->type = HX_FLOAT32;
        config->bytes = o->collective == HX_BARRIER ? 0 : round_up(o->amount, sizeof(float));
    }
}

bool schedule_has_kind(unsigned algorithm, enum hx_collective_kind kind)
{
    static const struct hx_collective_dimension side = {4, HX_BY_RING};
    const struct hx_collective_config config = {.chunk = sizeof(float),
                                                .size = 16,
                                                .kind = (uint8_t)kind,
                                                .algorithm = (uint8_t)(algorithm - HX_ALGORITHM_TREE),
                                                .window = 1,
                                                .dimensions = 2,
                                                .dimension = {side, side}};
    return algorithm == HX_ALGORITHM_BEST || hx_collective_check(&config) == HX_OK;
}

/* ---- without a fabric ---- */

static enum hx_collective_algorithm plain_algorithm(const struct hx_collective_config *config)
{
    enum { SHORT = 64 * 1024, MANY = 1 << 16, MANY_DIRECT = 256 };
    bool brief = config->bytes <= SHORT || config->size >= MANY;
    switch (config->kind) {
    case HX_BARRIER:
        return HX_BY_BRUCK;
    case HX_COLLECTIVE_ALL_TO_ALL:
        return HX_BY_DIRECT;
    case HX_GATHER:
    case HX_SCATTER:
        return config->size < MANY_DIRECT ? HX_BY_DIRECT : HX_BY_TREE; /* direct needs memory for each member */
    case HX_REDUCE:
        return brief ? HX_BY_TREE : HX_BY_CHAIN;
    default:
        return brief ? HX_BY_TREE : HX_BY_RING;
    }
}

/* One message for each pair of a direct collective, or those of the engine. */
static uint32_t plain_chunk(const struct hx_collective_config *config)
{
    const uint64_t most = UINT64_C(1) << 31;
    if (config->algorithm != HX_BY_DIRECT || config->bytes < sizeof(float))
        return hx_collective_chunk(config, 1);
    return (uint32_t)(config->bytes < most ? config->bytes : most);
}

static bool carry_out(struct hx_collective_config *config, unsigned algorithm)
{
    config->algorithm = (uint8_t)algorithm;
    config->chunk = plain_chunk(config);
    return shares_are_possible(config);
}

bool schedule_fill_plain(void *of, const struct schedule *s, const struct schedule_operation *o,
                         struct executor_choice *choice, struct hx_problem *problem)
{
    struct hx_collective_config *config = &choice->config;
    (void)of;
    schedule_set_vector(o, schedule_group_size(s, o->peer), config);
    config->root = schedule_root(o);
    if (schedule_shares(s, o))
        shares_set(config, schedule_shares(s, o));
    if (o->algorithm != HX_ALGORITHM_BEST && carry_out(config, o->algorithm - HX_ALGORITHM_TREE))
        return true;
    return carry_out(config, plain_algorithm(config)) ||
           hx_fail(problem, HX_EXIT_CONFIG, NULL, "%s of %u ranks is larger than can be carried out",
                   hx_collective_kind_names[o->collective], config->size);
}
