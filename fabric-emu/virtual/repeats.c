/* repeats.c - finds equal states, and leaves periods out (repeats.h). */
#include "repeats.h"
#include "base/error.h"
#include "base/split_mix.h"
#include "order.h"
#include "repeats_state.h"

#include <stdlib.h>
#include <string.h>

enum {
    REST_WINDOWS = 4, /* without an event: shorter rests are not looked at */
    MOST_KEPT = 256,  /* states */
    MOST_PAIRS = 8    /* of a state with kept ones, the newest first */
};
#define MOST_BYTES (UINT64_C(256) << 20) /* of kept states of all workers, if there are more than two */

/* A state that may come again. */
struct kept {
    uint64_t at;   /* ps */
    uint64_t busy; /* ps from the rest before to this one */
    uint64_t digest;
    uint64_t *value; /* [values], of the walk */
    size_t values, room;
    struct executor_mark **mark; /* [accelerators]; NULL: no executor */
};

struct repeats {
    struct worker *w;
    struct virtual_order order;
    uint64_t chance;     /* ps: last packet of all workers with several paths */
    uint64_t rested;     /* ps: end of the last rest */
    uint64_t busy;       /* ps from there to this rest; the longest one since the newest kept state */
    struct kept *kept;   /* [MOST_KEPT]: the n-th state is in n % places */
    uint64_t kept_count; /* states so far */
    unsigned places;     /* 0: not known yet */
};

struct repeats *repeats_open(struct worker *w)
{
    struct repeats *r = hx_allocate(1, sizeof *r);
    r->w = w;
    r->order.turned = hx_allocate((size_t)w->sim_nodes * HX_MAX_PLANES + 1, sizeof *r->order.turned);
    r->kept = hx_allocate(MOST_KEPT, sizeof *r->kept);
    w->v.order = &r->order;
    return r;
}

static void drop(const struct repeats *r, struct kept *kept)
{
    kept->values = 0;
    for (uint32_t i = 0; kept->mark && i < r->w->accelerators; i++) {
        free(kept->mark[i]);
        kept->mark[i] = NULL;
    }
}

/* ---- walks ---- */

/* A walk of a state against the kept one. */
struct walk {
    struct state_walk walk;
    struct kept *kept;
    uint64_t now, period, periods;
    uint64_t digest;
    uint64_t step; /* difference of the last base */
    size_t at;     /* values of the kept state that were visited */
    bool alike;
};

static struct walk *walk_of(struct state_walk *w)
{
    return (struct walk *)w;
}

/* A field, or any other number of so many bytes, in the machine's order of bytes. */
union number {
    uint8_t one;
    uint16_t two;
    uint32_t four;
    uint64_t eight;
};

static uint64_t read_field(const void *at, unsigned bytes)
{
    union number n;
    memcpy(&n, at, bytes);
    return bytes == 1 ? n.one : bytes == 2 ? n.two : bytes == 4 ? n.four : n.eight;
}

static void write_field(void *at, unsigned bytes, uint64_t value)
{
    union number n;
    if (bytes == 1)
        n.one = (uint8_t)value;
    else if (bytes == 2)
        n.two = (uint16_t)value;
    else if (bytes == 4)
        n.four = (uint32_t)value;
    else
        n.eight = value;
    memcpy(at, &n, bytes);
}

static void add_to_digest(struct state_walk *walk, void *at, unsigned bytes, enum state_rule rule)
{
    struct walk *w = walk_of(walk);
    if (rule != STATE_EQUAL && rule != STATE_TIME)
        return;
    uint64_t value = read_field(at, bytes);
    w->digest = split_mix(w->digest ^ (rule == STATE_TIME ? value - w->now : value));
}

static void save(struct state_walk *walk, void *at, unsigned bytes, enum state_rule rule)
{
    struct kept *kept = walk_of(walk)->kept;
    (void)rule;
    kept->value = hx_grow(kept->value, kept->values, &kept->room, sizeof *kept->value);
    kept->value[kept->values++] = read_field(at, bytes);
}

/* Difference from the kept value, in the width of the field. */
static uint64_t moved(const struct walk *w, uint64_t value, unsigned bytes)
{
    return (value - w->kept->value[w->at]) & UINT64_MAX >> (64 - 8 * bytes);
}

static bool keeps_rule(const struct walk *w, uint64_t difference, unsigned bytes, enum state_rule rule)
{
    switch (rule) {
    case STATE_EQUAL:
    case STATE_STILL:
        return difference == 0;
    case STATE_TIME:
        return difference == w->period;
    case STATE_NOTE:
        return difference == 0 || difference == w->period;
    case STATE_INDEX:
        return difference == 0 || difference == (w->step & UINT64_MAX >> (64 - 8 * bytes));
    default:
        return true;
    }
}

static void compare(struct state_walk *walk, void *at, unsigned bytes, enum state_rule rule)
{
    struct walk *w = walk_of(walk);
    if (!w->alike || w->at == w->kept->values) {
        w->alike = false;
        return;
    }
    uint64_t difference = moved(w, read_field(at, bytes), bytes);
    if (rule == STATE_BASE)
        w->step = difference;
    w->alike = keeps_rule(w, difference, bytes, rule);
    w->at++;
}

static void go_on(struct state_walk *walk, void *at, unsigned bytes, enum state_rule rule)
{
    struct walk *w = walk_of(walk);
    (void)rule;
    uint64_t value = read_field(at, bytes);
    uint64_t difference = value - w->kept->value[w->at++];
    write_field(at, bytes, value + w->periods * difference);
}

static void walk_all(const struct repeats *r, struct walk *w)
{
    repeats_state_walk(r->w, w->kept ? w->kept->at : 0, &w->walk);
}

/* ---- states ---- */

static uint64_t digest_of(const struct repeats *r, uint64_t now)
{
    struct walk w = {.walk = {add_to_digest}, .now = now};
    walk_all(r, &w);
    return w.digest;
}

/* Keeps the present state, in place of the oldest one if there are many. */
static void keep(struct repeats *r, uint64_t now, uint64_t digest)
{
    struct kept *kept = &r->kept[r->places ? r->kept_count % r->places : 0];
    struct walk w = {.walk = {save}, .kept = kept};
    drop(r, kept);
    kept->at = now;
    kept->busy = r->busy;
    kept->digest = digest;
    walk_all(r, &w);
    if (!kept->mark)
        kept->mark = hx_allocate(r->w->accelerators + 1U, sizeof(struct executor_mark *));
    for (uint32_t i = 0; i < r->w->accelerators; i++) {
        const struct executor *e = workload_executor(r->w->driver[i].workload);
        kept->mark[i] = e ? executor_mark(e) : NULL;
    }
    r->kept_count++;
    r->busy = 0;
}

/* The longest time without a rest since a kept state, ps: no message was in flight for longer. */
static uint64_t busy_since(const struct repeats *r, const struct kept *kept)
{
    uint64_t most = r->busy;
    for (uint64_t back = 1; back <= r->kept_count && back <= r->places; back++) {
        const struct kept *k = &r->kept[(r->kept_count - back) % r->places];
        if (k == kept)
            break;
        most = k->busy > most ? k->busy : most;
    }
    return most;
}

static bool is_alike(const struct repeats *r, struct kept *kept, uint64_t now)
{
    struct walk w = {.walk = {compare}, .kept = kept, .period = now - kept->at, .alike = true};
    walk_all(r, &w);
    return w.alike && w.at == kept->values;
}

static uint64_t own_periods(const struct repeats *r, const struct kept *kept, uint64_t now)
{
    uint64_t period = now - kept->at;
    uint64_t least = repeats_state_periods(r->w, now, period, busy_since(r, kept));
    for (uint32_t i = 0; i < r->w->accelerators && least; i++) {
        if (!kept->mark[i])
            continue;
        const struct executor *e = workload_executor(r->w->driver[i].workload);
        uint64_t periods = executor_periods(e, kept->mark[i], now, period);
        least = periods < least ? periods : least;
    }
    return least;
}

/* ---- what all workers agree on ---- */

/* The number of states to keep, from the size of the first. */
static void choose_places(struct repeats *r)
{
    uint64_t values = r->kept[0].values;
    for (uint32_t i = 0; i < r->w->accelerators; i++) {
        const struct executor *e = workload_executor(r->w->driver[i].workload);
        values += e ? executor_mark_values(e) : 0;
    }
    struct virtual_turn turn = {.active = values};
    model_turn(r->w->m, &turn);
    uint64_t most = MOST_BYTES / (turn.active * sizeof(uint64_t) + 1);
    r->places = (unsigned)(most < 2 ? 2 : most > MOST_KEPT ? MOST_KEPT : most);
}

/* Steps of the period recur in those that are left out. */
static void move_turned(struct repeats *r, const struct kept *kept, uint64_t by)
{
    for (size_t i = 0; i < (size_t)r->w->sim_nodes * HX_MAX_PLANES; i++)
        r->order.turned[i] += r->order.turned[i] >= kept->at ? by : 0;
}

/* Leaves periods out. Returns the next window with an event. */
static uint64_t leave_out(struct repeats *r, struct kept *kept, uint64_t now, uint64_t periods)
{
    struct worker *w = r->w;
    uint64_t period = now - kept->at;
    uint64_t iterations = 0;
    for (uint32_t i = 0; i < w->accelerators; i++) {
        struct executor *e = workload_executor(w->driver[i].workload);
        uint64_t own = e ? executor_go_on(e, kept->mark[i], periods, period) : 0;
        iterations = own > iterations ? own : iterations;
    }
    struct walk walk = {.walk = {go_on}, .kept = kept, .periods = periods};
    walk_all(r, &walk);
    move_turned(r, kept, periods * period);
    uint64_t window = (now + periods * period) / w->v.wheel.width;
    r->rested += periods * period;
    repeats_state_settle(w, window);
    struct repeats_count *count = &w->area->repeats;
    count->cuts++;
    count->periods += periods;
    count->iterations += iterations;
    count->skipped_ps += periods * period;
    return window;
}

/* Periods that may be left out after a kept state of the same digest; 0: none. */
static uint64_t periods_after(const struct repeats *r, struct kept *kept, uint64_t now)
{
    struct repeats_count *count = &r->w->area->repeats;
    count->pairs++;
    if (r->chance >= kept->at) {
        count->by_chance++;
        return 0;
    }
    bool alike = is_alike(r, kept, now);
    struct virtual_turn turn = {.next = alike ? own_periods(r, kept, now) : 0, .active = !alike};
    model_turn(r->w->m, &turn);
    count->unlike += turn.active != 0;
    count->too_late += turn.active == 0 && turn.next == 0;
    return turn.active || turn.next == UINT64_MAX ? 0 : turn.next;
}

/* Leaves out as much time as some kept state allows. Returns the next window. */
static uint64_t take_state(struct repeats *r, uint64_t now, uint64_t digest, uint64_t next)
{
    struct kept *best = NULL;
    uint64_t best_periods = 0;
    uint64_t kept = r->kept_count < r->places ? r->kept_count : r->places;
    r->w->area->repeats.states++;
    for (uint64_t back = 1, pairs = 0; back <= kept && pairs < MOST_PAIRS; back++) {
        struct kept *k = &r->kept[(r->kept_count - back) % r->places];
        if (k->digest != digest)
            continue;
        pairs++;
        uint64_t periods = periods_after(r, k, now);
        if (periods && (!best || periods * (now - k->at) > best_periods * (now - best->at))) {
            best = k;
            best_periods = periods;
        }
    }
    if (best)
        return leave_out(r, best, now, best_periods);
    keep(r, now, digest);
    if (!r->places)
        choose_places(r);
    return next;
}

static bool is_newest(const struct repeats *r, uint64_t now)
{
    return r->kept_count && r->kept[(r->kept_count - 1) % r->places].at == now;
}

uint64_t repeats_look(struct repeats *r, uint64_t next)
{
    struct worker *w = r->w;
    if (next == VIRTUAL_NO_WINDOW || next < w->v.wheel.current + REST_WINDOWS)
        return next;
    uint64_t by = next * w->v.wheel.width;
    bool rests = repeats_state_rests(w, by);
    struct virtual_turn turn = {.next = repeats_state_first(w), .active = !rests, .moved = r->order.chance};
    model_turn(r->w->m, &turn);
    uint64_t now = turn.next;
    r->chance = turn.moved;
    if (turn.active || now == VIRTUAL_NEVER)
        return next;
    uint64_t until = (w->v.wheel.current + 1) * w->v.wheel.width;
    uint64_t busy = until > r->rested ? until - r->rested : 0;
    r->busy = busy > r->busy ? busy : r->busy;
    r->rested = now;
    if (is_newest(r, now))
        return next;
    turn = (struct virtual_turn){.active = digest_of(r, now)};
    model_turn(r->w->m, &turn);
    return take_state(r, now, turn.active, next);
}
