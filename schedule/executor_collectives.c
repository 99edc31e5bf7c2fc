/* executor_collectives.c - collectives in progress (executor.h). */
#include "schedule/executor_parts.h"

#include "hxmesh/error.h"

#include <stdlib.h>

void collectives_close(struct executor *e)
{
    for (size_t i = 0; i < e->instances; i++)
        free(e->instance[i].at);
    HX_FREE(e->instance, e->part);
    schedule_ordinals_free(&e->ordinals);
}

static const struct schedule_groups *groups_of(const struct executor *e)
{
    return e->plan->groups;
}

/* ---- places of a grid, positions in a group ---- */

static uint32_t place_of(const struct instance *c, uint32_t position)
{
    return c->choice->place ? c->choice->place[position] : position;
}

static uint32_t rank_at(const struct executor *e, const struct instance *c, uint32_t place)
{
    uint32_t position = c->choice->position ? c->choice->position[place] : place;
    return schedule_group(e->s, c->group)[position];
}

/* ---- tags ---- */

static unsigned group_shift(const struct executor *e)
{
    return TAG_COLLECTIVE_BIT - groups_of(e)->bits;
}

/* The part of a collective's number that fits into a tag. */
static uint32_t brief_ordinal(const struct executor *e, uint64_t ordinal)
{
    return (uint32_t)ordinal & (((uint32_t)1 << (group_shift(e) - TAG_ORDINAL_SHIFT)) - 1);
}

static uint32_t tag_of(const struct executor *e, const struct instance *c, uint32_t tag)
{
    uint32_t brief = c->direct ? tag : hx_collective_brief(tag);
    uint32_t number = c->group_number << (group_shift(e) - TAG_ORDINAL_SHIFT) | c->ordinal;
    return (uint32_t)1 << TAG_COLLECTIVE_BIT | number << TAG_ORDINAL_SHIFT | brief;
}

static uint32_t group_number_of(const struct executor *e, uint32_t tag)
{
    return (tag & ~((uint32_t)1 << TAG_COLLECTIVE_BIT)) >> group_shift(e);
}

static uint32_t ordinal_of(const struct executor *e, uint32_t tag)
{
    return brief_ordinal(e, tag >> TAG_ORDINAL_SHIFT);
}

static uint32_t brief_of(uint32_t tag)
{
    return tag & ((1U << HX_COLLECTIVE_BRIEF_BITS) - 1);
}

static struct instance *find(const struct executor *e, uint32_t group, uint32_t ordinal)
{
    for (size_t i = 0; i < e->instances; i++) {
        if (e->instance[i].at->group == group && e->instance[i].at->ordinal == ordinal)
            return e->instance[i].at;
    }
    return NULL;
}

/* ---- begin and end ---- */

static void remove_instance(struct executor *e, const struct instance *c)
{
    size_t i = 0;
    while (e->instance[i].at != c)
        i++;
    free(e->instance[i].at);
    for (e->instances--; i < e->instances; i++)
        e->instance[i] = e->instance[i + 1];
    e->first_to_ask = 0;
}

static void end_if_done(struct executor *e, struct instance *c)
{
    bool done = c->direct ? direct_done(&c->program) : hx_collective_done(&c->engine);
    uint32_t operation = c->operation;
    if (!done)
        return;
    remove_instance(e, c);
    executor_end(e, operation);
}

static bool receive(struct executor *e, struct instance *c, uint32_t from, uint32_t brief)
{
    uint32_t position = schedule_groups_position(groups_of(e), e->s, c->group, from);
    uint32_t tag;
    c->idle = false;
    if (position == SCHEDULE_NO_POSITION)
        return false;
    if (c->direct)
        return direct_received(&c->program, brief);
    uint32_t place = place_of(c, position);
    unsigned columns = c->engine.config.columns;
    return hx_collective_arriving(&c->engine, brief, &tag) == HX_OK &&
           hx_collective_received(&c->engine, place % columns, place / columns, tag) == HX_OK;
}

/* Takes the messages that arrived before the collective began. */
static bool receive_early(struct executor *e, struct instance *c)
{
    size_t kept = 0;
    bool good = true;
    for (size_t i = 0; i < e->parts; i++) {
        const struct early_part part = e->part[i];
        if (part.group == c->group && part.ordinal == c->ordinal)
            good = receive(e, c, part.from, brief_of(part.tag)) && good;
        else
            e->part[kept++] = part;
    }
    e->parts = kept;
    return good;
}

static struct instance *add(struct executor *e, uint32_t number)
{
    const struct schedule_operation *o = operation_at(e, number);
    struct instance *c = hx_allocate(1, sizeof *c);
    c->group = o->peer;
    c->group_number = schedule_groups_number(groups_of(e), e->rank, o->peer);
    c->ordinal = brief_ordinal(e, schedule_ordinal(&e->ordinals, number, c->group_number, e->iteration));
    c->operation = number;
    c->choice = e->plan->choose(e->plan->of, o);
    c->direct = c->choice->direct;
    e->instance = hx_grow(e->instance, e->instances, &e->instances_room, sizeof *e->instance);
    e->instance[e->instances++].at = c;
    return c;
}

static bool prepare(const struct executor *e, struct instance *c)
{
    const struct schedule_operation *o = operation_at(e, c->operation);
    uint32_t position = schedule_groups_position(groups_of(e), e->s, c->group, e->rank);
    if (c->direct) {
        direct_init(&c->program, o, schedule_group_size(e->s, c->group), position);
        return true;
    }
    struct hx_collective_config config = c->choice->config;
    config.column = (uint16_t)(place_of(c, position) % config.columns);
    config.row = (uint16_t)(place_of(c, position) / config.columns);
    return hx_collective_init(&c->engine, &config, NULL, NULL) == HX_OK;
}

void collective_begin(struct executor *e, uint32_t number)
{
    const struct schedule_operation *o = operation_at(e, number);
    if (schedule_group_size(e->s, o->peer) == 1) {
        executor_end(e, number);
        return;
    }
    struct instance *c = add(e, number);
    if (!prepare(e, c) || !receive_early(e, c))
        e->result->failed = number + 1;
    else
        end_if_done(e, c);
}

/* ---- messages ---- */

static bool next_of_engine(struct executor *e, struct instance *c)
{
    struct hx_collective_send *send = &e->offered.send;
    while (hx_collective_next(&c->engine, c->refused, send)) {
        uint32_t place = (uint32_t)send->gy * c->engine.config.columns + send->gx;
        uint32_t peer = messages_peer(e, rank_at(e, c, place));
        e->offered.peer = peer;
        e->offered.bytes = send->bytes;
        if (e->peer[peer].in_flight < e->plan->window)
            return true;
        c->refused |= (uint32_t)1 << send->lane;
    }
    return false;
}

static bool next_of_direct(struct executor *e, const struct instance *c)
{
    struct direct_message m;
    if (!direct_next(&c->program, &m))
        return false;
    e->offered.peer = messages_peer(e, schedule_group(e->s, c->group)[m.to]);
    e->offered.bytes = m.bytes;
    e->offered.send.tag = m.tag;
    return e->peer[e->offered.peer].in_flight < e->plan->window;
}

bool collective_next(struct executor *e, struct executor_message *m)
{
    for (size_t n = 0; n < e->instances; n++) {
        struct instance *c = e->instance[(e->first_to_ask + n) % e->instances].at;
        if (c->idle)
            continue;
        c->idle = !(c->direct ? next_of_direct(e, c) : next_of_engine(e, c));
        if (c->idle)
            continue;
        e->offered.collective = true;
        e->offered.instance = c;
        *m = (struct executor_message){
            .to = e->peer[e->offered.peer].rank, .tag = tag_of(e, c, e->offered.send.tag), .bytes = e->offered.bytes};
        return true;
    }
    return false;
}

void collective_take(struct executor *e)
{
    struct instance *c = e->offered.instance;
    if (c->direct)
        direct_take(&c->program);
    else
        hx_collective_take(&c->engine, &e->offered.send);
    e->peer[e->offered.peer].in_flight++;
    e->result->messages++;
    e->result->bytes += e->offered.bytes;
    e->first_to_ask = (e->first_to_ask + 1) % e->instances;
}

bool collective_arrived(struct executor *e, uint32_t from, uint32_t tag)
{
    uint32_t group = from < schedule_ranks(e->s) ? schedule_groups_at(groups_of(e), from, group_number_of(e, tag))
                                                 : SCHEDULE_NO_POSITION;
    if (group == SCHEDULE_NO_POSITION || schedule_groups_number(groups_of(e), e->rank, group) == SCHEDULE_NO_POSITION)
        return false;
    struct instance *c = find(e, group, ordinal_of(e, tag));
    if (!c) {
        e->part = hx_grow(e->part, e->parts, &e->parts_room, sizeof *e->part);
        e->part[e->parts++] = (struct early_part){group, ordinal_of(e, tag), from, tag};
        e->result->early++;
        return true;
    }
    bool good = receive(e, c, from, brief_of(tag));
    if (good)
        end_if_done(e, c);
    return good;
}

bool collective_sent(struct executor *e, uint32_t to, uint32_t tag)
{
    uint32_t group = schedule_groups_at(groups_of(e), e->rank, group_number_of(e, tag));
    struct instance *c = find(e, group, ordinal_of(e, tag));
    uint32_t full;
    (void)to;
    if (!c)
        return false;
    c->idle = false;
    bool good = c->direct ? direct_sent(&c->program)
                          : hx_collective_leaving(&c->engine, brief_of(tag), &full) == HX_OK &&
                                hx_collective_sent(&c->engine, full) == HX_OK;
    if (good)
        end_if_done(e, c);
    return good;
}

void collectives_unblock(struct executor *e)
{
    for (size_t i = 0; i < e->instances; i++) {
        e->instance[i].at->refused = 0;
        e->instance[i].at->idle = false;
    }
}

bool collectives_may_send(const struct executor *e)
{
    for (size_t i = 0; i < e->instances; i++) {
        if (!e->instance[i].at->idle)
            return true;
    }
    return false;
}
