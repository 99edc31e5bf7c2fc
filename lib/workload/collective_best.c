/* collective_best.c - chooses the fastest algorithm (collective_choice.h).
 *
 * Estimates know each step's bytes on each link, but not in which order messages meet. So algorithms with
 * estimates near the least are tried: their messages run on the links (collective_trial.h), with those of all
 * groups beside. A trial is short: a longer vector is cut, but to no less than a packet a message, where latency would
 * count for more; the estimate gives the ratio of both times. A trial with more packets ends early. */
#include "base/progress.h"
#include "base/signals.h"
#include "hxmesh/error.h"
#include "schedule/shares.h"
#include "workload/collective_choice.h"
#include "workload/collective_trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Estimates up to NEAR times the least are tried: the MOST_TRIED least of them, and more while all trials together have
 * no more hops than so many of TRIAL_HOPS; each counts up to that. */
#define NEAR 2.5
enum { MOST_TRIED = 6 };

/* Hops of packets in a trial: about, and at which it ends; and messages of all members that it may have. */
#define TRIAL_HOPS     1e5
#define TRIAL_END      5e5
#define TRIAL_MESSAGES 5e5

struct candidate {
    enum hx_collective_algorithm algorithm;
    double seconds; /* estimate */
    double hops;    /* of packets, about; INFINITY: not tried */
    double least;   /* hops with a packet a message */
};

struct choice {
    const struct collective_job *job;
    uint32_t jobs;
    struct collective_loads *loads;
    double *own, *all; /* [ports]: bytes of the first group, and of all */
    struct candidate candidate[HX_COLLECTIVE_ALGORITHMS];
    unsigned candidates;
};

/* ---- estimates ---- */

/* Messages that all groups send, about: those of a root, and of another member. */
static double messages_of(const struct choice *c, enum hx_collective_algorithm algorithm)
{
    struct collective_job job = collective_job_by(c->job, c->loads->g, algorithm);
    const uint32_t size = job.config.size;
    shares_move(&job.config, job.config.root);
    const double root = (double)hx_collective_messages(&job.config);
    shares_move(&job.config, (job.config.root + 1) % size);
    const double other = (double)hx_collective_messages(&job.config);
    free(job.host);
    return c->jobs * (root + (size - 1) * other);
}

/* Sets hops of packets of the bytes that are laid, and of as many acknowledgements as messages. */
static void set_hops(const struct choice *c, double messages, struct candidate *candidate)
{
    const struct hx_fabric *g = c->loads->g;
    double links = 0, delivered = 0;
    for (uint32_t port = 0; port < g->ports; port++)
        links += c->all[port];
    for (uint32_t host = 0; host < g->hosts; host++)
        delivered += c->all[g->node[host].first_port + HX_LOCAL];
    const double hops = delivered > 0 ? links / delivered : 0;
    candidate->hops = messages > TRIAL_MESSAGES ? INFINITY : links / HX_MAX_PAYLOAD + 1.5 * messages * hops;
    candidate->least = 2.5 * messages * hops;
}

/* Groups beside it fill the links too: the fullest link of all sets the time. */
static double seconds_of(const struct choice *c, enum hx_collective_algorithm algorithm, double limit)
{
    const size_t bytes = c->loads->g->ports * sizeof *c->all;
    memset(c->own, 0, bytes);
    const double alone = collective_seconds_below(c->job, c->loads, algorithm, limit, c->own);
    memcpy(c->all, c->own, bytes);
    for (uint32_t i = 1; i < c->jobs && alone < limit; i++)
        (void)collective_seconds_below(&c->job[i], c->loads, algorithm, limit, c->all);
    return c->jobs == 1
               ? alone
               : alone + collective_loads_fullest(c->loads, c->all) - collective_loads_fullest(c->loads, c->own);
}

/* Inserts a candidate; the least estimate is the first. */
static void add_candidate(struct choice *c, const struct candidate *new)
{
    unsigned at = c->candidates++;
    for (; at > 0 && c->candidate[at - 1].seconds > new->seconds; at--)
        c->candidate[at] = c->candidate[at - 1];
    c->candidate[at] = *new;
}

/* Returns how many of the candidates are tried. */
static unsigned fewer(const struct choice *c)
{
    double hops = 0;
    for (unsigned i = 0; i < c->candidates; i++) {
        hops += fmin(c->candidate[i].hops, TRIAL_HOPS);
        if (i >= MOST_TRIED && hops > MOST_TRIED * TRIAL_HOPS)
            return i;
    }
    return c->candidates;
}

static void find_candidates(struct choice *c)
{
    for (unsigned a = 0; a < HX_COLLECTIVE_ALGORITHMS; a++) {
        const double near = c->loads->untried ? 1 : NEAR;
        const double limit = c->candidates ? near * c->candidate[0].seconds : INFINITY;
        struct candidate new = {.algorithm = (enum hx_collective_algorithm)a};
        new.seconds = seconds_of(c, new.algorithm, limit);
        if (new.seconds >= limit)
            continue;
        set_hops(c, messages_of(c, new.algorithm), &new);
        add_candidate(c, &new);
    }
    while (c->candidates > 1 && c->candidate[c->candidates - 1].seconds > NEAR * c->candidate[0].seconds)
        c->candidates--;
    c->candidates = fewer(c);
}

/* ---- trials ---- */

/* Bytes of a shorter vector, as many whole elements for each member. */
static uint64_t shortened(const struct hx_collective_config *config, double ratio)
{
    const uint64_t unit = (uint64_t)config->size * 8;
    const uint64_t bytes = (uint64_t)(shares_bytes_of(config).mean / ratio) / unit * unit;
    return bytes ? bytes : unit;
}

/* Seconds of the trial of a candidate, with a shorter vector if its packets make too many hops. */
static double trial_of(const struct choice *c, const struct candidate *candidate, double limit)
{
    const double ratio = candidate->hops / fmax(TRIAL_HOPS, candidate->least);
    const bool is_short = ratio <= 1 || c->job->config.bytes < (uint64_t)c->job->config.size * 8;
    struct collective_job *job = hx_allocate(c->jobs, sizeof *job);
    double scale = 1;
    for (uint32_t i = 0; i < c->jobs; i++) {
        struct collective_job one = c->job[i];
        if (!is_short)
            one.config.bytes = shortened(&one.config, ratio);
        if (!is_short && one.weight)
            shares_set(&one.config, one.weight);
        job[i] = collective_job_by(&one, c->loads->g, candidate->algorithm);
        if (i == 0 && !is_short)
            scale = collective_seconds_on(c->job, c->loads, candidate->algorithm, NULL) /
                    collective_seconds_on(&one, c->loads, candidate->algorithm, NULL);
    }
    const double seconds = scale * collective_trial(job, c->jobs, c->loads, limit / scale, (uint64_t)TRIAL_END);
    for (uint32_t i = 0; i < c->jobs; i++) {
        if (!is_short)
            shares_free(&job[i].config);
        free(job[i].host);
    }
    free(job);
    return seconds;
}

static bool is_tried(const struct candidate *candidate)
{
    return isfinite(candidate->hops);
}

/* One with too many messages for a trial stands by its estimate; if that is the least, all do. */
static enum hx_collective_algorithm try_candidates(const struct choice *c, struct hx_progress *progress)
{
    enum hx_collective_algorithm best = c->candidate[0].algorithm;
    double least = INFINITY;
    if (c->candidates == 1 || !is_tried(&c->candidate[0]) || c->loads->untried)
        return best;
    for (unsigned i = 0; i < c->candidates; i++) {
        hx_progress_show(progress, (double)i / c->candidates, hx_collective_algorithm_names[c->candidate[i].algorithm]);
        const double seconds =
            is_tried(&c->candidate[i]) ? trial_of(c, &c->candidate[i], least) : c->candidate[i].seconds;
        best = seconds < least ? c->candidate[i].algorithm : best;
        least = fmin(least, seconds);
    }
    return best;
}

/* ---- choice ---- */

enum hx_collective_algorithm collective_best_on(const struct collective_job *job, uint32_t jobs,
                                                struct collective_loads *loads)
{
    struct choice c = {.job = job, .jobs = jobs, .loads = loads};
    struct hx_progress progress = hx_progress_start("choosing an algorithm", loads->quiet);
    struct hx_signals_saved saved;
    hx_signals_unblock(&saved);
    c.own = hx_allocate(loads->g->ports, sizeof *c.own);
    c.all = hx_allocate(loads->g->ports, sizeof *c.all);
    find_candidates(&c);
    const enum hx_collective_algorithm best = try_candidates(&c, &progress);
    free(c.own);
    free(c.all);
    hx_signals_reblock(&saved);
    hx_progress_end(&progress);
    return best;
}

enum hx_collective_algorithm collective_best(const struct collective_job *job, const struct hx_fabric *g)
{
    struct collective_loads loads;
    collective_open_choice(&loads, g);
    const enum hx_collective_algorithm best = collective_best_on(job, 1, &loads);
    collective_loads_close(&loads);
    return best;
}
