/* collective.c - an accelerator's part in a collective (hxmesh/collective.h), and its vector if it is checked.
 *
 * Partial sums are in the memory of workers. They are lost when a worker dies or a message fails. Then no accelerator
 * can finish, so all that are not done have ended. */
#include "workload/collective_values.h"
#include "workload/kinds.h"

#include <math.h>
#include <stdlib.h>

/* A message that was taken from the engine while sums were in progress. */
struct delayed {
    uint64_t until;
    struct hx_collective_send send;
};

struct collective {
    struct workload base;
    struct hx_collective c;
    struct collective_values values;
    struct hx_collective_send offered; /* the message that `next` returned last */
    bool offers_delayed;               /* it is the first of `delayed` */
    double sum_rate;                   /* GB/s; 0: sums take no time */
    struct delayed *delayed;           /* [first_delayed .. delays - 1], in the order of `until` */
    size_t first_delayed, delays, delays_room;
    const struct collective_plan *plan;
    const struct collective_job *job;
    uint8_t *vector; /* NULL: no payload */
    uint8_t *result; /* the vector, or staging of an all-to-all */
    bool over;
};

static struct collective *collective_of(struct workload *w)
{
    return (struct collective *)w;
}

static const struct delayed *first_delayed(const struct collective *p)
{
    return p->first_delayed < p->delays ? &p->delayed[p->first_delayed] : NULL;
}

static void delay(struct collective *p, const struct hx_collective_send *s)
{
    if (!first_delayed(p))
        p->first_delayed = p->delays = 0;
    p->delayed = hx_grow(p->delayed, p->delays, &p->delays_room, sizeof *p->delayed);
    p->delayed[p->delays++] = (struct delayed){p->base.summed, *s};
}

/* Finds the next message. What the engine offers while sums are in progress waits for their end: the last one made it
 * possible. */
static bool find(struct collective *p, uint64_t now, uint32_t refused, struct hx_collective_send *s)
{
    const struct delayed *first = first_delayed(p);
    p->offers_delayed = first && first->until <= now && !(refused >> first->send.queue & 1U);
    if (p->offers_delayed) {
        *s = first->send;
        return true;
    }
    while (hx_collective_next(&p->c, refused, s)) {
        if (p->base.summed <= now)
            return true;
        hx_collective_take(&p->c, s);
        delay(p, s);
    }
    return false;
}

static bool next(struct workload *w, uint64_t now, uint32_t refused, struct workload_message *m)
{
    struct collective *p = collective_of(w);
    struct hx_collective_send *s = &p->offered;
    if (p->over || !find(p, now, refused, s))
        return false;
    *m = (struct workload_message){
        .to = p->job->host[s->to], .tag = s->tag, .bytes = s->bytes, .number = *w->begun, .queue = s->queue};
    return true;
}

static void take(struct workload *w, const struct workload_message *m)
{
    (void)m;
    struct collective *p = collective_of(w);
    if (p->offers_delayed)
        p->first_delayed++;
    else
        hx_collective_take(&p->c, &p->offered);
}

static uint64_t wake(const struct workload *w)
{
    const struct collective *p = (const struct collective *)w;
    const struct delayed *first = first_delayed(p);
    if (p->over || !w->summed)
        return WORKLOAD_NEVER;
    return first ? first->until : hx_collective_done(&p->c) ? w->summed : WORKLOAD_NEVER;
}

/* The host adds what came, after all that came before. */
static void add(struct collective *p, uint64_t now, uint32_t tag)
{
    uint64_t bytes = p->sum_rate > 0 ? hx_collective_sums(&p->c, tag) : 0;
    uint64_t begin = p->base.summed > now ? p->base.summed : now;
    if (bytes)
        p->base.summed = begin + (uint64_t)llround((double)bytes * 1000 / p->sum_rate);
}

/* Passes an event on: the endpoint knows addresses, the collective positions. */
static int received(struct collective *p, uint64_t now, const struct hx_event *e)
{
    uint32_t from = hx_fabric_host(p->plan->traffic->g, e->addr_hi, e->addr_lo);
    if (from == HX_NOWHERE || collective_job_of(p->plan, from) != p->job)
        return HX_E_RANGE;
    add(p, now, e->tag);
    return hx_collective_received(&p->c, p->plan->place[from], e->tag);
}

static int event(struct workload *w, uint64_t now, const struct hx_event *e)
{
    struct collective *p = collective_of(w);
    if (p->over)
        return HX_OK;
    return e->type == HX_EVENT_SENT       ? hx_collective_sent(&p->c, e->tag)
           : e->type == HX_EVENT_RECEIVED ? received(p, now, e)
                                          : e->error;
}

static void fill(const struct workload *w, const struct hx_send *s, uint32_t packet, uint8_t *to, unsigned bytes)
{
    const struct collective *p = (const struct collective *)w;
    hx_collective_fill(&p->c, s->tag, (uint64_t)packet * HX_MAX_PAYLOAD, to, bytes);
}

static uint64_t place(struct workload *w, const struct hx_header *h, const uint8_t *payload)
{
    uint64_t at = (uint64_t)h->offset * HX_MAX_PAYLOAD;
    bool taken = hx_collective_place(&collective_of(w)->c, h->tag, at, payload, h->length) == HX_OK;
    return taken ? 0 : h->length;
}

static bool is_due(const struct workload *w, uint64_t now)
{
    const struct collective *p = (const struct collective *)w;
    return !p->over && hx_collective_done(&p->c) && now >= w->summed;
}

static uint64_t finish(struct workload *w)
{
    struct collective *p = collective_of(w);
    p->over = true;
    return p->vector ? collective_values_wrong(&p->values, &p->c, p->result) : 0;
}

static bool is_over(const struct workload *w)
{
    return ((const struct collective *)w)->over;
}

static void close_delayed(struct workload *w)
{
    free(collective_of(w)->delayed);
}

static const struct workload_ops ops = {
    WORKLOAD_OPS(struct collective), .take = take, .wake = wake, .event = event, .is_due = is_due, .finish = finish,
    .close = close_delayed};

/* Offsets in the workload's memory, each on its own cache line: state, vector and staging stand behind the struct. */
struct places {
    size_t state, vector, staging, end;
};

static size_t after(size_t at, uint64_t bytes)
{
    enum { LINE = 64 };
    return (at + bytes + LINE - 1) / LINE * LINE;
}

static struct places places_of(const struct workload_plan *plan, const struct hx_collective_config *config)
{
    struct places p;
    p.state = after(0, sizeof(struct collective));
    p.vector = after(p.state, hx_collective_state(config));
    p.staging = plan->verify ? after(p.vector, config->bytes) : p.vector;
    p.end = plan->verify ? after(p.staging, hx_collective_staging(config)) : p.vector;
    return p;
}

static size_t bytes_of(const struct workload_plan *plan, uint32_t rank)
{
    const struct hx_collective_config config = collective_config(plan->collective, rank);
    return places_of(plan, &config).end;
}

static struct workload *make(const struct workload_plan *plan, uint32_t rank, const struct workload_memory *m)
{
    const struct hx_collective_config config = collective_config(plan->collective, rank);
    const struct places places = places_of(plan, &config);
    const struct traffic *t = plan->traffic;
    struct collective *p = m->memory;
    uint8_t *memory = m->memory;
    p->base = (struct workload){.ops = &ops, .carries = plan->verify};
    p->plan = plan->collective;
    p->job = collective_job_of(p->plan, rank);
    p->sum_rate = traffic_settings(t, rank)->sum_rate;
    p->vector = plan->verify ? memory + places.vector : NULL;
    uint8_t *staging = plan->verify ? memory + places.staging : NULL;
    p->result = config.kind == HX_COLLECTIVE_ALL_TO_ALL ? staging : p->vector;
    if (p->vector) {
        p->values = collective_values_of(p->plan, p->job);
        collective_values_write(&p->values, &config, p->vector);
    }
    if (hx_collective_init(&p->c, &config, memory + places.state, p->vector, staging) != HX_OK)
        hx_die(HX_EXIT_CONFIG, t->spec->source, "the collective of a%u,%u cannot be built",
               hx_grid_of(t->g, rank).addr_hi, hx_grid_of(t->g, rank).addr_lo);
    if (p->vector)
        collective_values_keep_pieces(&p->values, &p->c, p->vector);
    return &p->base;
}

static struct workload_load load(const struct workload_plan *plan, uint32_t rank)
{
    const struct hx_collective_config config = collective_config(plan->collective, rank);
    return (struct workload_load){.peers = hx_collective_peers(&config), .again = true, .longer = true};
}

const struct workload_kind collective_kind = {bytes_of, make, load};
