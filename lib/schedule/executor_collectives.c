/* executor_collectives.c - collectives begin, end, send and receive (executor.h). */
#include "schedule/executor_parts.h"
#include "schedule/shares.h"

#include "hxmesh/error.h"
#include "hxmesh/frame.h"

void collectives_close(struct executor *e)
{
    instances_close(e);
    sums_close(e);
    skips_close(e);
    schedule_ordinals_free(&e->ordinals);
}

static const struct schedule_groups *groups_of(const struct executor *e)
{
    return e->plan->groups;
}

/* ---- positions of the engine ---- */

/* SCHEDULE_NO_POSITION: the rank is no member of the group. */
static uint32_t position_of(const struct executor *e, const struct instance *c, uint32_t rank)
{
    uint32_t position = schedule_groups_position(groups_of(e), e->s, c->group, rank);
    return c->choice->position && position != SCHEDULE_NO_POSITION ? c->choice->position[position] : position;
}

static uint32_t rank_at(const struct executor *e, const struct instance *c, uint32_t position)
{
    return schedule_group(e->s, c->group)[c->choice->member ? c->choice->member[position] : position];
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
    uint32_t number = c->group_number << (group_shift(e) - TAG_ORDINAL_SHIFT) | c->ordinal;
    return (uint32_t)1 << TAG_COLLECTIVE_BIT | number << TAG_ORDINAL_SHIFT | hx_collective_brief(&c->engine, tag);
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

/* ---- begin and end ---- */

void collective_end(struct executor *e, struct instance *c)
{
    uint32_t operation = c->operation;
    skip_ended(e, c);
    instance_remove(e, c);
    executor_end(e, operation);
}

static void end_if_done(struct executor *e, struct instance *c)
{
    if (!hx_collective_done(&c->engine))
        return;
    if (sums_run(e, c))
        sums_delay_end(e, c);
    else
        collective_end(e, c);
}

static bool receive(struct executor *e, struct instance *c, uint32_t rank, uint32_t brief)
{
    uint32_t from = position_of(e, c, rank);
    uint32_t tag;
    instance_list(e, c);
    if (from == SCHEDULE_NO_POSITION || hx_collective_arriving(&c->engine, from, brief, &tag) != HX_OK)
        return false;
    sums_note(e, c, tag);
    return hx_collective_received(&c->engine, from, tag) == HX_OK;
}

/* Takes the messages that arrived before the collective began. */
static bool receive_early(struct executor *e, struct instance *c)
{
    bool good = true;
    while (c->early.first != NONE) {
        const struct note early = note_take(e, &c->early);
        good = receive(e, c, early.from, brief_of(early.tag)) && good;
    }
    return good;
}

/* A share of a vector, in elements; of an exchange as many for each member. */
static uint64_t part_of(const struct hx_collective_config *config, double share)
{
    const uint64_t element = hx_collective_element((enum hx_collective_type)config->type);
    const uint64_t unit = config->kind == HX_COLLECTIVE_ALL_TO_ALL ? element * config->size : element;
    return (uint64_t)((double)config->bytes * share) / unit * unit;
}

static bool prepare(const struct executor *e, struct instance *c, double share)
{
    struct hx_collective_config config = c->choice->config;
    if (share < 1)
        config.bytes = part_of(&config, share);
    shares_move(&config, position_of(e, c, e->rank));
    c->state = hx_allocate(1, hx_collective_state(&config));
    if (hx_collective_init(&c->engine, &config, c->state, NULL, NULL) != HX_OK)
        return false;
    hx_collective_use_brief(&c->engine);
    return true;
}

/* Returns false if a message of it was wrong, or if tags cannot tell it from another one in progress. */
static bool begin(struct executor *e, uint32_t number)
{
    const struct schedule_operation *o = operation_at(e, number);
    uint32_t group_number = schedule_groups_number(groups_of(e), e->rank, o->peer);
    uint32_t ordinal = brief_ordinal(e, schedule_ordinal(&e->ordinals, number, group_number, e->iteration));
    struct instance *c = instance_find(e, o->peer, ordinal);
    if (!c)
        c = instance_add(e, o->peer, ordinal);
    else if (c->operation != NONE)
        return false;
    c->operation = number;
    c->choice = e->plan->choose(e->plan->of, o);
    if (skip_begins(e, c))
        return true;
    if (!prepare(e, c, 1) || !receive_early(e, c))
        return false;
    instance_list(e, c);
    end_if_done(e, c);
    return true;
}

void collective_carry_out(struct executor *e, struct instance *c, double share)
{
    const uint32_t number = c->operation;
    c->held = false;
    if (!prepare(e, c, share) || !receive_early(e, c)) {
        e->result->failed = number + 1;
        return;
    }
    instance_list(e, c);
    end_if_done(e, c);
}

void collective_begin(struct executor *e, uint32_t number)
{
    if (schedule_group_size(e->s, operation_at(e, number)->peer) == 1)
        executor_end(e, number);
    else if (!begin(e, number))
        e->result->failed = number + 1;
}

/* ---- messages ---- */

/* Finds a message to a peer with an open window. */
static bool offer(struct executor *e, struct instance *c)
{
    struct hx_collective_send *send = &e->offered.send;
    while (hx_collective_next(&c->engine, c->refused, send)) {
        e->offered.peer = messages_peer(e, rank_at(e, c, send->to));
        if (e->peer[e->offered.peer].in_flight < e->plan->window)
            return true;
        instance_block(e, c, e->offered.peer, send->queue);
    }
    return false;
}

static void take_offered(struct executor *e)
{
    struct instance *c = e->offered.instance;
    hx_collective_take(&c->engine, &e->offered.send);
    e->peer[e->offered.peer].in_flight++;
    time_count_messages(e, c->operation, 1, e->offered.send.bytes);
    c->carried.messages++;
    c->carried.packets += hx_packets(e->offered.send.bytes);
    c->carried.bytes += e->offered.send.bytes;
    instance_unlist(e, c);
    instance_list(e, c);
}

/* Finds the next message of any collective. */
static bool find(struct executor *e, struct executor_message *m)
{
    for (;;) {
        instances_unblock(e);
        struct instance *c = e->first_sender;
        if (!c)
            return false;
        if (!offer(e, c)) {
            instance_unlist(e, c);
            continue;
        }
        e->offered.instance = c;
        *m = (struct executor_message){.to = e->peer[e->offered.peer].rank,
                                       .tag = tag_of(e, c, e->offered.send.tag),
                                       .bytes = e->offered.send.bytes};
        return true;
    }
}

bool collective_next(struct executor *e, struct executor_message *m)
{
    e->offered.collective = true;
    e->offered.delayed = sums_next(e, m);
    if (e->offered.delayed)
        return true;
    while (find(e, m)) {
        if (!sums_run(e, e->offered.instance))
            return true;
        take_offered(e);
        sums_delay_message(e, e->offered.instance, m);
    }
    return false;
}

void collective_take(struct executor *e)
{
    if (e->offered.delayed)
        sums_take(e);
    else
        take_offered(e);
}

bool collective_arrived(struct executor *e, uint32_t from, uint32_t tag)
{
    uint32_t group = from < schedule_ranks(e->s) ? schedule_groups_at(groups_of(e), from, group_number_of(e, tag))
                                                 : SCHEDULE_NO_POSITION;
    if (group == SCHEDULE_NO_POSITION || schedule_groups_number(groups_of(e), e->rank, group) == SCHEDULE_NO_POSITION)
        return false;
    struct instance *c = instance_find(e, group, ordinal_of(e, tag));
    if (!c)
        c = instance_add(e, group, ordinal_of(e, tag));
    if (c->operation == NONE || c->held) {
        note_add(e, &c->early, (struct note){.from = from, .tag = tag});
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
    struct instance *c = instance_find(e, group, ordinal_of(e, tag));
    uint32_t full;
    if (!c || c->operation == NONE)
        return false;
    instance_list(e, c);
    if (hx_collective_leaving(&c->engine, position_of(e, c, to), brief_of(tag), &full) != HX_OK ||
        hx_collective_sent(&c->engine, full) != HX_OK)
        return false;
    end_if_done(e, c);
    return true;
}
