/* collective_choice.c - times of collectives by the moves of their steps (collective_choice.h).
 *
 * All messages of a step are laid on their links (collective_loads.h), of all stripes together. A message then takes
 * its path's latency, and the time of the fullest link of its path. Four kinds of phases follow from this:
 *
 *     exchange  a step begins at a member when its earlier steps are complete: times are carried from member to member
 *     ring      all steps of a phase are alike; each takes the time of the fullest link, or the mean of latency and one
 *               chunk around the ring, if that is longer
 *     direct    all steps at once: the longest latency, and the fullest link of all of them
 *     tree      the first chunk is carried from member to member; each other chunk follows after its time on the
 *               fullest link of all steps
 *
 * Phases of a stripe add. Two stripes of a hierarchy go in both directions; two others follow when the links are
 * free. */
#include "workload/collective_choice.h"
#include "hxmesh/error.h"
#include "schedule/shares.h"
#include "workload/collective_estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Messages that have only some links in common drift apart, which leaves links idle: measured on meshes and tori. */
#define IDLE 1.2

/* Messages in flight from a host (fabric-emu/virtual/driver.c). */
enum { SENDS = 64 };

/* Steps of a phase that are laid; of more, some stand for all. MOST_LAID: ranks of a group with all steps laid. */
enum { MOST_STEPS = 128, SAMPLED_STEPS = 32, MOST_LAID = 2048 };

/* Stripes of a hierarchy differ in their direction at most. */
static unsigned laid_stripes(const struct hx_collective_config *c)
{
    const unsigned stripes = hx_collective_stripes(c);
    return c->algorithm == HX_BY_HIERARCHY && stripes > 2 ? 2 : stripes;
}

/* Returns the i-th step of those that are laid: no regular distances, which might be those of the fabric. */
static uint32_t laid_step(uint32_t i, uint32_t taken, uint32_t steps)
{
    return (uint32_t)((uint64_t)i * steps / taken) + i * 5 % (steps / taken);
}

/* ---- exchange ---- */

static double seconds_on_links(const struct collective_estimate *e, const struct collective_pair *pair)
{
    const bool all_in_common = pair->worst > pair->alone * (e->stripes - 0.5);
    return pair->worst * (all_in_common ? 1 : IDLE);
}

/* Other stripes use the links while a message is in flight, so only the longer of both counts but at the end. */
static void carry(struct collective_estimate *e, bool last)
{
    const uint32_t members = e->stripes * e->job.config.size;
    memcpy(e->next, e->ready, members * sizeof *e->next);
    for (uint32_t i = 0; i < e->pairs; i++) {
        const struct collective_pair *pair = &e->pair[i];
        const double latency = pair->path.latency;
        const double gone = e->ready[pair->from] + seconds_on_links(e, pair);
        const double there =
            last ? gone + latency : estimate_larger(gone, e->ready[pair->from] + latency + pair->alone);
        e->next[pair->to] = estimate_larger(e->next[pair->to], there);
        e->next[pair->from] = estimate_larger(e->next[pair->from], gone);
    }
    memcpy(e->ready, e->next, members * sizeof *e->next);
}

/* Seconds by which the messages that are laid arrive later if they are the last ones. */
static double longer_at_end(const struct collective_estimate *e)
{
    double most = 0;
    for (uint32_t i = 0; i < e->pairs; i++) {
        const struct collective_pair *pair = &e->pair[i];
        const double on_links = seconds_on_links(e, pair);
        const double latency = pair->path.latency;
        most = estimate_larger(most, on_links + latency - estimate_larger(on_links, latency + pair->alone));
    }
    return most;
}

/* Whether the second half of the steps is the first one, in this or the other order: then one half is laid if the group
 * is large. */
static bool is_mirrored(const struct hx_collective_config *c, bool twice)
{
    return twice && c->size > MOST_LAID && c->algorithm != HX_BY_DOUBLING && c->algorithm != HX_BY_SWING_DOUBLING;
}

static void add_exchange(struct collective_estimate *e, unsigned phase, bool twice)
{
    const uint32_t halves = is_mirrored(&e->job.config, twice) ? 2 : 1;
    const uint32_t steps = estimate_steps(e, phase) / halves;
    const uint32_t taken = steps > MOST_STEPS ? SAMPLED_STEPS : steps;
    const double times = halves * (double)steps / estimate_larger(1, taken);
    const bool last = phase + 1 == e->phases;
    double end = 0;
    estimate_start(e);
    for (uint32_t i = 0; i < taken && estimate_latest(e, 0) * times < e->limit; i++) {
        estimate_lay_step(e, phase, laid_step(i, taken, steps), false);
        carry(e, last && halves == 1 && i + 1 == taken);
        estimate_keep(e, times);
        end = last && halves == 2 && i == 0 ? longer_at_end(e) : end;
    }
    for (unsigned stripe = 0; stripe < e->stripes; stripe++)
        e->stripe[stripe] += estimate_latest(e, stripe) * times + end;
}

/* ---- ring ---- */

/* Seconds of the steps of a stripe. */
static double ring_seconds(const struct collective_estimate *e, unsigned stripe, uint32_t steps, bool last)
{
    const uint32_t n = e->job.config.size;
    double full = 0, alone = 0, latency = 0, around = 0;
    uint32_t pairs = 0;
    for (uint32_t i = 0; i < e->pairs; i++) {
        const struct collective_pair *pair = &e->pair[i];
        if (pair->from / n != stripe)
            continue;
        const double chunk = pair->path.slowness * pair->chunk + estimate_last_packet(pair);
        const double windows = pair->messages / e->job.config.window;
        full = estimate_larger(full, pair->worst);
        full = estimate_larger(full, windows > 1 ? windows * (chunk + 2 * pair->path.latency) : 0);
        alone = estimate_larger(alone, pair->alone);
        latency = estimate_larger(latency, pair->path.latency);
        around += pair->path.latency + chunk;
        pairs++;
    }
    if (pairs == 0 || steps == 0)
        return 0;
    return (steps - 1) * estimate_larger(full, around / pairs) +
           (last ? latency + full : estimate_larger(full, latency + alone));
}

/* Whether a pair's only path has a link inside the fabric that other pairs fill too. They do not get equal shares of
 * it, and the slowest pair is that of the ring. */
static bool is_crowded(const struct collective_estimate *e, const struct collective_pair *pair)
{
    const double inside = collective_loads_inside(e->loads, &pair->path, e->loads->step.bytes);
    return !pair->path.split && inside >= 0.95 * pair->worst && inside > 1.5 * pair->bytes * pair->path.slowness;
}

/* Takes from the bytes what so many steps of a stripe lay: its rings are shorter than the longest. */
static void take_back(struct collective_estimate *e, unsigned phase, unsigned stripe, uint32_t steps)
{
    if (steps == 0)
        return;
    link_bytes_clear(&e->loads->step);
    e->pairs = 0;
    estimate_take_step(e, stripe, phase, 0);
    estimate_lay_pairs(e, 0, true, NULL);
    link_bytes_add(&e->loads->bytes, &e->loads->step, -(double)steps);
}

static void add_ring(struct collective_estimate *e, unsigned phase)
{
    estimate_lay_step(e, phase, 0, true);
    for (uint32_t i = 0; i < e->pairs; i++)
        e->pair[i].worst *= is_crowded(e, &e->pair[i]) ? IDLE : 1;
    const uint32_t most = estimate_steps(e, phase);
    estimate_keep(e, most);
    for (unsigned stripe = 0; stripe < e->stripes; stripe++) {
        const uint32_t steps = hx_collective_steps(&e->job.config, stripe, phase);
        e->stripe[stripe] += ring_seconds(e, stripe, steps, phase + 1 == e->phases);
    }
    for (unsigned stripe = 0; stripe < e->stripes && e->has_bytes; stripe++)
        take_back(e, phase, stripe, most - hx_collective_steps(&e->job.config, stripe, phase));
}

/* ---- direct ---- */

/* Steps [first, first + steps) of a stripe, or of all, at once. late: longest latency of each step that is laid. */
static double fullest(struct collective_estimate *e, unsigned phase, uint32_t first, uint32_t steps, unsigned stripe,
                      unsigned stripes, double *late)
{
    const uint32_t taken = steps > MOST_STEPS ? SAMPLED_STEPS : steps;
    double held = 0; /* seconds that a host's messages are in flight, one after the other */
    collective_loads_begin(e->loads);
    link_bytes_clear(&e->loads->step);
    for (uint32_t i = 0; i < taken; i++) {
        late[i] = 0;
        for (unsigned s = stripe; s < stripe + stripes; s++) {
            e->pairs = 0;
            estimate_take_step(e, s, phase, first + laid_step(i, taken, steps));
            estimate_lay_pairs(e, 0, first > 0, NULL);
            for (uint32_t p = 0; p < e->pairs; p++) {
                const struct collective_pair *pair = &e->pair[p];
                late[i] = estimate_larger(late[i], pair->path.latency);
                held += pair->messages * (2 * pair->path.latency + pair->chunk * pair->path.slowness) / e->pairs;
            }
        }
    }
    held *= steps / estimate_larger(1, taken) / SENDS;
    if (stripes == e->stripes)
        estimate_keep(e, steps / estimate_larger(1, taken));
    const double on_links = link_bytes_fullest(&e->loads->step, e->loads->slowness) * steps / estimate_larger(1, taken);
    return steps > SENDS ? estimate_larger(on_links, held) : on_links;
}

/* The messages leave one after the other. */
static double seconds_at_once(struct collective_estimate *e, unsigned phase, uint32_t first, uint32_t steps, bool last)
{
    const uint32_t taken = steps > MOST_STEPS ? SAMPLED_STEPS : steps;
    double late[MOST_STEPS];
    double seconds = 0;
    const double all = fullest(e, phase, first, steps, 0, e->stripes, late);
    const double own = e->stripes == 1 || last ? all : fullest(e, phase, first, steps, 0, 1, late);
    for (uint32_t i = 0; i < taken; i++)
        seconds = estimate_larger(seconds, own * (i + 1) / taken + late[i]);
    return estimate_larger(all, seconds);
}

static void add_direct(struct collective_estimate *e, unsigned phase, bool twice)
{
    const uint32_t steps = estimate_steps(e, phase) / (twice ? 2 : 1);
    const bool last = phase + 1 == e->phases;
    double seconds = seconds_at_once(e, phase, 0, steps, last && !twice);
    if (twice)
        seconds += seconds_at_once(e, phase, steps, steps, last);
    for (unsigned stripe = 0; stripe < e->stripes; stripe++)
        e->stripe[stripe] += seconds;
}

/* ---- phases ---- */

/* Elementary algorithm of a phase; a hierarchy has one for each dimension, and its middle phase is an all-reduce. */
static enum hx_collective_algorithm algorithm_of(const struct hx_collective_config *c, unsigned phase)
{
    const unsigned dimensions = c->dimensions ? c->dimensions : 1;
    unsigned dimension = hx_collective_kind_of_steps(c) == HX_ALL_GATHER ? dimensions - 1 - phase : phase;
    if (dimension >= dimensions)
        dimension = 2 * dimensions - 2 - phase;
    if (c->kind == HX_BROADCAST &&
        (c->algorithm == HX_BY_RING || c->algorithm == HX_BY_RINGS || c->algorithm == HX_BY_TORUS))
        return HX_BY_TREE;
    if (c->algorithm == HX_BY_RINGS || c->algorithm == HX_BY_TORUS)
        return HX_BY_RING;
    return c->algorithm != HX_BY_HIERARCHY ? (enum hx_collective_algorithm)c->algorithm
           : c->dimensions                 ? (enum hx_collective_algorithm)c->dimension[dimension].algorithm
                                           : HX_BY_RING;
}

static void add_phase(struct collective_estimate *e, unsigned phase)
{
    const struct hx_collective_config *c = &e->job.config;
    const bool twice = hx_collective_kind_of_steps(c) == HX_ALL_REDUCE && phase == (e->phases - 1) / 2;
    switch (algorithm_of(c, phase)) {
    case HX_BY_RING:
        add_ring(e, phase);
        break;
    case HX_BY_TREE:
    case HX_BY_DOUBLE_TREE:
    case HX_BY_CHAIN:
        estimate_add_tree(e, phase, twice || ((c->kind == HX_REDUCE_SCATTER || c->kind == HX_ALL_GATHER)));
        break;
    case HX_BY_DIRECT:
        add_direct(e, phase, twice);
        break;
    default:
        add_exchange(e, phase, twice);
        break;
    }
}

/* load, bytes: NULL, or where to add the bytes of all steps: as the time counts them, or as they are. */
static double seconds_of(struct collective_estimate *e, double *load, double *bytes)
{
    const struct hx_collective_config *c = &e->job.config;
    double most = 0;
    e->stripes = laid_stripes(c);
    e->phases = hx_collective_phases(c);
    const size_t members = (size_t)e->stripes * c->size;
    e->pair = hx_allocate(members, sizeof *e->pair);
    e->ready = hx_allocate(members, sizeof *e->ready);
    e->next = hx_allocate(members, sizeof *e->next);
    e->stripe = hx_allocate(e->stripes, sizeof *e->stripe);
    e->has_bytes = bytes != NULL;
    for (unsigned phase = 0; phase < e->phases; phase++)
        add_phase(e, phase);
    for (unsigned stripe = 0; stripe < e->stripes; stripe++)
        most = estimate_larger(most, e->stripe[stripe]);
    const double groups = (double)hx_collective_stripes(c) / e->stripes;
    most += (groups - 1) * link_bytes_fullest(&e->loads->total, e->loads->slowness);
    if (load)
        link_bytes_add_to(load, &e->loads->total, groups);
    if (bytes)
        link_bytes_add_to(bytes, &e->loads->bytes, groups);
    link_bytes_clear(&e->loads->step);
    link_bytes_clear(&e->loads->alone);
    link_bytes_clear(&e->loads->total);
    link_bytes_clear(&e->loads->bytes);
    HX_FREE(e->pair, e->ready, e->next, e->stripe);
    return most;
}

/* ---- in all ---- */

struct collective_job collective_job_by(const struct collective_job *job, const struct hx_fabric *g,
                                        enum hx_collective_algorithm algorithm)
{
    struct collective_job copy = *job;
    copy.host = hx_allocate(job->config.size, sizeof *copy.host);
    memcpy(copy.host, job->host, job->config.size * sizeof *copy.host);
    collective_take_algorithm(&copy, g, algorithm);
    shares_move(&copy.config, 0);
    return copy;
}

static double seconds_by(const struct collective_job *job, struct collective_loads *loads,
                         enum hx_collective_algorithm algorithm, double limit, double *load)
{
    struct collective_estimate e = {.job = collective_job_by(job, loads->g, algorithm), .loads = loads, .limit = limit};
    const double seconds = hx_collective_check(&e.job.config) == HX_OK ? seconds_of(&e, load, NULL) : INFINITY;
    free(e.job.host);
    return seconds;
}

double collective_seconds_on(const struct collective_job *job, struct collective_loads *loads,
                             enum hx_collective_algorithm algorithm, double *load)
{
    return seconds_by(job, loads, algorithm, INFINITY, load);
}

double collective_seconds_below(const struct collective_job *job, struct collective_loads *loads,
                                enum hx_collective_algorithm algorithm, double limit, double *load)
{
    return seconds_by(job, loads, algorithm, limit, load);
}

void collective_lay(const struct collective_job *job, struct collective_loads *loads, double *load)
{
    const enum hx_collective_algorithm algorithm = (enum hx_collective_algorithm)job->config.algorithm;
    struct collective_estimate e = {
        .job = collective_job_by(job, loads->g, algorithm), .loads = loads, .limit = INFINITY};
    if (hx_collective_check(&e.job.config) == HX_OK)
        (void)seconds_of(&e, NULL, load);
    free(e.job.host);
}

void collective_lay_as(const struct collective_job *job, struct collective_loads *loads, double *load)
{
    struct collective_estimate e = {.job = *job, .loads = loads, .limit = INFINITY};
    (void)seconds_of(&e, NULL, load);
}

void collective_open_choice(struct collective_loads *loads, const struct hx_fabric *g)
{
    const struct hx_timing timing = HX_DEFAULT_TIMING;
    collective_loads_open(loads, g, &timing);
}

double collective_seconds(const struct collective_job *job, const struct hx_fabric *g,
                          enum hx_collective_algorithm algorithm)
{
    struct collective_loads loads;
    collective_open_choice(&loads, g);
    const double seconds = seconds_by(job, &loads, algorithm, INFINITY, NULL);
    collective_loads_close(&loads);
    return seconds;
}
