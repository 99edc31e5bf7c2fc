/* timed.c - collectives as computing, and the bytes of a schedule on links (timed.h). */
#include "tools/train/timed.h"
#include "base/blobs.h"
#include "schedule/groups.h"
#include "schedule/layout.h"
#include "schedule/shares.h"
#include "schedule/walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NO_FAMILY = UINT32_MAX, LAST_STREAM = SCHEDULE_STREAMS - 1 };

/* Groups with the same key are a family. */
struct key {
    uint32_t size, purpose, distance; /* distance: from the first member to the second */
};

struct timer {
    const struct schedule *s;
    struct network *network;
    const uint32_t *host;
    uint32_t *family; /* [groups]: of the network; NO_FAMILY: no operation uses it */
    uint32_t *place;  /* [groups]: its number in the family */
    uint32_t *shares; /* [shares of the schedule]: their numbers in the network; 0: not yet */
    struct schedule_groups groups;
    bool in_turn; /* a rank's groups communicate one after the other */
};

static struct schedule *copy_of(const struct schedule *s)
{
    struct schedule *copy = hx_allocate(1, sizeof *copy);
    void *base = hx_allocate(1, s->bytes);
    memcpy(base, s->head, s->bytes);
    copy->bytes = schedule_place(copy, base);
    return copy;
}

/* ---- families ---- */

/* Fills the purpose of each group that operations use, from the first one; NO_FAMILY: none. */
static void find_purposes(const struct schedule *s, uint32_t *purpose)
{
    for (uint32_t group = 0; group < s->head->groups; group++)
        purpose[group] = NO_FAMILY;
    for (uint64_t i = 0; i < s->head->operations; i++) {
        const struct schedule_operation *o = &s->operation[i];
        if (o->kind == SCHEDULE_COLLECTIVE && purpose[o->peer] == NO_FAMILY)
            purpose[o->peer] = o->purpose;
    }
}

static void add_family(struct timer *t, const uint32_t *number, uint32_t family, uint32_t size)
{
    const struct schedule *s = t->s;
    uint32_t count = 0;
    uint32_t *host = hx_allocate(s->head->members, sizeof *host);
    for (uint32_t group = 0; group < s->head->groups; group++) {
        for (uint32_t i = 0; i < size && number[group] == family; i++)
            host[(size_t)count * size + i] = t->host[schedule_group(s, group)[i]];
        t->place[group] = number[group] == family ? count++ : t->place[group];
    }
    const unsigned added = network_add_family(t->network, size, count, host);
    for (uint32_t group = 0; group < s->head->groups; group++)
        t->family[group] = number[group] == family ? added : t->family[group];
    free(host);
}

static void find_families(struct timer *t)
{
    const struct schedule *s = t->s;
    struct hx_blobs keys = {.count = 0};
    uint32_t *number = hx_allocate(s->head->groups + 1, sizeof *number);
    find_purposes(s, number);
    for (uint32_t group = 0; group < s->head->groups; group++) {
        const uint32_t *member = schedule_group(s, group);
        const uint32_t size = schedule_group_size(s, group);
        const struct key key = {size, number[group], size > 1 ? member[1] - member[0] : 0};
        t->family[group] = NO_FAMILY;
        if (number[group] != NO_FAMILY)
            number[group] = hx_blobs_add(&keys, &key, sizeof key);
    }
    for (uint32_t family = 0; family < keys.count; family++)
        add_family(t, number, family, ((const struct key *)hx_blobs_at(&keys, family))->size);
    hx_blobs_free(&keys);
    free(number);
}

/* ---- messages ---- */

/* Adds the pairs of a rank's sends. seen[r] == rank + 1: counted; list: room for all ranks. */
static void add_pairs_of(const struct schedule *s, uint32_t rank, uint32_t *seen, uint32_t *list, timed_add *add,
                         const void *of)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < schedule_count(s, rank); i++) {
        const struct schedule_operation *o = schedule_at(s, rank, i);
        if (o->kind != SCHEDULE_SEND || o->peer == rank || seen[o->peer] == rank + 1)
            continue;
        seen[o->peer] = rank + 1;
        list[count++] = o->peer;
    }
    for (uint32_t i = 0; i < count; i++)
        add(of, rank, list[i], 1.0 / count);
}

void timed_each_pair(const struct schedule *s, timed_add *add, const void *of)
{
    const uint32_t ranks = schedule_ranks(s);
    uint32_t *seen = hx_allocate(ranks, sizeof *seen);
    uint32_t *list = hx_allocate(ranks, sizeof *list);
    for (uint32_t rank = 0; rank < ranks; rank++)
        add_pairs_of(s, rank, seen, list, add, of);
    HX_FREE(seen, list);
}

static void add_pair(const void *of, uint32_t from, uint32_t to, double weight)
{
    const struct timer *t = of;
    network_add_pair(t->network, t->host[from], t->host[to], weight);
}

/* ---- times ---- */

static struct schedule_operation *operation_of(struct schedule *s, uint64_t number)
{
    return (struct schedule_operation *)(uintptr_t)&s->operation[number];
}

void timed_scale(struct schedule *s, double scale, unsigned streams)
{
    for (uint64_t i = 0; i < s->head->operations; i++) {
        struct schedule_operation *o = operation_of(s, i);
        if (o->kind == SCHEDULE_COMPUTE && o->stream < streams)
            o->amount = (uint64_t)llround((double)o->amount * scale);
    }
}

/* Numbers of shares in the network, by those of the schedule. */
static struct network_collective collective_of(const struct timer *t, const struct schedule_operation *o,
                                               uint64_t bytes)
{
    const uint32_t *weight = schedule_shares(t->s, o);
    if (weight && !t->shares[o->tag - 1])
        t->shares[o->tag - 1] = network_add_shares(t->network, weight, schedule_group_size(t->s, o->peer));
    return (struct network_collective){.family = t->family[o->peer],
                                       .kind = (enum hx_collective_kind)o->collective,
                                       .algorithm = o->algorithm,
                                       .root = schedule_root(o),
                                       .shares = weight ? t->shares[o->tag - 1] : 0,
                                       .bytes = bytes};
}

static bool set_time(const struct timer *t, uint32_t rank, struct schedule_operation *o, struct hx_problem *problem)
{
    uint64_t ps = 0;
    if (o->kind != SCHEDULE_COLLECTIVE)
        return true;
    if (t->network) {
        const struct network_collective c = collective_of(t, o, o->amount);
        if (!network_collective_ps(t->network, &c, &ps, problem))
            return false;
    }
    o->kind = SCHEDULE_COMPUTE;
    o->amount = ps;
    o->stream = (uint8_t)(LAST_STREAM - (t->in_turn ? 0 : schedule_groups_number(&t->groups, rank, o->peer)));
    o->peer = 0;
    o->tag = SCHEDULE_COMMUNICATES;
    return true;
}

static bool set_times(const struct timer *t, struct schedule *copy, struct hx_problem *problem)
{
    bool good = true;
    for (uint32_t rank = 0; rank < schedule_ranks(copy); rank++) {
        for (uint64_t i = copy->first[rank]; i < copy->first[rank + 1] && good; i++)
            good = set_time(t, rank, operation_of(copy, i), problem);
    }
    return good;
}

static void open_timer(struct timer *t)
{
    t->family = hx_allocate(t->s->head->groups + 1, sizeof *t->family);
    t->place = hx_allocate(t->s->head->groups + 1, sizeof *t->place);
    t->shares = hx_allocate(t->s->head->shares + 1, sizeof *t->shares);
    schedule_groups_make(&t->groups, t->s);
    if (t->network)
        find_families(t);
}

static void close_timer(struct timer *t)
{
    schedule_groups_free(&t->groups);
    HX_FREE(t->family, t->place, t->shares);
}

struct schedule *timed_make(const struct schedule *s, struct network *n, const uint32_t *host, double scale,
                            struct hx_problem *problem)
{
    struct schedule *copy = copy_of(s);
    struct timer t = {.s = s, .network = n, .host = host, .in_turn = n && network_is_narrow(n)};
    open_timer(&t);
    if (n)
        timed_each_pair(s, add_pair, &t);
    timed_scale(copy, scale, SCHEDULE_STREAMS);
    const bool good = set_times(&t, copy, problem);
    close_timer(&t);
    if (good)
        return copy;
    schedule_close(copy);
    return NULL;
}

/* ---- bytes on links ---- */

/* Collectives of a group that are alike but for their bytes. */
struct alike {
    uint32_t group, tag;
    uint8_t kind, algorithm;
    uint16_t purpose;
};

struct laying {
    struct timer timer;
    double *load;  /* [ports] */
    double *bytes; /* [SCHEDULE_MOST_PURPOSES] */
    struct hx_blobs keys;
    struct alike_bytes {
        uint64_t largest;
        double all;
    } * sum; /* of each key */
    size_t room;
};

/* Lays the messages of a rank to each other rank at once. to: [ranks], zero, and zero again. */
static void lay_messages_of(struct laying *l, uint32_t rank, double *to)
{
    const struct timer *t = &l->timer;
    const uint32_t ranks = schedule_ranks(t->s);
    struct schedule_walk walk;
    bool any = false;
    schedule_walk_begin(&walk, t->s, rank);
    while (schedule_walk_next(&walk)) {
        const struct schedule_operation *o = walk.operation;
        if (o->kind != SCHEDULE_SEND || o->peer == rank)
            continue;
        to[o->peer] += (double)o->amount * (double)walk.times;
        any = true;
    }
    schedule_walk_end(&walk);
    for (uint32_t peer = 0; any && peer < ranks; peer++) {
        if (to[peer] > 0)
            network_lay_message(t->network, t->host[rank], t->host[peer], to[peer], l->load);
        to[peer] = 0;
    }
}

/* Adds up the collectives of which a rank is the first member. */
static void add_collectives_of(struct laying *l, uint32_t rank)
{
    struct schedule_walk walk;
    const struct timer *t = &l->timer;
    schedule_walk_begin(&walk, t->s, rank);
    while (schedule_walk_next(&walk)) {
        const struct schedule_operation *o = walk.operation;
        if (o->kind != SCHEDULE_COLLECTIVE || schedule_group(t->s, o->peer)[0] != rank)
            continue;
        const struct alike key = {o->peer, o->tag, o->collective, o->algorithm, o->purpose};
        const size_t known = l->keys.count;
        const uint32_t number = hx_blobs_add(&l->keys, &key, sizeof key);
        l->sum = hx_grow(l->sum, known, &l->room, sizeof *l->sum);
        if (number == known)
            l->sum[number] = (struct alike_bytes){0, 0};
        l->sum[number].largest = o->amount > l->sum[number].largest ? o->amount : l->sum[number].largest;
        l->sum[number].all += (double)o->amount * (double)walk.times;
    }
    schedule_walk_end(&walk);
}

static void lay_collectives(struct laying *l)
{
    const struct timer *t = &l->timer;
    for (uint32_t i = 0; i < l->keys.count; i++) {
        const struct alike *key = hx_blobs_at(&l->keys, i);
        const uint32_t size = schedule_group_size(t->s, key->group);
        const struct schedule_operation o = {
            .peer = key->group, .tag = key->tag, .collective = key->kind, .algorithm = (uint8_t)key->algorithm};
        struct network_collective c = collective_of(t, &o, l->sum[i].largest);
        const uint32_t *weight = schedule_shares(t->s, &o);
        l->bytes[key->purpose] += weight ? l->sum[i].all * size * shares_of_others(weight, size)
                                         : network_collective_bytes(c.kind, size, l->sum[i].all);
        if (size > 1 && network_algorithm(t->network, &c, &c.algorithm))
            network_lay_collective(t->network, &c, t->place[key->group], l->sum[i].all, l->load);
    }
}

void timed_lay(const struct schedule *s, struct network *n, const uint32_t *host, double *load,
               double bytes[SCHEDULE_MOST_PURPOSES])
{
    struct laying l = {.timer = {.s = s, .network = n, .host = host}, .load = load, .bytes = bytes};
    double *to = hx_allocate(schedule_ranks(s), sizeof *to);
    open_timer(&l.timer);
    for (uint32_t rank = 0; rank < schedule_ranks(s); rank++) {
        lay_messages_of(&l, rank, to);
        add_collectives_of(&l, rank);
    }
    lay_collectives(&l);
    close_timer(&l.timer);
    hx_blobs_free(&l.keys);
    HX_FREE(l.sum, to);
}
