/* executor_sums.c - sums of collectives take time (executor.h): a rank adds what arrives, one message after the other.
 *
 * The engine takes a message when it arrives. What it then offers is taken from it at once, and waits until the
 * collective's sums have ended, and so does the collective's end. */
#include "schedule/executor_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void sums_close(struct executor *e)
{
    HX_FREE(e->delayed.item, e->ending.item);
}

bool sums_run(const struct executor *e, const struct instance *c)
{
    return c->summed > e->now;
}

void sums_note(struct executor *e, struct instance *c, uint32_t tag)
{
    const double rate = e->plan->costs.sum_rate;
    uint64_t bytes = rate > 0 ? hx_collective_sums(&c->engine, tag) : 0;
    if (bytes == 0)
        return;
    e->summed = (e->summed > e->now ? e->summed : e->now) + (uint64_t)llround((double)bytes * 1000 / rate);
    c->summed = e->summed;
}

/* ---- what waits ---- */

static void delay(struct delays *d, struct instance *c, struct executor_message m)
{
    d->item = hx_grow(d->item, d->count, &d->room, sizeof *d->item);
    size_t at = d->count++;
    for (; at && d->item[at - 1].until > c->summed; at--)
        d->item[at] = d->item[at - 1];
    d->item[at] = (struct delayed){c->summed, c, m};
}

static struct delayed take_first(struct delays *d)
{
    const struct delayed first = d->item[0];
    memmove(d->item, d->item + 1, --d->count * sizeof *d->item);
    return first;
}

static uint64_t first_of(const struct delays *d)
{
    return d->count ? d->item[0].until : EXECUTOR_NEVER;
}

void sums_delay_message(struct executor *e, struct instance *c, const struct executor_message *m)
{
    delay(&e->delayed, c, *m);
}

void sums_delay_end(struct executor *e, struct instance *c)
{
    delay(&e->ending, c, (struct executor_message){.bytes = 0});
}

bool sums_next(const struct executor *e, struct executor_message *m)
{
    if (first_of(&e->delayed) > e->now)
        return false;
    *m = e->delayed.item[0].message;
    return true;
}

void sums_take(struct executor *e)
{
    (void)take_first(&e->delayed);
}

bool sums_end_one(struct executor *e, uint64_t now)
{
    if (first_of(&e->ending) > now)
        return false;
    const struct delayed first = take_first(&e->ending);
    e->now = first.until > e->now ? first.until : e->now;
    collective_end(e, first.of);
    return true;
}

uint64_t sums_end(const struct executor *e)
{
    return first_of(&e->ending);
}

uint64_t sums_wake(const struct executor *e)
{
    uint64_t first = first_of(&e->delayed);
    uint64_t message = first > e->now ? first : EXECUTOR_NEVER; /* or it waits for the network to take it */
    uint64_t end = first_of(&e->ending);
    return message < end ? message : end;
}
