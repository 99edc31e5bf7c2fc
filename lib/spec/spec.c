/* spec.c - reads spec strings, checks and queries a fabric (spec/spec.h); spec/yaml/spec_file.c reads files. */
#include "spec/spec.h"
#include "base/text.h"
#include "hxmesh/around.h"
#include "hxmesh/collective.h"
#include "hxmesh/error.h"
#include "schedule/formats.h"
#include "topology/all.h"
#include "topology/bounds.h"
#include "topology/hamming_mesh.h"
#include "topology/updown.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

const char *const hx_selection_names[HX_SELECTIONS + 1] = {[HX_SELECT_AUTO] = "auto",
                                                           [HX_SELECT_ADAPTIVE] = "adaptive",
                                                           [HX_SELECT_X_FIRST] = "x-first",
                                                           [HX_SELECT_D_MOD_K] = "d-mod-k",
                                                           [HX_SELECTIONS] = NULL};

const char *const hx_arrivals_names[HX_ARRIVALS + 1] = {
    [HX_ARRIVALS_EVEN] = "even", [HX_ARRIVALS_POISSON] = "poisson", [HX_ARRIVALS] = NULL};

const char *const hx_sends_names[HX_SENDS + 1] = {
    [HX_SENDS_IN_ORDER] = "in-order", [HX_SENDS_SHARED] = "shared", [HX_SENDS] = NULL};

bool hx_settings_x_first(const struct hx_settings *s)
{
    bool uniform = s->pattern == HX_ALL_TO_ALL || s->pattern == HX_ALL_TO_ALL_RANDOM || s->pattern == HX_UNIFORM;
    return s->select == HX_SELECT_X_FIRST || (s->select == HX_SELECT_AUTO && uniform);
}

bool hx_settings_d_mod_k(const struct hx_settings *s, const struct hx_fabric *f)
{
    if (!hx_fabric_has_d_mod_k(f))
        return false;
    return s->select == HX_SELECT_D_MOD_K || (s->select == HX_SELECT_AUTO && s->pattern == HX_ALL_TO_ALL);
}

const struct hx_overrides hx_default_sizes = {
    .planes = HX_DEFAULT_PLANES, .radix = HX_DEFAULT_RADIX, .taper = HX_DEFAULT_TAPER, .credits = HX_DEFAULT_CREDITS};

const struct hx_settings hx_default_settings = {.pattern = HX_ALL_TO_ALL,
                                                .message = 64 << 10,
                                                .count = 1,
                                                .rate = 1,
                                                .seed = 1,
                                                .verify = true,
                                                .hotspot = 0.2,
                                                .eager = SCHEDULE_MOST_BYTES,
                                                .compute_scale = 1,
                                                .sends = HX_SENDS_OF_FORMAT};

bool hx_shares_are_weights(const char *shares)
{
    return shares[strspn(shares, "0123456789, ")] == '\0';
}

unsigned hx_traffic_file_kind(const char *path)
{
    return schedule_is_any(path) ? HX_SCHEDULE : HX_FLOWS;
}

const char *hx_settings_traffic(const struct hx_settings *s)
{
    bool file = s->pattern == HX_FLOWS || s->pattern == HX_SCHEDULE;
    return file ? s->traffic_file : hx_pattern_names[s->pattern];
}

uint64_t hx_settings_run(const struct hx_settings *s)
{
    return HX_FOR_CLOCK(s->clock) | HX_FOR_PATTERN(s->pattern);
}

uint64_t hx_settings_named(const struct hx_settings *s)
{
    uint64_t clock = s->given & HX_GIVEN_CLOCK ? HX_FOR_CLOCK(s->clock) : HX_FOR_ANY_CLOCK;
    return clock | (s->given & HX_GIVEN_PATTERN ? HX_FOR_PATTERN(s->pattern) : HX_FOR_ANY_PATTERN);
}

/* Copies the settings with a bit in `which`, enum hx_given. */
static void take_settings(struct hx_settings *into, const struct hx_settings *from, uint64_t which)
{
    struct hx_settings source = *from;
    source.given = which;
    const struct hx_option to[] = {HX_SETTINGS_OPTIONS(into), HX_VIRTUAL_OPTIONS(into), HX_OPTIONS_END};
    const struct hx_option of[] = {HX_SETTINGS_OPTIONS(&source), HX_VIRTUAL_OPTIONS(&source), HX_OPTIONS_END};
    hx_options_take(to, of);
}

/* Settings that do not apply to a run of this kind (hx_settings_run()), bits of enum hx_given. */
static uint64_t unfit_settings(struct hx_settings *s, uint64_t run)
{
    const struct hx_option options[] = {HX_SETTINGS_OPTIONS(s), HX_VIRTUAL_OPTIONS(s), HX_OPTIONS_END};
    uint64_t bits = 0;
    for (const struct hx_option *o = options; o->kind != HX_OPTION_END; o++)
        bits |= hx_applies(o->applies, run) ? 0 : o->given_bit;
    return bits;
}

void hx_settings_merge(struct hx_settings *into, const struct hx_settings *over)
{
    uint64_t left_out = unfit_settings(into, hx_settings_named(over));
    left_out |= over->given & HX_GIVEN_COUNT && over->count ? HX_GIVEN_DURATION : 0;
    left_out |= over->given & HX_GIVEN_DURATION && over->duration_ns ? HX_GIVEN_COUNT : 0;
    take_settings(into, &hx_default_settings, left_out);
    into->given &= ~left_out;
    take_settings(into, over, over->given);
}

/* ---- spec strings ---- */

static bool check_sides(const struct hx_spec *spec, const char *where, struct hx_problem *problem)
{
    const struct {
        unsigned value, high;
        const char *what;
    } sides[] = {{spec->x, HX_MAX_FABRIC_SIDE, "columns of boards (x)"},
                 {spec->y, HX_MAX_FABRIC_SIDE, "rows of boards (y)"},
                 {spec->a, HX_MAX_BOARD_SIDE, "columns of a board (a)"},
                 {spec->b, HX_MAX_BOARD_SIDE, "rows of a board (b)"}};
    for (unsigned i = 0; i < sizeof sides / sizeof *sides; i++)
        if (sides[i].value < 1 || sides[i].value > sides[i].high)
            return hx_fail(problem, HX_EXIT_CONFIG, where, "%s: %u is outside 1 .. %u", sides[i].what, sides[i].value,
                           sides[i].high);
    return true;
}

/* Sets failed boards. They are not part of `fabric`: a writer of it also writes the list of failed boards. */
static bool take_failed_boards(const char *text, const struct hx_mesh_sides *sides, struct hx_spec *spec,
                               struct hx_problem *problem)
{
    spec->failed = hx_allocate((size_t)spec->x * spec->y, sizeof *spec->failed);
    if (hx_mesh_failures(sides, spec->failed, problem))
        return true;
    (void)snprintf(problem->where, sizeof problem->where, "%s", text);
    hx_spec_free(spec);
    return false;
}

static bool take_mesh(const char *text, struct hx_spec *spec, struct hx_problem *problem)
{
    struct hx_mesh_sides sides;
    (void)hx_mesh_parse(text, &sides); /* succeeds: the caller has tried it */
    spec->x = sides.x;
    spec->y = sides.y;
    spec->a = sides.a;
    spec->b = sides.b;
    if (!check_sides(spec, text, problem))
        return false;
    if (spec->a == spec->b)
        snprintf(spec->fabric, sizeof spec->fabric, "%ux%u Hx%uMesh", spec->x, spec->y, spec->a);
    else
        snprintf(spec->fabric, sizeof spec->fabric, "%ux%u H%ux%uMesh", spec->x, spec->y, spec->a, spec->b);
    return !sides.failures[0] || take_failed_boards(text, &sides, spec, problem);
}

/* Copies a spec string to spec->fabric, with one space between words. */
static void copy_fabric(const char *text, struct hx_spec *spec)
{
    size_t used = 0;
    for (; *text && used < sizeof spec->fabric - 1; text++) {
        bool space = isspace((unsigned char)*text);
        if (!space || (used && spec->fabric[used - 1] != ' '))
            spec->fabric[used++] = space ? ' ' : *text;
    }
    spec->fabric[used && spec->fabric[used - 1] == ' ' ? used - 1 : used] = '\0';
}

bool hx_spec_parse(const char *text, struct hx_spec *spec, struct hx_problem *problem)
{
    *spec = (struct hx_spec){.planes = (unsigned)hx_default_sizes.planes,
                             .radix = (unsigned)hx_default_sizes.radix,
                             .taper = (unsigned)hx_default_sizes.taper,
                             .credits = (unsigned)hx_default_sizes.credits,
                             .settings = hx_default_settings,
                             .capture = HX_CAPTURE_DEFAULTS,
                             .faults = HX_FAULT_DEFAULTS};
    const struct hx_topology *topology = hx_topology_of(text, problem);
    if (!topology)
        return false;
    if (strlen(text) >= sizeof spec->fabric)
        return hx_fail(problem, HX_EXIT_CONFIG, text, "a fabric of more than %zu letters", sizeof spec->fabric - 1);
    if (topology != &hx_topology_hamming_mesh)
        copy_fabric(text, spec);
    else if (!take_mesh(text, spec, problem))
        return false;
    (void)hx_text_copy(spec->name, sizeof spec->name, spec->failed ? text : spec->fabric);
    snprintf(spec->source, sizeof spec->source, "%s", text);
    return true;
}

/* ---- geometry ---- */

static bool joins(unsigned boards, unsigned radix, unsigned taper)
{
    struct hx_geometry g;
    return hx_geometry_init(&g, 1, 1, boards, 1, 1, radix, taper) == HX_OK;
}

static bool mesh_of(const struct hx_spec *spec, struct hx_geometry *g, struct hx_problem *problem)
{
    int error = hx_geometry_init(g, spec->a, spec->b, spec->x, spec->y, spec->planes, spec->radix, spec->taper);
    if (error == HX_OK)
        return true;
    unsigned columns = spec->a * spec->x;
    unsigned rows = spec->b * spec->y;
    if (columns > HX_MAX_LINE || rows > HX_MAX_LINE)
        return hx_fail(problem, HX_EXIT_CONFIG, spec->source, "a line of %u accelerators is longer than %u",
                       columns > rows ? columns : rows, HX_MAX_LINE);
    if ((uint64_t)columns * rows > HX_MAX_ACCELERATORS)
        return hx_fail(problem, HX_EXIT_CONFIG, spec->source, "%llu accelerators are more than %u",
                       (unsigned long long)columns * rows, HX_MAX_ACCELERATORS);
    if (error == HX_E_CAPACITY) {
        bool row = !joins(spec->x, spec->radix, spec->taper);
        return hx_fail(problem, HX_EXIT_CONFIG, spec->source,
                       "a %s network has %u ports, more than a two-level tree of radix %u and taper %u can join",
                       row ? "row" : "column", 2 * (row ? spec->x : spec->y), spec->radix, spec->taper);
    }
    return hx_fail(problem, HX_EXIT_CONFIG, spec->source, "planes, radix or taper are out of range");
}

static void free_graph(struct hx_spec *spec)
{
    if (spec->graph)
        hx_fabric_free(spec->graph);
    free(spec->graph);
    spec->graph = NULL;
}

bool hx_spec_build(struct hx_spec *spec, struct hx_problem *problem)
{
    struct hx_geometry g;
    if (spec->a && !mesh_of(spec, &g, problem)) {
        free_graph(spec);
        return false;
    }
    struct hx_fabric *before = spec->graph; /* keeps the text of the graph's file */
    struct hx_graph_text read = {before ? before->graph_text : NULL, before ? before->graph_bytes : 0};
    spec->graph = hx_allocate(1, sizeof *spec->graph);
    bool good = true;
    if (spec->a)
        hx_fabric_of_mesh(spec->graph, &g);
    else
        good = hx_fabric_make_told(spec->graph, spec->fabric, spec->planes, read.bytes ? &read : spec->told, problem);
    if (before)
        hx_fabric_free(before);
    free(before);
    if (!good)
        free(spec->graph);
    spec->graph = good ? spec->graph : NULL;
    return good;
}

/* Suffix of a spec string, an empty list of failures: makes the fabric search its routes (topology/updown.h). */
static const char updown_suffix[] = " fail=";

static struct hx_updown *build_with_updown(struct hx_spec *spec, struct hx_problem *problem)
{
    size_t used = strlen(spec->fabric);
    struct hx_fabric *before = spec->graph;
    if (used + sizeof updown_suffix > sizeof spec->fabric) {
        (void)hx_fail(problem, HX_EXIT_CONFIG, spec->source,
                      "a name of %zu letters leaves no room for '%s': %zu at most", used, updown_suffix + 1,
                      sizeof spec->fabric - sizeof updown_suffix);
        return NULL;
    }
    memcpy(spec->fabric + used, updown_suffix, sizeof updown_suffix);
    spec->graph = NULL;
    if (!hx_spec_build(spec, problem)) {
        spec->fabric[used] = '\0';
        spec->graph = before;
        return NULL;
    }
    hx_fabric_free(before);
    free(before);
    return spec->graph->updown;
}

void hx_spec_add_escape_vc(struct hx_spec *spec)
{
    for (unsigned i = 0; i < spec->externals; i++)
        if (spec->external[i].node == HX_NODE_ELSEWHERE)
            return;
    spec->graph->vcs = HX_ESCAPE_VC + 1;
}

bool hx_spec_search_updown(struct hx_spec *spec, struct hx_problem *problem)
{
    struct hx_updown *updown = spec->graph->updown ? spec->graph->updown : build_with_updown(spec, problem);
    if (!updown)
        return false;
    /* A path around failures may turn more often. Every turn increments the VC from the start, so that old and new
     * routes may coexist. */
    spec->graph->vcs = updown->vcs = HX_VCS;
    return true;
}

const struct hx_fabric *hx_spec_fabric(const struct hx_spec *spec)
{
    return spec->graph;
}

struct hx_geometry hx_spec_mesh(const struct hx_spec *spec, const char *what)
{
    if (!spec->a)
        hx_die(HX_EXIT_CONFIG, spec->source, "%s is for a HammingMesh", what);
    return spec->graph->mesh;
}

/* ---- loading ---- */

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text);
    size_t end_length = strlen(end);
    return length >= end_length && strcasecmp(text + length - end_length, end) == 0;
}

/* Whether the argument is a spec string of a topology. It may contain the name of a file: "graph
 * examples/graph/cube.csv". */
static bool is_of_a_topology(const char *argument)
{
    struct hx_problem none;
    return strpbrk(argument, " \t") && hx_topology_of(argument, &none);
}

static bool names_a_file(const char *argument)
{
    struct stat status;
    if (stat(argument, &status) == 0)
        return true;
    if (is_of_a_topology(argument))
        return false;
    return ends_with(argument, ".yaml") || ends_with(argument, ".yml") || strchr(argument, '/');
}

/* Replaces the routing in the spec string: routing is a part of the fabric. */
static bool override_routing(struct hx_spec *spec, const char *said, struct hx_problem *problem)
{
    struct hx_routing routing;
    char text[HX_ROUTING_BYTES];
    char why[HX_WHY_TEXT];
    const char *wrong = hx_routing_parse(said, &routing, why);
    if (wrong)
        return hx_fail(problem, HX_EXIT_USAGE, "--routing", "%s", wrong);
    if (spec->a)
        return routing.policy == HX_MINIMAL ||
               hx_fail(problem, HX_EXIT_USAGE, "--routing", "a HammingMesh makes no detours: minimal is possible");
    bool named = strncmp(spec->name, spec->fabric, sizeof spec->name - 1) == 0;
    char *old = strcasestr(spec->fabric, " routing");
    if (old) { /* a key: no topology has such a word, or a value that begins with a space */
        const char *end = strchr(old + 1, '=');
        end = end ? end + 1 + strspn(end + 1, " ") : old + strlen(old);
        end += strcspn(end, " ");
        memmove(old, end, strlen(end) + 1);
    }
    size_t used = strlen(spec->fabric);
    if (routing.policy != HX_MINIMAL &&
        used + sizeof " routing=" + strlen(hx_routing_write(text, &routing)) > HX_SPEC_BYTES)
        return hx_fail(problem, HX_EXIT_USAGE, "--routing", "the fabric's name leaves no room for it");
    if (routing.policy != HX_MINIMAL)
        (void)snprintf(spec->fabric + used, sizeof spec->fabric - used, " routing=%s", text);
    if (named)
        (void)hx_text_copy(spec->name, sizeof spec->name, spec->fabric);
    return true;
}

bool hx_spec_override(struct hx_spec *spec, const struct hx_overrides *o, struct hx_problem *problem)
{
    if (!spec->a && (o->radix || o->taper))
        return hx_fail(problem, HX_EXIT_USAGE, o->radix ? "--radix" : "--taper",
                       "is for a HammingMesh's trees: what there is of it in '%s' stands in its own words",
                       spec->fabric);
    if (o->routing && !override_routing(spec, o->routing, problem))
        return false;
    spec->planes = o->planes ? (unsigned)o->planes : spec->planes;
    spec->radix = o->radix ? (unsigned)o->radix : spec->radix;
    spec->taper = o->taper ? (unsigned)o->taper : spec->taper;
    spec->credits = o->credits ? (unsigned)o->credits : spec->credits;
    if (spec->credits % HX_PACKET_BLOCKS)
        return hx_fail(problem, HX_EXIT_USAGE, "--credits", "%u is not a multiple of %u", spec->credits,
                       HX_PACKET_BLOCKS);
    return true;
}

bool hx_spec_try_load(const char *argument, const struct hx_overrides *overrides, struct hx_spec *spec,
                      struct hx_problem *problem)
{
    bool loaded =
        names_a_file(argument) ? hx_spec_read(argument, spec, problem) : hx_spec_parse(argument, spec, problem);
    if (!loaded)
        return false;
    if ((overrides && !hx_spec_override(spec, overrides, problem)) || !hx_spec_build(spec, problem)) {
        hx_spec_free(spec);
        return false;
    }
    return true;
}

void hx_spec_load(const char *argument, const struct hx_overrides *overrides, struct hx_spec *spec)
{
    struct hx_problem problem;
    if (!hx_spec_try_load(argument, overrides, spec, &problem))
        hx_die_of(&problem);
}

void hx_spec_free(struct hx_spec *spec)
{
    free_graph(spec);
    for (unsigned i = 0; i < spec->named_jobs; i++)
        free((char *)(uintptr_t)spec->named[i].settings.traffic_file);
    HX_FREE(spec->failed, spec->job, spec->named, spec->external, (char *)(uintptr_t)spec->settings.traffic_file,
            (char *)(uintptr_t)spec->settings.place, (char *)(uintptr_t)spec->settings.shares,
            (char *)(uintptr_t)spec->settings.read.groups, (char *)(uintptr_t)spec->capture.file,
            (char *)(uintptr_t)spec->capture.filter, (char *)(uintptr_t)spec->faults.file,
            (char *)(uintptr_t)spec->faults.circuits, (char *)(uintptr_t)spec->faults.lines.item[0],
            (char *)(uintptr_t)spec->capture.ports.item[0]);
    spec->failed = NULL;
    spec->job = NULL;
    spec->named = NULL;
    spec->named_jobs = 0;
    spec->external = NULL;
    spec->externals = 0;
    spec->settings.traffic_file = spec->settings.place = spec->settings.shares = spec->settings.read.groups = NULL;
    spec->capture = (struct hx_capture_settings){.file = NULL};
    spec->faults = (struct hx_fault_settings){.file = NULL};
}

/* ---- queries ---- */

unsigned hx_spec_boards(const struct hx_spec *spec)
{
    return spec->a || !spec->graph ? spec->x * spec->y : spec->graph->hosts;
}

bool hx_spec_board_failed(const struct hx_spec *spec, unsigned board)
{
    if (spec->failed && spec->failed[board])
        return true;
    return spec->graph && spec->graph->failed && spec->graph->failed[board];
}

bool *hx_spec_taken(const struct hx_spec *spec)
{
    unsigned boards = hx_spec_boards(spec);
    bool *taken = hx_allocate(boards, sizeof *taken);
    for (unsigned board = 0; board < boards; board++)
        taken[board] = hx_spec_board_failed(spec, board) || (spec->job && spec->job[board] != HX_NO_JOB);
    return taken;
}

bool hx_spec_has_failures(const struct hx_spec *spec)
{
    return spec->failed || spec->graph->failed;
}

uint16_t hx_spec_board_job(const struct hx_spec *spec, unsigned board)
{
    return spec->job ? spec->job[board] : HX_NO_JOB;
}

bool hx_spec_board_idle(const struct hx_spec *spec, unsigned board)
{
    return spec->job && spec->job[board] == HX_NO_JOB;
}

const struct hx_job *hx_spec_job(const struct hx_spec *spec, uint16_t tag)
{
    for (unsigned i = 0; i < spec->named_jobs; i++)
        if (spec->named[i].tag == tag)
            return &spec->named[i];
    return NULL;
}

struct hx_settings hx_job_settings(const struct hx_settings *run, const struct hx_job *job)
{
    struct hx_settings settings = *run;
    if (job)
        hx_settings_merge(&settings, &job->settings);
    return settings;
}

void hx_spec_refuse_external(const struct hx_spec *spec, const char *what)
{
    if (spec->externals)
        hx_die(HX_EXIT_CONFIG, spec->source, "%s has to do without external accelerators, and a%u,%u is one", what,
               spec->external[0].addr_hi, spec->external[0].addr_lo);
}

unsigned hx_spec_board_of(const struct hx_spec *spec, uint32_t host)
{
    return spec->a ? spec->graph->node[host].group : host;
}

unsigned hx_spec_board_at(const struct hx_spec *spec, unsigned gx, unsigned gy)
{
    if (spec->a)
        return gy / spec->b * spec->x + gx / spec->a;
    return hx_host_at(spec->graph, gx, gy);
}

bool hx_spec_blocked_boards(const struct hx_spec *spec, uint16_t tag, uint8_t *bits)
{
    bool any = false;
    memset(bits, 0, (hx_spec_boards(spec) + 7U) / 8U);
    for (unsigned board = 0; board < hx_spec_boards(spec); board++) {
        if (!hx_spec_board_failed(spec, board) && hx_spec_board_job(spec, board) == tag)
            continue;
        bits[board / 8] |= (uint8_t)(1U << board % 8);
        any = true;
    }
    return any;
}

void hx_spec_check_coordinate(const struct hx_spec *spec, const char *option, struct hx_coordinate at)
{
    const struct hx_fabric *g = spec->graph;
    const struct hx_coordinate ranges = hx_coordinate_ranges(g);
    if (at.addr_hi >= ranges.addr_hi || at.addr_lo >= ranges.addr_lo)
        hx_die(HX_EXIT_USAGE, option, "a%u,%u is outside the %s (%s 0 .. %u, %s 0 .. %u)", at.addr_hi, at.addr_lo,
               spec->fabric, spec->a ? "gx" : "addr_hi", ranges.addr_hi - 1, spec->a ? "gy" : "addr_lo",
               ranges.addr_lo - 1);
    if (hx_host_at(g, at.addr_hi, at.addr_lo) == HX_NOWHERE)
        hx_die(HX_EXIT_USAGE, option, "no host of the %s has the address %u,%u", spec->fabric, at.addr_hi, at.addr_lo);
}
