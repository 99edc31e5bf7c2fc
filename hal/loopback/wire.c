/* wire.c - the receiving end of a wire, and its fault injection (wire.h). */
#include "wire.h"
#include "base/split_mix.h"

size_t loopback_wire_bytes(unsigned blocks)
{
    enum { CREDIT_FRAMES = 16 };
    size_t most = (size_t)HX_VCS * blocks * (sizeof(struct loopback_record) + HX_HEADER_BYTES + HX_BLOCK) +
                  CREDIT_FRAMES * (sizeof(struct loopback_record) + HX_CREDIT_FRAME_BYTES);
    size_t size = 2 * HX_MAX_FRAME;
    while (size & (size - 1))
        size &= size - 1;
    while (size < most)
        size *= 2;
    return size;
}

void loopback_wire_init(struct loopback_wire *w, unsigned blocks, uint32_t latency, void *memory)
{
    *w = (struct loopback_wire){.ring = memory, .size = (uint32_t)loopback_wire_bytes(blocks), .latency = latency};
}

static void ring_read(const struct loopback_wire *w, uint32_t at, void *to, uint32_t bytes)
{
    uint32_t offset = at & (w->size - 1);
    uint32_t until_wrap = bytes < w->size - offset ? bytes : w->size - offset;
    memcpy(to, w->ring + offset, until_wrap);
    memcpy((uint8_t *)to + until_wrap, w->ring, bytes - until_wrap);
}

static uint32_t draw(struct loopback_faults *f)
{
    return (uint32_t)(split_mix_next(&f->random) >> 33);
}

static bool strikes(struct loopback_faults *f, unsigned of_1000)
{
    return of_1000 && draw(f) % 1000 < of_1000;
}

/* Applies faults to the frame just read. Returns false if it does not arrive now. */
static bool survives(struct loopback_wire *w, uint64_t now, uint8_t *frame, uint32_t bytes)
{
    struct loopback_faults *f = &w->faults;
    bool credit = hx_frame_ethertype(frame, bytes) == HX_ETHERTYPE_CONTROL;
    if (strikes(f, credit ? f->lose_credit : f->lose_data)) {
        w->lost++;
        return false;
    }
    if (credit && bytes <= sizeof w->held && !w->holds && strikes(f, f->delay_credit)) {
        w->holds = true;
        w->held_due = now + f->delay;
        w->held_bytes = bytes;
        memcpy(w->held, frame, bytes);
        return false;
    }
    if (!credit && strikes(f, f->corrupt_data))
        frame[draw(f) % bytes] ^= (uint8_t)(1U << draw(f) % 8);
    return true;
}

uint32_t loopback_wire_take(struct loopback_wire *w, uint64_t now, uint8_t *frame)
{
    loopback_wire_heed(w);
    if (w->holds && w->held_due <= now) {
        w->holds = false;
        memcpy(frame, w->held, w->held_bytes);
        return w->held_bytes;
    }
    uint32_t first = atomic_load_explicit(&w->first, memory_order_relaxed);
    uint32_t end = atomic_load_explicit(&w->end, memory_order_acquire);
    while (first != end) {
        struct loopback_record record;
        ring_read(w, first, &record, sizeof record);
        if (record.due > now)
            return 0;
        ring_read(w, first + (uint32_t)sizeof record, frame, record.bytes);
        bool credit = hx_frame_ethertype(frame, record.bytes) == HX_ETHERTYPE_CONTROL;
        w->again = !w->again && strikes(&w->faults, credit ? w->faults.repeat_credit : w->faults.repeat_data);
        if (!w->again)
            first += (uint32_t)sizeof record + record.bytes;
        atomic_store_explicit(&w->first, first, memory_order_release);
        if (survives(w, now, frame, record.bytes))
            return record.bytes;
    }
    return 0;
}
