/* top.c - reads a running fabric's counters and computes rates (tools/top/top.h). */
#include "tools/top/top.h"
#include "spec/spec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A worker that publishes nothing for this time does nothing: it is stopped or down. */
#define SILENT_NS UINT64_C(3000000000)

/* ---- opening ---- */

static int try_open(struct top *t, const char *name, struct hx_problem *problem)
{
    int error = shm_arena_read(&t->arena, name);
    if (error) {
        (void)hx_running_refuse(name, error, problem);
        return error;
    }
    const struct hx_metrics_head *h = (const struct hx_metrics_head *)(const void *)t->arena.base;
    uint32_t life = t->arena.bytes < sizeof *h ? (uint32_t)HX_LIFE_READY : atomic_load(&h->life);
    if (life != HX_LIFE_READY)
        error = life == HX_LIFE_OPENING ? -EAGAIN : -ESRCH;
    if (error)
        (void)hx_running_refuse(name, error, problem);
    else if (!hx_metrics_check(t->arena.base, t->arena.bytes, &t->head, &t->metrics, &t->g, problem)) {
        (void)snprintf(problem->where, sizeof problem->where, "%s", name);
        error = -EPROTO;
    }
    if (error)
        shm_arena_close(&t->arena, false);
    return error;
}

static bool is_fabric(const char *name)
{
    struct top t;
    struct hx_problem problem;
    if (try_open(&t, name, &problem) != 0)
        return false;
    shm_arena_close(&t.arena, false);
    hx_fabric_free(&t.g);
    return true;
}

/* The first rates start at the beginning of the run. */
static void begin(struct top *t)
{
    for (uint32_t w = 0; w < t->head.workers; w++)
        hx_metrics_set(&t->before.worker[w].at_ns, hx_metrics_get(&t->metrics.head->started_ns));
}

bool top_open(struct top *t, const char *name, struct hx_problem *problem)
{
    *t = (struct top){.ended = false};
    if (!name && !hx_running_only(t->name, is_fabric, "--name", problem))
        return false;
    if (name && strchr(name, '/'))
        return hx_fail(problem, HX_EXIT_USAGE, name, "is no name of a fabric");
    if (name)
        (void)snprintf(t->name, sizeof t->name, "%s", name);
    if (try_open(t, t->name, problem) != 0)
        return false;
    const struct hx_metrics_head *h = &t->head;
    hx_metrics_reading_new(&t->now, h);
    hx_metrics_reading_new(&t->before, h);
    t->worker = hx_allocate(h->workers, sizeof *t->worker);
    t->packets = hx_allocate(h->links, sizeof *t->packets);
    t->gbps = hx_allocate(h->links, sizeof *t->gbps);
    t->load = hx_allocate(h->links, sizeof *t->load);
    t->moved = hx_allocate(h->accelerators, sizeof *t->moved);
    begin(t);
    return true;
}

void top_close(struct top *t)
{
    hx_metrics_reading_free(&t->now);
    hx_metrics_reading_free(&t->before);
    HX_FREE(t->worker, t->packets, t->gbps, t->load, t->moved);
    shm_arena_close(&t->arena, false);
    hx_fabric_free(&t->g);
}

static bool is_whole(const struct top *t)
{
    struct stat st;
    return fstat(t->arena.fd, &st) == 0 && (uint64_t)st.st_size >= t->arena.bytes;
}

bool top_has_ended(const struct top *t)
{
    return !is_whole(t) || atomic_load(&t->metrics.head->life) == HX_LIFE_ENDED || shm_arena_is_dead(t->arena.fd);
}

bool top_is_virtual(const struct top *t)
{
    return t->head.clock == HX_CLOCK_VIRTUAL;
}

/* ---- rates ---- */

/* Limits a share to 1. Packets are counted when they start, and a worker's CPU time is read after the clock, so short
 * intervals may give more. */
static double at_most_all(double share)
{
    return share < 1 ? share : 1;
}

/* Seconds of the worker's own time between its last two publications. */
static double elapsed(const struct top *t, uint32_t w)
{
    const struct hx_metrics_worker *now = &t->now.worker[w];
    const struct hx_metrics_worker *before = &t->before.worker[w];
    if (top_is_virtual(t))
        return (double)(now->simulated_ps - before->simulated_ps) / 1e12;
    return (double)(now->at_ns - before->at_ns) / 1e9;
}

static double grown(uint64_t now, uint64_t before, double seconds)
{
    return seconds > 0 && now > before ? (double)(now - before) / seconds : 0;
}

static void rate_of_worker(struct top *t, uint32_t w)
{
    const struct hx_metrics_worker *now = &t->now.worker[w];
    const struct hx_metrics_worker *before = &t->before.worker[w];
    double wall = (double)(now->at_ns - before->at_ns) / 1e9;
    t->worker[w] = (struct top_worker){.busy = at_most_all(grown(now->cpu_ns, before->cpu_ns, wall) / 1e9),
                                       .wall_hops = grown(now->hops, before->hops, wall)};
}

static void rate_of_node(struct top *t, uint32_t node, uint32_t first_port, double seconds)
{
    uint32_t of_plane = t->head.links / t->head.planes;
    if (node < t->g.hosts)
        t->moved[node] = 0;
    for (unsigned plane = 0; plane < t->g.planes; plane++) {
        for (unsigned port = 0; port < hx_fabric_ports(&t->g, node); port++) {
            uint32_t i = plane * of_plane + first_port + port;
            t->packets[i] = grown(t->now.link[i].packets, t->before.link[i].packets, seconds);
            double bytes = grown(t->now.link[i].bytes, t->before.link[i].bytes, seconds);
            t->gbps[i] = bytes * 8e-9;
            t->load[i] = at_most_all(bytes / (double)t->head.link_rate);
            t->before.link[i].packets = t->now.link[i].packets;
            t->before.link[i].bytes = t->now.link[i].bytes;
            if (node < t->g.hosts)
                t->moved[node] += t->packets[i];
        }
    }
}

static void rate_of_accelerator(struct top *t, struct top_worker *of, uint32_t rank, double seconds)
{
    const struct hx_metrics_accelerator *now = &t->now.accelerator[rank];
    struct hx_metrics_accelerator *before = &t->before.accelerator[rank];
    of->packets += grown(now->packets_delivered, before->packets_delivered, seconds);
    of->bytes += grown(now->bytes_delivered, before->bytes_delivered, seconds);
    of->messages += grown(now->messages_received, before->messages_received, seconds);
    before->packets_delivered = now->packets_delivered;
    before->bytes_delivered = now->bytes_delivered;
    before->messages_received = now->messages_received;
}

/* Whether to compute the worker's rates again: it has published, or it is silent. */
static bool has_news(const struct top *t, uint32_t w)
{
    uint64_t at = t->now.worker[w].at_ns;
    return at > t->before.worker[w].at_ns || (t->now.at_ns > at && t->now.at_ns - at > SILENT_NS);
}

static void take_rates(struct top *t)
{
    bool *news = hx_allocate(t->head.workers, sizeof *news);
    for (uint32_t w = 0; w < t->head.workers; w++) {
        news[w] = has_news(t, w);
        if (news[w])
            rate_of_worker(t, w);
    }
    for (uint32_t node = 0, port = 0; node < t->g.nodes; port += hx_fabric_ports(&t->g, node), node++) {
        uint32_t w = t->metrics.owner[node];
        if (w >= t->head.workers || !news[w])
            continue;
        rate_of_node(t, node, port, elapsed(t, w));
        if (node < t->g.hosts)
            rate_of_accelerator(t, &t->worker[w], node, elapsed(t, w));
    }
    for (uint32_t w = 0; w < t->head.workers; w++) {
        if (news[w])
            t->before.worker[w] = t->now.worker[w];
    }
    free(news);
}

/* ---- totals ---- */

static void take_sums(struct top *t)
{
    struct top_sum s = {0};
    t->rate = (struct top_worker){0};
    uint64_t last = 0;
    uint64_t simulated = 0;
    for (uint32_t w = 0; w < t->head.workers; w++) {
        const struct hx_metrics_worker *worker = &t->now.worker[w];
        s.hops += worker->hops;
        s.bytes_corrupted += worker->bytes_corrupted;
        s.operations_ended += worker->operations_ended;
        s.operations_open += worker->operations_open;
        s.deaths += (unsigned)worker->deaths;
        for (unsigned reason = 0; reason < HX_DROP_COUNT; reason++)
            s.drops[reason] += worker->drops[reason];
        for (unsigned cause = 0; cause < HX_STALL_COUNT; cause++)
            s.stalls[cause] += worker->stalls[cause];
        last = worker->at_ns > last ? worker->at_ns : last;
        simulated = worker->simulated_ps > simulated ? worker->simulated_ps : simulated;
        t->rate.busy += t->worker[w].busy;
        t->rate.wall_hops += t->worker[w].wall_hops;
        t->rate.packets += t->worker[w].packets;
        t->rate.bytes += t->worker[w].bytes;
        t->rate.messages += t->worker[w].messages;
    }
    for (uint32_t rank = 0; rank < t->head.accelerators; rank++) {
        const struct hx_metrics_accelerator *a = &t->now.accelerator[rank];
        s.messages_sent += a->messages_sent;
        s.messages_received += a->messages_received;
        s.messages_failed += a->messages_failed;
        s.packets_sent += a->packets_sent;
        s.packets_repeated += a->packets_repeated;
        s.packets_delivered += a->packets_delivered;
        s.bytes_delivered += a->bytes_delivered;
        s.acks_sent += a->acks_sent;
    }
    t->sum = s;
    uint64_t started = hx_metrics_get(&t->metrics.head->started_ns);
    uint64_t now = t->ended ? last : t->now.at_ns;
    double wall = started && now > started ? (double)(now - started) / 1e9 : 0;
    /* A reading of a run that goes on may be later than the last count of any worker. */
    t->wall_seconds = t->ended && wall < t->wall_seconds ? t->wall_seconds : wall;
    t->simulated_seconds = (double)simulated / 1e12;
}

void top_read(struct top *t)
{
    t->ended = top_has_ended(t);
    if (!is_whole(t))
        return; /* keep the last reading */
    if (t->before.worker[0].at_ns == 0)
        begin(t);
    hx_metrics_read(&t->now, &t->metrics, &t->head);
    take_rates(t);
    take_sums(t);
    struct top_link hottest;
    t->hottest = top_links(t, TOP_BY_RATE, TOP_ALL_PLANES, &hottest, 1) ? t->packets[hottest.number] : 0;
}

/* ---- derived values ---- */

const char *top_phase(const struct top *t)
{
    static const char *const names[HX_PHASES] = {"starting", "running", "draining", "stopping"};
    if (t->ended)
        return "ended";
    uint32_t phase = atomic_load(&t->metrics.head->phase);
    return phase < HX_PHASES ? names[phase] : "?";
}

const char *top_state(const struct top *t, unsigned worker)
{
    static const char *const names[HX_WORKER_STATES] = {"starting", "running", "done", "down"};
    uint32_t state = atomic_load(&t->now.worker[worker].state);
    return state < HX_WORKER_STATES ? names[state] : "?";
}

double top_done(const struct top *t)
{
    const struct hx_metrics_head *h = &t->head;
    double done = -1;
    if (h->goal_time)
        done = (top_is_virtual(t) ? t->simulated_seconds : t->wall_seconds) * 1e9 / (double)h->goal_time;
    else if (h->goal_operations)
        done = (double)t->sum.operations_ended / (double)h->goal_operations;
    else if (h->goal_bytes)
        done = (double)t->sum.bytes_delivered / (double)h->goal_bytes;
    else if (h->goal_messages)
        done = (double)t->sum.messages_sent / (double)h->goal_messages;
    return done > 1 ? 1 : done;
}

double top_injection(const struct top *t)
{
    double links = hx_fabric_injection(&t->g, (double)t->head.link_rate * 8e-9);
    double most = links * t->head.planes * t->head.accelerators * (double)t->head.link_rate;
    return most > 0 ? t->rate.bytes / most : 0;
}
