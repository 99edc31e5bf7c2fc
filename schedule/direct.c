/* direct.c - collectives as one message for each pair (direct.h). */
#include "schedule/direct.h"

static bool to_root(const struct direct *d)
{
    return d->kind == SCHEDULE_GATHER || d->kind == SCHEDULE_REDUCE;
}

static uint32_t phases_of(uint32_t size)
{
    uint32_t phases = 0;
    while (phases < DIRECT_PHASES && (uint64_t)1 << phases < size)
        phases++;
    return phases;
}

void direct_init(struct direct *d, const struct schedule_operation *o, uint32_t size, uint32_t position)
{
    bool is_root = position == o->tag;
    uint32_t others = size - 1;
    *d = (struct direct){.kind = o->collective, .size = size, .position = position, .root = o->tag};
    d->bytes = d->kind == SCHEDULE_REDUCE ? o->amount : o->amount / size;
    if (d->kind == SCHEDULE_ALL_TO_ALL) {
        d->sends = d->receives = others;
    } else if (d->kind == SCHEDULE_BARRIER) {
        d->bytes = 0;
        d->sends = d->receives = phases_of(size);
    } else {
        bool sends_all = is_root && d->kind == SCHEDULE_SCATTER;
        bool sends_one = !is_root && to_root(d);
        d->sends = sends_all ? others : sends_one;
        d->receives = is_root ? (to_root(d) ? others : 0) : !to_root(d);
    }
}

static uint32_t partner(const struct direct *d)
{
    uint64_t distance = d->kind == SCHEDULE_BARRIER ? (uint64_t)1 << d->next : d->next + UINT64_C(1);
    return to_root(d) ? d->root : (uint32_t)((d->position + distance) % d->size);
}

bool direct_next(const struct direct *d, struct direct_message *m)
{
    bool waits = d->kind == SCHEDULE_BARRIER && d->next && !(d->phases >> (d->next - 1) & 1);
    if (d->next == d->sends || waits)
        return false;
    *m = (struct direct_message){.to = partner(d), .tag = d->kind == SCHEDULE_BARRIER ? d->next : 0, .bytes = d->bytes};
    return true;
}

void direct_take(struct direct *d)
{
    d->next++;
}

bool direct_sent(struct direct *d)
{
    if (d->acked == d->next)
        return false;
    d->acked++;
    return true;
}

bool direct_received(struct direct *d, uint32_t tag)
{
    bool again = d->kind == SCHEDULE_BARRIER && (tag >= d->receives || d->phases >> tag & 1);
    if (d->received == d->receives || again)
        return false;
    if (d->kind == SCHEDULE_BARRIER)
        d->phases |= (uint32_t)1 << tag;
    d->received++;
    return true;
}

bool direct_done(const struct direct *d)
{
    return d->received == d->receives && d->acked == d->sends;
}
