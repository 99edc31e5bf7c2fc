/* accelerator.c - driving an endpoint (accelerator.h). */
#include "accelerator.h"
#include "collective_part.h"
#include "fabric-emu/payload.h"
#include "host/error.h"
#include "hxmesh/error.h"

#include <stdlib.h>
#include <string.h>

enum {
    SENDS = 8,          /* messages under way from one accelerator */
    RETRIES = 12,       /* at 250 ms, doubling to 4 s: given up after 40 s */
    HOPELESS_TRIES = 3, /* where there seems to be no way: given up after 4 s; a restart takes milliseconds */
    TIMEOUT_MS = 250    /* workers share cores: an answer may take many time slices */
};
static const double plane_bytes_per_ns = 4 * 50.0; /* four links of 400 Gb/s (table III) */

/* ---- messages ---- */

static uint32_t destination_of(const struct accelerator *a, uint64_t message)
{
    const struct worker *w = a->worker;
    return w->transfer ? transfer_destination(w->transfer, message) : traffic_destination(w->traffic, a->rank, message);
}

static uint64_t bytes_of(const struct accelerator *a, uint64_t message)
{
    const struct worker *w = a->worker;
    return w->transfer ? transfer_chunk_bytes(w->transfer, transfer_chunk(w->transfer, message))
                       : w->traffic->settings.message;
}

static uint32_t tag_of(const struct accelerator *a, uint64_t message)
{
    return a->worker->transfer ? (uint32_t)transfer_chunk(a->worker->transfer, message) : 0;
}

static uint64_t messages_of(const struct accelerator *a)
{
    const struct worker *w = a->worker;
    if (w->transfer)
        return a->rank == w->transfer->source ? transfer_messages(w->transfer) : 0;
    if (w->collective)
        return 0; /* the program has its own */
    return traffic_messages(w->traffic, a->rank);
}

static uint64_t *record_of(struct accelerator *a, uint64_t number)
{
    for (unsigned i = 0; i < FAB_SENDS; i++) {
        if (a->report->flying[i] == number)
            return &a->report->flying[i];
    }
    return NULL;
}

/* Hands message number `message` to the endpoint; false: not now. */
static bool begin(struct accelerator *a, uint64_t message)
{
    struct hx_place to = hx_place_of(&a->worker->f->g, destination_of(a, message));
    uint64_t bytes = bytes_of(a, message);
    if (hx_endpoint_send(&a->endpoint, to.gx, to.gy, bytes, tag_of(a, message), message) != HX_OK)
        return false;
    a->offered += bytes;
    return true;
}

/* The lowest record above `after`. */
static uint64_t next_record(const struct accelerator *a, uint64_t after)
{
    uint64_t next = UINT64_MAX;
    for (unsigned i = 0; i < FAB_SENDS; i++) {
        uint64_t number = a->report->flying[i];
        next = number > after && number < next ? number : next;
    }
    return next;
}

/* Messages that a predecessor had begun and not finished go first, in their order: a file's chunks need it. */
static bool resume(struct accelerator *a)
{
    while (a->resumed < a->predecessor) {
        uint64_t number = next_record(a, a->resumed);
        if (number > a->predecessor)
            number = a->predecessor;
        else if (!begin(a, number - 1))
            return false;
        a->resumed = number;
    }
    return true;
}

/* ---- destinations without a way ---- */

static bool is_cut_off(const struct accelerator *a, uint32_t rank)
{
    return a->worker->gone >> a->worker->f->layout.worker[rank] & 1U || (a->cut_off && a->cut_off[rank]);
}

static void note_cut_off(struct accelerator *a, uint32_t rank)
{
    if (!a->cut_off)
        a->cut_off = hx_allocate(a->worker->f->g.accelerators, sizeof *a->cut_off);
    a->cut_off[rank] = true;
}

void accelerator_look_again(struct accelerator *a)
{
    free(a->cut_off);
    a->cut_off = NULL;
}

void accelerator_give_up(struct accelerator *a)
{
    struct hx_endpoint *ep = &a->endpoint;
    bool misses_cable = fab_misses_cable(a->worker->f); /* somebody may come back: the supervisor says for how long */
    for (unsigned i = 0; i < ep->config.sends; i++) {
        struct hx_send *s = &ep->send[i];
        bool cut_off = s->active && is_cut_off(a, s->peer);
        /* Where boards stay down, an answer may have no way though the message had one: nobody says so. */
        bool hopeless = (s->unreachable || a->worker->gone) && s->tries >= HOPELESS_TRIES && !misses_cable;
        if (cut_off || (s->active && hopeless))
            s->tries = ep->config.retries;
        if (cut_off)
            s->deadline = 0;
    }
}

/* The next message has nobody to go to: it counts as given up. */
static void give_up_next(struct accelerator *a)
{
    a->report->issued++;
    a->endpoint.stats.messages_failed++;
    a->report->stats.messages_failed = a->endpoint.stats.messages_failed;
}

static bool within_rate(const struct accelerator *a)
{
    const struct worker *w = a->worker;
    if (w->transfer || w->traffic->settings.rate >= 1)
        return true;
    double ns = (double)(w->shm.now - w->f->control->started_ns);
    return (double)a->offered <= ns * plane_bytes_per_ns * w->f->g.planes * w->traffic->settings.rate;
}

static void begin_messages(struct accelerator *a)
{
    while (a->report->issued < a->messages && hx_endpoint_takes(&a->endpoint) && within_rate(a)) {
        if (is_cut_off(a, destination_of(a, a->report->issued))) {
            give_up_next(a);
            return; /* one a step: with a duration there is no end to them */
        }
        if (!begin(a, a->report->issued))
            return;
        *record_of(a, 0) = a->report->issued + 1;
        a->report->issued++;
    }
}

/* ---- what the endpoint asks and tells ---- */

static struct payload_id id_of(const struct accelerator *a, uint32_t source, uint32_t destination, uint32_t message,
                               uint32_t packet)
{
    return (struct payload_id){a->worker->traffic->settings.seed, source, destination, message, packet};
}

static void fill_traffic(void *of, const struct hx_send *s, uint32_t packet, uint8_t *to, unsigned bytes)
{
    struct accelerator *a = of;
    uint64_t begin_ns = shm_clock_ns(a->worker->clock);
    struct payload_id id = id_of(a, a->rank, s->peer, s->message, packet);
    payload_write(&id, to, bytes);
    a->area->verify_ns += shm_clock_ns(a->worker->clock) - begin_ns;
}

static void check_traffic(void *of, const struct hx_header *h, const uint8_t *payload)
{
    struct accelerator *a = of;
    uint64_t begin_ns = shm_clock_ns(a->worker->clock);
    uint32_t source = hx_accelerator(&a->worker->f->g, h->src_gx, h->src_gy);
    struct payload_id id = id_of(a, source, a->rank, h->message, h->offset);
    a->area->bytes_corrupted += payload_wrong_bytes(&id, payload, h->length);
    a->area->verify_ns += shm_clock_ns(a->worker->clock) - begin_ns;
}

static void fill_file(void *of, const struct hx_send *s, uint32_t packet, uint8_t *to, unsigned bytes)
{
    struct accelerator *a = of;
    transfer_fill(a->worker->transfer, s->tag, packet, to, bytes);
}

static void place_file(void *of, const struct hx_header *h, const uint8_t *payload)
{
    struct accelerator *a = of;
    if (a->receiver)
        a->area->bytes_corrupted += transfer_place(a->receiver, h->tag, h->offset, payload, h->length);
}

/* What passed between this accelerator and the one that an entry says is elsewhere. */
static struct fab_exchange *exchange_with(const struct accelerator *a, unsigned external)
{
    const struct fab_fabric *f = a->worker->f;
    return &f->exchange[(size_t)external * f->g.accelerators + a->rank];
}

static void count_exchange(const struct accelerator *a, const struct hx_event *event)
{
    const struct fab_fabric *f = a->worker->f;
    unsigned external = fab_external(f, hx_accelerator(&f->g, event->gx, event->gy));
    if (external == f->spec.externals)
        return;
    struct fab_exchange *e = exchange_with(a, external);
    struct fab_sum *sum = event->type == HX_EVENT_SENT ? &e->to : &e->from;
    sum->messages++;
    sum->packets += event->bytes ? (event->bytes + HX_MAX_PAYLOAD - 1) / HX_MAX_PAYLOAD : 1;
    sum->bytes += event->bytes;
}

static void take_event(void *of, const struct hx_event *event)
{
    struct accelerator *a = of;
    if (event->type != HX_EVENT_FAILED)
        count_exchange(a, event);
    if (event->type == HX_EVENT_RECEIVED) {
        if (a->receiver)
            transfer_complete(a->receiver, event->tag);
        return;
    }
    if (event->type == HX_EVENT_FAILED)
        note_cut_off(a, hx_accelerator(&a->worker->f->g, event->gx, event->gy));
    a->report->stats = a->endpoint.stats; /* a message is given up in steps that move nothing */
    uint64_t *record = record_of(a, event->cookie + 1);
    if (record)
        *record = 0;
}

static void note_delivery(void *of, const struct hx_desc *d, uint64_t nanoseconds)
{
    struct accelerator *a = of;
    fab_histogram_add(&a->area->latency, nanoseconds);
    a->area->max_vc = d->vc > a->area->max_vc ? d->vc : a->area->max_vc;
}

/* ---- life ---- */

/* The accelerator of an entry of those that run elsewhere; this one itself, if an entry before it had it. */
static uint32_t rank_of_first(const struct accelerator *a, unsigned external)
{
    const struct fab_fabric *f = a->worker->f;
    const struct hx_external *e = &f->spec.external[external];
    uint32_t rank = hx_accelerator(&f->g, e->gx, e->gy);
    return fab_external(f, rank) == external ? rank : a->rank;
}

static uint64_t come_from_elsewhere(const struct accelerator *a)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < a->worker->f->spec.externals; i++)
        sum += exchange_with(a, i)->from.messages;
    return sum;
}

void accelerator_start(struct accelerator *a)
{
    const struct worker *w = a->worker;
    const struct hx_geometry *g = &w->f->g;
    uint16_t job = layout_job_of(&w->f->spec, &w->f->g, a->rank);
    const struct hx_endpoint_config config = {.gx = a->gx,
                                              .gy = a->gy,
                                              .columns = g->columns,
                                              .rows = g->rows,
                                              .planes = g->planes,
                                              .sends = w->transfer || w->collective ? FAB_SENDS : SENDS,
                                              .epoch = (uint8_t)((a->area->incarnation - 1) % 255 + 1),
                                              .retries = RETRIES,
                                              .check = w->verify || w->f->spec.externals > 0,
                                              .job = job,
                                              .timeout_ns = TIMEOUT_MS * UINT64_C(1000000)};
    a->hal.user.event = take_event;
    a->hal.user.delivered = note_delivery;
    if (w->collective)
        a->part = collective_part_new(a);
    else if (w->verify || w->transfer) {
        a->hal.user.fill = w->transfer ? fill_file : fill_traffic;
        a->hal.user.place = w->transfer ? place_file : check_traffic;
    }
    void *memory = hx_allocate(1, hx_endpoint_bytes(&config));
    if (hx_endpoint_init(&a->endpoint, &config, &a->hal, memory) != HX_OK)
        hx_die(HX_EXIT_CONFIG, w->f->spec.source, "endpoint a%u,%u cannot be built", a->gx, a->gy);
    a->endpoint.stats = a->report->stats;
    a->messages = messages_of(a);
    for (unsigned i = 0; i < w->f->spec.externals; i++)
        a->awaited += traffic_messages_between(w->traffic, rank_of_first(a, i), a->rank);
    for (unsigned i = 0; i < FAB_SENDS; i++)
        a->predecessor = a->report->flying[i] > a->predecessor ? a->report->flying[i] : a->predecessor;
    if (a->report->issued < a->predecessor)
        a->report->issued = a->predecessor; /* killed between record and count */
    if (w->transfer && transfer_is_target(w->transfer, a->rank) && !atomic_load(&a->report->file_done))
        a->receiver = transfer_receiver_new(w->transfer, w->f, a->rank);
}

void accelerator_stop(struct accelerator *a)
{
    accelerator_look_again(a);
    transfer_receiver_free(a->receiver);
    collective_part_free(a->part);
    free(a->endpoint.send); /* begins the endpoint's memory */
}

unsigned accelerator_step(struct accelerator *a, bool may_begin)
{
    if (a->part)
        collective_part_step(a->part, may_begin);
    else if (resume(a) && may_begin && a->report->issued < a->messages)
        begin_messages(a);
    unsigned work = hx_endpoint_step(&a->endpoint);
    if (work)
        a->report->stats = a->endpoint.stats;
    return work;
}

bool accelerator_is_done(const struct accelerator *a, bool may_begin)
{
    bool over = !a->part || collective_part_is_over(a->part);
    bool come = come_from_elsewhere(a) >= a->awaited;
    bool begun = !may_begin || (over && come && a->report->issued >= a->messages);
    return begun && a->resumed >= a->predecessor && hx_endpoint_idle(&a->endpoint);
}
