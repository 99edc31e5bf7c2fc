/* failed_sets.c - takes sets of links down, one after the other (failed_sets.h). */
#include "tools/paths/failed_sets.h"
#include "base/subsets.h"
#include "tools/paths/links.h"
#include "topology/updown.h"

#include <stdlib.h>
#include <string.h>

struct trial {
    struct hx_spec *spec;
    struct hx_links links;
    struct hx_broken broken;
    struct hx_plane plane;
    struct hx_channels channels;
    struct hx_channels answers; /* of a HammingMesh's nodes, over all sets */
    struct hx_even_loads loads;
    struct hx_updown *own;    /* routes of other fabrics without failures */
    struct hx_updown *joined; /* routes of all sets */
    struct hx_failed_set set;
    struct hx_failed_sets found;
};

static void clear(struct hx_channels *c)
{
    memset(c->successors, 0, c->count * sizeof *c->successors);
    memset(c->used, 0, c->count * sizeof *c->used);
}

static bool has_cycle(const struct hx_channels *c)
{
    uint32_t *cycle;
    const uint32_t length = hx_channels_cycle(c, &cycle);
    free(cycle);
    return length != 0;
}

/* Follows all packets with the plane's routes. */
static struct hx_findings explore(struct trial *t)
{
    struct hx_progress quiet = hx_progress_start("", true);
    const bool mesh = t->spec->graph->mesh.nodes != 0;
    const struct hx_explore_also also = {.loads = &t->loads, .answers = mesh ? &t->answers : NULL};
    clear(&t->channels);
    hx_even_loads_clear(&t->loads, &t->channels);
    struct hx_findings found = hx_explore_also(&t->plane, &t->channels, &also, &quiet);
    hx_progress_end(&quiet);
    return found;
}

/* ---- one set ---- */

static void add_pairs(struct hx_failed_pairs *to, const struct trial *t, uint64_t pairs, struct hx_pair first)
{
    if (pairs && to->count == 0) {
        to->first = first;
        to->set = t->set;
    }
    to->count += pairs;
    to->sets += pairs != 0;
}

static void add_findings(struct trial *t, const struct hx_findings *f)
{
    struct hx_failed_sets *all = &t->found;
    const struct hx_pair none = {.from = {0}};
    all->pairs += f->pairs;
    add_pairs(&all->without, t, f->unreachable, f->cut);
    add_pairs(&all->trapped, t, f->trapped, f->trap);
    add_pairs(&all->apart, t, f->apart, f->split);
    add_pairs(&all->escapes, t, f->escapes, none);
    all->most_escapes = f->escapes > all->most_escapes ? f->escapes : all->most_escapes;
    all->vcs = f->vcs > all->vcs ? f->vcs : all->vcs;
    if (f->diameter > all->longest) {
        all->longest = f->diameter;
        all->far = (struct hx_failed_pairs){.count = 1, .sets = 1, .first = f->far, .set = t->set};
    }
    if (has_cycle(&t->channels) && all->cyclic++ == 0)
        all->cyclic_set = t->set;
    const double share = hx_even_loads_share(&t->loads, &t->channels);
    if (all->worst_set.count == 0 || share < all->worst) {
        all->worst = share;
        all->worst_set = t->set;
    }
    all->mean += share;
}

/* Gives another fabric its routes around the set. */
static void reroute(struct trial *t)
{
    struct hx_fabric *f = t->spec->graph;
    struct hx_fabric rerouted = {.updown = NULL};
    f->updown = t->own;
    if (!hx_updown_reroute(&rerouted, f, t->broken.down)) /* it found routes before */
        hx_die(HX_EXIT_ENVIRONMENT, t->spec->source, "no routes can be found");
    f->updown = rerouted.updown;
}

static void try_set(struct trial *t)
{
    struct hx_fabric *f = t->spec->graph;
    hx_broken_take(&t->broken, t->set.link, t->set.count);
    if (!f->mesh.nodes)
        reroute(t);
    struct hx_findings found = explore(t);
    add_findings(t, &found);
    if (!f->mesh.nodes) {
        hx_updown_join(t->joined, f->updown);
        free(f->updown);
        f->updown = t->own;
    }
}

/* ---- all sets together ---- */

static bool mixture_has_cycle(struct trial *t)
{
    struct hx_fabric *f = t->spec->graph;
    if (f->mesh.nodes)
        return has_cycle(&t->answers);
    hx_broken_take(&t->broken, NULL, 0);
    t->plane.mixed = true;
    f->updown = t->joined;
    clear(&t->channels);
    struct hx_progress quiet = hx_progress_start("", true);
    (void)hx_explore(&t->plane, &t->channels, &quiet);
    hx_progress_end(&quiet);
    f->updown = t->own;
    return has_cycle(&t->channels);
}

static void begin(struct trial *t, struct hx_spec *spec, const struct hx_failed_ask *ask)
{
    struct hx_fabric *f = spec->graph;
    *t = (struct trial){.spec = spec, .links = hx_links_list(f, HX_LINKS_ALL), .own = f->updown};
    t->found = (struct hx_failed_sets){.links = t->links.count, .failed = (uint32_t)ask->failed, .seed = ask->seed};
    hx_broken_init(&t->broken, spec);
    hx_plane_init(&t->plane, spec);
    t->plane.broken = &t->broken;
    hx_channels_init(&t->channels, &t->plane);
    hx_channels_init(&t->answers, &t->plane);
    hx_even_loads_init(&t->loads, &t->channels);
    (void)explore(t);
    t->found.healthy = hx_even_loads_share(&t->loads, &t->channels);
    if (f->mesh.nodes)
        return;
    reroute(t);
    t->joined = f->updown;
    f->updown = t->own;
    hx_updown_join(t->joined, t->own);
}

static void end(struct trial *t)
{
    free(t->joined);
    free(t->links.link);
    hx_even_loads_free(&t->loads);
    hx_channels_free(&t->channels);
    hx_channels_free(&t->answers);
    hx_plane_free(&t->plane);
    hx_broken_free(&t->broken);
}

struct hx_failed_sets hx_failed_sets_try(struct hx_spec *spec, const struct hx_failed_ask *ask,
                                         struct hx_progress *progress)
{
    struct trial t;
    begin(&t, spec, ask);
    if (ask->failed > t.links.count)
        hx_die(HX_EXIT_CONFIG, "--failures", "%s has only %u links that may fail", spec->source, t.links.count);
    struct hx_subsets sets = hx_subsets_open(t.links.count, t.found.failed, ask->most, ask->seed);
    t.found.all = sets.all;
    for (; hx_subsets_next(&sets); t.found.sets++) {
        hx_progress_show(progress, (double)t.found.sets / (double)sets.count, "");
        t.set.count = t.found.failed;
        for (uint32_t i = 0; i < t.found.failed; i++)
            t.set.link[i] = t.links.link[sets.member[i]];
        try_set(&t);
    }
    hx_subsets_close(&sets);
    t.found.mean /= (double)t.found.sets;
    t.found.mixed_cyclic = mixture_has_cycle(&t);
    struct hx_failed_sets found = t.found;
    end(&t);
    return found;
}

bool hx_failed_sets_good(const struct hx_failed_sets *f)
{
    return f->cyclic == 0 && !f->mixed_cyclic && f->without.count == 0 && f->trapped.count == 0 && f->vcs <= HX_VCS;
}
