/* result.c - derived figures of a result (result.h). */
#include "fabric-emu/report/result.h"
#include "base/error.h"
#include "fabric-emu/report/schedule_report.h"
#include "topology/bounds.h"
#include "topology/mesh_bounds.h"

#include <math.h>
#include <stdlib.h>

void result_add_stats(struct hx_endpoint_stats *to, const struct hx_endpoint_stats *from)
{
    to->messages_sent += from->messages_sent;
    to->messages_received += from->messages_received;
    to->messages_failed += from->messages_failed;
    to->packets_sent += from->packets_sent;
    to->packets_repeated += from->packets_repeated;
    to->packets_delivered += from->packets_delivered;
    to->bytes_delivered += from->bytes_delivered;
    to->acks_sent += from->acks_sent;
}

double result_seconds(const struct result *r)
{
    return r->outcome.virtual_ps ? (double)r->outcome.virtual_ps / 1e12 : (double)r->outcome.elapsed_ns / 1e9;
}

double result_verify_share(const struct result *r)
{
    double all = r->workers * (double)r->outcome.drained_ns / 1e9;
    return r->verify_seconds < all ? r->verify_seconds / all : 1;
}

double result_window_wait(const struct result *r)
{
    const double time = r->senders * result_seconds(r);
    return time > 0 ? (double)r->outcome.window_wait_ps / 1e12 / time : 0;
}

double result_injection(const struct result *r)
{
    return hx_fabric_injection(r->g, r->link_rate * 8e-9) * r->link_rate * r->g->planes;
}

double result_host_injection(const struct result *r, uint32_t rank)
{
    return hx_host_injection(r->g, rank, r->link_rate * 8e-9) * r->link_rate * r->g->planes;
}

static double job_injection(const struct result *r, const struct jobs *jobs, uint32_t job)
{
    double sum = 0;
    if (!r->g->injected)
        return result_injection(r);
    for (uint32_t rank = 0; rank < r->g->hosts; rank++)
        sum += jobs->of[rank] == job ? result_host_injection(r, rank) : 0;
    return jobs->size[job] ? sum / jobs->size[job] : 0;
}

void result_jobs(struct result *r, const struct jobs *jobs, const struct job_count *count)
{
    r->jobs = jobs->count;
    r->job = hx_allocate(jobs->count, sizeof *r->job);
    for (uint32_t i = 0; i < jobs->count; i++) {
        r->job[i].tag = jobs->tag[i];
        r->job[i].accelerators = jobs->size[i];
        r->job[i].injection = job_injection(r, jobs, i);
    }
    for (uint32_t slot = 0; slot < jobs->slots; slot++) {
        struct result_job *job = &r->job[jobs->job_of[slot]];
        job->bytes_corrupted += count[slot].bytes_corrupted;
        job->bytes_measured += count[slot].bytes_measured;
        job->last_ps = count[slot].last_ps > job->last_ps ? count[slot].last_ps : job->last_ps;
        fab_histogram_merge(&job->latency, &count[slot].latency);
        fab_histogram_merge(&job->network, &count[slot].network);
        fab_histogram_merge(&r->latency, &count[slot].latency);
        fab_histogram_merge(&r->network, &count[slot].network);
    }
}

bool result_job_is_idle(const struct result *r, const struct result_job *job)
{
    return r->spec->job && job->tag == HX_NO_JOB && job->messages_begun == 0;
}

static uint64_t start_of(const struct result *r, const struct result_job *job)
{
    const struct hx_job *named = hx_spec_job(r->spec, job->tag);
    return named ? named->start_ns * 1000 : 0;
}

double result_job_seconds(const struct result *r, const struct result_job *job)
{
    uint64_t start_ps = start_of(r, job);
    return job->last_ps > start_ps ? (double)(job->last_ps - start_ps) / 1e12 : 0;
}

/* Splits packets that did not arrive into lost and in flight. An accelerator that restarts repeats its packets in
 * flight, so after a death of a worker only messages count. A message can arrive twice if its receiver is killed before
 * the acknowledgement. */
static void settle(const struct outcome *o, struct hx_endpoint_stats *sum, uint64_t *lost, uint64_t *in_flight)
{
    uint64_t missing = sum->packets_sent > sum->packets_delivered ? sum->packets_sent - sum->packets_delivered : 0;
    missing = o->deaths && o->complete ? 0 : missing;
    *in_flight = o->interrupted ? missing : 0; /* an interrupted run does not wait for them */
    *lost = o->interrupted ? 0 : missing;
    if (o->deaths && sum->messages_received > sum->messages_sent)
        sum->messages_received = sum->messages_sent;
    /* Packets that an earlier incarnation of the peer had got count as repeated, though the new one gets them first. */
    if (o->deaths && sum->packets_delivered > sum->packets_sent &&
        sum->packets_delivered - sum->packets_sent <= sum->packets_repeated) {
        sum->packets_repeated -= sum->packets_delivered - sum->packets_sent;
        sum->packets_sent = sum->packets_delivered;
    }
}

/* Seconds of the measured interval in which a job ran. */
static double measured_of(const struct result *r, const struct result_job *job)
{
    double warm_up = (double)r->settings.warm_up_ns / 1e9;
    double from = fmax((double)start_of(r, job) / 1e12, warm_up);
    return fmax(fmin((double)job->last_ps / 1e12, warm_up + result_seconds(r)) - from, 0);
}

/* injection: mean of an accelerator. */
static double share_of(uint32_t accelerators, double injection, uint64_t bytes, double seconds)
{
    double injectable = accelerators * injection * seconds;
    return injectable > 0 ? (double)bytes / injectable : 0;
}

static void time_collectives(struct result *r)
{
    const struct collective_plan *p = r->context.collective;
    r->collective_seconds = hx_allocate(p->jobs + (size_t)1, sizeof *r->collective_seconds);
    for (unsigned i = 0; i < p->jobs; i++)
        for (uint32_t job = 0; job < r->jobs; job++)
            if (r->job[job].tag == p->job[i].tag)
                r->collective_seconds[i] = result_job_seconds(r, &r->job[job]);
}

struct collective_result result_collective(const struct result *r)
{
    return (struct collective_result){.count = r->collective_count,
                                      .injectable = result_injection(r) * result_seconds(r),
                                      .seconds = r->collective_seconds};
}

double result_growth(const struct result *r)
{
    const struct open_outcome *o = &r->outcome.open;
    bool both = o->half_ps[0] > 0 && o->half_ps[1] > 0 && o->limit_ps;
    return both ? (o->half_ps[1] - o->half_ps[0]) / (double)o->limit_ps : 0; /* the limit: half of the interval */
}

enum stability result_stability(const struct result *r)
{
    static const double most = 0.02, more = 1.2;
    const struct open_outcome *o = &r->outcome.open;
    if (!o->stopped)
        return STABILITY_UNKNOWN;
    if (o->arrived < o->marked)
        return STABILITY_LATE;
    bool grows = result_growth(r) > most && o->half_ps[1] > more * o->half_ps[0];
    return grows ? STABILITY_GROWING : STABILITY_STABLE;
}

bool result_has_latency(const struct result *r)
{
    return !r->outcome.open.on || result_stability(r) <= STABILITY_STABLE;
}

void result_finish(struct result *r)
{
    const struct outcome *o = &r->outcome;
    r->outcome.complete = o->complete && r->sum.messages_failed == 0;
    settle(o, &r->sum, &r->packets_lost, &r->packets_in_flight);
    r->share_of_injection = share_of(r->g->hosts, result_injection(r), o->bytes_delivered, result_seconds(r));
    for (uint32_t i = 0; i < r->jobs; i++) {
        struct result_job *job = &r->job[i];
        settle(o, &job->sum, &job->packets_lost, &job->packets_in_flight);
        job->share_of_injection = share_of(job->accelerators, job->injection, job->bytes_measured, result_seconds(r));
        job->share_of_own_time = share_of(job->accelerators, job->injection, job->bytes_measured, measured_of(r, job));
    }
    if (r->context.collective)
        time_collectives(r);
    r->bound = hx_fabric_alltoall_bound(r->g);
    r->share_of_bound = r->share_of_injection / r->bound;
}

void result_free(struct result *r)
{
    HX_FREE(r->link, r->moved, r->receive_share, r->job, r->fault, r->outcome.job_bytes, r->collective_seconds);
}

const struct flows *result_flows(const struct result *r)
{
    return r->context.traffic ? r->context.traffic->flows : NULL;
}

double result_simulated_share(const struct result *r)
{
    const double simulated = (double)r->sum.packets_sent;
    const double all = simulated + (double)r->outcome.forwarded.packets;
    return all > 0 ? simulated / all : 1;
}

bool result_audit_failed(const struct result *r)
{
    return r->outcome.forwarded.worst_audit > r->outcome.fast_forward;
}

bool result_is_good(const struct result *r)
{
    bool done = r->collective_count.done == r->collective_count.members &&
                (!r->context.schedule || schedule_plan_is_done(r->context.schedule));
    bool whole = (r->outcome.complete && done) || r->outcome.interrupted;
    return whole && !result_audit_failed(r) && r->bytes_corrupted == 0 && r->outcome.buffers_missing == 0 &&
           r->sum.messages_failed == 0 && (r->packets_lost == 0 || r->outcome.interrupted);
}

struct healthy_figures result_healthy_figures(const struct result *r)
{
    const struct schedule_plan *schedule = r->context.schedule;
    return (struct healthy_figures){.seconds = schedule ? schedule_report_seconds(schedule) : result_seconds(r),
                                    .gbps = r->share_of_injection * result_injection(r) * 8e-9};
}
