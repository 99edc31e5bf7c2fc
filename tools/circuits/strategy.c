/* strategy.c - what a strategy makes servers send and compute (tools/circuits/strategy.h). */
#include "tools/circuits/strategy.h"

#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

const char *const circuits_choice_names[] = {"replicated", "sharded", "placed", NULL};

/* ---- strategies ---- */

struct circuits_strategy circuits_strategy_own(const struct training_model *m, uint32_t servers)
{
    struct circuits_strategy s = {.m = m, .servers = servers, .place = hx_allocate(m->layers, sizeof *s.place)};
    for (uint32_t i = 0; i < m->layers; i++)
        s.place[i].choice = m->layer[i].shard == TRAINING_TABLES ? CIRCUITS_SHARDED : CIRCUITS_REPLICATED;
    return s;
}

struct circuits_strategy circuits_strategy_tables_placed(const struct training_model *m, uint32_t servers)
{
    struct circuits_strategy s = circuits_strategy_own(m, servers);
    uint64_t tables = 0;
    uint64_t table = 0;
    for (uint32_t i = 0; i < m->layers; i++)
        tables += s.place[i].choice == CIRCUITS_SHARDED;
    for (uint32_t i = 0; i < m->layers; i++) {
        if (s.place[i].choice == CIRCUITS_SHARDED)
            s.place[i] = (struct circuits_place){CIRCUITS_PLACED, (uint32_t)(table++ * servers / tables)};
    }
    return s;
}

struct circuits_place circuits_place_random(uint64_t *random, uint32_t servers)
{
    struct circuits_place p = {.choice = (enum circuits_choice)hx_rng_below(random, CIRCUITS_CHOICES)};
    if (p.choice == CIRCUITS_PLACED)
        p.server = hx_rng_below(random, servers);
    return p;
}

struct circuits_strategy circuits_strategy_random(const struct training_model *m, uint32_t servers, uint64_t seed)
{
    struct circuits_strategy s = {.m = m, .servers = servers, .place = hx_allocate(m->layers, sizeof *s.place)};
    for (uint32_t i = 0; i < m->layers; i++)
        s.place[i] = circuits_place_random(&seed, servers);
    return s;
}

struct circuits_strategy circuits_strategy_copy(const struct circuits_strategy *s)
{
    struct circuits_strategy copy = {
        .m = s->m, .servers = s->servers, .place = hx_allocate(s->m->layers, sizeof *copy.place)};
    circuits_strategy_set(&copy, s);
    return copy;
}

void circuits_strategy_set(struct circuits_strategy *to, const struct circuits_strategy *from)
{
    memmove(to->place, from->place, from->m->layers * sizeof *to->place);
}

/* ---- groups of layers ---- */

/* Layers first .. end - 1, each of which is beside the one before. */
struct group {
    uint32_t first, end;
};

static struct group group_at(const struct training_model *m, uint32_t first)
{
    struct group g = {first, first + 1};
    while (g.end < m->layers && m->layer[g.end].beside)
        g.end++;
    return g;
}

static struct group group_before(const struct training_model *m, uint32_t end)
{
    struct group g = {end - 1, end};
    while (g.first > 0 && m->layer[g.first].beside)
        g.first--;
    return g;
}

/* ---- computing ---- */

/* Seconds of a pass of a group at the server that computes longest. placed: [servers], all 0. */
static double seconds_of(const struct circuits_strategy *s, struct group g, bool backward, double *placed)
{
    double all = 0; /* ps of a micro-batch of a server's samples */
    double longest = 0;
    for (uint32_t i = g.first; i < g.end; i++) {
        const struct training_layer *l = &s->m->layer[i];
        double ps = (double)(backward ? training_backward_ps(s->m, l) : training_forward_ps(s->m, l));
        if (s->place[i].choice != CIRCUITS_PLACED) {
            all += ps;
            continue;
        }
        double *own = &placed[s->place[i].server];
        *own += ps * s->servers;
        longest = *own > longest ? *own : longest;
    }
    for (uint32_t i = g.first; i < g.end; i++)
        placed[s->place[i].server] = 0;
    return (all + longest) * s->m->micro_batches * 1e-12;
}

/* ---- exchanges ---- */

enum way { INPUTS, OUTPUTS }; /* of layers: what enters, what leaves */

static double *add_bytes(double *at, uint32_t servers, uint32_t server, double bytes)
{
    double *array = at ? at : hx_allocate(servers, sizeof *array);
    array[server] += bytes;
    return array;
}

/* Whether the inputs of a layer have gradients: indices of tables and data of samples have none. */
static bool has_gradients(const struct training_layer *l, struct group g)
{
    return g.first > 0 && l->shard != TRAINING_TABLES;
}

/* Adds what a group exchanges at its inputs or outputs; nothing if that is no byte. Outputs are scattered forward,
 * their gradients gathered backward; inputs the other way. */
static void add_exchange(struct circuits_demand *d, const struct circuits_strategy *s, struct group g, enum way way,
                         bool backward)
{
    const struct training_model *m = s->m;
    const double sample_elements = (double)training_micro_samples(m) * m->micro_batches * m->activation_bytes;
    struct circuits_exchange *e = &d->exchange[d->exchanges];
    *e = (struct circuits_exchange){.all = 0};
    for (uint32_t i = g.first; i < g.end; i++) {
        const struct training_layer *l = &m->layer[i];
        const double bytes = sample_elements * (double)(way == OUTPUTS ? l->activations : l->inputs);
        if (bytes <= 0 || (way == INPUTS && backward && !has_gradients(l, g)) ||
            s->place[i].choice == CIRCUITS_REPLICATED)
            continue;
        if (s->place[i].choice == CIRCUITS_SHARDED)
            e->all += way == OUTPUTS ? bytes / s->servers : bytes;
        else if ((way == OUTPUTS) != backward)
            e->scatter = add_bytes(e->scatter, s->servers, s->place[i].server, bytes);
        else
            e->gather = add_bytes(e->gather, s->servers, s->place[i].server, bytes);
    }
    d->exchanges += e->all > 0 || e->scatter || e->gather;
}

/* ---- sums ---- */

/* Parameters of a group that all servers have; tied ones count with the first layer. */
static double replicated_parameters(const struct circuits_strategy *s, struct group g)
{
    const bool is_first_replicated = s->place[0].choice == CIRCUITS_REPLICATED;
    double parameters = 0;
    for (uint32_t i = g.first; i < g.end; i++) {
        const struct training_layer *l = &s->m->layer[i];
        if (s->place[i].choice == CIRCUITS_REPLICATED)
            parameters += (double)(l->parameters - (is_first_replicated ? l->tied : 0));
    }
    return parameters;
}

/* ---- an iteration ---- */

static void go_forward(struct circuits_demand *d, const struct circuits_strategy *s, double *placed)
{
    for (struct group g = {0, 0}; g.end < s->m->layers;) {
        g = group_at(s->m, g.end);
        add_exchange(d, s, g, INPUTS, false);
        d->forward += seconds_of(s, g, false, placed);
        add_exchange(d, s, g, OUTPUTS, false);
    }
    d->forward_exchanges = d->exchanges;
}

/* Returns the number of replicated parameters. */
static double go_backward(struct circuits_demand *d, const struct circuits_strategy *s, double *placed)
{
    double parameters = 0;
    for (struct group g = {s->m->layers, 0}; g.first > 0;) {
        g = group_before(s->m, g.first);
        add_exchange(d, s, g, OUTPUTS, true);
        const double seconds = seconds_of(s, g, true, placed);
        d->backward += seconds;
        if (parameters > 0 && s->m->overlap)
            d->hidden += seconds;
        add_exchange(d, s, g, INPUTS, true);
        parameters += replicated_parameters(s, g);
    }
    return parameters;
}

void circuits_demand_of(struct circuits_demand *d, const struct circuits_strategy *s)
{
    double *placed = hx_allocate(s->servers, sizeof *placed);
    *d = (struct circuits_demand){.servers = s->servers,
                                  .exchange = hx_allocate(4 * (size_t)s->m->layers + 1, sizeof *d->exchange)};
    go_forward(d, s, placed);
    const double parameters = go_backward(d, s, placed);
    d->backward += (double)s->m->update_ps * 1e-12;
    if (parameters > 0) {
        d->reduces = 1;
        d->reduce[0] =
            (struct circuits_reduce){.members = s->servers, .bytes = parameters * s->m->gradient_element_bytes};
    }
    free(placed);
}
