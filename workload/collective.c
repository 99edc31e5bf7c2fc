/* collective.c - an accelerator's part in a collective (hxmesh/collective.h), and its vector if it is checked.
 *
 * Partial sums are in the memory of workers. They are lost when a worker dies or a message fails. Then no accelerator
 * can finish, so all that are not done have ended. */
#include "workload/collective_values.h"
#include "workload/kinds.h"

struct collective {
    struct workload base;
    struct hx_collective c;
    struct collective_values values;
    struct hx_collective_send offered; /* the message that `next` returned last */
    const struct collective_plan *plan;
    const struct collective_job *job;
    float *vector; /* NULL: no payload */
    bool over;
};

static struct collective *collective_of(struct workload *w)
{
    return (struct collective *)w;
}

static bool next(struct workload *w, uint64_t now, uint32_t refused, struct workload_message *m)
{
    (void)now;
    struct collective *p = collective_of(w);
    struct hx_collective_send *s = &p->offered;
    if (p->over || !hx_collective_next(&p->c, refused, s))
        return false;
    *m = (struct workload_message){.to = p->job->host[s->gy * p->job->columns + s->gx],
                                   .tag = s->tag,
                                   .bytes = s->bytes,
                                   .number = *w->begun,
                                   .lane = s->lane};
    return true;
}

static void take(struct workload *w, const struct workload_message *m)
{
    (void)m;
    hx_collective_take(&collective_of(w)->c, &collective_of(w)->offered);
}

/* Passes an event on: the endpoint knows addresses, the collective places on the logical grid. */
static int received(struct collective *p, const struct hx_event *e)
{
    uint32_t from = hx_fabric_host(p->plan->traffic->g, e->addr_hi, e->addr_lo);
    if (from == HX_NOWHERE || collective_job_of(p->plan, from) != p->job)
        return HX_E_RANGE;
    uint32_t at = p->plan->place[from];
    return hx_collective_received(&p->c, at % p->job->columns, at / p->job->columns, e->tag);
}

static int event(struct workload *w, uint64_t now, const struct hx_event *e)
{
    (void)now;
    struct collective *p = collective_of(w);
    if (p->over)
        return HX_OK;
    return e->type == HX_EVENT_SENT       ? hx_collective_sent(&p->c, e->tag)
           : e->type == HX_EVENT_RECEIVED ? received(p, e)
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

static bool is_due(const struct workload *w)
{
    const struct collective *p = (const struct collective *)w;
    return !p->over && hx_collective_done(&p->c);
}

static uint64_t finish(struct workload *w)
{
    struct collective *p = collective_of(w);
    p->over = true;
    return p->vector ? collective_values_wrong(&p->values, &p->c, p->vector) : 0;
}

static bool is_over(const struct workload *w)
{
    return ((const struct collective *)w)->over;
}

static const struct workload_ops ops = {WORKLOAD_OPS(struct collective), .take = take, .event = event, .is_due = is_due,
                                        .finish = finish};

/* Places vector and staging behind the struct, on their own cache lines. Returns the end. */
static size_t places(const struct workload_plan *plan, const struct hx_collective_config *config, size_t *vector,
                     size_t *staging)
{
    enum { LINE = 64 };
    *vector = (sizeof(struct collective) + LINE - 1) / LINE * LINE;
    *staging = *vector + (config->bytes / LINE + 1) * LINE;
    return plan->verify ? *staging + hx_collective_staging(config) + sizeof(float) : *vector;
}

static size_t bytes_of(const struct workload_plan *plan, uint32_t rank)
{
    const struct hx_collective_config config = collective_config(plan->collective, rank);
    size_t vector;
    size_t staging;
    return places(plan, &config, &vector, &staging);
}

static struct workload *make(const struct workload_plan *plan, uint32_t rank, const struct workload_memory *m)
{
    const struct hx_collective_config config = collective_config(plan->collective, rank);
    const struct traffic *t = plan->traffic;
    struct collective *p = m->memory;
    size_t vector;
    size_t staging;
    (void)places(plan, &config, &vector, &staging);
    p->base = (struct workload){.ops = &ops, .carries = plan->verify};
    p->plan = plan->collective;
    p->job = collective_job_of(p->plan, rank);
    p->values = collective_values_of(p->plan, p->job);
    float *sums = NULL;
    if (plan->verify) {
        p->vector = (float *)(void *)((uint8_t *)m->memory + vector);
        sums = (float *)(void *)((uint8_t *)m->memory + staging);
    }
    if (hx_collective_init(&p->c, &config, p->vector, sums) != HX_OK)
        hx_die(HX_EXIT_CONFIG, t->spec->source, "the collective of a%u,%u cannot be built",
               hx_grid_of(t->g, rank).addr_hi, hx_grid_of(t->g, rank).addr_lo);
    if (p->vector)
        collective_values_write(&p->values, &p->c, p->vector);
    return &p->base;
}

static struct workload_load load(const struct workload_plan *plan, uint32_t rank)
{
    (void)plan;
    (void)rank;
    return (struct workload_load){.peers = HX_COLLECTIVE_PEERS, .again = true, .longer = true};
}

const struct workload_kind collective_kind = {bytes_of, make, load};
