/* schedule_rank.c - the workload of a host with a rank of a schedule: joins the executor (schedule/executor.h) to the
 * endpoint.
 *
 * An executor is in the memory of its worker. If a worker dies or a message fails, the other ranks may wait for ever.
 * So the whole schedule ends then. */
#include "hxmesh/error.h"
#include "workload/host_payload.h"
#include "workload/kinds.h"

struct host {
    struct workload base;
    const struct schedule_plan *plan;
    const struct schedule_job *job;
    struct executor *executor;
    bool started;
};

static struct host *host_of(struct workload *w)
{
    return (struct host *)w;
}

static bool next(struct workload *w, uint64_t now, uint32_t refused, struct workload_message *m)
{
    struct host *h = host_of(w);
    struct executor_message message;
    if (!h->started) {
        h->started = true;
        executor_start(h->executor, now);
    }
    executor_settle(h->executor, now);
    if (refused || !executor_next(h->executor, now, &message))
        return false;
    *m = (struct workload_message){
        .to = h->job->host[message.to], .tag = message.tag, .bytes = message.bytes, .number = *w->begun};
    return true;
}

static void take(struct workload *w, const struct workload_message *m)
{
    (void)m;
    executor_take(host_of(w)->executor);
}

static uint64_t wake(const struct workload *w)
{
    uint64_t when = executor_wake(((const struct host *)w)->executor);
    return when == EXECUTOR_NEVER ? WORKLOAD_NEVER : when;
}

static int event(struct workload *w, uint64_t now, const struct hx_event *e)
{
    struct host *h = host_of(w);
    uint32_t peer = hx_fabric_host(h->plan->traffic->g, e->addr_hi, e->addr_lo);
    if (e->type == HX_EVENT_FAILED)
        return e->error;
    if (peer == HX_NOWHERE || schedule_job_of(h->plan, peer) != h->job)
        return HX_E_RANGE;
    uint32_t rank = h->plan->rank_of[peer];
    bool good = e->type == HX_EVENT_SENT ? executor_sent(h->executor, now, rank, e->tag)
                                         : executor_arrived(h->executor, now, rank, e->message, e->tag);
    return good ? HX_OK : HX_E_RANGE;
}

static void fill(const struct workload *w, const struct hx_send *s, uint32_t packet, uint8_t *to, unsigned bytes)
{
    host_payload_fill(((const struct host *)w)->plan->traffic, w->rank, s, packet, to, bytes);
}

static uint64_t place(struct workload *w, const struct hx_header *h, const uint8_t *payload)
{
    return host_payload_check(host_of(w)->plan->traffic, w->rank, h, payload);
}

static bool is_over(const struct workload *w)
{
    const struct host *h = (const struct host *)w;
    return h->started && executor_is_quiet(h->executor);
}

static void close_host(struct workload *w)
{
    struct host *h = host_of(w);
    executor_write_blocked(h->executor);
    executor_free(h->executor);
}

static const struct workload_ops ops = {WORKLOAD_OPS(struct host), .take = take, .wake = wake, .event = event,
                                        .close = close_host};

static size_t bytes(const struct workload_plan *plan, uint32_t rank)
{
    (void)plan;
    (void)rank;
    return sizeof(struct host);
}

static struct workload *make(const struct workload_plan *plan, uint32_t rank, const struct workload_memory *m)
{
    struct host *h = m->memory;
    *h = (struct host){.base = {.ops = &ops, .carries = plan->verify},
                       .plan = plan->schedule,
                       .job = schedule_job_of(plan->schedule, rank)};
    h->executor = executor_new(&h->job->executor, plan->schedule->rank_of[rank]);
    return &h->base;
}

static struct workload_load load(const struct workload_plan *plan, uint32_t rank)
{
    const struct schedule_job *job = schedule_job_of(plan->schedule, rank);
    uint32_t own = plan->schedule->rank_of[rank];
    return (struct workload_load){.destinations = job->destinations[own],
                                  .peers = job->peers[own],
                                  .again = true,
                                  .longer = true,
                                  .at_once =
                                      job->executor.in_order ? (uint16_t)hx_host_links(plan->traffic->g, rank) : 0};
}

struct executor *workload_executor(struct workload *w)
{
    return w->ops == &ops ? host_of(w)->executor : NULL;
}

const struct workload_kind schedule_kind = {bytes, make, load};
