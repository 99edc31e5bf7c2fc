/* fast_forward_hold.c - collectives that are held: they end by an example, or are carried out after all
 * (fast_forward_parts.h). */
#include "workload/fast_forward_parts.h"

#include <math.h>
#include <stdlib.h>

static uint32_t group_of(const struct flight *l)
{
    return (uint32_t)(l->key >> 32);
}

/* ---- looking ---- */

static void ask_at(const struct flight *l, uint32_t member, uint64_t at)
{
    executor_ask(fast_forward_executor(l, member), group_of(l), (uint32_t)l->key, at);
    l->job->f->config.wake(l->job->f->config.of, fast_forward_host(l, member), at);
}

static void look_at(struct flight *l, uint64_t at)
{
    if (l->ended || l->look <= at)
        return;
    l->look = at;
    ask_at(l, 0, at);
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

uint64_t hold_wait(const struct flight *l)
{
    const struct fast_forward_config *c = &l->job->f->config;
    return (uint64_t)(c->tolerance * (double)l->kind->shape->duration) + c->delay;
}

void hold_first(const struct flight *l, uint32_t member)
{
    ask_at(l, member, l->first + hold_wait(l));
}

/* After those that begin at the same time. */
void hold_begun(struct flight *l, uint64_t now)
{
    look_at(l, now + l->job->f->config.delay);
}

void hold_look_beside(const struct flight *l, uint64_t now)
{
    for (size_t i = 0; i < l->besides; i++) {
        struct flight *other = l->beside[i];
        if (other->stage == HELD && other->by && !other->cutting)
            look_at(other, now + later(examples_slack(other->by), other->job->f->config.delay));
    }
}

/* Looks again when a neighbour, or one of the example, has begun or ended, and the other should have: neighbours that
 * were there at the last begin first. */
static void look_later(struct flight *l, uint64_t now)
{
    const uint64_t slack = examples_slack(l->by);
    const uint64_t passed = flight_passed(l, now), after = passed > slack ? passed - slack : 0;
    const uint64_t own = contexts_next(l, after), other = contexts_next(l->by, after);
    const uint64_t next = passed <= slack ? 0 : own < other ? own : other;
    if (next != NOT_YET)
        look_at(l, later(l->last + next + slack + 1, now + l->job->f->config.delay));
}

/* ---- ends ---- */

/* A member ends with that of the example; that has not ended: some time. */
static void end_member(struct flight *l, uint32_t member, uint64_t now)
{
    const struct fast_forward_config *c = &l->job->f->config;
    const struct flight *by = l->by;
    const uint64_t at =
        by->end[member] == NOT_YET ? EXECUTOR_NEVER : later(l->last + (by->end[member] - by->last), now + c->delay);
    executor_skip(fast_forward_executor(l, member), group_of(l), (uint32_t)l->key, at, &by->carried[member]);
    if (at != EXECUTOR_NEVER)
        c->wake(c->of, fast_forward_host(l, member), at);
}

static void leave(struct flight *l)
{
    struct flight *by = l->by;
    size_t at = 0;
    if (!by)
        return;
    while (by->follower[at] != l)
        at++;
    by->follower[at] = by->follower[--by->followers];
    l->by = NULL;
    examples_free_unused(by);
}

/* Takes another example. */
static void follow(struct flight *l, struct flight *by, uint64_t now)
{
    leave(l);
    l->by = by;
    by->follower = hx_grow(by->follower, by->followers, &by->followers_room, sizeof(struct flight *));
    by->follower[by->followers++] = l;
    for (uint32_t i = 0; i < l->kind->shape->size; i++)
        end_member(l, i, now);
    l->ending = !by->done && by->ended;
}

/* Whether the flight may still end by its example. */
static bool still_fits(const struct flight *l, uint64_t now)
{
    const struct flight *by = l->by;
    const uint64_t passed = flight_passed(l, now), known = flight_passed(by, by->done ? by->last_end : now);
    return by->whole && contexts_apart(l, by, passed < known ? passed : known, examples_slack(by), !l->any) != NOT_YET;
}

static void look_now(struct flight *l, uint64_t now)
{
    struct fast_forward *f = l->job->f;
    uint64_t apart;
    l->look = NOT_YET;
    if (l->stage != HELD || l->cutting || l->ended || l->ending)
        return;
    if (l->by && still_fits(l, now)) {
        look_later(l, now);
        return;
    }
    struct flight *by = examples_choose(l, now, &apart);
    if (!by && flight_passed(l, now) < l->undecided) {
        look_at(l, l->last + l->undecided + 1);
        return;
    }
    if (!by) {
        f->counts.unlike++;
        hold_cut(l);
        return;
    }
    f->counts.worst_begin =
        fmax(f->counts.worst_begin, (double)apart * f->config.tolerance / (double)examples_slack(by));
    const double differ = examples_begins_differ(l, by);
    if (!l->any && differ > TINY && differ > l->kind->shape->harmless)
        l->kind->shape->owed = true;
    follow(l, by, now);
    look_later(l, now);
}

void hold_asked(struct flight *l, uint64_t now)
{
    if (l->last == NOT_YET)
        hold_cut(l);
    else if (l->look <= now)
        look_now(l, now);
}

void hold_follow(struct flight *by, uint32_t member, uint64_t now)
{
    for (size_t i = by->followers; i-- > 0;) { /* one may leave the list */
        struct flight *l = by->follower[i];
        look_now(l, now);
        if (l->by != by || l->cutting)
            continue;
        l->ending = true;
        end_member(l, member, now);
    }
}

/* ---- carrying out ---- */

void hold_cut(struct flight *l)
{
    struct fast_forward *f = l->job->f;
    if (l->stage != HELD || l->cutting || l->ended || l->ending)
        return;
    l->cutting = true;
    f->cut = hx_grow(f->cut, f->cuts, &f->cuts_room, sizeof(struct flight *));
    f->cut[f->cuts++] = l;
}

void hold_spoil(struct flight *l, uint64_t now)
{
    if (!l->whole)
        return;
    l->whole = false;
    examples_drop(l);
    for (size_t i = l->followers; i-- > 0;) /* one may leave the list */
        look_now(l->follower[i], now);
}

static void scale(struct executor_carried *c, double share)
{
    c->messages = (uint64_t)llround(share * (double)c->messages);
    c->packets = (uint64_t)llround(share * (double)c->packets);
    c->bytes = (uint64_t)llround(share * (double)c->bytes);
}

/* The share of a vector that takes what is left of a duration: its messages have their latency once more. */
static double share_left(const struct shape *s, double passed, double duration)
{
    const double latency = s->latency < (uint64_t)duration ? (double)s->latency : 0;
    return fmax(0, duration - passed - latency) / (duration - latency);
}

/* What a member of a flight in progress has given to the network. */
static struct executor_carried carried_of(const struct flight *by, uint32_t member)
{
    if (by->end[member] != NOT_YET)
        return by->carried[member];
    struct executor_carried carried =
        executor_has_carried(fast_forward_executor(by, member), group_of(by), (uint32_t)by->key);
    carried_add(&carried, &by->carried[member]);
    return carried;
}

/* Share of the vector that an example in progress has carried so far: what it has given to the network, but no more
 * than the fullest link can have carried since. */
static double share_so_far(const struct flight *by, uint64_t passed)
{
    const struct shape *s = by->kind->shape;
    double bytes = 0;
    for (uint32_t i = 0; i < s->size; i++)
        bytes += (double)carried_of(by, i).bytes;
    return fmin(fmin(bytes / s->bytes, (double)passed / (double)s->alone), 1);
}

/* What members of a held flight would have sent so far. Returns which share of the whole. */
static double sent_so_far(const struct flight *l, uint64_t at, struct executor_carried *sent)
{
    const struct flight *by = l->by;
    const struct shape *s = l->kind->shape;
    const uint64_t passed = flight_passed(l, at);
    if (!by)
        return 0;
    double given = 0;
    const double share =
        by->done ? 1 - share_left(s, (double)passed, (double)flight_duration(by)) : share_so_far(by, passed);
    for (uint32_t i = 0; i < s->size; i++) {
        sent[i] = by->done ? by->carried[i] : carried_of(by, i);
        given += (double)sent[i].bytes / s->bytes;
    }
    for (uint32_t i = 0; i < s->size && given > share; i++)
        scale(&sent[i], share / given);
    return share;
}

static void add_left_out(struct flight *l, double share, const struct executor_carried *sent)
{
    struct fast_forward_counts *counts = &l->job->f->counts;
    struct executor_carried all = {0, 0, 0};
    for (uint32_t i = 0; i < l->kind->shape->size; i++)
        carried_add(&all, &sent[i]);
    counts->messages += all.messages;
    counts->packets += all.packets;
    counts->bytes += all.bytes;
    links_add(l, share, &all);
}

/* The rest of a held flight begins at a time: each member as long after the first as it began, if it is the
 * whole. Members that have not begun will do so. */
static void begin_rest(struct flight *l, double share, const struct executor_carried *sent, uint64_t at)
{
    const struct fast_forward_config *c = &l->job->f->config;
    for (uint32_t i = 0; i < l->kind->shape->size; i++) {
        l->carried[i] = sent[i];
        if (l->begin[i] == NOT_YET)
            continue;
        const uint64_t after = l->by ? 0 : l->begin[i] - l->first;
        executor_carry(fast_forward_executor(l, i), group_of(l), (uint32_t)l->key, at + after, share, &sent[i]);
        c->wake(c->of, fast_forward_host(l, i), at + after);
    }
    l->stage = CARRIED;
    l->kind->shape->cut += l->by != NULL;
    l->kind->shape->missed += !l->by;
    l->whole = !links_have_messages(l);
    if (!l->by)
        contexts_delay(l, at - l->first);
    if (l->whole)
        examples_keep(l);
    leave(l);
}

static void carry_out(struct flight *l, uint64_t now)
{
    struct fast_forward *f = l->job->f;
    const uint64_t at = now + f->config.delay;
    struct executor_carried *sent = hx_allocate(l->kind->shape->size, sizeof *sent);
    const double share = sent_so_far(l, at, sent);
    l->cutting = false;
    if (share < 1) {
        f->counts.cut += share > 0;
        add_left_out(l, share, sent);
        begin_rest(l, 1 - share, sent, at);
    } else {
        for (uint32_t i = 0; i < l->kind->shape->size; i++)
            end_member(l, i, now);
    }
    free(sent);
}

void hold_carry_out(struct fast_forward *f, uint64_t now)
{
    for (size_t i = 0; i < f->cuts; i++) {
        const struct flight *l = f->cut[i];
        carry_out(f->cut[i], now);
        for (size_t k = 0; l->stage == CARRIED && k < l->besides; k++)
            hold_cut(l->beside[k]);
    }
    f->cuts = 0;
}

void hold_end(struct flight *l)
{
    struct fast_forward_counts *counts = &l->job->f->counts;
    counts->held++;
    l->kind->shape->held++;
    add_left_out(l, 1, l->by->carried);
    leave(l);
}
