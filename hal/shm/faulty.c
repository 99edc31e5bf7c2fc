/* faulty.c - carrying packets over a faulty link (faulty.h). */
#include "faulty.h"
#include "base/split_mix.h"

#include <string.h>

/* A receiver tells its credit at least so often; what a lost frame said is known at the latest with the next. */
static const uint64_t credit_period_ns = 20000;
static const uint64_t ns_a_second = 1000000000;

/* ---- in and out ---- */

static void note_gone(struct shm_faulty *f)
{
    for (unsigned vc = 0; vc < f->vcs; vc++)
        shm_note(&f->worker->step, &f->from->gone[vc], shm_gone(f->tail, f->taken, vc, 0));
}

static void commit(struct shm_faulty *f)
{
    struct shm_worker *w = f->worker;
    shm_note(&w->step, &f->to->heads, f->head);
    shm_note_pools(w, true);
    shm_note(&w->step, &f->from->tails, f->tail);
    note_gone(f);
    shm_note_pools(w, false);
    shm_step_commit(&w->step);
    shm_commit_pools(w);
}

/* Positions keep their numbers, so that the switch's window stays as it is. */
void shm_faulty_begin(struct shm_faulty *f, struct shm_rx *rx)
{
    for (unsigned vc = 0; vc < f->vcs; vc++) {
        for (uint16_t at = hx_lane(rx->tail, vc); at != hx_lane(rx->seen, vc); at++) {
            unsigned slot = vc * f->size + (at & (f->size - 1));
            f->to->slots[slot] = f->from->slots[slot];
        }
        shm_note(&f->worker->step, &f->to->gone[vc], rx->gone[vc]);
    }
    f->peer = rx->peer;
    f->leaving = false;
    f->head = f->tail = f->taken = f->stamped = rx->seen;
    f->free_at = f->tell_at = 0;
    shm_note(&f->worker->step, &f->to->tails, rx->tail);
    commit(f);
    rx->link = f->to;
    rx->peer = f->worker->self;
}

bool shm_faulty_end(struct shm_faulty *f, struct shm_rx *rx, struct hx_input *in)
{
    if (f->tail != f->taken || rx->tail != f->head || rx->seen != f->head)
        return false;
    rx->link = f->from;
    rx->peer = f->peer;
    rx->tail = rx->seen = in->tail = in->seen = f->tail;
    return true;
}

/* ---- dice ---- */

static bool falls(struct shm_faulty *f, uint32_t share)
{
    return share && split_mix_next(&f->dice) % HX_FAULT_WHOLE < share;
}

/* ---- a packet ---- */

static struct hx_desc *slot_of(const struct shm_faulty *f, struct shm_link *link, unsigned vc, uint16_t position)
{
    return &link->slots[vc * f->size + (position & (f->size - 1))];
}

static unsigned room(const struct shm_faulty *f, unsigned vc)
{
    unsigned used = (uint16_t)(hx_lane(f->head, vc) - hx_lane(shm_load(&f->to->tails), vc));
    return used > f->size ? 0 : f->size - used;
}

static bool is_known(const struct shm_faulty *f, const struct hx_desc *d)
{
    return d->buffer / f->worker->per_home < f->worker->workers && d->length <= HX_MAX_PAYLOAD;
}

static void lose(struct shm_faulty *f, const struct hx_desc *d, uint64_t *count)
{
    if (d->buffer / f->worker->per_home < f->worker->workers)
        shm_buffer_put(f->worker, d->buffer);
    ++*count;
}

/* Where nobody looks at the CRC a turned bit would be delivered as good: there the header becomes one that decodes to
 * nothing. It is set, not turned, so that two links do not mend each other's damage. */
static void corrupt(struct shm_faulty *f, const struct hx_desc *d)
{
    uint8_t *frame = f->worker->buffers[d->buffer].frame;
    if (f->checked) {
        uint64_t bit = split_mix_next(&f->dice) % (8 * (HX_HEADER_BYTES + (uint64_t)d->length - HX_CRC_FIRST));
        frame[HX_CRC_FIRST + bit / 8] ^= (uint8_t)(1U << bit % 8);
    } else {
        frame[HX_AT_VERSION] = (uint8_t)~HX_WIRE_VERSION;
    }
    f->cost->corrupted++;
}

static void arrive(struct shm_faulty *f, unsigned vc, const struct hx_desc *d)
{
    *slot_of(f, f->to, vc, hx_lane(f->head, vc)) = *d;
    f->head = hx_lane_add(f->head, vc, 1);
}

static void duplicate(struct shm_faulty *f, unsigned vc, const struct hx_desc *d)
{
    struct shm_worker *w = f->worker;
    struct hx_desc second = *d;
    if (room(f, vc) == 0 || !shm_buffer_get(w, &second.buffer, w->reserve))
        return;
    w->injected_ns[second.buffer] = w->injected_ns[d->buffer];
    memcpy(w->buffers[second.buffer].frame, w->buffers[d->buffer].frame, HX_HEADER_BYTES + (size_t)d->length);
    arrive(f, vc, &second);
    f->cost->duplicated++;
}

/* There is room for one. The sender's process writes the slot: what is judged is a copy, and that goes on. */
static void carry(struct shm_faulty *f, unsigned vc, uint16_t position)
{
    const struct hx_desc d = shm_read_desc(slot_of(f, f->from, vc, position));
    const struct shm_condition *c = &f->condition;
    bool known = is_known(f, &d);
    if (c->bytes_a_second) {
        uint64_t begins = f->free_at > f->worker->now ? f->free_at : f->worker->now;
        f->free_at = begins + (HX_HEADER_BYTES + (uint64_t)d.length) * ns_a_second / c->bytes_a_second;
    }
    if (falls(f, c->loss)) {
        lose(f, &d, &f->cost->lost);
        return;
    }
    if (known && falls(f, c->corrupt))
        corrupt(f, &d);
    arrive(f, vc, &d);
    if (known && falls(f, c->duplicate))
        duplicate(f, vc, &d);
}

/* ---- a VC ---- */

/* Whether the packet has come to the end of the cable, and the cable can take it. */
static bool is_due(const struct shm_faulty *f, unsigned vc, uint16_t position)
{
    uint64_t now = f->worker->now;
    uint64_t came = f->came_ns[vc][position & (f->size - 1)];
    return now >= came + f->condition.delay_ns && (!f->condition.bytes_a_second || now >= f->free_at);
}

/* Two that change places need room for three: the first may come twice. */
static unsigned carry_due(struct shm_faulty *f, unsigned vc, uint16_t end)
{
    unsigned moved = 0;
    uint16_t at = hx_lane(f->taken, vc);
    while (at != end && room(f, vc) && is_due(f, vc, at)) {
        uint16_t next = (uint16_t)(at + 1);
        bool swap = next != end && room(f, vc) > 2 && is_due(f, vc, next) && falls(f, f->condition.reorder);
        if (swap) {
            carry(f, vc, next);
            f->cost->reordered++;
        }
        carry(f, vc, at);
        moved += swap ? 2 : 1;
        at = (uint16_t)(at + (swap ? 2 : 1));
    }
    f->taken = hx_lane_set(f->taken, vc, at);
    return moved;
}

static unsigned cut_off(struct shm_faulty *f, unsigned vc, uint16_t end)
{
    unsigned cut = 0;
    for (uint16_t at = hx_lane(f->taken, vc); at != end; at++, cut++) {
        const struct hx_desc d = shm_read_desc(slot_of(f, f->from, vc, at));
        lose(f, &d, &f->cost->lost);
    }
    f->taken = hx_lane_set(f->taken, vc, end);
    return cut;
}

/* ---- the step ---- */

/* Where the sender stands, as far as it can be true. */
static uint16_t end_of(const struct shm_faulty *f, uint64_t heads, unsigned vc)
{
    uint16_t end = hx_lane(heads, vc);
    uint16_t taken = hx_lane(f->taken, vc);
    unsigned held = (uint16_t)(end - hx_lane(f->tail, vc));
    bool behind = (uint16_t)(taken - hx_lane(f->tail, vc)) > held;
    return held > f->size || behind ? taken : end;
}

static void stamp(struct shm_faulty *f, unsigned vc, uint16_t end)
{
    for (uint16_t at = hx_lane(f->stamped, vc); at != end; at++)
        f->came_ns[vc][at & (f->size - 1)] = f->worker->now;
    f->stamped = hx_lane_set(f->stamped, vc, end);
}

/* One frame says how far all VCs are. Returns whether it came. */
static bool tell_credit(struct shm_faulty *f)
{
    f->tell_at = f->worker->now + credit_period_ns;
    if (!f->leaving && falls(f, f->condition.credit_loss)) {
        f->cost->credits_lost++;
        return false;
    }
    f->tail = f->taken;
    f->worker->touched |= (uint64_t)1 << f->peer;
    return true;
}

unsigned shm_faulty_step(struct shm_faulty *f)
{
    uint64_t heads = shm_load(&f->from->heads);
    unsigned moved = 0;
    for (unsigned vc = 0; vc < f->vcs && !f->leaving; vc++) {
        uint16_t end = end_of(f, heads, vc);
        stamp(f, vc, end);
        moved += f->condition.down ? cut_off(f, vc, end) : carry_due(f, vc, end);
    }
    bool told = false;
    if (f->taken != f->tail && (moved || f->leaving || f->worker->now >= f->tell_at))
        told = tell_credit(f);
    if (moved || told)
        commit(f);
    return moved + told;
}

bool shm_faulty_holds(const struct shm_faulty *f)
{
    return f->taken != f->tail || shm_load(&f->from->heads) != f->taken;
}
