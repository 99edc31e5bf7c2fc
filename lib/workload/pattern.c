/* pattern.c - sends the messages of a pattern, or of a file (traffic.h), at their times. */
#include "workload/host_payload.h"
#include "workload/kinds.h"

#include <math.h>

struct pattern {
    struct workload base;
    const struct traffic *traffic;
    double rate;       /* bytes a picosecond that it may offer; 0: unlimited */
    uint64_t messages; /* to send */
    uint64_t since;    /* ps: first call; messages of a predecessor do not count for the rate */
    double offered;    /* bytes due before the next message, by the rate */
    bool asked;
};

static struct pattern *pattern_of(struct workload *w)
{
    return (struct pattern *)w;
}

static bool is_over(const struct workload *w)
{
    const struct pattern *p = (const struct pattern *)w;
    return *w->begun >= p->messages;
}

/* ps: start of the next message: its own time, or the time that the rate allows. */
static uint64_t wake(const struct workload *w)
{
    const struct pattern *p = (const struct pattern *)w;
    if (is_over(w))
        return WORKLOAD_NEVER;
    if (p->traffic->flows)
        return traffic_start_ns(p->traffic, w->rank, *w->begun) * WORKLOAD_PS;
    return p->rate > 0 ? p->since + (uint64_t)ceil(p->offered / p->rate) : 0;
}

static bool message(const struct workload *w, uint64_t number, struct workload_message *m)
{
    const struct pattern *p = (const struct pattern *)w;
    if (number >= p->messages)
        return false;
    *m = (struct workload_message){.to = traffic_destination(p->traffic, w->rank, number),
                                   .bytes = traffic_bytes(p->traffic, w->rank, number),
                                   .number = number};
    return true;
}

/* Bytes offered between the previous message and this one: its size, times a random interval for Poisson arrivals. */
static double ahead_of(const struct pattern *p, uint64_t number, uint64_t bytes)
{
    bool random = p->traffic->settings.arrivals == HX_ARRIVALS_POISSON; /* of the run, as rate and seed */
    return (double)bytes * (random ? traffic_interval(p->traffic, p->base.rank, number) : 1);
}

/* Messages go in order: a refused one blocks those after it. */
static bool next(struct workload *w, uint64_t now, uint32_t refused, struct workload_message *m)
{
    struct pattern *p = pattern_of(w);
    if (!p->asked) {
        p->asked = true;
        p->since = now;
        if (p->rate > 0 && p->traffic->settings.arrivals == HX_ARRIVALS_POISSON && !is_over(w))
            p->offered = ahead_of(p, *w->begun, traffic_bytes(p->traffic, w->rank, *w->begun));
    }
    uint64_t due = wake(w);
    if (refused || due > now || !message(w, *w->begun, m))
        return false;
    m->due = p->rate > 0 ? due : 0;
    return true;
}

static void take(struct workload *w, const struct workload_message *m)
{
    struct pattern *p = pattern_of(w);
    p->offered += ahead_of(p, m->number + 1, m->bytes);
}

static void fill(const struct workload *w, const struct hx_send *s, uint32_t packet, uint8_t *to, unsigned bytes)
{
    host_payload_fill(((const struct pattern *)w)->traffic, w->rank, s, packet, to, bytes);
}

static uint64_t place(struct workload *w, const struct hx_header *h, const uint8_t *payload)
{
    return host_payload_check(pattern_of(w)->traffic, w->rank, h, payload);
}

static const struct workload_ops ops = {WORKLOAD_OPS(struct pattern), .take = take, .wake = wake, .message = message};

static size_t bytes_of(const struct workload_plan *plan, uint32_t rank)
{
    (void)plan;
    (void)rank;
    return sizeof(struct pattern);
}

static double rate_of(const struct workload_plan *plan, uint32_t rank)
{
    const struct hx_fabric *g = plan->traffic->g;
    return hx_host_injection(g, rank, plan->link_gbps) * g->planes * plan->link_rate * plan->rate;
}

static struct workload *make(const struct workload_plan *plan, uint32_t rank, const struct workload_memory *m)
{
    struct pattern *p = m->memory;
    *p = (struct pattern){.base = {.ops = &ops, .carries = plan->verify},
                          .traffic = plan->traffic,
                          .rate = rate_of(plan, rank),
                          .messages = traffic_messages(plan->traffic, rank)};
    return &p->base;
}

static struct workload_load load(const struct workload_plan *plan, uint32_t rank)
{
    const struct traffic *t = plan->traffic;
    uint32_t to = traffic_destinations(t, rank);
    bool longer = t->flows || traffic_settings(t, rank)->message > (uint64_t)HX_MAPLESS * HX_MAX_PAYLOAD;
    return (struct workload_load){
        .destinations = to, .peers = traffic_peers(t, rank), .again = traffic_messages(t, rank) > to, .longer = longer};
}

const struct workload_kind pattern_kind = {bytes_of, make, load};
