/* failed_report.c - prints what sets of failed links did (failed_report.h). */
#include "tools/paths/failed_report.h"
#include "base/text.h"
#include "topology/name.h"

#include <inttypes.h>
#include <stdio.h>

/* Why a pair that living links join has no path; NULL: all have. */
static const char *why_without(const struct hx_failed_sets *f, const struct hx_fabric *g)
{
    if (f->without.count == 0)
        return NULL;
    return g->mesh.nodes ? "no path over boards of its own job goes up and then down in the order of the escape VC"
                         : "each path that is left goes up again, in the order of the switches, more often "
                           "than the VCs allow";
}

/* ---- for people ---- */

enum { MOST_NAMES = 8 /* of a set, in text */ };

static void print_set(const struct hx_failed_set *set, const struct hx_fabric *g)
{
    char name[HX_NAME_BYTES];
    for (uint32_t i = 0; i < set->count && i < MOST_NAMES; i++)
        printf("%s%s", i ? ", " : " without ", hx_port_name(name, g, 0, set->link[i].node, set->link[i].port));
    if (set->count > MOST_NAMES)
        printf(", and %u more", set->count - MOST_NAMES);
}

static void print_pair(const struct hx_failed_pairs *p, const struct hx_fabric *g)
{
    printf("a%u,%u to a%u,%u", p->first.from.addr_hi, p->first.from.addr_lo, p->first.to.addr_hi, p->first.to.addr_lo);
    print_set(&p->set, g);
}

static void print_pairs(const char *label, const struct hx_failed_pairs *p, const char *what, const struct hx_fabric *g)
{
    printf("  %-14s%" PRIu64 " pair%s %s", label, p->count, hx_plural(p->count), what);
    if (p->count) {
        printf(", in %" PRIu64 " set%s, as ", p->sets, hx_plural(p->sets));
        print_pair(p, g);
    }
    printf("\n");
}

static void print_deadlock(const struct hx_failed_sets *f, const struct hx_fabric *g)
{
    printf("  %-14s", "deadlock");
    if (f->cyclic) {
        printf("POSSIBLE in %" PRIu64 " set%s, as", f->cyclic, hx_plural(f->cyclic));
        print_set(&f->cyclic_set, g);
    } else {
        printf("none possible in any set");
    }
    printf("; %s while nodes have routes of different sets\n", f->mixed_cyclic ? "POSSIBLE" : "none");
}

void hx_failed_print(const struct hx_failed_sets *f, const struct hx_fabric *g)
{
    const char *why = why_without(f, g);
    printf("%-14s%s%" PRIu64 " set%s of %u of %u links of a plane", "failures", f->all ? "all " : "", f->sets,
           hx_plural(f->sets), f->failed, f->links);
    if (f->all)
        printf("\n");
    else
        printf(", drawn by seed %" PRIu64 "\n", f->seed);
    print_deadlock(f, g);
    print_pairs("no path", &f->without, "that living links join", g);
    if (why)
        printf("  %-14s%s\n", "  since", why);
    print_pairs("dead ends", &f->trapped, "that adaptive choices may lead to one", g);
    print_pairs("cut off", &f->apart, "that no living links join", g);
    printf("  %-14s%u cable%s", "longest path", f->longest, hx_plural(f->longest));
    if (f->far.count) {
        printf(", ");
        print_pair(&f->far, g);
    }
    printf("\n  %-14s%.1f %% of injection at worst,", "all-to-all", 100 * f->worst);
    print_set(&f->worst_set, g);
    printf("; %.1f %% on average; %.1f %% without failures\n", 100 * f->mean, 100 * f->healthy);
    printf("  %-14s%u of %d", "VCs used", f->vcs, HX_VCS);
    if (g->mesh.nodes)
        printf("; %" PRIu64 " pair%s in %" PRIu64 " set%s on the escape VC, at most %" PRIu64 " in one",
               f->escapes.count, hx_plural(f->escapes.count), f->escapes.sets, hx_plural(f->escapes.sets),
               f->most_escapes);
    printf("\n");
}

/* ---- JSON ---- */

static json_t *set_json(const struct hx_failed_set *set, const struct hx_fabric *g)
{
    json_t *names = json_array();
    char name[HX_NAME_BYTES];
    for (uint32_t i = 0; i < set->count; i++)
        json_array_append_new(names, json_string(hx_port_name(name, g, 0, set->link[i].node, set->link[i].port)));
    return names;
}

/* The first of some pairs; null: there is none. */
static json_t *pair_json(const struct hx_failed_pairs *p, const struct hx_fabric *g)
{
    if (p->count == 0)
        return json_null();
    return json_pack("{s:[i,i], s:[i,i], s:o}", "from", p->first.from.addr_hi, p->first.from.addr_lo, "to",
                     p->first.to.addr_hi, p->first.to.addr_lo, "without", set_json(&p->set, g));
}

static json_t *pairs_json(const struct hx_failed_pairs *p, const struct hx_fabric *g)
{
    return json_pack("{s:I, s:I, s:o}", "pairs", (json_int_t)p->count, "sets", (json_int_t)p->sets, "first",
                     pair_json(p, g));
}

json_t *hx_failed_json(const struct hx_failed_sets *f, const struct hx_fabric *g)
{
    json_t *no_path = pairs_json(&f->without, g);
    (void)json_object_set_new(no_path, "why", f->without.count ? json_string(why_without(f, g)) : json_null());
    json_t *longest = pair_json(&f->far, g);
    if (json_is_object(longest))
        (void)json_object_set_new(longest, "cables", json_integer(f->longest));
    json_t *alltoall = json_pack("{s:f, s:f, s:f, s:o}", "healthy", f->healthy, "mean", f->mean, "worst", f->worst,
                                 "without", set_json(&f->worst_set, g));
    json_t *escape = g->mesh.nodes ? json_pack("{s:I, s:I, s:I}", "pairs", (json_int_t)f->escapes.count, "sets",
                                               (json_int_t)f->escapes.sets, "most", (json_int_t)f->most_escapes)
                                   : json_null();
    return json_pack("{s:i, s:i, s:I, s:b, s:I, s:I, s:o, s:b, s:I, s:o, s:o, s:o, s:o, s:o, s:i, s:o}", "links",
                     (int)f->links, "failed", (int)f->failed, "sets", (json_int_t)f->sets, "all", f->all, "seed",
                     (json_int_t)f->seed, "cyclic", (json_int_t)f->cyclic, "cyclic_without",
                     set_json(&f->cyclic_set, g), "mixed_cyclic", f->mixed_cyclic, "pairs", (json_int_t)f->pairs,
                     "no_path", no_path, "dead_ends", pairs_json(&f->trapped, g), "cut_off", pairs_json(&f->apart, g),
                     "longest", longest, "all_to_all", alltoall, "vcs", (int)f->vcs, "escape", escape);
}
