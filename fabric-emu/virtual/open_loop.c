/* open_loop.c - ends the warm-up when the load is steady, and the load when all marked messages have arrived
 * (open_loop.h). */
#include "open_loop.h"
#include "base/error.h"

#include <math.h>

enum { PERIODS = 20 /* of the duration */ };
#define STEADY 0.05

bool open_loop_is_of(const struct worker *w, uint32_t rank)
{
    const struct workload_plan *plan = &w->m->workload;
    return w->over != UINT64_MAX && plan->rate > 0 && plan->traffic && !workload_is_common(plan, rank) &&
           traffic_messages(plan->traffic, rank) == UINT64_MAX;
}

void open_loop_begin(struct worker *w)
{
    const struct hx_settings *s = &w->m->settings;
    w->warm = s->warm_up_ns * PS_PER_NS;
    w->over = s->duration_ns ? s->duration_ns * PS_PER_NS : UINT64_MAX;
    w->stops = w->over;
    w->open.of_job = hx_allocate(w->m->jobs.slots, sizeof *w->open.of_job);
    for (uint32_t rank = 0; rank < w->m->g->hosts; rank++) {
        if (!open_loop_is_of(w, rank))
            continue;
        w->open.on = true;
        w->open.of_job[w->m->jobs.slot[rank]] = true;
    }
    if (!w->open.on)
        return;
    w->stops = UINT64_MAX;
    w->open.period = w->over / PERIODS;
    w->open.finds = !(s->given & HX_GIVEN_WARM_UP);
    if (w->open.finds) {
        w->warm = UINT64_MAX;
        w->open.look = w->open.period;
    }
}

/* ---- warm-up ---- */

static uint64_t sum_of_all(const struct worker *w, uint64_t own)
{
    struct virtual_turn turn = {.active = own};
    model_turn(w->m, &turn);
    const struct virtual_record *r;
    do
        r = virtual_channel_receive(w->v.channel); /* none: nothing is sent between the last window and this turn */
    while (r);
    return turn.active;
}

static bool is_near(double value, double before)
{
    return fabs(value - before) <= STEADY * before;
}

static double mean_of(const struct open_period *p)
{
    return (double)p->latency / (double)p->packets;
}

/* Whether load and latency of a period are those of the one before. */
static bool is_steady(const struct open_period *now, const struct open_period *before)
{
    return before->packets && now->packets && is_near((double)now->bytes, (double)before->bytes) &&
           is_near(mean_of(now), mean_of(before));
}

/* The first cell at or after a time, and then the next whole nanosecond, as --warm-up has it. */
static uint64_t from_cell(const struct worker *w, uint64_t time)
{
    const uint64_t cell = w->m->cell * w->v.wheel.width;
    const uint64_t begin = (time + cell - 1) / cell * cell;
    return (begin + PS_PER_NS - 1) / PS_PER_NS * PS_PER_NS;
}

/* Ends the warm-up if the load is steady, or half of the duration has passed. */
static void look_at_load(struct worker *w)
{
    struct open_loop *o = &w->open;
    const struct open_period all = {.latency = sum_of_all(w, o->now.latency),
                                    .packets = sum_of_all(w, o->now.packets),
                                    .bytes = sum_of_all(w, o->now.bytes)};
    o->steady = is_steady(&all, &o->before);
    if (o->steady || 2 * o->look >= w->over)
        w->warm = from_cell(w, o->look);
    o->before = all;
    o->now = (struct open_period){0};
    o->look += o->period;
}

/* ---- end ---- */

bool open_loop_goes_on(struct worker *w, const struct virtual_turn *turn)
{
    const uint64_t cell = w->m->cell;
    if (!w->open.on || w->area->stopped)
        return false;
    bool none = turn->next == VIRTUAL_NO_WINDOW;
    const uint64_t begin = none ? UINT64_MAX : turn->next / cell * cell * w->v.wheel.width;
    while (w->warm == UINT64_MAX && begin >= w->open.look)
        look_at_load(w);
    if (begin >= w->over && (turn->active == 0 || begin - w->over >= (w->over - w->warm) / 2)) {
        w->stops = 0;
        w->area->stopped = true;
    }
    return true;
}

void open_loop_report(const struct worker *w)
{
    struct model_area *area = w->area;
    area->open = w->open.on;
    area->steady = w->open.steady;
    area->warm = w->warm < w->over ? w->warm : 0; /* interrupted before the load was steady: all counts */
}
