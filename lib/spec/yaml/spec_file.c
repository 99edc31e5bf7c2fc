/* spec_file.c - reads a fabric from a *.hxm.yaml file (spec/spec.h).
 *
 *     fabric: 4x4 Hx2Mesh             the only required key
 *     failures: spine2 leaf3/9        failed parts, as behind fail= in a spec (topology/failures.h)
 *     name: lab                       for reports
 *     planes: 2   radix: 64   taper: 1   credits: 512
 *     failed_boards: [[1, 0]]         [X, Y] of each
 *     jobs:                           boards without a job are idle
 *       - tag: 7                      default: the next free one
 *         boards: [[0, 0], [0, 1]]    one by one, and/or
 *         rectangle: [[2, 2], [3, 3]] from north-west to south-east board, both included
 *         hosts: [[0, 15], [32, 47]]  of another fabric than a HammingMesh: by number, both included
 *       - {name: big, size: 4x4, traffic: all-reduce, message: 16MiB, start: 1ms}  more: spec/jobs.h
 *     traffic: uniform                or a file of messages, or a mapping:
 *     traffic: {pattern: all-to-all, message: 1MiB, count: 4, rate: 0.5, seed: 7, verify: true}
 *         or duration: 30s, of all-to-all shifts: 7, of a collective algorithm: best
 *     capture: {file: run.pcapng, ports: "a0,0/p0/? row0/p0/?", filter: "ether proto 0x88b5", snaplen: 96,
 *               buffer: 64MiB, annotate: true, drop: false}
 *     workers: 2
 *     external: [...]                 accelerators that run elsewhere (spec/spec_external.h)
 *     clock: virtual                  the keys below are for the virtual clock only
 *     select: auto
 *     injection_rate: 0.25
 *     timing: {preset: paper, link: 400, crossbar: 800, cable: 20ns, trace: 1ns, input: 40ns, output: 40ns,
 *              buffer: 32MiB}
 *
 *     faults: {what: "a0,1/E down at 10us for 5us; all loss=1%", file: schedule.txt, detect: 3us, tell: 10us}
 *         or only the lines; or file: random, mtbf: 100us, mttr: 50us
 *     circuits: plan.txt              a plan of links that open and close (spec/circuits/circuits.h)
 *
 * Each value is read by the option that has its key, so that files and the command line accept the same values.
 *
 * A network file of ASTRA-sim (spec/yaml/astra_network.h) is read in its place. */
#include "base/text.h"
#include "base/yaml/keys.h"
#include "spec/jobs.h"
#include "spec/spec.h"
#include "spec/yaml/astra_network.h"
#include "spec/yaml/external.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- keys ---- */

struct values {
    const char *fabric, *failures, *name;
    struct hx_overrides sizes;
    struct hx_settings settings;
    struct hx_capture_settings capture;
    struct hx_fault_settings faults;
    struct hx_timing timing;
    struct hx_job_values job;           /* the one being read */
    struct hx_external_values external; /* of no entry: for the documentation */
};

/* clang-format off */
#define FABRIC_OPTIONS(v) \
    {.key = "fabric", .key_required = true, .kind = HX_OPTION_STRING, .argument = "SPEC", .to.string = &(v)->fabric, \
     .help = "the fabric, as 4x4 Hx2Mesh"}, \
    {.key = "failures", .kind = HX_OPTION_STRING, .argument = "NAMES", .to.string = &(v)->failures, \
     .help = "what does not work: nodes, links, groups, as `spine2 leaf3/9 group1`; of a HammingMesh boards, as " \
     "`board1,2`"}, \
    {.key = "name", .kind = HX_OPTION_STRING, .to.string = &(v)->name, .help = "for reports; without it, the fabric"}, \
    HX_OVERRIDE_OPTIONS(&(v)->sizes), HX_CREDIT_OPTION(&(v)->sizes), HX_SETTINGS_OPTIONS(&(v)->settings), \
    HX_VIRTUAL_OPTIONS(&(v)->settings), HX_CAPTURE_OPTIONS(&(v)->capture), HX_TIMING_OPTIONS(&(v)->timing), \
    HX_FAULT_OPTIONS(&(v)->faults), \
    HX_JOB_OPTIONS(&(v)->job), HX_EXTERNAL_OPTIONS(&(v)->external, HX_MAX_PLANES), HX_OPTIONS_END

static const struct hx_yaml_group groups[] = {
    {.key = "failed_boards", .holds = HX_YAML_PAIRS, .argument = "[[X, Y], ...]", .help = "boards that are not there"},
    {.key = "jobs", .holds = HX_YAML_ENTRIES, .argument = "list",
     .help = "which boards belong together, and what they do; those of no job are idle"},
    {.key = "jobs[].boards", .holds = HX_YAML_PAIRS, .least = 1, .argument = "[[X, Y], ...]",
     .help = "its boards, one by one"},
    {.key = "jobs[].hosts", .holds = HX_YAML_PAIRS, .least = 1, .argument = "[[FIRST, LAST], ...]",
     .help = "of another fabric: its hosts, by their numbers, from first to last"},
    {.key = "jobs[].rectangle", .holds = HX_YAML_PAIRS, .least = 2, .most = 2, .argument = "[[X, Y], [X, Y]]",
     .help = "or all from the north-western to the south-eastern one"},
    HX_EXTERNAL_GROUPS,
    {.key = "traffic", .holds = HX_YAML_KEYS, .argument = "mapping", .word = "traffic.pattern",
     .help = "what is sent; or in its place the word or file of `pattern` alone"},
    {.key = "capture", .holds = HX_YAML_KEYS, .argument = "mapping", .help = "which frames are written to a file"},
    {.key = "timing", .holds = HX_YAML_KEYS, .argument = "mapping",
     .help = "speeds, latencies and buffers (virtual clock)"},
    {.key = "faults", .holds = HX_YAML_KEYS, .argument = "mapping", .word = "faults.what",
     .help = "what goes wrong while it runs; or in its place the lines of `what` alone"},
    {.key = NULL}};
/* clang-format on */

static struct values defaults(void)
{
    return (struct values){.settings = hx_default_settings,
                           .capture = HX_CAPTURE_DEFAULTS,
                           .faults = HX_FAULT_DEFAULTS,
                           .timing = HX_DEFAULT_TIMING,
                           .external = hx_external_defaults};
}

void hx_spec_print_keys(enum hx_help_format format, FILE *out)
{
    struct values v = defaults();
    const struct hx_option options[] = {FABRIC_OPTIONS(&v)};
    const struct hx_yaml_kind kind = {
        .title = "Keys of a fabric file, *.hxm.yaml", .options = options, .groups = groups};
    hx_yaml_keys_print(&kind, format, out);
}

/* ---- values ---- */

struct reading {
    const struct hx_yaml *y;
    const struct hx_option *options; /* write to `values` */
    struct values *values;
    struct hx_spec *spec;
    struct hx_job *job; /* the one being read */
    struct hx_problem *problem;
};

static void write_fabric(char *text, size_t bytes, const struct values *v)
{
    size_t used = (size_t)snprintf(text, bytes, "%s%s", v->fabric, v->failures && v->failures[0] ? " fail=" : "");
    for (const char *from = v->failures; from && *from && used + 1 < bytes; from++) {
        bool space = strchr(" \t\n", *from) != NULL;
        if (!space || (text[used - 1] != '+' && text[used - 1] != '='))
            text[used++] = space ? '+' : *from;
        text[used] = '\0';
    }
}

static bool apply_fabric(struct reading *r)
{
    struct hx_problem of_text;
    const char *name = r->values->name;
    char text[HX_SPEC_BYTES + 1]; /* one more than allowed, so that a longer text is refused */
    write_fabric(text, sizeof text, r->values);
    if (!hx_spec_parse(text, r->spec, &of_text))
        return hx_yaml_fail(r->y, hx_yaml_find(r->y, "fabric"), r->problem, "'%s': %s", of_text.where, of_text.what);
    snprintf(r->spec->source, sizeof r->spec->source, "%s", r->y->file);
    if (name && name[0])
        (void)hx_text_copy(r->spec->name, sizeof r->spec->name, name);
    return true;
}

static void take_settings(struct reading *r)
{
    struct hx_spec *s = r->spec;
    const struct values *v = r->values;
    s->settings = v->settings;
    s->timing = v->timing;
    s->capture = v->capture;
    if (v->settings.traffic_file) {
        s->settings.traffic_file = hx_yaml_beside(r->y, v->settings.traffic_file);
        s->settings.pattern = hx_traffic_file_kind(s->settings.traffic_file);
    }
    s->settings.place = hx_text_own(v->settings.place);
    const bool is_file = v->settings.shares && !hx_shares_are_weights(v->settings.shares);
    s->settings.shares = is_file ? hx_yaml_beside(r->y, v->settings.shares) : hx_text_own(v->settings.shares);
    s->settings.read.groups = v->settings.read.groups ? hx_yaml_beside(r->y, v->settings.read.groups) : NULL;
    s->capture.file = hx_text_own(v->capture.file);
    s->capture.filter = hx_text_own(v->capture.filter);
    s->capture.ports.item[0] = hx_text_own(v->capture.ports.item[0]);
    s->faults = v->faults;
    s->faults.lines.item[0] = hx_text_own(v->faults.lines.item[0]);
    bool beside = v->faults.file && strcmp(v->faults.file, HX_FAULTS_RANDOM) != 0;
    s->faults.file = beside ? hx_yaml_beside(r->y, v->faults.file) : hx_text_own(v->faults.file);
    s->faults.circuits = v->faults.circuits ? hx_yaml_beside(r->y, v->faults.circuits) : NULL;
}

static bool applies(const struct reading *r, uint64_t run, struct hx_problem *problem)
{
    return hx_yaml_applies(r->y, r->y->items, r->options, run, problem);
}

/* Checks that keys fit the clock and the pattern that the file names. If it names neither, a key that does not fit the
 * default is noted: the command line may name another (struct hx_spec, of_default_clock). */
static bool check_settings(struct reading *r)
{
    struct hx_spec *s = r->spec;
    if (!applies(r, hx_settings_named(&s->settings), r->problem))
        return false;
    (void)applies(r, HX_FOR_CLOCK(s->settings.clock) | HX_FOR_ANY_PATTERN, &s->of_default_clock);
    (void)applies(r, HX_FOR_PATTERN(s->settings.pattern) | HX_FOR_ANY_CLOCK, &s->of_default_pattern);
    if (s->settings.given & HX_GIVEN_COUNT && s->settings.count && s->settings.duration_ns)
        return hx_yaml_fail_key(r->y, hx_yaml_find(r->y, "traffic.count"), r->problem, "%s", HX_COUNT_OR_DURATION);
    return true;
}

static bool apply_sizes(struct reading *r)
{
    const struct hx_overrides *sizes = &r->values->sizes;
    struct hx_problem of_spec;
    struct hx_routing routing;
    char why[HX_WHY_TEXT];
    const char *wrong = sizes->routing ? hx_routing_parse(sizes->routing, &routing, why) : NULL;
    if (wrong)
        return hx_yaml_fail(r->y, hx_yaml_find(r->y, "routing"), r->problem, "routing: %s", wrong);
    if (!r->spec->a && (sizes->radix || sizes->taper))
        return hx_yaml_fail_key(r->y, hx_yaml_find(r->y, sizes->radix ? "radix" : "taper"), r->problem,
                                "%s is for a HammingMesh's trees: what there is of it stands in the words of 'fabric'",
                                sizes->radix ? "radix" : "taper");
    if (sizes->credits % HX_PACKET_BLOCKS)
        return hx_yaml_fail(r->y, hx_yaml_find(r->y, "credits"), r->problem, "credits: %u is not a multiple of %u",
                            (unsigned)sizes->credits, HX_PACKET_BLOCKS);
    if (!hx_spec_override(r->spec, sizes, r->problem))
        return false;
    if (hx_spec_build(r->spec, &of_spec))
        return true;
    const struct hx_yaml_item *failures = hx_yaml_find(r->y, "failures");
    bool of_failures = failures && strncmp(of_spec.what, "fail:", 5) == 0;
    return hx_yaml_fail(r->y, of_failures ? failures : hx_yaml_find(r->y, "fabric"), r->problem, "%s", of_spec.what);
}

/* ---- boards ---- */

struct board {
    uint32_t at[2]; /* X, Y */
};

static bool read_board(struct reading *r, const struct hx_yaml_item *item, struct board *board)
{
    const struct hx_spec *s = r->spec;
    *board = (struct board){{0, 0}};
    if (!s->a)
        return hx_yaml_fail(r->y, item, r->problem, "boards are a HammingMesh's: a %s has none",
                            s->graph->topology->word);
    if (!hx_yaml_pair(r->y, item, board->at, r->problem))
        return false;
    if (board->at[0] < s->x && board->at[1] < s->y)
        return true;
    return hx_yaml_fail(r->y, item, r->problem, "board %u,%u is outside the fabric (X 0 .. %u, Y 0 .. %u)",
                        board->at[0], board->at[1], s->x - 1, s->y - 1);
}

static unsigned board_index(const struct hx_spec *s, const struct board *board)
{
    return board->at[1] * s->x + board->at[0];
}

static bool apply_failed(struct reading *r)
{
    const struct hx_yaml_item *list = hx_yaml_find(r->y, "failed_boards");
    if (!list || !list->entries)
        return true;
    if (!r->spec->failed) /* no failures by fail= */
        r->spec->failed = hx_allocate(hx_spec_boards(r->spec), sizeof *r->spec->failed);
    unsigned left = 0;
    for (unsigned board = 0; board < hx_spec_boards(r->spec); board++)
        left += !r->spec->failed[board];
    for (const struct hx_yaml_item *item = hx_yaml_first(list); item; item = hx_yaml_next(list, item)) {
        struct board board;
        if (!read_board(r, item, &board))
            return false;
        bool *failed = &r->spec->failed[board_index(r->spec, &board)];
        if (*failed)
            return hx_yaml_fail(r->y, item, r->problem, "board %u,%u is named twice", board.at[0], board.at[1]);
        *failed = true;
        left--;
    }
    return left || hx_yaml_fail(r->y, list, r->problem, "every board has failed: nothing is left to run");
}

/* Gives a board to the current job. `item`: its place in the file. what: "board 1,0". */
static bool give(struct reading *r, const struct hx_yaml_item *item, unsigned board, const char *what)
{
    uint16_t *job = &r->spec->job[board];
    if (*job == r->job->tag)
        return hx_yaml_fail(r->y, item, r->problem, "%s is named twice", what);
    if (*job != HX_NO_JOB)
        return hx_yaml_fail(r->y, item, r->problem, "%s already belongs to job %u", what, *job);
    *job = r->job->tag;
    return true;
}

static bool give_board(struct reading *r, const struct hx_yaml_item *item, const struct board *board)
{
    char what[32];
    (void)snprintf(what, sizeof what, "board %u,%u", board->at[0], board->at[1]);
    return give(r, item, board_index(r->spec, board), what);
}

static bool apply_hosts(struct reading *r, const struct hx_yaml_item *list)
{
    uint32_t hosts = r->spec->graph->hosts;
    if (r->spec->a)
        return hx_yaml_fail(r->y, list, r->problem, "a HammingMesh's jobs have whole boards: 'boards' or 'rectangle'");
    for (const struct hx_yaml_item *item = hx_yaml_first(list); item; item = hx_yaml_next(list, item)) {
        uint32_t range[2] = {0, 0};
        if (!hx_yaml_pair(r->y, item, range, r->problem))
            return false;
        if (range[0] > range[1] || range[1] >= hosts)
            return hx_yaml_fail(r->y, item, r->problem, "hosts %u to %u are not a range of 0 .. %u", range[0], range[1],
                                hosts - 1);
        for (uint32_t host = range[0]; host <= range[1]; host++) {
            char what[32];
            (void)snprintf(what, sizeof what, "host %u", host);
            if (!give(r, item, host, what))
                return false;
        }
    }
    return true;
}

static bool apply_rectangle(struct reading *r, const struct hx_yaml_item *corners)
{
    struct board corner[2];
    const struct hx_yaml_item *first = hx_yaml_first(corners);
    if (!read_board(r, first, &corner[0]) || !read_board(r, hx_yaml_next(corners, first), &corner[1]))
        return false;
    if (corner[0].at[0] > corner[1].at[0] || corner[0].at[1] > corner[1].at[1])
        return hx_yaml_fail(r->y, corners, r->problem, "%s: the first corner must be the north-western one",
                            corners->path);
    for (uint32_t y = corner[0].at[1]; y <= corner[1].at[1]; y++) {
        for (uint32_t x = corner[0].at[0]; x <= corner[1].at[0]; x++) {
            const struct board board = {{x, y}};
            if (!give_board(r, corners, &board))
                return false;
        }
    }
    return true;
}

/* Gives the boards that an entry names to its job. */
static bool apply_places(struct reading *r, const struct hx_yaml_item *entry)
{
    const struct hx_yaml_item *boards = hx_yaml_within(entry, "jobs[].boards");
    const struct hx_yaml_item *rectangle = hx_yaml_within(entry, "jobs[].rectangle");
    const struct hx_yaml_item *hosts = hx_yaml_within(entry, "jobs[].hosts");
    const struct hx_yaml_item *size = hx_yaml_within(entry, "jobs[].size");
    const struct hx_yaml_item *place = hx_yaml_within(entry, "jobs[].place");
    bool named = boards || rectangle || hosts;
    if (!named && !size)
        return hx_yaml_fail_key(r->y, entry, r->problem, "job %u has %s", r->job->tag,
                                r->spec->a ? "no 'boards', no 'rectangle' and no 'size'" : "no 'hosts' and no 'size'");
    if (named && size)
        return hx_yaml_fail_key(r->y, size, r->problem, "job %u names its %s: it has that size", r->job->tag,
                                r->spec->a ? "boards" : "hosts");
    if (named && place)
        return hx_yaml_fail_key(r->y, place, r->problem, "place: is for a size: job %u names its hosts", r->job->tag);
    if ((hosts && !apply_hosts(r, hosts)) || (rectangle && !apply_rectangle(r, rectangle)))
        return false;
    for (const struct hx_yaml_item *item = boards ? hx_yaml_first(boards) : NULL; item;
         item = hx_yaml_next(boards, item)) {
        struct board board;
        if (!read_board(r, item, &board) || !give_board(r, item, &board))
            return false;
    }
    return true;
}

static bool apply_job(struct reading *r, const struct hx_yaml_item *entry)
{
    struct hx_job_refusal refusal;
    char path[32];
    r->values->job = hx_job_defaults;
    if (!hx_yaml_apply(r->y, entry, r->options, r->problem))
        return false;
    struct hx_settings *s = &r->values->job.settings;
    const char *file = s->traffic_file ? hx_yaml_beside(r->y, s->traffic_file) : NULL;
    s->traffic_file = file;
    if (file)
        s->pattern = hx_traffic_file_kind(file);
    bool fits = !(s->given & HX_GIVEN_PATTERN) ||
                hx_yaml_applies(r->y, entry, r->options, HX_FOR_PATTERN(s->pattern) | HX_FOR_ANY_CLOCK, r->problem);
    r->job = fits ? hx_jobs_add(r->spec, &r->values->job, &refusal) : NULL;
    free((char *)(uintptr_t)file);
    if (!fits)
        return false;
    if (r->job)
        return true;
    (void)snprintf(path, sizeof path, "jobs[].%s", refusal.key);
    const struct hx_yaml_item *item = hx_yaml_within(entry, path);
    return hx_yaml_fail(r->y, item ? item : entry, r->problem, "%s", refusal.what);
}

/* Reads all entries with a tag, or all without; tag[entry] gets the tag. */
static bool apply_entries(struct reading *r, const struct hx_yaml_item *list, bool tagged, uint16_t *tag)
{
    for (const struct hx_yaml_item *entry = hx_yaml_first(list); entry; entry = hx_yaml_next(list, entry), tag++) {
        if (tagged != (hx_yaml_within(entry, "jobs[].tag") != NULL))
            continue;
        if (!apply_job(r, entry) || !apply_places(r, entry))
            return false;
        *tag = r->job->tag;
    }
    return true;
}

static bool find_boards(struct reading *r, const struct hx_yaml_item *list, const uint16_t *tag)
{
    for (const struct hx_yaml_item *entry = hx_yaml_first(list); entry; entry = hx_yaml_next(list, entry), tag++) {
        const struct hx_yaml_item *size = hx_yaml_within(entry, "jobs[].size");
        struct hx_job *job = r->spec->named;
        while (job->tag != *tag)
            job++;
        char why[HX_WHY_TEXT];
        const char *wrong = size ? hx_job_place(r->spec, job, why) : NULL;
        if (wrong)
            return hx_yaml_fail(r->y, size, r->problem, "%s", wrong);
    }
    return true;
}

/* Entries with a tag come before those without, and named boards before boards to be found: the others must not take
 * them. */
static bool apply_jobs(struct reading *r)
{
    const struct hx_yaml_item *list = hx_yaml_find(r->y, "jobs");
    if (!list || !list->entries)
        return true;
    char why[HX_WHY_TEXT];
    const char *wrong = hx_jobs_impossible(r->spec, why);
    if (wrong)
        return hx_yaml_fail_key(r->y, list, r->problem, "%s", wrong);
    uint16_t *tag = hx_allocate(list->entries, sizeof *tag);
    r->spec->job = hx_allocate(hx_spec_boards(r->spec), sizeof *r->spec->job);
    bool good = apply_entries(r, list, true, tag) && apply_entries(r, list, false, tag) && find_boards(r, list, tag);
    free(tag);
    return good;
}

/* ---- the file itself ---- */

static bool apply_all(struct reading *r)
{
    if (!hx_yaml_apply(r->y, r->y->items, r->options, r->problem) || !apply_fabric(r))
        return false;
    take_settings(r);
    return check_settings(r) && apply_sizes(r) && apply_failed(r) && apply_jobs(r) &&
           hx_external_read(r->y, r->spec, r->problem);
}

/* A file that is only a fabric's words. */
static bool read_astra_network(const struct hx_yaml *y, struct hx_spec *spec, struct hx_problem *problem)
{
    char text[HX_SPEC_BYTES];
    struct hx_problem of_text;
    if (!astra_network_spec(y, text, problem))
        return false;
    if (!hx_spec_parse(text, spec, &of_text) || !hx_spec_build(spec, &of_text))
        return hx_yaml_fail(y, NULL, problem, "'%s': %s", text, of_text.what);
    (void)hx_text_copy(spec->source, sizeof spec->source, y->file);
    return true;
}

bool hx_spec_read(const char *path, struct hx_spec *spec, struct hx_problem *problem)
{
    *spec = (struct hx_spec){0};
    struct values v = defaults();
    const struct hx_option options[] = {FABRIC_OPTIONS(&v)};
    const struct hx_yaml_kind kind = {.options = options, .groups = groups};
    struct hx_yaml y;
    if (!hx_yaml_read(&y, path, problem))
        return false;
    if (astra_network_is(&y)) {
        const bool good = read_astra_network(&y, spec, problem);
        hx_yaml_free(&y);
        return good;
    }
    if (!hx_yaml_check(&y, &kind, problem))
        return false;
    struct reading r = {.y = &y, .options = options, .values = &v, .spec = spec, .problem = problem};
    bool good = apply_all(&r);
    hx_yaml_free(&y);
    if (!good)
        hx_spec_free(spec);
    return good;
}
