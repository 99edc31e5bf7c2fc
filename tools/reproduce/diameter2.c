/* diameter2.c - the simulations of figures 6 to 14 of the diameter-two study (tools/reproduce/diameter2.h). */
#include "tools/reproduce/diameter2.h"
#include "hxmesh/frame.h"

#include <stdio.h>
#include <string.h>

enum { NETWORKS = 4, MOST_RATES = 16, SEED = 1 };

/* The study's networks, or smaller ones of the same kind. */
static const struct diameter2_network networks[][NETWORKS] = {
    [REPRODUCE_QUICK] = {{"SF", "slim-fly q=4 p=3", 1.0 / 6},
                         {"SF+", "slim-fly q=4 p=4", 1.0 / 8},
                         {"MLFM", "mlfm h=3", 1.0 / 3},
                         {"OFT", "oft k=3", 1.0 / 3}},
    [REPRODUCE_DEFAULT] = {{"SF", "slim-fly q=5 p=3", 1.0 / 6},
                           {"SF+", "slim-fly q=5 p=4", 1.0 / 8},
                           {"MLFM", "mlfm h=6", 1.0 / 6},
                           {"OFT", "oft k=5", 1.0 / 5}},
    [REPRODUCE_FULL] = {{"SF", "slim-fly q=13 p=9", 1.0 / 18},
                        {"SF+", "slim-fly q=13 p=10", 1.0 / 20},
                        {"MLFM", "mlfm h=15", 1.0 / 15},
                        {"OFT", "oft k=12", 1.0 / 12}}};
enum { SF, SF_MORE, MLFM, OFT };

/* Offered loads, as shares of injection bandwidth; the last one measures saturation. 0 ends the list. */
static const double uniform_rates[][MOST_RATES] = {[REPRODUCE_QUICK] = {0.5, 1},
                                                   [REPRODUCE_DEFAULT] = {0.2, 0.4, 0.5, 0.6, 0.8, 0.9, 1},
                                                   [REPRODUCE_FULL] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}};
static const double worst_rates[][MOST_RATES] = {[REPRODUCE_QUICK] = {0.1, 1},
                                                 [REPRODUCE_DEFAULT] = {0.1, 0.2, 0.3, 0.4, 0.5, 1},
                                                 [REPRODUCE_FULL] = {0.05, 0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.6, 1}};

/* The study sends packets of 256 B for 200 us. Here each message is acknowledged by a block of 256 B, which would halve
 * such load. So messages have eight full packets, and runs are longer. Buffers hold 400 packets, about as many as the
 * study's. */
enum { MESSAGE = 65536, BUFFER = 3276800 };
static const uint64_t durations[] = {
    [REPRODUCE_QUICK] = 100000, [REPRODUCE_DEFAULT] = 300000, [REPRODUCE_FULL] = 2000000};

const struct diameter2_network *diameter2_network_of(const char *fabric, enum reproduce_effort effort)
{
    const char *routing = strstr(fabric, " routing=");
    size_t length = routing ? (size_t)(routing - fabric) : strlen(fabric);
    for (unsigned i = 0; i < NETWORKS; i++)
        if (strlen(networks[effort][i].spec) == length && strncmp(networks[effort][i].spec, fabric, length) == 0)
            return &networks[effort][i];
    return NULL;
}

const char *diameter2_routing_of(const char *fabric)
{
    const char *routing = strstr(fabric, "routing=");
    return routing ? routing + strlen("routing=") : "minimal";
}

/* Adds the run on a network with a routing. The fabric's text is stored in the run. */
static void add(struct reproduce_plan *p, const struct diameter2_network *n, const char *routing,
                struct reproduce_run run)
{
    if (p->count == REPRODUCE_MOST_RUNS)
        return;
    struct reproduce_run *to = &p->run[p->count++];
    *to = run;
    (void)snprintf(to->text, sizeof to->text, "%s%s%s", n->spec, *routing ? " routing=" : "", routing);
    to->fabric = to->text;
    to->timing = "sc15";
    to->buffer = BUFFER;
}

/* Adds open-load runs; a tenth of each is warm-up. */
static void add_load(struct reproduce_plan *p, const struct diameter2_network *n, const char *routing,
                     const char *traffic, const double *rates)
{
    for (unsigned i = 0; i < MOST_RATES && rates[i] > 0; i++)
        add(p, n, routing,
            (struct reproduce_run){.traffic = traffic,
                                   .bytes = MESSAGE,
                                   .rate = rates[i],
                                   .duration = durations[p->effort],
                                   .warm_up = durations[p->effort] / 10,
                                   .seed = SEED});
}

static void add_both(struct reproduce_plan *p, const struct diameter2_network *n, const char *routing)
{
    add_load(p, n, routing, "uniform", uniform_rates[p->effort]);
    add_load(p, n, routing, "worst-case", worst_rates[p->effort]);
}

void plan_oblivious(struct reproduce_plan *p)
{
    for (unsigned i = 0; i < NETWORKS; i++) {
        add_both(p, &networks[p->effort][i], "minimal");
        add_both(p, &networks[p->effort][i], "valiant");
    }
}

/* Parameters of UGAL: the number of detours compared and the cost factor of a detour. `threshold`: minimum share of a
 * buffer in use, below which there is no detour. */
static void plan_adaptive(struct reproduce_plan *p, unsigned network, const char *threshold)
{
    static const struct {
        unsigned n;
        const char *c;
    } choices[] = {{1, "1"}, {4, "1"}, {1, "2"}, {4, "2"}, {8, "2"}, {4, "4"}};
    unsigned count = p->effort == REPRODUCE_FULL ? 6 : p->effort == REPRODUCE_DEFAULT ? 4 : 1;
    for (unsigned i = 0; i < count; i++) {
        char routing[64];
        (void)snprintf(routing, sizeof routing, "ugal:n=%u,c=%s%s", choices[i].n, choices[i].c, threshold);
        add_both(p, &networks[p->effort][network], routing);
    }
}

static const char at_once[] = "";
static const char from_a_tenth[] = ",t=0.1";

#define ADAPTIVE(name, network, threshold)                                                                             \
    void plan_##name(struct reproduce_plan *p)                                                                         \
    {                                                                                                                  \
        plan_adaptive(p, network, threshold);                                                                          \
    }
ADAPTIVE(sf_a, SF, at_once)
ADAPTIVE(sf_ath, SF, from_a_tenth)
ADAPTIVE(mlfm_a, MLFM, at_once)
ADAPTIVE(mlfm_ath, MLFM, from_a_tenth)
ADAPTIVE(oft_a, OFT, at_once)
ADAPTIVE(oft_ath, OFT, from_a_tenth)

static void plan_exchange(struct reproduce_plan *p, const char *traffic, uint64_t bytes)
{
    static const char *const routings[DIAMETER2_ROUTINGS] = {"minimal",      "valiant",      "ugal:n=1,c=1",
                                                             "ugal:n=1,c=2", "ugal:n=4,c=2", "ugal:n=4,c=2,t=0.1"};
    for (unsigned i = 0; i < NETWORKS; i++)
        for (unsigned r = 0; r < DIAMETER2_ROUTINGS; r++)
            add(p, &networks[p->effort][i], routings[r], (struct reproduce_run){.traffic = traffic, .bytes = bytes});
}

/* The study's 7.5 KB are 30 of its packets to each host. Partners are in random order: with common shifts all hosts of
 * a router send to one other router at a time, which on an MLFM they reach by a single link. */
void plan_all_to_all(struct reproduce_plan *p)
{
    plan_exchange(p, "all-to-all-random", 30 * HX_MAX_PAYLOAD);
}

void plan_neighbours(struct reproduce_plan *p)
{
    plan_exchange(p, "neighbour-3d", p->effort == REPRODUCE_QUICK ? 16384 : 524288);
}
