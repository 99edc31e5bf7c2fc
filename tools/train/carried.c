/* carried.c - executes a schedule over parts on links (carried.h). */
#include "tools/train/carried.h"
#include "hxmesh/endpoint.h"
#include "schedule/build.h"
#include "schedule/estimate.h"
#include "schedule/shares.h"
#include "schedule/walk.h"
#include "workload/part_network.h"

#include <math.h>
#include <stdlib.h>

enum {
    MOST_SENDS = 64,        /* messages in flight from a host (fabric-emu/virtual/driver.c) */
    MOST_MEMBERS = 1024,    /* of all groups of a collective */
    MOST_PARTS = 60 * 1000, /* of a collective */
    LEAST_BYTES = 64 << 10  /* of a vector for each member, so that latencies are hidden */
};

struct carrier {
    const struct schedule_job *job;
    struct part_network *network;
};

static void send(void *of, uint64_t now, const struct estimate_message *m)
{
    const struct carrier *c = of;
    part_network_send(
        c->network, now,
        &(struct part_message){
            .from = c->job->host[m->from], .to = c->job->host[m->to], .bytes = m->bytes, .number = m->number});
}

static uint64_t next(const void *of)
{
    const struct carrier *c = of;
    return part_network_next(c->network);
}

static enum estimate_news step(void *of, uint32_t *number)
{
    static const enum estimate_news news[] = {[PART_NOTHING] = ESTIMATE_NOTHING,
                                              [PART_ARRIVED] = ESTIMATE_ARRIVED,
                                              [PART_ACKNOWLEDGED] = ESTIMATE_ACKNOWLEDGED};
    const struct carrier *c = of;
    return news[part_network_step(c->network, number)];
}

static uint32_t most(const void *of, uint32_t rank)
{
    const struct carrier *c = of;
    const uint32_t to = c->job->destinations[rank];
    if (to >= MOST_SENDS)
        return to < HX_MAX_SENDS ? to : HX_MAX_SENDS;
    const uint32_t taken = to * HX_PEER_WINDOW + 1;
    return taken < MOST_SENDS ? taken : MOST_SENDS;
}

/* Packets of a message that leave apart, with its acknowledgement. */
static uint64_t parts_of(uint64_t bytes)
{
    const uint64_t packets = bytes / HX_MAX_PAYLOAD + 1;
    return 1 + (packets < PART_MOST ? packets : PART_MOST);
}

/* Parts of all messages of an operation of one rank. */
static uint64_t operation_parts(const struct schedule_job *job, uint32_t rank, const struct schedule_operation *o)
{
    if (o->kind == SCHEDULE_SEND)
        return parts_of(o->amount);
    if (o->kind != SCHEDULE_COLLECTIVE || schedule_group_size(job->schedule, o->peer) < 2)
        return 1;
    const struct executor_choice *choice = schedule_choose(job->choices, o);
    struct hx_collective_config config = choice->config;
    const uint32_t place = schedule_groups_position(&job->groups, job->schedule, o->peer, rank);
    shares_move(&config, choice->position ? choice->position[place] : place);
    return schedule_multiply(hx_collective_messages(&config), parts_of(config.chunk));
}

uint64_t carried_parts(const struct schedule_job *job)
{
    uint64_t parts = 0;
    for (uint32_t rank = 0; rank < schedule_ranks(job->schedule); rank++) {
        struct schedule_walk walk;
        schedule_walk_begin(&walk, job->schedule, rank);
        while (schedule_walk_next(&walk)) {
            const uint64_t of = operation_parts(job, rank, walk.operation);
            parts = schedule_add(parts, schedule_multiply(walk.times, of));
        }
        schedule_walk_end(&walk);
    }
    return parts;
}

bool carried_execute(const struct schedule_plan *p, const struct collective_loads *loads, struct carried_times *times,
                     double *load)
{
    const struct schedule_job *job = &p->job[0];
    const uint32_t ranks = schedule_ranks(job->schedule);
    struct carrier c = {
        .job = job,
        .network = part_network_open(loads, (struct part_network_options){.in_order = job->executor.in_order})};
    const struct estimate_carrier carrier = {
        .send = send, .next = next, .step = step, .most = most, .window = hx_peer_window(loads->g->planes), .of = &c};
    const struct estimate_network network = {.carrier = &carrier};
    bool good = schedule_estimate(&job->executor, &network);
    *times = (struct carried_times){0, 0};
    for (uint32_t rank = 0; rank < ranks; rank++) {
        const struct executor_result *r = &job->executor.result[rank];
        good = good && r->done;
        times->seconds = fmax(times->seconds, (double)r->end_ps / 1e12);
        times->computing += (double)r->computing_ps / 1e12 / ranks;
    }
    for (uint32_t port = 0; load && port < loads->g->ports; port++)
        load[port] += part_network_carried(c.network)[port];
    part_network_close(c.network);
    return good;
}

/* ---- collectives ---- */

static bool have_hosts_in_common(const struct carried_collective *c, const struct hx_fabric *g)
{
    bool *seen = hx_allocate(g->hosts, sizeof *seen);
    bool common = false;
    for (uint32_t i = 0; i < c->size * c->groups; i++) {
        common = common || seen[c->host[i]];
        seen[c->host[i]] = true;
    }
    free(seen);
    return common;
}

static struct schedule *schedule_of(const struct carried_collective *c, uint64_t bytes, struct hx_problem *problem)
{
    struct schedule_builder *b = schedule_builder_new(c->size * c->groups);
    uint32_t *member = hx_allocate(c->size, sizeof *member);
    const uint32_t tag = c->weight ? schedule_add_shares(b, c->weight, c->size) : c->root;
    for (uint32_t first = 0; first < c->size * c->groups; first += c->size) {
        for (uint32_t i = 0; i < c->size; i++)
            member[i] = first + i;
        const uint32_t group = schedule_add_group(b, member, c->size);
        for (uint32_t i = 0; i < c->size; i++) {
            const uint32_t number = schedule_collect(b, first + i, c->kind, group, bytes, tag);
            schedule_builder_at(b, first + i, number)->algorithm = (uint8_t)c->algorithm;
        }
    }
    free(member);
    return schedule_build(b, "a collective", problem);
}

/* With a vector of some bytes. parts: most; receives those that there are. */
static bool carry(const struct carried_collective *c, uint64_t bytes, const struct traffic *t,
                  const struct collective_loads *loads, uint64_t *parts, double *seconds)
{
    struct hx_problem problem;
    struct schedule_plan plan;
    struct carried_times times = {0, 0};
    struct schedule *s = schedule_of(c, bytes, &problem);
    bool good = s && schedule_plan_of(&plan, t, s, c->host, "a collective", &problem);
    if (good) {
        const uint64_t most_parts = *parts;
        *parts = carried_parts(&plan.job[0]);
        good = *parts <= most_parts && carried_execute(&plan, loads, &times, NULL);
        schedule_plan_free(&plan);
    }
    schedule_close(s);
    *seconds = times.seconds;
    return good;
}

/* The bytes of a vector with a share of the parts: a multiple of what gives each member whole elements. */
static uint64_t shorter(const struct carried_collective *c, double share)
{
    const uint64_t unit = (uint64_t)c->size * c->size * sizeof(double);
    return (uint64_t)((double)c->bytes * share) / unit * unit;
}

bool carried_collective(const struct carried_collective *c, const struct traffic *t,
                        const struct collective_loads *loads, double *seconds)
{
    uint64_t parts = MOST_PARTS;
    if ((uint64_t)c->size * c->groups > MOST_MEMBERS || have_hosts_in_common(c, t->g))
        return false;
    if (carry(c, c->bytes, t, loads, &parts, seconds))
        return true;
    const uint64_t more = shorter(c, MOST_PARTS / 2.0 / (double)parts);
    const uint64_t less = more / 2;
    double of_less = 0, of_more = 0;
    uint64_t less_parts = MOST_PARTS, more_parts = MOST_PARTS;
    if (parts <= MOST_PARTS || less < LEAST_BYTES * (uint64_t)c->size ||
        !carry(c, less, t, loads, &less_parts, &of_less) || !carry(c, more, t, loads, &more_parts, &of_more))
        return false;
    *seconds = of_more + (of_more - of_less) / (double)(more - less) * (double)(c->bytes - more);
    return true;
}
