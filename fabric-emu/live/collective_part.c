/* collective_part.c - an accelerator's part in a collective (collective_part.h). */
#include "collective_part.h"
#include "accelerator.h"
#include "fabric-emu/workload/collective_values.h"
#include "hxmesh/error.h"

#include <stdlib.h>

struct collective_part {
    struct accelerator *a;
    struct hx_collective c;
    struct collective_values values;
    float *vector, *staging; /* NULL: nothing is checked, and nothing is carried */
    bool ended;              /* cannot be finished */
};

static bool is_done(const struct collective_part *part)
{
    return atomic_load_explicit(&part->a->report->collective_done, memory_order_relaxed);
}

/* ---- what the endpoint asks and tells ---- */

static uint64_t now(const struct collective_part *part)
{
    return shm_clock_ns(part->a->worker->clock);
}

static void fill(void *of, const struct hx_send *s, uint32_t packet, uint8_t *to, unsigned bytes)
{
    const struct accelerator *a = of;
    uint64_t begin_ns = now(a->part);
    hx_collective_fill(&a->part->c, s->tag, (uint64_t)packet * HX_MAX_PAYLOAD, to, bytes);
    a->area->verify_ns += now(a->part) - begin_ns;
}

static void place(void *of, const struct hx_header *h, const uint8_t *payload)
{
    struct accelerator *a = of;
    uint64_t begin_ns = now(a->part);
    uint64_t at = (uint64_t)h->offset * HX_MAX_PAYLOAD;
    if (!a->part->ended && hx_collective_place(&a->part->c, h->tag, at, payload, h->length) != HX_OK)
        accelerator_note_corrupted(a, h->length); /* payload of no message that is due */
    a->area->verify_ns += now(a->part) - begin_ns;
}

static void end_all(struct collective_part *part)
{
    part->ended = true;
    atomic_store(&part->a->worker->f->control->collective_ended, 1);
}

static void take_event(void *of, const struct hx_event *event)
{
    struct accelerator *a = of;
    struct collective_part *part = a->part;
    a->report->stats = a->endpoint.stats;
    if (part->ended)
        return;
    int error = event->type == HX_EVENT_SENT       ? hx_collective_sent(&part->c, event->tag)
                : event->type == HX_EVENT_RECEIVED ? hx_collective_received(&part->c, event->gx, event->gy, event->tag)
                                                   : event->error;
    if (error)
        end_all(part);
}

/* ---- life ---- */

/* A vector that arrived with a predecessor is gone with it. */
static void allocate(struct collective_part *part, const struct hx_collective_config *config)
{
    part->vector = hx_allocate(config->bytes / sizeof(float) + 1, sizeof(float));
    part->staging = hx_allocate(hx_collective_staging(config) / sizeof(float) + 1, sizeof(float));
}

struct collective_part *collective_part_new(struct accelerator *a)
{
    const struct worker *w = a->worker;
    const struct collective_job *job = collective_job_of(w->collective, a->rank);
    if (!job)
        return NULL;
    const struct hx_collective_config config = collective_config(w->collective, a->rank);
    struct collective_part *part = hx_allocate(1, sizeof *part);
    part->a = a;
    part->ended = a->area->incarnation > 1;
    part->values = collective_values_of(w->collective, job);
    if (w->verify && !part->ended)
        allocate(part, &config);
    if (hx_collective_init(&part->c, &config, part->vector, part->staging) != HX_OK)
        hx_die(HX_EXIT_CONFIG, w->f->spec.source, "the collective of a%u,%u cannot be built", a->gx, a->gy);
    if (part->vector) {
        collective_values_write(&part->values, &part->c, part->vector);
        a->hal.user.fill = fill;
        a->hal.user.place = place;
    }
    a->hal.user.event = take_event;
    return part;
}

void collective_part_free(struct collective_part *part)
{
    if (!part)
        return;
    free(part->vector);
    free(part->staging);
    free(part);
}

static void drive(struct collective_part *part)
{
    struct accelerator *a = part->a;
    struct hx_collective_send s;
    for (uint32_t refused = 0; hx_endpoint_takes(&a->endpoint) && hx_collective_next(&part->c, refused, &s);) {
        if (hx_endpoint_send(&a->endpoint, s.gx, s.gy, s.bytes, s.tag, 0) == HX_OK) {
            hx_collective_take(&part->c, &s);
            a->report->issued++;
        } else {
            refused |= (uint32_t)1 << s.lane;
        }
    }
}

static void finish(struct collective_part *part)
{
    struct accelerator *a = part->a;
    uint64_t begin_ns = now(part);
    if (part->vector)
        accelerator_note_corrupted(a, collective_values_wrong(&part->values, &part->c, part->vector));
    a->area->verify_ns += now(part) - begin_ns;
    atomic_store(&a->report->collective_done, 1);
}

void collective_part_step(struct collective_part *part, bool may_begin)
{
    const struct fab_control *control = part->a->worker->f->control;
    if (part->ended || is_done(part))
        return;
    if (atomic_load_explicit(&control->changes, memory_order_relaxed) ||
        atomic_load_explicit(&control->collective_ended, memory_order_relaxed))
        part->ended = true;
    else if (hx_collective_done(&part->c))
        finish(part);
    else if (may_begin)
        drive(part);
}

bool collective_part_is_over(const struct collective_part *part)
{
    return part->ended || is_done(part);
}
