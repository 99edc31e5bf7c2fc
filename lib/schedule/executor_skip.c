/* executor_skip.c - collectives without messages: they are held, then end at a time, or are carried out after all
 * (executor.h). */
#include "schedule/executor_parts.h"

#include <stdlib.h>

void skips_close(struct executor *e)
{
    free(e->skips.item);
}

bool skip_begins(struct executor *e, struct instance *c)
{
    const struct executor_skips *s = e->plan->skips;
    c->held = s && s->begins(s->of, &(struct executor_collective){e->rank, c->group, c->ordinal, c->operation}, e->now);
    return c->held;
}

void skip_ended(struct executor *e, const struct instance *c)
{
    const struct executor_skips *s = e->plan->skips;
    if (s)
        s->ended(s->of, &(struct executor_collective){e->rank, c->group, c->ordinal, c->operation}, e->now,
                 &c->carried);
}

void skip_message(const struct executor *e, uint32_t to, bool begins)
{
    const struct executor_skips *s = e->plan->skips;
    if (s && to != e->rank)
        s->message(s->of, e->rank, to, begins, e->now);
}

/* ---- times ---- */

/* Removes what is noted for an instance: asking, or all else. */
static void forget(struct executor *e, const struct instance *c, bool asking)
{
    struct skips *s = &e->skips;
    size_t at = 0;
    while (at < s->count && (s->item[at].instance != c || (s->item[at].action == SKIP_ASKS) != asking))
        at++;
    for (; at + 1 < s->count; at++)
        s->item[at] = s->item[at + 1];
    s->count = at < s->count ? at : s->count;
}

static void note(struct executor *e, const struct skip *skip)
{
    struct skips *s = &e->skips;
    forget(e, skip->instance, skip->action == SKIP_ASKS);
    s->item = hx_grow(s->item, s->count, &s->room, sizeof *s->item);
    size_t at = s->count++;
    for (; at && s->item[at - 1].at > skip->at; at--)
        s->item[at] = s->item[at - 1];
    s->item[at] = *skip;
}

void executor_skip(struct executor *e, uint32_t group, uint32_t ordinal, uint64_t at,
                   const struct executor_carried *carried)
{
    struct instance *c = instance_find(e, group, ordinal);
    note(e, &(struct skip){.at = at, .instance = c, .action = SKIP_ENDS, .carried = *carried});
}

void executor_carry(struct executor *e, uint32_t group, uint32_t ordinal, uint64_t at, double share,
                    const struct executor_carried *carried)
{
    struct instance *c = instance_find(e, group, ordinal);
    note(e, &(struct skip){.at = at, .instance = c, .action = SKIP_CARRIES, .share = share, .carried = *carried});
}

void executor_ask(struct executor *e, uint32_t group, uint32_t ordinal, uint64_t at)
{
    note(e, &(struct skip){.at = at, .instance = instance_find(e, group, ordinal), .action = SKIP_ASKS});
}

struct executor_carried executor_has_carried(const struct executor *e, uint32_t group, uint32_t ordinal)
{
    return instance_find(e, group, ordinal)->carried;
}

uint64_t skips_next(const struct executor *e)
{
    return e->skips.count ? e->skips.item[0].at : EXECUTOR_NEVER;
}

static void ask(struct executor *e, const struct instance *c)
{
    const struct executor_skips *s = e->plan->skips;
    s->asked(s->of, &(struct executor_collective){e->rank, c->group, c->ordinal, c->operation}, e->now);
}

bool skips_take_one(struct executor *e, uint64_t now)
{
    if (skips_next(e) > now)
        return false;
    const struct skip first = e->skips.item[0];
    struct instance *c = first.instance;
    forget(e, c, first.action == SKIP_ASKS);
    e->now = first.at > e->now ? first.at : e->now;
    if (first.action == SKIP_ASKS) {
        ask(e, c);
        return true;
    }
    forget(e, c, true);
    time_count_messages(e, c->operation, first.carried.messages, first.carried.bytes);
    if (first.action == SKIP_ENDS)
        collective_end(e, c);
    else
        collective_carry_out(e, c, first.share);
    return true;
}
