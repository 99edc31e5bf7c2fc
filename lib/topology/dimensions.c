/* dimensions.c - fabrics of mixed dimensions, written as `Ring(4)_FC(8)_Switch(32)` (Won et al., "ASTRA-sim2.0", ISPASS
 * 2023).
 *
 * Each NPU is a router with its host beside it on a trace as fast as all the router's links. The routers along a
 * dimension are a ring (both directions), fully connected (FC), or joined by a switch. A ring of two has one cable, as
 * FC(2) (Won et al., 2021). Packets go dimension by dimension, in order. A ring's closing link moves a packet to the
 * next VC, and the next dimension starts from VC 0. gbps= gives the links' rate and ns= their latency, of all
 * dimensions or one by one. Cables of the first dimension are copper. */
#include "topology/grid.h"
#include "topology/topology.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_GBPS = 100000, MOST_NS = 1000000, MOST_WHOLE = 2048 };

static const struct {
    const char *word;
    enum hx_grid_kind kind;
} kinds[] = {{"ring(", HX_GRID_RING}, {"fc(", HX_GRID_FULL}, {"switch(", HX_GRID_SWITCH}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Takes "ring(4)" from the beginning of a text; NULL: it is not there. */
static const char *take_dimension(const char *text, struct hx_grid_dimension *d)
{
    for (unsigned i = 0; i < KINDS; i++) {
        size_t length = strlen(kinds[i].word);
        if (strncmp(text, kinds[i].word, length) != 0)
            continue;
        size_t digits = strspn(text + length, "0123456789");
        if (digits == 0 || digits > 5 || text[length + digits] != ')')
            return NULL;
        *d = (struct hx_grid_dimension){
            .kind = kinds[i].kind, .side = (unsigned)strtoul(text + length, NULL, 10), .board = 1};
        if (d->kind == HX_GRID_RING && d->side == 2)
            d->kind = HX_GRID_FULL;
        return text + length + digits + 1;
    }
    return NULL;
}

static bool claims(const char *squeezed)
{
    for (unsigned i = 0; i < KINDS; i++)
        if (strncmp(squeezed, kinds[i].word, strlen(kinds[i].word)) == 0)
            return true;
    return false;
}

static bool take_dimensions(struct hx_grid *g, const struct hx_spec_tokens *tokens, struct hx_problem *problem)
{
    const char *text = tokens->word;
    do {
        if (g->dimensions == HX_GRID_DIMENSIONS)
            return hx_spec_tokens_fail(tokens, problem, "more than %d dimensions", HX_GRID_DIMENSIONS);
        struct hx_grid_dimension *d = &g->dimension[g->dimensions];
        text = take_dimension(text, d);
        d->stage = g->dimensions++;
        if (!text || (*text && *text != '_'))
            return hx_spec_tokens_fail(tokens, problem, "write Ring(K), FC(K) and Switch(K), joined by '_'");
        unsigned most = d->kind == HX_GRID_RING ? HX_MAX_DIGIT : HX_MAX_RADIX;
        if (d->side < 2 || d->side > most)
            return hx_spec_tokens_fail(tokens, problem, "a dimension of %u: 2 to %u are possible", d->side, most);
    } while (*text++);
    if (hx_grid_count(g) == 0)
        return hx_spec_tokens_fail(tokens, problem, "more than %d hosts", HX_MAX_HOSTS);
    if (hx_grid_radix(g) > HX_MAX_RADIX)
        return hx_spec_tokens_fail(tokens, problem, "an NPU would have %u ports, its host's included; %d are possible",
                                   hx_grid_radix(g), HX_MAX_RADIX);
    return true;
}

/* Reads a key with a number of all dimensions, or one of each. Without the key, values stay. */
static bool take_numbers(const struct hx_grid *g, struct hx_spec_tokens *tokens, const char *key, unsigned most,
                         unsigned value[HX_GRID_DIMENSIONS], struct hx_problem *problem)
{
    unsigned given[HX_GRID_DIMENSIONS];
    const char *text = hx_spec_tokens_text(tokens, key);
    unsigned count = text ? hx_spec_tokens_list(text, given, HX_GRID_DIMENSIONS) : 1;
    if (count != 1 && count != g->dimensions)
        return hx_spec_tokens_fail(tokens, problem, "%s=%s: one number, or %u joined by commas", key, text,
                                   g->dimensions);
    for (unsigned i = 0; text && i < g->dimensions; i++) {
        value[i] = given[count == 1 ? 0 : i];
        if (value[i] < 1 || value[i] > most)
            return hx_spec_tokens_fail(tokens, problem, "%s=%s: 1 to %u are possible", key, text, most);
    }
    return true;
}

/* Adds a class for each dimension, and one for hosts that carries as much as all links of a router. */
static void add_classes(struct hx_fabric *f, struct hx_grid *g, bool given, const unsigned ns[HX_GRID_DIMENSIONS])
{
    static const char *const names[HX_GRID_DIMENSIONS] = {"dimension 0", "dimension 1", "dimension 2", "dimension 3",
                                                          "dimension 4"};
    struct hx_link_class own = {.name = "host", .kind = HX_TRACE, .latency_ns = HX_LATENCY_OF_KIND};
    f->host_links = 0;
    for (unsigned i = 0; i < g->dimensions; i++) {
        struct hx_grid_dimension *d = &g->dimension[i];
        d->cable = (uint8_t)hx_fabric_class(
            f, &(struct hx_link_class){
                   .name = names[i], .kind = i ? HX_AOC : HX_DAC, .gbps = given ? d->gbps : 0, .latency_ns = ns[i]});
        f->host_links += hx_grid_links(d);
        own.times += given ? 0 : hx_grid_links(d);
        own.gbps += given ? hx_grid_links(d) * d->gbps : 0;
    }
    g->beside = (uint8_t)hx_fabric_class(f, &own);
}

static bool build(struct hx_fabric *f, struct hx_spec_tokens *tokens, struct hx_problem *problem)
{
    static const char *const keys[] = {"gbps", "ns", NULL};
    struct hx_grid grid = {.places = 1};
    unsigned gbps[HX_GRID_DIMENSIONS], ns[HX_GRID_DIMENSIONS];
    for (unsigned i = 0; i < HX_GRID_DIMENSIONS; i++) {
        gbps[i] = 1; /* the rate of a link */
        ns[i] = HX_LATENCY_OF_KIND;
    }
    if (!take_dimensions(&grid, tokens, problem) || !take_numbers(&grid, tokens, "gbps", MOST_GBPS, gbps, problem) ||
        !take_numbers(&grid, tokens, "ns", MOST_NS, ns, problem) || !hx_spec_tokens_end(tokens, keys, 0, problem))
        return false;
    for (unsigned i = 0; i < grid.dimensions; i++)
        grid.dimension[i].gbps = gbps[i];
    grid.split = hx_grid_count(&grid) <= MOST_WHOLE ? grid.dimensions : hx_grid_best_split(&grid);
    struct hx_grid *g = hx_grid_start(f, &grid);
    add_classes(f, g, hx_spec_tokens_has(tokens, "gbps"), ns);
    f->rule = HX_VC_BY_STAGE;
    f->vcs = 1;
    f->switches = 0; /* an NPU contains its router */
    for (unsigned i = 0; i < g->dimensions; i++) {
        if (g->dimension[i].kind == HX_GRID_RING)
            f->vcs = 2;
        if (g->dimension[i].kind == HX_GRID_SWITCH)
            f->switches += g->routers / g->dimension[i].side;
    }
    f->bought_planes = 1;
    f->group_word = "NPU";
    hx_grid_add_links(f);
    return hx_fabric_finish(f, problem);
}

static const char *const resembles[] = {"Ring", "FC", "Switch", NULL};

const struct hx_topology hx_topology_dimensions = {
    HX_TOPOLOGY("Ring(K)_FC(K)_Switch(K)",
                "up to five of Ring(K), FC(K), Switch(K), the nearest first; gbps=N or gbps=N,N,... of links, "
                "ns=N or ns=N,N,... their latency",
                "Ring(4)_FC(8)_Switch(32) gbps=400,200,100", "NPUs in dimensions of several kinds (ASTRA-sim)", build),
    .claims = claims,
    .resembles = resembles,
    HX_GRID_FUNCTIONS,
};
