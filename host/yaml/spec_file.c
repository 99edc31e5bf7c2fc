/* spec_file.c - reads a fabric from a *.hxm.yaml file (host/spec.h).
 *
 *     fabric: 4x4 Hx2Mesh             the only key that must be there
 *     name: lab                       for reports
 *     planes: 2   radix: 64   taper: 1   credits: 512
 *     failed_boards: [[1, 0]]         [X, Y] of each
 *     jobs:                           boards no job names belong together, with tag 0
 *       - tag: 7
 *         boards: [[0, 0], [0, 1]]    one by one, and/or
 *         rectangle: [[2, 2], [3, 3]] from north-west to south-east board, both included
 *     traffic: uniform                or a file of messages, or a mapping:
 *     traffic: {pattern: all-to-all, message: 1MiB, count: 4, rate: 0.5, seed: 7, verify: true}
 *         or duration: 30s, of all-to-all shifts: 7, of a collective algorithm: best
 *     capture: {file: run.pcapng, ports: "a0,0/p0/? row0/p0/?", filter: "ether proto 0x88b5", snaplen: 96, buffer: 64MiB,
 *               annotate: true, drop: false}
 *     workers: 2
 *     external: [...]                 accelerators that run elsewhere (host/spec_external.h)
 *     clock: virtual                  what follows is for the virtual clock alone
 *     select: auto
 *     pace: 0.25
 *     timing: {preset: paper, link: 400, crossbar: 800, cable: 20ns, trace: 1ns, input: 40ns, output: 40ns, buffer: 32MiB}
 *
 * libcyaml checks the structure. Every single value is then read by the option of the same name, so that a value is
 * written and refused alike in a file and on the command line. */
#include "host/spec.h"
#include "host/yaml/external.h"
#include "host/yaml/keys.h"
#include "host/yaml/load.h"
#include "host/yaml/marks.h"
#include "host/yaml/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LONGEST_PATH = 96 };

/* ---- what libcyaml fills ---- */

struct board {
    uint32_t at[2]; /* X, Y */
};

struct job {
    char *tag;
    struct board *boards;
    struct board *rectangle;
    unsigned boards_count, rectangle_count;
};

struct capture {
    char *file, *ports, *filter, *snaplen, *buffer, *annotate, *drop;
};

struct timing {
    char *preset, *link, *crossbar, *cable, *trace, *input, *output, *buffer;
};

struct file {
    char *fabric, *name, *planes, *radix, *taper, *credits, *workers, *clock, *select, *pace;
    struct board *failed;
    struct job *jobs;
    struct hx_yaml_external *external;
    struct hx_yaml_traffic *traffic;
    char *pattern; /* `traffic: WORD` in place of the mapping */
    struct capture *capture;
    struct timing *timing;
    unsigned failed_count, jobs_count, external_count;
};

/* clang-format off */
static const cyaml_schema_value_t number_schema = {CYAML_VALUE_UINT(CYAML_FLAG_DEFAULT, uint32_t)};
static const cyaml_schema_value_t board_schema = {
    CYAML_VALUE_SEQUENCE_FIXED(CYAML_FLAG_DEFAULT, uint32_t, &number_schema, 2)};

static const cyaml_schema_field_t job_fields[] = {
    CYAML_FIELD_STRING_PTR("tag", CYAML_FLAG_POINTER, struct job, tag, 0, HX_YAML_LONGEST_VALUE),
    CYAML_FIELD_SEQUENCE("boards", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct job, boards, &board_schema, 1,
                         CYAML_UNLIMITED),
    CYAML_FIELD_SEQUENCE("rectangle", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct job, rectangle, &board_schema,
                         2, 2),
    CYAML_FIELD_END};
static const cyaml_schema_value_t job_schema = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct job, job_fields)};

static const cyaml_schema_field_t capture_fields[] = {
    CYAML_FIELD_STRING_PTR("file", CYAML_FLAG_POINTER, struct capture, file, 1, HX_YAML_LONGEST_VALUE),
    HX_YAML_TEXT("ports", struct capture, ports),
    HX_YAML_TEXT("filter", struct capture, filter),
    HX_YAML_TEXT("snaplen", struct capture, snaplen),
    HX_YAML_TEXT("buffer", struct capture, buffer),
    HX_YAML_TEXT("annotate", struct capture, annotate),
    HX_YAML_TEXT("drop", struct capture, drop),
    CYAML_FIELD_END};

static const cyaml_schema_field_t timing_fields[] = {
    HX_YAML_TEXT("preset", struct timing, preset),     HX_YAML_TEXT("link", struct timing, link),
    HX_YAML_TEXT("crossbar", struct timing, crossbar), HX_YAML_TEXT("cable", struct timing, cable),
    HX_YAML_TEXT("trace", struct timing, trace),       HX_YAML_TEXT("input", struct timing, input),
    HX_YAML_TEXT("output", struct timing, output),     HX_YAML_TEXT("buffer", struct timing, buffer),
    CYAML_FIELD_END};

static const cyaml_schema_field_t file_fields[] = {
    CYAML_FIELD_STRING_PTR("fabric", CYAML_FLAG_POINTER, struct file, fabric, 0, HX_YAML_LONGEST_VALUE),
    HX_YAML_TEXT("name", struct file, name),       HX_YAML_TEXT("planes", struct file, planes),
    HX_YAML_TEXT("radix", struct file, radix),     HX_YAML_TEXT("taper", struct file, taper),
    HX_YAML_TEXT("credits", struct file, credits), HX_YAML_TEXT("workers", struct file, workers),
    HX_YAML_TEXT("clock", struct file, clock),     HX_YAML_TEXT("select", struct file, select),
    HX_YAML_TEXT("pace", struct file, pace),
    CYAML_FIELD_SEQUENCE("failed_boards", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct file, failed,
                         &board_schema, 0, CYAML_UNLIMITED),
    CYAML_FIELD_SEQUENCE("jobs", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct file, jobs, &job_schema, 0,
                         CYAML_UNLIMITED),
    CYAML_FIELD_SEQUENCE("external", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct file, external,
                         &hx_yaml_external_schema, 0, CYAML_UNLIMITED),
    CYAML_FIELD_MAPPING_PTR("traffic", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct file, traffic,
                            hx_yaml_traffic_fields),
    CYAML_FIELD_MAPPING_PTR("capture", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct file, capture,
                            capture_fields),
    CYAML_FIELD_MAPPING_PTR("timing", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct file, timing, timing_fields),
    CYAML_FIELD_END};
static const cyaml_schema_value_t file_schema = {CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct file, file_fields)};

/* Which option reads which key. */
#define FILE_VALUES(f) \
    {"planes", "planes", (f)->planes}, {"radix", "radix", (f)->radix}, {"taper", "taper", (f)->taper}, \
    {"credits", "credits", (f)->credits}, {"workers", "workers", (f)->workers}, {"clock", "clock", (f)->clock}, \
    {"select", "select", (f)->select}, {"pace", "pace", (f)->pace}
#define CAPTURE_VALUES(c) \
    {"capture", "capture.file", (c)->file}, {"capture-ports", "capture.ports", (c)->ports}, \
    {"capture-filter", "capture.filter", (c)->filter}, {"snaplen", "capture.snaplen", (c)->snaplen}, \
    {"capture-buffer", "capture.buffer", (c)->buffer}, {"annotate", "capture.annotate", (c)->annotate}, \
    {"capture-drop", "capture.drop", (c)->drop}
#define TIMING_VALUES(t) \
    {"timing", "timing.preset", (t)->preset}, {"link", "timing.link", (t)->link}, \
    {"crossbar", "timing.crossbar", (t)->crossbar}, {"cable", "timing.cable", (t)->cable}, \
    {"trace", "timing.trace", (t)->trace}, {"input-latency", "timing.input", (t)->input}, \
    {"output-latency", "timing.output", (t)->output}, {"buffer", "timing.buffer", (t)->buffer}
/* clang-format on */

enum { FILE_FIELDS = sizeof file_fields / sizeof *file_fields };

/* The schema of a file that says `traffic: WORD`. */
static const cyaml_schema_value_t *short_schema(void)
{
    static cyaml_schema_field_t fields[FILE_FIELDS];
    static cyaml_schema_value_t schema;
    static const cyaml_schema_field_t word = HX_YAML_TEXT("traffic", struct file, pattern);
    for (unsigned i = 0; i < FILE_FIELDS; i++)
        fields[i] = file_fields[i].key && strcmp(file_fields[i].key, word.key) == 0 ? word : file_fields[i];
    schema = file_schema;
    schema.mapping.fields = fields;
    return &schema;
}

/* ---- what came out of it, checked ---- */

struct reading {
    const struct hx_yaml_marks *marks;
    const struct file *file;
    struct hx_spec *spec;
    struct hx_problem *problem;
};

static bool apply_fabric(struct reading *r)
{
    struct hx_problem of_text;
    if (!hx_spec_parse(r->file->fabric, r->spec, &of_text))
        return hx_yaml_fail(r->marks, "fabric", r->problem, "'%s': %s", of_text.where, of_text.what);
    snprintf(r->spec->source, sizeof r->spec->source, "%s", r->marks->file);
    if (r->file->name && r->file->name[0])
        snprintf(r->spec->name, sizeof r->spec->name, "%s", r->file->name);
    return true;
}

/* What outlives the file's text. */
static const char *own(const char *text)
{
    size_t bytes = text ? strlen(text) + 1 : 0;
    return text ? memcpy(hx_allocate(bytes, 1), text, bytes) : NULL;
}

/* A file that a file names lies beside it. */
static const char *own_beside(const char *file, const char *name)
{
    const char *slash = strrchr(file, '/');
    int folder = slash && name[0] != '/' ? (int)(slash - file) + 1 : 0;
    size_t bytes = (size_t)folder + strlen(name) + 1;
    char *path = hx_allocate(bytes, 1);
    (void)snprintf(path, bytes, "%.*s%s", folder, file, name);
    return path;
}

/* A key must be for what the file itself says it is, its clock and its pattern. If it says neither, a key that is not for the
 * default is noted: the command line may yet say which (struct hx_spec, of_default_clock). */
static bool check_values(struct reading *r, const struct hx_option *options, const struct hx_yaml_value *values,
                         unsigned count)
{
    struct hx_spec *s = r->spec;
    if (!hx_yaml_check(r->marks, options, values, count, hx_settings_named(&s->settings), r->problem))
        return false;
    if (s->of_default_clock.exit_code == 0)
        (void)hx_yaml_check(r->marks, options, values, count, HX_FOR_CLOCK(s->settings.clock) | HX_FOR_ANY_PATTERN,
                            &s->of_default_clock);
    if (s->of_default_pattern.exit_code == 0)
        (void)hx_yaml_check(r->marks, options, values, count, HX_FOR_PATTERN(s->settings.pattern) | HX_FOR_ANY_CLOCK,
                            &s->of_default_pattern);
    return true;
}

/* Reads each value that is there by the option of that name. */
static bool apply_values(struct reading *r)
{
    struct hx_overrides sizes = {0};
    struct hx_settings *settings = &r->spec->settings;
    const struct hx_option options[] = {HX_OVERRIDE_OPTIONS(&sizes), HX_CREDIT_OPTION(&sizes),
                                        HX_SETTINGS_OPTIONS(settings), HX_VIRTUAL_OPTIONS(settings), HX_OPTIONS_END};
    static const struct hx_yaml_traffic no_traffic;
    const struct file *f = r->file;
    const struct hx_yaml_traffic *t = f->traffic ? f->traffic : &no_traffic;
    const struct hx_yaml_value values[] = {
        FILE_VALUES(f), {"traffic", "traffic", f->pattern}, HX_YAML_TRAFFIC_VALUES(t)};
    unsigned count = sizeof values / sizeof *values;
    bool good = hx_yaml_apply(r->marks, options, values, count, r->problem);
    if (settings->traffic_file)
        settings->traffic_file = own_beside(r->marks->file, settings->traffic_file);
    if (!good || !check_values(r, options, values, count))
        return false;
    if (settings->given & HX_GIVEN_COUNT && settings->count && settings->duration_ns)
        return hx_yaml_fail_key(r->marks, "traffic.count", r->problem, "%s", HX_COUNT_OR_DURATION);
    if (sizes.credits % HX_PACKET_BLOCKS)
        return hx_yaml_fail(r->marks, "credits", r->problem, "credits: %s is not a multiple of %u", f->credits,
                            HX_PACKET_BLOCKS);
    return hx_spec_override(r->spec, &sizes, r->problem);
}

static bool apply_capture(struct reading *r)
{
    struct hx_capture_settings *settings = &r->spec->capture;
    struct hx_capture_settings read = *settings; /* its texts are the file's */
    const struct hx_option options[] = {HX_CAPTURE_OPTIONS(&read), HX_OPTIONS_END};
    const struct capture *c = r->file->capture;
    if (!c)
        return true;
    const struct hx_yaml_value values[] = {CAPTURE_VALUES(c)};
    unsigned count = sizeof values / sizeof *values;
    if (!hx_yaml_apply(r->marks, options, values, count, r->problem) || !check_values(r, options, values, count))
        return false;
    *settings = read;
    settings->file = own(read.file);
    settings->filter = own(read.filter);
    settings->ports.item[0] = own(c->ports);
    return true;
}

static bool apply_timing(struct reading *r)
{
    struct hx_timing *timing = &r->spec->timing;
    const struct hx_option options[] = {HX_TIMING_OPTIONS(timing), HX_OPTIONS_END};
    const struct timing *t = r->file->timing;
    if (!t)
        return true;
    const struct hx_yaml_value values[] = {TIMING_VALUES(t)};
    unsigned count = sizeof values / sizeof *values;
    return hx_yaml_apply(r->marks, options, values, count, r->problem) && check_values(r, options, values, count);
}

static bool check_board(struct reading *r, const char *path, const struct board *board)
{
    const struct hx_spec *s = r->spec;
    if (board->at[0] < s->x && board->at[1] < s->y)
        return true;
    return hx_yaml_fail(r->marks, path, r->problem, "board %u,%u is outside the fabric (X 0 .. %u, Y 0 .. %u)",
                        board->at[0], board->at[1], s->x - 1, s->y - 1);
}

static unsigned board_index(const struct hx_spec *s, const struct board *board)
{
    return board->at[1] * s->x + board->at[0];
}

static bool apply_failed(struct reading *r)
{
    if (!r->file->failed_count)
        return true;
    r->spec->failed = hx_allocate(hx_spec_boards(r->spec), sizeof *r->spec->failed);
    for (unsigned i = 0; i < r->file->failed_count; i++) {
        char path[LONGEST_PATH];
        snprintf(path, sizeof path, "failed_boards[%u]", i);
        if (!check_board(r, path, &r->file->failed[i]))
            return false;
        r->spec->failed[board_index(r->spec, &r->file->failed[i])] = true;
    }
    return true;
}

static bool give_board(struct reading *r, const char *path, const struct board *board, uint16_t tag)
{
    uint16_t *job = &r->spec->job[board_index(r->spec, board)];
    if (*job != HX_NO_JOB && *job != tag)
        return hx_yaml_fail(r->marks, path, r->problem, "board %u,%u already belongs to job %u", board->at[0],
                            board->at[1], *job);
    *job = tag;
    return true;
}

static bool apply_rectangle(struct reading *r, const char *path, const struct board corner[2], uint16_t tag)
{
    if (!check_board(r, path, &corner[0]) || !check_board(r, path, &corner[1]))
        return false;
    if (corner[0].at[0] > corner[1].at[0] || corner[0].at[1] > corner[1].at[1])
        return hx_yaml_fail(r->marks, path, r->problem, "%s: the first corner must be the north-western one", path);
    for (uint32_t y = corner[0].at[1]; y <= corner[1].at[1]; y++) {
        for (uint32_t x = corner[0].at[0]; x <= corner[1].at[0]; x++) {
            const struct board board = {{x, y}};
            if (!give_board(r, path, &board, tag))
                return false;
        }
    }
    return true;
}

#define JOB_TAG_OPTION(tag)                                                                                            \
    {                                                                                                                  \
        .name = "jobs[].tag", .kind = HX_OPTION_NUMBER, .argument = "TAG", .to.number = (tag), .low = 1,               \
        .high = UINT16_MAX, .help = "what its packets carry"                                                           \
    }

static bool apply_job(struct reading *r, unsigned index)
{
    const struct job *job = &r->file->jobs[index];
    char path[LONGEST_PATH];
    snprintf(path, sizeof path, "jobs[%u].tag", index);
    uint64_t tag = 0;
    const struct hx_option option = JOB_TAG_OPTION(&tag);
    const char *wrong = hx_option_apply(&option, job->tag);
    if (wrong)
        return hx_yaml_fail(r->marks, path, r->problem, "tag: %s", wrong);
    if (!job->boards_count && !job->rectangle_count) {
        snprintf(path, sizeof path, "jobs[%u]", index);
        return hx_yaml_fail_key(r->marks, path, r->problem, "job %s has neither 'boards' nor 'rectangle'", job->tag);
    }
    snprintf(path, sizeof path, "jobs[%u].rectangle", index);
    if (job->rectangle_count && !apply_rectangle(r, path, job->rectangle, (uint16_t)tag))
        return false;
    for (unsigned i = 0; i < job->boards_count; i++) {
        snprintf(path, sizeof path, "jobs[%u].boards[%u]", index, i);
        if (!check_board(r, path, &job->boards[i]) || !give_board(r, path, &job->boards[i], (uint16_t)tag))
            return false;
    }
    return true;
}

static bool apply_jobs(struct reading *r)
{
    if (!r->file->jobs_count)
        return true;
    r->spec->job = hx_allocate(hx_spec_boards(r->spec), sizeof *r->spec->job);
    for (unsigned i = 0; i < r->file->jobs_count; i++)
        if (!apply_job(r, i))
            return false;
    return true;
}

static bool apply_external(struct reading *r)
{
    return hx_external_read(r->marks, r->file->external, r->file->external_count, r->spec, r->problem);
}

static bool check_size(struct reading *r)
{
    struct hx_geometry g;
    struct hx_problem of_spec;
    return hx_spec_try_geometry(r->spec, &g, &of_spec) ||
           hx_yaml_fail(r->marks, "fabric", r->problem, "%s", of_spec.what);
}

/* ---- the file itself ---- */

bool hx_spec_read(const char *path, struct hx_spec *spec, struct hx_problem *problem)
{
    *spec = (struct hx_spec){0};
    struct hx_yaml_document document;
    if (!hx_yaml_open_either(&document, path, &file_schema, "traffic", short_schema(), problem))
        return false;
    struct reading r = {.marks = &document.marks, .file = document.data, .spec = spec, .problem = problem};
    bool good = apply_fabric(&r) && apply_values(&r) && apply_capture(&r) && apply_timing(&r) && check_size(&r) &&
                apply_failed(&r) && apply_jobs(&r) && apply_external(&r);
    hx_yaml_close(&document);
    if (!good)
        hx_spec_free(spec);
    return good;
}

/* ---- what is documented ---- */

void hx_spec_print_keys(enum hx_help_format format, FILE *out)
{
    static const struct file f;
    static const struct hx_yaml_traffic t;
    static const struct capture c;
    static const struct timing times;
    uint64_t tag = 0;
    struct hx_overrides sizes = {0};
    struct hx_settings settings = hx_default_settings;
    struct hx_capture_settings capture = HX_CAPTURE_DEFAULTS;
    struct hx_timing timing = HX_DEFAULT_TIMING;
    struct hx_external_values external = hx_external_defaults;
    const struct hx_option options[] = {HX_OVERRIDE_OPTIONS(&sizes),
                                        HX_CREDIT_OPTION(&sizes),
                                        HX_SETTINGS_OPTIONS(&settings),
                                        HX_VIRTUAL_OPTIONS(&settings),
                                        HX_CAPTURE_OPTIONS(&capture),
                                        HX_TIMING_OPTIONS(&timing),
                                        HX_OPTIONS_END};
    const struct hx_yaml_value values[] = {FILE_VALUES(&f), HX_YAML_TRAFFIC_VALUES(&t), CAPTURE_VALUES(&c),
                                           TIMING_VALUES(&times)};
    const struct hx_option others[] = {
        HX_YAML_KEY("fabric", "SPEC", "the fabric, as 4x4 Hx2Mesh"),
        HX_YAML_KEY("name", "TEXT", "for reports; without it, the fabric"),
        HX_YAML_KEY("failed_boards", "[[X, Y], ...]", "boards that are not there"),
        HX_YAML_KEY("jobs", "list", "which boards belong together; those of no job do, with tag 0"),
        JOB_TAG_OPTION(&tag),
        HX_YAML_KEY("jobs[].boards", "[[X, Y], ...]", "its boards, one by one"),
        HX_YAML_KEY("jobs[].rectangle", "[[X, Y], [X, Y]]", "or all from the north-western to the south-eastern one"),
        HX_YAML_KEY("external", "list", "accelerators that run elsewhere (wall clock)"),
        HX_EXTERNAL_KEYS(&external, HX_MAX_PLANES),
        HX_YAML_KEY("traffic", "mapping", "what is sent; or in its place the word or file of `pattern` alone"),
        HX_YAML_KEY("capture", "mapping", "which frames are written to a file"),
        HX_YAML_KEY("timing", "mapping", "speeds, latencies and buffers (virtual clock)"),
        HX_OPTIONS_END};
    const struct hx_yaml_keys keys = {.title = "Keys of a fabric file, *.hxm.yaml",
                                      .fields = file_fields,
                                      .options = options,
                                      .values = values,
                                      .count = sizeof values / sizeof *values,
                                      .others = others};
    hx_yaml_keys_print(&keys, format, out);
}
