/* faulty.c - carries packets over a faulty link (faulty.h). */
#include "faulty.h"
#include "base/split_mix.h"

#include <string.h>

/* Longest time between two credit frames. The next frame replaces a lost one. */
static const uint64_t credit_period_ns = 20000;
static const uint64_t ns_a_second = 1000000000;

/* ---- insert and remove ---- */

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

/* Positions keep their numbers, so the window of the switch stays valid. */
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
    f->free_at = f->credit_at = 0;
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

/* ---- random numbers ---- */

static bool happens(struct shm_faulty *f, uint32_t share)
{
    return share && split_mix_next(&f->dice) % HX_FAULT_WHOLE < share;
}

/* ---- one packet ---- */

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

/* If the receiver checks no CRC, a flipped bit would be delivered as good data. Then the header becomes undecodable
 * instead. The version is set, not flipped: two faulty links must not undo each other. */
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

/* Moves one packet; `to` has room for it. The sender's process can write the slot, so the checks use a copy. */
static void carry(struct shm_faulty *f, unsigned vc, uint16_t position)
{
    const struct hx_desc d = shm_read_desc(slot_of(f, f->from, vc, position));
    const struct shm_condition *c = &f->condition;
    bool known = is_known(f, &d);
    if (c->bytes_a_second) {
        uint64_t begins = f->free_at > f->worker->now ? f->free_at : f->worker->now;
        f->free_at = begins + (HX_HEADER_BYTES + (uint64_t)d.length) * ns_a_second / c->bytes_a_second;
    }
    if (happens(f, c->loss)) {
        lose(f, &d, &f->cost->lost);
        return;
    }
    if (known && happens(f, c->corrupt))
        corrupt(f, &d);
    arrive(f, vc, &d);
    if (known && happens(f, c->duplicate))
        duplicate(f, vc, &d);
}

/* ---- one VC ---- */

/* True if the packet has crossed the cable and the cable's rate allows it. */
static bool is_due(const struct shm_faulty *f, unsigned vc, uint16_t position)
{
    uint64_t now = f->worker->now;
    uint64_t came = f->came_ns[vc][position & (f->size - 1)];
    return now >= came + f->condition.delay_ns && (!f->condition.bytes_a_second || now >= f->free_at);
}

/* Two swapped packets need three slots: the first may be duplicated. */
static unsigned carry_due(struct shm_faulty *f, unsigned vc, uint16_t end)
{
    unsigned moved = 0;
    uint16_t at = hx_lane(f->taken, vc);
    while (at != end && room(f, vc) && is_due(f, vc, at)) {
        uint16_t next = (uint16_t)(at + 1);
        bool swap = next != end && room(f, vc) > 2 && is_due(f, vc, next) && happens(f, f->condition.reorder);
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

/* ---- step ---- */

/* The sender's head; `taken` if that value is impossible. */
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

/* One credit frame covers all VCs. Returns false if the frame is lost. */
static bool publish_credit(struct shm_faulty *f)
{
    f->credit_at = f->worker->now + credit_period_ns;
    if (!f->leaving && happens(f, f->condition.credit_loss)) {
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
    bool published = false;
    if (f->taken != f->tail && (moved || f->leaving || f->worker->now >= f->credit_at))
        published = publish_credit(f);
    if (moved || published)
        commit(f);
    return moved + published;
}

bool shm_faulty_holds(const struct shm_faulty *f)
{
    return f->taken != f->tail || shm_load(&f->from->heads) != f->taken;
}
