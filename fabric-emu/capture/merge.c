/* merge.c - merges records of several rings (capture.h). */
#include "fabric-emu/capture/capture.h"

enum { FREE_RECORDS = 64 /* records taken before their room is freed: simulated time waits for it */ };
static const uint64_t HOLD_NS = 200000000; /* longest wait for a worker that stopped while it wrote */

/* Reads the floor before the ring: records written before the floor was published are then in the ring. */
static void look(const struct capture *c, struct capture_lane *lane, uint64_t now)
{
    uint64_t floor = atomic_load_explicit(&lane->in.ring->floor, memory_order_acquire);
    bool is_whole = hx_tap_look(&lane->in);
    if (c->plan.simulated)
        lane->floor = floor;
    else if (is_whole)
        lane->floor = now;
    else if (lane->floor + HOLD_NS < now)
        lane->floor = now - HOLD_NS;
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

/* The lane with the earliest record, and the limit of its turn. */
struct run {
    struct capture_lane *lane;          /* NULL: no lane has a record */
    const struct hx_tap_record *second; /* earliest record of the other lanes; NULL: none */
    uint64_t floor;                     /* lanes without a record may bring one of this time */
};

static struct run next_run(struct capture *c, bool all)
{
    struct run run = {.floor = UINT64_MAX};
    for (uint32_t ring = 0; ring < c->plan.memory->shape.rings; ring++) {
        struct capture_lane *lane = &c->lane[ring];
        if (!lane->next)
            lane->next = hx_tap_next(&lane->in, c->report.interfaces, &c->report.broken);
        if (!lane->next) {
            run.floor = !all && lane->floor < run.floor ? lane->floor : run.floor;
        } else if (!run.lane || is_before(c, lane->next, run.lane->next)) {
            run.second = run.lane ? run.lane->next : NULL;
            run.lane = lane;
        } else if (!run.second || is_before(c, lane->next, run.second)) {
            run.second = lane->next;
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
    struct capture_lane *lane = run->lane;
    uint64_t taken = 0;
    while (lane->next && lane->next->time < run->floor && !(run->second && is_before(c, run->second, lane->next)) &&
           !capture_is_full(c)) {
        prefetch_ahead(&lane->in, lane->next->size);
        capture_write(c, lane->next);
        hx_tap_taken(&lane->in, lane->next);
        lane->next = hx_tap_next(&lane->in, c->report.interfaces, &c->report.broken);
        if (++taken % FREE_RECORDS == 0)
            hx_tap_free(&lane->in);
    }
    hx_tap_free(&lane->in);
    return taken;
}

uint64_t capture_drain(struct capture *c, uint64_t now, bool all)
{
    uint64_t taken = 0;
    for (uint32_t ring = 0; ring < c->plan.memory->shape.rings; ring++)
        look(c, &c->lane[ring], now);
    for (;;) {
        const struct run run = next_run(c, all);
        uint64_t more = run.lane ? take_run(c, &run) : 0;
        if (more == 0)
            return taken;
        taken += more;
    }
}
