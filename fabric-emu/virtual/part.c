/* part.c - joins a collective's program to an endpoint (part.h). */
#include "part.h"
#include "build.h"
#include "fabric-emu/workload/collective_values.h"
#include "host/error.h"
#include "hxmesh/error.h"
#include "stock.h"

struct part {
    struct driver *d;
    struct hx_collective c;
    struct collective_values values;
    float *vector, *staging; /* NULL: nothing is checked, and nothing is carried */
    bool over;
};

struct part *part_new(struct driver *d)
{
    const struct model *m = d->worker->m;
    const struct collective_job *job = collective_job_of(m->collective, d->rank);
    if (!job)
        return NULL;
    const struct hx_collective_config config = collective_config(m->collective, d->rank);
    struct part *p = virtual_stock_take(sizeof *p);
    p->d = d;
    d->hal.user_data = p;
    d->hal.user_bytes = sizeof *p;
    p->values = collective_values_of(m->collective, job);
    if (m->settings.verify) {
        p->vector = virtual_stock_take(config.bytes + sizeof(float));
        p->staging = virtual_stock_take(hx_collective_staging(&config) + sizeof(float));
    }
    if (hx_collective_init(&p->c, &config, p->vector, p->staging) != HX_OK)
        hx_die(HX_EXIT_CONFIG, m->spec->source, "the collective of accelerator %u cannot be built", d->rank);
    if (p->vector)
        collective_values_write(&p->values, &p->c, p->vector);
    return p;
}

static void finish(struct part *p)
{
    struct model_area *area = p->d->worker->area;
    p->over = true;
    area->collectives_done++;
    if (p->vector)
        driver_note_corrupted(p->d, collective_values_wrong(&p->values, &p->c, p->vector));
}

void part_begin(struct part *p)
{
    struct hx_endpoint *ep = &p->d->endpoint;
    struct hx_collective_send s;
    if (p->over)
        return;
    if (hx_collective_done(&p->c)) {
        finish(p);
        return;
    }
    for (uint32_t refused = 0; hx_endpoint_takes(ep) && hx_collective_next(&p->c, refused, &s);) {
        if (hx_endpoint_send(ep, s.gx, s.gy, s.bytes, s.tag, 0) == HX_OK) {
            hx_collective_take(&p->c, &s);
            p->d->begun++;
        } else {
            refused |= (uint32_t)1 << s.lane;
        }
    }
}

void part_take_event(struct part *p, const struct hx_event *event)
{
    int error = event->type == HX_EVENT_SENT       ? hx_collective_sent(&p->c, event->tag)
                : event->type == HX_EVENT_RECEIVED ? hx_collective_received(&p->c, event->gx, event->gy, event->tag)
                                                   : event->error;
    if (error && !p->over) {
        p->over = true;
        p->d->worker->area->collective_ended = true;
    }
}

void part_fill(const struct part *p, uint32_t tag, uint32_t packet, uint8_t *to, unsigned bytes)
{
    hx_collective_fill(&p->c, tag, (uint64_t)packet * HX_MAX_PAYLOAD, to, bytes);
}

void part_place(struct part *p, const struct hx_header *h, const uint8_t *payload)
{
    uint64_t at = (uint64_t)h->offset * HX_MAX_PAYLOAD;
    if (p->vector && hx_collective_place(&p->c, h->tag, at, payload, h->length) != HX_OK)
        driver_note_corrupted(p->d, h->length); /* payload of no message that is due */
}

bool part_is_over(const struct part *p)
{
    return p->over;
}
