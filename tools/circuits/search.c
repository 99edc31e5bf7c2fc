/* search.c - strategy and circuits in turn (tools/circuits/search.h). */
#include "tools/circuits/search.h"

#include "base/clock.h"
#include "base/split_mix.h"
#include "base/text.h"
#include "tools/circuits/chain.h"
#include "tools/circuits/finder.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

enum { BEGINS = 3 };
static const double least_gain = 1e-3; /* of a round, share of the time */

/* ---- circuits for a demand ---- */

bool circuits_find_for(struct circuits *c, const struct circuits_search *s, const struct circuits_demand *d,
                       struct hx_problem *problem)
{
    if (circuits_find(c, d, s->degree, s->prime))
        return true;
    *c = (struct circuits){.servers = 0};
    return hx_fail(problem, HX_EXIT_CONFIG, NULL,
                   "%" PRIu32 " servers with %u interface%s each cannot be joined (use a greater --degree)", d->servers,
                   s->degree, hx_plural(s->degree));
}

/* ---- a place to look ---- */

/* A network, with its circuits unless it was given. */
struct site {
    struct circuits circuits; /* .servers 0: none */
    struct circuits_ground ground;
};

static void free_site(struct site *t)
{
    if (!t)
        return;
    servers_free(t->ground.network);
    if (t->circuits.servers)
        circuits_free(&t->circuits);
    free(t);
}

static bool find_circuits(struct site *t, const struct circuits_search *s, const struct circuits_strategy *strategy,
                          struct hx_problem *problem)
{
    struct circuits_demand d;
    circuits_demand_of(&d, strategy);
    const bool found = circuits_find_for(&t->circuits, s, &d, problem);
    circuits_demand_free(&d);
    if (found)
        t->ground = (struct circuits_ground){circuits_network(&t->circuits, &s->links, problem), t->circuits.ring,
                                             t->circuits.rings};
    return t->ground.network != NULL;
}

static bool take_network(struct site *t, const struct circuits_search *s)
{
    t->ground = (struct circuits_ground){s->network(s->of), s->ring, s->rings};
    return t->ground.network != NULL;
}

/* Returns the given network, or that of circuits for a strategy; NULL: sets *problem, unless it was to be given. */
static struct site *make_site(const struct circuits_search *s, const struct circuits_strategy *strategy,
                              struct hx_problem *problem)
{
    struct site *t = hx_allocate(1, sizeof *t);
    if (!(s->network ? take_network(t, s) : find_circuits(t, s, strategy, problem))) {
        free_site(t);
        return NULL;
    }
    circuits_time_warm(t->ground.network, t->ground.ring, t->ground.rings);
    return t;
}

/* ---- the best so far ---- */

struct best {
    struct circuits_strategy strategy;
    struct site *site; /* NULL: there is none yet */
    double seconds;    /* of an iteration */
};

/* Takes a strategy, on circuits of its own, if that is faster. Returns false and sets *problem. */
static bool offer(struct best *b, const struct circuits_search *s, const struct circuits_strategy *strategy,
                  struct hx_problem *problem)
{
    struct site *t = s->network && b->site ? b->site : make_site(s, strategy, problem);
    if (!t)
        return false;
    const double seconds = circuits_try(&t->ground, strategy).iteration;
    struct site *slower = t == b->site ? NULL : t;
    if (!b->site || seconds < b->seconds) {
        slower = t == b->site ? NULL : b->site;
        circuits_strategy_set(&b->strategy, strategy);
        b->site = t;
        b->seconds = seconds;
    }
    free_site(slower);
    return true;
}

/* ---- a round ---- */

struct round {
    struct circuits_chain *chain; /* [chains] */
    uint64_t steps;
    double until; /* hx_monotonic_seconds(); 0: no limit */
    unsigned chains, threads;
};

struct worker {
    const struct round *round;
    pthread_t thread;
    unsigned number;
};

static void *go_chains(void *argument)
{
    const struct worker *w = argument;
    const struct round *r = w->round;
    for (unsigned i = w->number; i < r->chains; i += r->threads)
        circuits_chain_go(&r->chain[i], r->steps / r->chains + (i < r->steps % r->chains), r->until);
    return NULL;
}

static void run_round(const struct round *r)
{
    struct worker *worker = hx_allocate(r->threads, sizeof *worker);
    for (unsigned i = 0; i < r->threads; i++) {
        worker[i] = (struct worker){.round = r, .number = i};
        if (i > 0 && pthread_create(&worker[i].thread, NULL, go_chains, &worker[i]) != 0)
            hx_die(HX_EXIT_ENVIRONMENT, NULL, "cannot start %u threads", r->threads);
    }
    (void)go_chains(&worker[0]);
    for (unsigned i = 1; i < r->threads; i++)
        (void)pthread_join(worker[i].thread, NULL);
    free(worker);
}

/* Goes all chains on the best circuits, each from one of begin[begins]. The first of the fastest strategies is taken.
 * Adds the round to the result. */
static void search_strategies(struct circuits_result *result, struct best *b, const struct circuits_search *s,
                              const struct circuits_strategy *begin, unsigned begins, double until)
{
    struct round r = {.steps = s->steps,
                      .until = until,
                      .chains = s->chains,
                      .threads = s->threads < s->chains ? s->threads : s->chains,
                      .chain = hx_allocate(s->chains, sizeof *r.chain)};
    for (unsigned i = 0; i < r.chains; i++)
        circuits_chain_begin(&r.chain[i], &b->site->ground, &begin[i % begins],
                             i % 2 ? CIRCUITS_BETA_FAR : CIRCUITS_BETA_NEAR,
                             split_mix(split_mix(s->seed) + ((uint64_t)result->rounds << 32) + i));
    run_round(&r);
    for (unsigned i = 0; i < r.chains; i++) {
        if (r.chain[i].best_seconds < b->seconds) {
            circuits_strategy_set(&b->strategy, &r.chain[i].best);
            b->seconds = r.chain[i].best_seconds;
        }
        result->steps += r.chain[i].steps;
        circuits_chain_end(&r.chain[i]);
    }
    result->rounds++;
    free(r.chain);
}

/* ---- all rounds ---- */

/* A strategy without routes on circuits of its own stays on those of another. */
static bool go_rounds(struct circuits_result *r, struct best *b, const struct circuits_search *s,
                      const struct circuits_strategy *begin, struct hx_problem *problem)
{
    const double until = s->seconds > 0 ? hx_monotonic_seconds() + s->seconds : 0;
    double before;
    for (unsigned i = 0; i < BEGINS; i++)
        (void)offer(b, s, &begin[i], problem);
    if (!b->site)
        return false;
    do {
        before = b->seconds;
        search_strategies(r, b, s, r->rounds ? &b->strategy : begin, r->rounds ? 1 : BEGINS, until);
        if (!s->network)
            (void)offer(b, s, &b->strategy, problem);
    } while (b->seconds < (1 - least_gain) * before && (until <= 0 || hx_monotonic_seconds() < until));
    return true;
}

bool circuits_check_model(const struct training_model *m, struct hx_problem *problem)
{
    const uint32_t ranks = training_ranks(m);
    if (ranks != m->parallel[TRAINING_DATA])
        return hx_fail(problem, HX_EXIT_CONFIG, m->path,
                       "circuits are searched for servers that are data-parallel, and 'parallelism' has %s",
                       m->parallel[TRAINING_PIPELINE] > 1 ? "a pipeline" : "tensor or context ranks");
    if (ranks < 2 || ranks > CIRCUITS_MOST_SERVERS)
        return hx_fail(problem, HX_EXIT_CONFIG, m->path, "'data: %" PRIu32 "' is outside 2 .. %d servers", ranks,
                       CIRCUITS_MOST_SERVERS);
    return m->zero == 0 || hx_fail(problem, HX_EXIT_CONFIG, m->path, "circuits are searched for 'zero: 0'");
}

bool circuits_search(struct circuits_result *r, const struct circuits_search *s, const struct training_model *m,
                     struct hx_problem *problem)
{
    *r = (struct circuits_result){.rounds = 0};
    if (!circuits_check_model(m, problem))
        return false;
    const uint32_t servers = training_ranks(m);
    struct circuits_strategy begin[BEGINS] = {circuits_strategy_own(m, servers),
                                              circuits_strategy_tables_placed(m, servers),
                                              circuits_strategy_random(m, servers, s->seed)};
    struct best b = {.strategy = circuits_strategy_copy(&begin[0])};
    const bool good = go_rounds(r, &b, s, begin, problem);
    if (good) {
        r->strategy = circuits_strategy_copy(&b.strategy);
        r->circuits = b.site->circuits;
        b.site->circuits.servers = 0;
        r->time = circuits_try(&b.site->ground, &b.strategy);
        circuits_demand_of(&r->demand, &r->strategy);
    }
    free_site(b.site);
    free(b.strategy.place);
    for (unsigned i = 0; i < BEGINS; i++)
        free(begin[i].place);
    return good;
}

void circuits_result_free(struct circuits_result *r)
{
    circuits_demand_free(&r->demand);
    if (r->circuits.servers)
        circuits_free(&r->circuits);
    free(r->strategy.place);
}
