/* hxmesh-check - proves a fabric's routing: no deadlock, no dead end, no detour, every pair connected. */
#include "base/json.h"
#include "base/text.h"
#include "base/value.h"
#include "spec/circuits/circuits.h"
#include "tools/paths/explore.h"
#include "tools/paths/failed_report.h"
#include "tools/paths/transitions.h"
#include "topology/name.h"

#include <inttypes.h>
#include <stdlib.h>

struct report {
    struct hx_spec spec;
    struct hx_findings found;
    uint32_t *cycle;
    uint32_t cycle_length;
    char why[HX_WHY_BYTES]; /* reason that the first unreachable pair has no path */
    bool tries;             /* --transitions */
    struct hx_transitions transitions;
    const char *circuits; /* file of a plan; NULL: none */
    struct hx_plan_states plan;
    struct hx_failed_ask ask; /* --failures; .failed 0: not asked */
    struct hx_failed_sets failures;
    bool passed;
};

enum { LONGEST_SHOWN = 64 };
enum { GIVEN_SAMPLES = 1, GIVEN_SEED = 2 };

static const char *channel_name(char name[HX_NAME_BYTES], const struct hx_channels *c, uint32_t channel)
{
    struct hx_channel at = hx_channel_of(c, channel);
    return hx_port_name(name, c->g, 0, at.node, at.port);
}

/* The rule of the fabric's non-minimal routes; NULL: routes must be minimal. */
static const char *rule_of_paths(const struct report *r)
{
    const struct hx_fabric *g = r->spec.graph;
    return g->topology && !g->updown ? g->topology->paths : NULL;
}

static json_t *to_json(const struct report *r, const struct hx_channels *c)
{
    const struct hx_findings *f = &r->found;
    json_t *cycle = json_array();
    char name[HX_NAME_BYTES];
    for (uint32_t i = 0; i < r->cycle_length; i++)
        json_array_append_new(cycle, json_pack("{s:s, s:i}", "port", channel_name(name, c, r->cycle[i]), "vc",
                                               (int)hx_channel_of(c, r->cycle[i]).vc));
    json_t *cut_off = json_null();
    if (f->unreachable)
        cut_off = json_pack("{s:[i,i], s:[i,i], s:s}", "at", f->cut.from.addr_hi, f->cut.from.addr_lo, "to",
                            f->cut.to.addr_hi, f->cut.to.addr_lo, "why", r->why);
    char routing[HX_ROUTING_BYTES];
    json_t *o = json_pack("{s:o, s:s, s:b, s:i, s:I, s:i, s:I, s:I, s:I, s:b, s:s?, s:I, s:I, s:o, s:o}", "spec",
                          hx_json_text(r->spec.fabric), "routing", hx_routing_write(routing, &r->spec.graph->routing),
                          "acyclic", r->cycle_length == 0, "vcs", (int)f->vcs, "unreachable",
                          (json_int_t)f->unreachable, "diameter", (int)f->diameter, "channels", (json_int_t)f->channels,
                          "dependencies", (json_int_t)f->dependencies, "dead_ends", (json_int_t)f->dead_ends, "minimal",
                          f->minimal, "paths", rule_of_paths(r), "pairs", (json_int_t)f->pairs, "isolated",
                          (json_int_t)f->isolated, "cut_off", cut_off, "cycle", cycle);
    const struct hx_transitions *t = &r->transitions;
    if (r->tries)
        (void)json_object_set_new(o, "transitions",
                                  json_pack("{s:I, s:I, s:I}", "links", (json_int_t)t->links, "cyclic",
                                            (json_int_t)t->cyclic, "unreachable", (json_int_t)t->unreachable));
    if (r->ask.failed)
        (void)json_object_set_new(o, "failures", hx_failed_json(&r->failures, r->spec.graph));
    if (r->circuits)
        (void)json_object_set_new(o, "circuits",
                                  json_pack("{s:I, s:I, s:I}", "states", (json_int_t)r->plan.states, "cyclic",
                                            (json_int_t)r->plan.cyclic, "unreachable",
                                            (json_int_t)r->plan.unreachable));
    return o;
}

static void print_circuits(const struct hx_plan_states *p)
{
    char at[HX_VALUE_TEXT];
    printf("%-14s%" PRIu64 " states of the plan: ", "circuits", p->states);
    if (p->cyclic)
        printf("tables before and after a change MAY DEADLOCK for %" PRIu64 " of them, as that from %s on\n", p->cyclic,
               hx_value_write_duration(at, p->at_ns));
    else
        printf("all pairs have a path, and tables before and after a change cannot deadlock together\n");
}

static void print_transitions(const struct report *r, const struct hx_fabric *g)
{
    const struct hx_transitions *t = &r->transitions;
    char name[HX_NAME_BYTES];
    printf("%-14s%" PRIu64 " link%s, one down at a time: ", "transitions", t->links, hx_plural(t->links));
    if (t->cyclic)
        printf("old and new tables together MAY DEADLOCK for %" PRIu64 " of them, as %s\n", t->cyclic,
               hx_port_name(name, g, 0, t->node, t->port));
    else
        printf("old and new tables together cannot deadlock\n");
    if (t->unreachable)
        printf("%-14s%" PRIu64 " pair%s without a path while a link is down, summed over all links\n", "",
               t->unreachable, hx_plural(t->unreachable));
}

static void print(const struct report *r, const struct hx_channels *c)
{
    const struct hx_findings *f = &r->found;
    printf("%s: %s\n", r->spec.name, r->passed ? "good" : "BAD");
    printf("%-14s%s: %" PRIu64 " channels, %" PRIu64 " dependencies\n", "deadlock",
           r->cycle_length ? "POSSIBLE" : "none possible", f->channels, f->dependencies);
    printf("%-14s%u of %d\n", "VCs used", f->vcs, HX_VCS);
    printf("%-14s%" PRIu64 " of %" PRIu64 " pairs", "unreachable", f->unreachable, f->pairs);
    if (f->isolated)
        printf("; %" PRIu64 " pair%s more of different jobs", f->isolated, hx_plural(f->isolated));
    if (f->unreachable)
        printf("\n%-14sa%u,%u to a%u,%u: %s", "  as", f->cut.from.addr_hi, f->cut.from.addr_lo, f->cut.to.addr_hi,
               f->cut.to.addr_lo, r->why);
    printf("\n%-14s%" PRIu64 "\n", "dead ends", f->dead_ends);
    if (f->minimal || !rule_of_paths(r))
        printf("%-14s%s\n", "paths", f->minimal ? "all minimal" : "NOT all minimal");
    else
        printf("%-14sby the topology's rule: %s\n", "paths", rule_of_paths(r));
    printf("%-14s%u cable%s\n", "diameter", f->diameter, hx_plural(f->diameter));
    if (r->tries)
        print_transitions(r, c->g);
    if (r->ask.failed)
        hx_failed_print(&r->failures, c->g);
    if (r->circuits)
        print_circuits(&r->plan);
    for (uint32_t i = 0; i < r->cycle_length && i < LONGEST_SHOWN; i++) {
        char name[HX_NAME_BYTES];
        printf("%-14s%s VC %u\n", i ? "  waits for" : "cycle", channel_name(name, c, r->cycle[i]),
               hx_channel_of(c, r->cycle[i]).vc);
    }
}

static bool validate(const struct report *r)
{
    return r->cycle_length == 0 && r->found.dead_ends == 0 && (r->found.minimal || rule_of_paths(r)) &&
           r->found.vcs <= HX_VCS && r->found.unreachable == 0 && r->transitions.cyclic == 0 && r->plan.cyclic == 0 &&
           r->plan.unreachable == 0 && (!r->ask.failed || hx_failed_sets_good(&r->failures));
}

/* Reads the plan, and gives the fabric the routes of a run with it. */
static struct hx_faults load_plan(struct report *r)
{
    struct hx_faults faults = {.count = 0};
    struct hx_problem problem;
    if (!r->spec.graph->mesh.nodes && !hx_spec_search_updown(&r->spec, &problem))
        hx_die(HX_EXIT_CONFIG, "--circuits", "%s", problem.what);
    if (!hx_circuits_read(&faults, r->circuits, r->spec.graph, &problem) ||
        !hx_circuits_order(r->spec.graph, &faults, &problem))
        hx_die_of(&problem);
    return faults;
}

/* Gives the fabric the routes of a run in which links fail. */
static void take_routes_of_failures(struct report *r, const char *option)
{
    struct hx_problem problem;
    if (r->spec.graph->mesh.nodes)
        hx_spec_add_escape_vc(&r->spec);
    else if (!hx_spec_search_updown(&r->spec, &problem))
        hx_die(HX_EXIT_CONFIG, option, "%s", problem.what);
}

static void explore(struct report *r, struct hx_plane *plane, struct hx_channels *channels, bool quiet)
{
    struct hx_progress progress = hx_progress_start("check", quiet);
    r->found = hx_explore(plane, channels, &progress);
    hx_progress_end(&progress);
    r->cycle_length = hx_channels_cycle(channels, &r->cycle);
    if (r->found.unreachable) {
        const struct hx_pair cut = r->found.cut;
        hx_plane_set_job(plane, hx_plane_job_at(plane, cut.from.addr_hi, cut.from.addr_lo));
        (void)hx_plane_why(r->why, plane, cut.from, cut.to);
    }
}

static void try_failures(struct report *r, bool quiet)
{
    struct hx_progress progress = hx_progress_start("failures", quiet);
    r->failures = hx_failed_sets_try(&r->spec, &r->ask, &progress);
    hx_progress_end(&progress);
}

int main(int argc, char **argv)
{
    static struct hx_overrides overrides;
    static bool transitions;
    static const char *circuits;
    static uint64_t given;
    static struct hx_failed_ask ask = {.most = HX_DEFAULT_SETS, .seed = 1};
    static const struct hx_option options[] = {
        HX_OVERRIDE_OPTIONS(&overrides),
        {HX_FLAG("transitions", &transitions,
                 "also of every single link that fails: that switches may change their tables in any order")},
        {HX_NUMBER("failures", &ask.failed, 1, HX_MOST_FAILED,
                   "also of sets of so many links that fail: the routes around them (docs/faults.md)"),
         .argument = "LINKS", .otherwise = "none"},
        {HX_NUMBER("samples", &ask.most, 1, HX_MOST_SETS,
                   "sets of --failures: all, if there are no more; otherwise so many drawn ones"),
         .argument = "SETS", .given = &given, .given_bit = GIVEN_SAMPLES},
        {HX_NUMBER("seed", &ask.seed, 0, HX_MOST_SEED, "of drawn sets"), .given = &given, .given_bit = GIVEN_SEED},
        {HX_STRING("circuits", "FILE", &circuits,
                   "also of each state of a plan of circuits (docs/faults.md): that every pair has a path, and that "
                   "switches may change their tables in any order"),
         .otherwise = "none"},
        HX_OPTIONS_END};
    static const struct hx_command command = {
        HX_PROGRAM("hxmesh check", "hxmesh-route hxmesh-info"),
        .examples = {{"hxmesh check \"3x2 H2x4Mesh\"", "the channel dependency graph: proves there is no deadlock"},
                     {"hxmesh check \"4x4 Hx2Mesh\" --failures 1", "and after each single link failed"}},
        .failed =
            "a deadlock, a dead end or a detour is possible, or a pair is cut off; with --failures, also if a pair "
            "that living links join has no path",
        HX_OPERANDS("SPEC|FILE", 1, 1),
        .summary = "Follows every packet that may be in flight in a fabric, by the firmware's own route functions, "
                   "builds the channel dependency graph (links and VCs) and says whether it has a cycle.",
        .details =
            "Failed boards and jobs of a file are taken into account; unreachable counts ordered pairs of "
            "working accelerators of one job that are cut off, and says of the first why. Exits 1 if a deadlock, a "
            "dead end or a detour is possible, if more VCs are used than there are, or if a pair is unreachable.",
        .options = options};
    struct hx_common common;
    int first = hx_options_parse(&command, argc, argv, &common);
    if (given && !ask.failed)
        hx_die(HX_EXIT_USAGE, given & GIVEN_SAMPLES ? "--samples" : "--seed", "is for --failures");
    struct report r = {.cycle = NULL, .tries = transitions, .circuits = circuits, .ask = ask};
    hx_spec_load(argv[first], &overrides, &r.spec);
    if (ask.failed)
        take_routes_of_failures(&r, "--failures");
    else if (transitions && !r.spec.graph->mesh.nodes)
        take_routes_of_failures(&r, "--transitions");
    struct hx_faults plan = {.count = 0};
    if (circuits)
        plan = load_plan(&r);

    struct hx_plane plane;
    struct hx_channels channels;
    hx_plane_init(&plane, &r.spec);
    hx_channels_init(&channels, &plane);
    explore(&r, &plane, &channels, common.quiet);
    struct hx_progress trying = hx_progress_start("transitions", common.quiet || !transitions);
    if (transitions)
        r.transitions = hx_transitions_try(&r.spec, &trying);
    hx_progress_end(&trying);
    if (ask.failed)
        try_failures(&r, common.quiet);
    r.plan = hx_plan_try(&r.spec, &plan);
    hx_faults_free(&plan);
    r.passed = validate(&r);

    if (common.json)
        hx_json_write(to_json(&r, &channels), common.json);
    else
        print(&r, &channels);
    hx_output_close(stdout, "-");
    free(r.cycle);
    hx_channels_free(&channels);
    hx_plane_free(&plane);
    hx_spec_free(&r.spec);
    return r.passed ? HX_EXIT_DONE : HX_EXIT_FAILED;
}
