/* network.c - collectives and messages by closed forms (network.h). */
#include "tools/train/network.h"
#include "base/blobs.h"
#include "schedule/choices.h"
#include "tools/train/carried.h"
#include "workload/collective_choice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_LAID (UINT64_C(1) << 40) /* bytes of a vector */

enum { SAMPLED_GROUPS = 8 /* beside which an algorithm is chosen quickly */ };

struct family {
    uint32_t size, count;
    uint32_t *host;  /* [count * size] */
    uint32_t shared; /* its number in the memory */
};

/* What the groups of a family do to each other. */
struct crowd {
    uint32_t slowest; /* group that takes longest alone */
    double ratio;     /* seconds on the fullest link of all groups, in those of the slowest one; 1 and up */
};

struct network {
    const struct traffic *traffic;
    unsigned algorithm;
    struct collective_loads loads;
    struct collective_loads choice; /* that a run chooses algorithms by */
    struct family *family;
    size_t families, families_room;
    struct hx_blobs shares;  /* tables of weights */
    uint32_t *shared_shares; /* of each: 1 + its number in the memory */
    size_t shared_shares_room;
    struct hx_blobs crowds; /* {family, algorithm, shares}: all kinds by one algorithm have the same pairs */
    struct crowd *crowd;
    size_t crowds_room;
    struct network_memory *memory; /* of quick choices; NULL: choices are not quick */
    struct hx_blobs collectives;   /* struct network_collective */
    struct network_found *found;   /* of each */
    size_t found_room;
    struct hx_blobs chosen; /* struct network_collective: of which the algorithm alone was asked */
    unsigned *algorithms;   /* of each; HX_ALGORITHM_BEST: the group has none */
    size_t algorithms_room;
    double *one, *all; /* [ports]: bytes of one group, and of all */
    double *pairs;     /* [ports]: bytes of all pairs' messages, a byte of each times its weight */
};

struct network *network_open(const struct traffic *t, const struct hx_timing *timing, unsigned algorithm)
{
    struct network *n = hx_allocate(1, sizeof *n);
    n->traffic = t;
    n->algorithm = algorithm;
    collective_loads_open(&n->loads, t->g, timing);
    n->loads.apart = t->g->planes;
    collective_open_choice(&n->choice, t->g);
    n->choice.quiet = t->quiet;
    n->one = hx_allocate(t->g->ports, sizeof *n->one);
    n->all = hx_allocate(t->g->ports, sizeof *n->all);
    n->pairs = hx_allocate(t->g->ports, sizeof *n->pairs);
    return n;
}

void network_choose_quickly(struct network *n, struct network_memory *memory)
{
    n->choice.untried = true;
    n->memory = memory;
}

void network_close(struct network *n)
{
    if (!n)
        return;
    for (size_t i = 0; i < n->families; i++)
        free(n->family[i].host);
    collective_loads_close(&n->loads);
    collective_loads_close(&n->choice);
    hx_blobs_free(&n->shares);
    hx_blobs_free(&n->crowds);
    hx_blobs_free(&n->collectives);
    hx_blobs_free(&n->chosen);
    HX_FREE(n->family, n->shared_shares, n->crowd, n->found, n->algorithms, n->one, n->all, n->pairs, n);
}

const struct collective_loads *network_loads(const struct network *n)
{
    return &n->loads;
}

bool network_is_narrow(const struct network *n)
{
    return n->traffic->g->host_links == 1;
}

unsigned network_add_family(struct network *n, uint32_t size, uint32_t count, const uint32_t *host)
{
    const size_t bytes = (size_t)size * count * sizeof *host;
    for (size_t i = 0; i < n->families; i++) {
        const struct family *known = &n->family[i];
        if (known->size == size && known->count == count && memcmp(known->host, host, bytes) == 0)
            return (unsigned)i;
    }
    n->family = hx_grow(n->family, n->families, &n->families_room, sizeof *n->family);
    struct family *f = &n->family[n->families];
    *f = (struct family){size, count, hx_allocate((size_t)size * count, sizeof *f->host), 0};
    memcpy(f->host, host, bytes);
    if (n->memory)
        f->shared = network_memory_family(n->memory, size, count, host, n->traffic->settings.place != NULL);
    return (unsigned)n->families++;
}

/* ---- collectives ---- */

uint32_t network_add_shares(struct network *n, const uint32_t *weight, uint32_t members)
{
    const size_t known = n->shares.count;
    const uint32_t number = hx_blobs_add(&n->shares, weight, (size_t)members * members * sizeof *weight);
    if (number == known) {
        n->shared_shares = hx_grow(n->shared_shares, known, &n->shared_shares_room, sizeof *n->shared_shares);
        n->shared_shares[number] = n->memory ? network_memory_shares(n->memory, weight, members) : 0;
    }
    return 1 + number;
}

/* The weights of a collective's pairs, until the next table is added; NULL: equal. */
static const uint32_t *weights_of(const struct network *n, const struct network_collective *c)
{
    return c->shares ? hx_blobs_at(&n->shares, c->shares - 1) : NULL;
}

static struct network_known known_of(const struct network *n, const struct network_collective *c,
                                     enum network_asked asked, unsigned algorithm)
{
    return (struct network_known){.family = n->family[c->family].shared,
                                  .root = c->root,
                                  .shares = c->shares ? n->shared_shares[c->shares - 1] : 0,
                                  .kind = (uint16_t)c->kind,
                                  .asked = (uint16_t)asked,
                                  .algorithm = algorithm,
                                  .bytes = c->bytes};
}

static bool plan(struct network *n, const struct network_collective *c, uint32_t group, unsigned algorithm,
                 struct collective_job *job, struct hx_problem *problem)
{
    const struct family *f = &n->family[c->family];
    const uint32_t *host = f->host + (size_t)group * f->size;
    const struct schedule_operation o = {.amount = c->bytes, .collective = (uint8_t)c->kind, .tag = c->shares};
    *job = (struct collective_job){.root_host = host[c->root], .given = n->traffic->settings.place ? host : NULL};
    schedule_set_vector(&o, f->size, &job->config);
    const bool samples = n->choice.untried && algorithm == HX_ALGORITHM_BEST && group < SAMPLED_GROUPS;
    const uint32_t count = samples && f->count > SAMPLED_GROUPS ? SAMPLED_GROUPS : f->count;
    const struct collective_family family = {f->host, f->size, count, weights_of(n, c)};
    return collective_plan_group(job, n->traffic, &family, group, algorithm, &n->choice, problem);
}

/* Returns the seconds of a collective alone, and sets those of its fullest link. */
static double seconds_of(struct network *n, const struct collective_job *job, double *fullest)
{
    memset(n->one, 0, n->traffic->g->ports * sizeof *n->one);
    const double seconds =
        collective_seconds_on(job, &n->loads, (enum hx_collective_algorithm)job->config.algorithm, n->one);
    *fullest = collective_loads_fullest(&n->loads, n->one);
    return seconds;
}

/* Lays the collective of every group. */
static struct crowd measure(struct network *n, const struct network_collective *c, unsigned algorithm)
{
    struct crowd crowd = {0, 1};
    struct collective_job job;
    struct hx_problem ignored; /* a group on another grid may lack the algorithm */
    double slowest = 0, own = 0;
    memset(n->all, 0, n->traffic->g->ports * sizeof *n->all);
    for (uint32_t group = 0; group < n->family[c->family].count; group++) {
        if (plan(n, c, group, algorithm, &job, &ignored)) {
            const double seconds =
                collective_seconds_on(&job, &n->loads, (enum hx_collective_algorithm)job.config.algorithm, n->all);
            crowd.slowest = seconds > slowest ? group : crowd.slowest;
            slowest = fmax(slowest, seconds);
        }
        collective_job_free(&job);
    }
    if (plan(n, c, crowd.slowest, algorithm, &job, &ignored))
        (void)seconds_of(n, &job, &own);
    collective_job_free(&job);
    if (own > 0)
        crowd.ratio = fmax(1, collective_loads_fullest(&n->loads, n->all) / own);
    return crowd;
}

static struct crowd crowd_of(struct network *n, const struct network_collective *c, unsigned algorithm)
{
    const uint32_t key[] = {c->family, algorithm, c->shares};
    const size_t known = n->crowds.count;
    const uint32_t number = hx_blobs_add(&n->crowds, key, sizeof key);
    if (number == known) {
        n->crowd = hx_grow(n->crowd, known, &n->crowds_room, sizeof *n->crowd);
        n->crowd[number] = measure(n, c, algorithm);
    }
    return n->crowd[number];
}

/* Frees a planned job. Returns its algorithm; HX_ALGORITHM_BEST: the group has none. */
static unsigned algorithm_of(bool good, struct collective_job *job)
{
    const unsigned algorithm = good ? HX_ALGORITHM_TREE + job->config.algorithm : HX_ALGORITHM_BEST;
    collective_job_free(job);
    return algorithm;
}

/* Chooses an algorithm for vectors of about these bytes: those of the nearest power of 4 decide. */
static unsigned choose_quickly(struct network *n, const struct network_collective *c)
{
    const double power = round(log2(1 + (double)c->bytes) / 2);
    struct network_collective typical = *c;
    typical.bytes = (uint64_t)llround(exp2(2 * power));
    const struct network_known key = known_of(n, &typical, NETWORK_CHOICE, HX_ALGORITHM_BEST);
    struct network_found found = {0, HX_ALGORITHM_BEST};
    struct collective_job job;
    struct hx_problem ignored;
    if (network_memory_find(n->memory, &key, &found))
        return found.algorithm;
    found.algorithm = algorithm_of(plan(n, &typical, 0, HX_ALGORITHM_BEST, &job, &ignored), &job);
    network_memory_keep(n->memory, &key, &found);
    return found.algorithm;
}

/* Plans the collective of the first group, with its own algorithm or that of all. */
static bool plan_first(struct network *n, const struct network_collective *c, struct collective_job *job,
                       struct hx_problem *problem)
{
    const bool has_own = c->algorithm != HX_ALGORITHM_BEST || !schedule_has_kind(n->algorithm, c->kind);
    unsigned algorithm = has_own ? c->algorithm : n->algorithm;
    if (algorithm == HX_ALGORITHM_BEST && n->memory)
        algorithm = choose_quickly(n, c);
    return plan(n, c, 0, algorithm, job, problem);
}

static bool find(struct network *n, const struct network_collective *c, struct network_found *found,
                 struct hx_problem *problem)
{
    struct collective_job job;
    if (!plan_first(n, c, &job, problem)) {
        collective_job_free(&job);
        return false;
    }
    const unsigned algorithm = HX_ALGORITHM_TREE + job.config.algorithm;
    const struct family *f = &n->family[c->family];
    const struct carried_collective carried = {.host = f->host,
                                               .size = f->size,
                                               .groups = f->count,
                                               .kind = c->kind,
                                               .algorithm = algorithm,
                                               .root = c->root,
                                               .weight = weights_of(n, c),
                                               .bytes = c->bytes};
    double seconds;
    if (carried_collective(&carried, n->traffic, &n->loads, &seconds)) {
        collective_job_free(&job);
        *found = (struct network_found){(uint64_t)llround(1e12 * seconds), algorithm};
        return true;
    }
    const struct crowd crowd = crowd_of(n, c, algorithm);
    struct hx_problem ignored;
    if (crowd.slowest) {
        collective_job_free(&job);
        (void)plan(n, c, crowd.slowest, algorithm, &job, &ignored);
    }
    double own = 0;
    const double alone = seconds_of(n, &job, &own);
    *found = (struct network_found){(uint64_t)llround(1e12 * (alone + (crowd.ratio - 1) * own)), algorithm};
    collective_job_free(&job);
    return true;
}

/* The same; with a memory, once for all networks that share it. */
static bool find_or_remember(struct network *n, const struct network_collective *c, struct network_found *found,
                             struct hx_problem *problem)
{
    const struct network_known key = known_of(n, c, NETWORK_TIME, c->algorithm);
    if (n->memory && network_memory_find(n->memory, &key, found))
        return true;
    if (!find(n, c, found, problem))
        return false;
    if (n->memory)
        network_memory_keep(n->memory, &key, found);
    return true;
}

/* A collective as a key: its bytes count, with the padding. */
static struct network_collective key_of(const struct network_collective *c)
{
    struct network_collective key;
    memset(&key, 0, sizeof key);
    key.family = c->family;
    key.kind = c->kind;
    key.algorithm = c->algorithm;
    key.root = c->root;
    key.shares = c->shares;
    key.bytes = c->bytes;
    return key;
}

bool network_collective_ps(struct network *n, const struct network_collective *c, uint64_t *ps,
                           struct hx_problem *problem)
{
    const struct network_collective key = key_of(c);
    struct network_found found;
    *ps = 0;
    if (n->family[c->family].size < 2)
        return true;
    uint32_t number = hx_blobs_find(&n->collectives, &key, sizeof key);
    if (number == HX_NO_BLOB) {
        if (!find_or_remember(n, c, &found, problem))
            return false;
        number = hx_blobs_add(&n->collectives, &key, sizeof key);
        n->found = hx_grow(n->found, number, &n->found_room, sizeof *n->found);
        n->found[number] = found;
    }
    *ps = n->found[number].ps;
    return true;
}

bool network_algorithm(struct network *n, const struct network_collective *c, unsigned *algorithm)
{
    const struct network_collective key = key_of(c);
    const uint32_t timed = hx_blobs_find(&n->collectives, &key, sizeof key);
    if (timed != HX_NO_BLOB) {
        *algorithm = n->found[timed].algorithm;
        return true;
    }
    struct collective_job job;
    struct hx_problem ignored;
    const size_t known = n->chosen.count;
    const uint32_t number = hx_blobs_add(&n->chosen, &key, sizeof key);
    if (number == known) {
        n->algorithms = hx_grow(n->algorithms, known, &n->algorithms_room, sizeof *n->algorithms);
        n->algorithms[number] = algorithm_of(plan_first(n, c, &job, &ignored), &job);
    }
    *algorithm = n->algorithms[number];
    return *algorithm != HX_ALGORITHM_BEST;
}

void network_lay_collective(struct network *n, const struct network_collective *c, uint32_t group, double bytes,
                            double *load)
{
    const uint64_t pieces = 1 + (uint64_t)(bytes / (double)LONGEST_LAID);
    struct network_collective piece = *c;
    struct collective_job job;
    struct hx_problem ignored; /* a group on another grid may lack the algorithm */
    piece.bytes = (uint64_t)llround(bytes / (double)pieces);
    if (plan(n, &piece, group, c->algorithm, &job, &ignored)) {
        for (uint64_t i = 0; i < pieces; i++)
            collective_lay(&job, &n->loads, load);
    }
    collective_job_free(&job);
}

double network_collective_bytes(enum hx_collective_kind kind, uint32_t size, double bytes)
{
    static const double vectors[HX_COLLECTIVE_KINDS] = {
        [HX_BROADCAST] = 1,  [HX_REDUCE_SCATTER] = 1, [HX_ALL_GATHER] = 1,
        [HX_ALL_REDUCE] = 2, [HX_REDUCE] = 1,         [HX_COLLECTIVE_ALL_TO_ALL] = 1};
    if (kind == HX_GATHER || kind == HX_SCATTER)
        return (size - 1) * bytes / size;
    return vectors[kind] * (size - 1) * bytes;
}

/* ---- messages ---- */

void network_lay_message(struct network *n, uint32_t from, uint32_t to, double bytes, double *load)
{
    collective_loads_begin(&n->loads);
    const struct collective_path path = collective_loads_path(&n->loads, from, to);
    collective_loads_lay(&n->loads, &path, bytes, load);
}

/* Lays a byte from each host of a group to each neighbour on n->all; returns the longest latency. */
static double lay_halo(struct network *n, const uint32_t *host, uint32_t size, uint32_t bits)
{
    double latency = 0;
    for (uint32_t from = 0; from < size; from++) {
        for (uint32_t bit = 0; bit < bits && (from ^ UINT32_C(1) << bit) < size; bit++) {
            collective_loads_begin(&n->loads);
            const struct collective_path path =
                collective_loads_path(&n->loads, host[from], host[from ^ UINT32_C(1) << bit]);
            collective_loads_lay(&n->loads, &path, 1, n->all);
            latency = fmax(latency, path.latency);
        }
    }
    return latency;
}

uint64_t network_halo_ps(struct network *n, unsigned family, uint32_t bits, uint64_t bytes)
{
    const struct family *f = &n->family[family];
    double latency = 0;
    memset(n->all, 0, n->traffic->g->ports * sizeof *n->all);
    for (uint32_t group = 0; group < f->count; group++)
        latency = fmax(latency, lay_halo(n, f->host + (size_t)group * f->size, f->size, bits));
    return (uint64_t)llround(1e12 * (latency + collective_loads_fullest(&n->loads, n->all) * (double)bytes));
}

void network_add_pair(struct network *n, uint32_t from, uint32_t to, double weight)
{
    network_lay_message(n, from, to, weight, n->pairs);
}

struct network_route network_route_of(struct network *n, uint32_t from, uint32_t to)
{
    collective_loads_begin(&n->loads);
    const struct collective_path path = collective_loads_path(&n->loads, from, to);
    const double worst = collective_loads_worst(&n->loads, &path, n->pairs);
    return (struct network_route){
        .latency = path.latency, .byte = fmax(path.slowness, worst), .packet = path.last - path.slowness};
}
