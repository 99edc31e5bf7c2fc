/* merge.c - merges records of several rings (capture.h). */
#include "fabric-emu/capture/capture.h"

enum { FREE_RECORDS = 64 /* records taken before their room is freed: simulated time waits for it */ };
static const uint64_t HOLD_NS = 200000000; /* longest wait for a worker that stopped while it wrote */

/* Reads the floor before the ring: records written before the floor was published are then in the ring. */
static void look(const struct capture *c, struct capture_source *source, uint64_t now)
{
    uint64_t floor = atomic_load_explicit(&source->in.ring->floor, memory_order_acquire);
    bool is_whole = hx_tap_look(&source->in);
    if (c->plan.simulated)
        source->floor = floor;
    else if (is_whole)
        source->floor = now;
    else if (source->floor + HOLD_NS < now)
        source->floor = now - HOLD_NS;
}

static enum hx_tap_rank rank_of(const struct capture *c, const struct hx_tap_record *record)
{
    const struct capture_ports *ports = c->plan.ports;
    const struct capture_port *at = &ports->port[record->interface];
    bool local = at->node < ports->g->hosts && at->port == HX_LOCAL;
    return hx_tap_rank((enum hx_tap_direction)record->direction, local);
}

static bool is_before(const struct capture *c, const struct hx_tap_record *a, const struct hx_tap_record *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    enum hx_tap_rank rank = rank_of(c, a);
    return rank != rank_of(c, b) ? rank < rank_of(c, b) : a->interface < b->interface;
}

/* The source with the earliest record, and the limit of its turn. */
struct run {
    struct capture_source *source;      /* NULL: no source has a record */
    const struct hx_tap_record *second; /* earliest record of the other sources; NULL: none */
    uint64_t floor;                     /* sources without a record may bring one of this time */
};

static struct run next_run(struct capture *c, bool all)
{
    struct run run = {.floor = UINT64_MAX};
    for (uint32_t ring = 0; ring < c->plan.memory->shape.rings; ring++) {
        struct capture_source *source = &c->source[ring];
        if (!source->next)
            source->next = hx_tap_next(&source->in, c->report.interfaces, &c->report.broken);
        if (!source->next) {
            run.floor = !all && source->floor < run.floor ? source->floor : run.floor;
        } else if (!run.source || is_before(c, source->next, run.source->next)) {
            run.second = run.source ? run.source->next : NULL;
            run.source = source;
        } else if (!run.second || is_before(c, source->next, run.second)) {
            run.second = source->next;
        }
    }
    return run;
}

/* Prefetches records some distance ahead: another core wrote them, so each would miss the cache. */
static void prefetch_ahead(const struct hx_tap_consumer *in, uint32_t bytes)
{
    enum { AHEAD = 2048, LINE = 64, MOST = 256 };
    for (uint32_t at = 0; at < bytes && at < MOST; at += LINE)
        __builtin_prefetch(in->ring->bytes + ((in->tail + AHEAD + at) & (in->size - 1)));
}

static uint64_t take_run(struct capture *c, const struct run *run)
{
    struct capture_source *source = run->source;
    uint64_t taken = 0;
    while (source->next && source->next->time < run->floor &&
           !(run->second && is_before(c, run->second, source->next)) && !capture_is_full(c)) {
        prefetch_ahead(&source->in, source->next->size);
        capture_write(c, source->next);
        hx_tap_taken(&source->in, source->next);
        source->next = hx_tap_next(&source->in, c->report.interfaces, &c->report.broken);
        if (++taken % FREE_RECORDS == 0)
            hx_tap_free(&source->in);
    }
    hx_tap_free(&source->in);
    return taken;
}

uint64_t capture_drain(struct capture *c, uint64_t now, bool all)
{
    uint64_t taken = 0;
    for (uint32_t ring = 0; ring < c->plan.memory->shape.rings; ring++)
        look(c, &c->source[ring], now);
    for (;;) {
        const struct run run = next_run(c, all);
        uint64_t more = run.source ? take_run(c, &run) : 0;
        if (more == 0)
            return taken;
        taken += more;
    }
}
