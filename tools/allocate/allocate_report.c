/* allocate_report.c - an allocation as table, map, JSON and fabric file (jobs.h). */
#include "allocation/locality.h"
#include "base/json.h"
#include "base/output.h"
#include "spec/yaml/spec_write.h"
#include "tools/allocate/jobs.h"
#include "tools/draw/text_table.h"

#include <stdlib.h>

enum { WIDEST_MAP = 128 };

static double utilization(const struct allocation *a)
{
    return a->usable ? 1.0 - (double)a->boards.free / a->usable : 0;
}

/* The tag of each board after placement, or HX_NO_JOB. Free it. */
static uint16_t *tags_of(const struct allocation *a)
{
    const struct hx_spec *s = a->spec;
    uint16_t *tag = hx_allocate(hx_spec_boards(s), sizeof *tag);
    for (unsigned board = 0; board < hx_spec_boards(s); board++)
        tag[board] = hx_spec_board_job(s, board);
    for (unsigned i = 0; i < a->jobs; i++) {
        const struct hx_placement *p = &a->job[i].placement;
        for (unsigned at = 0; at < p->shape.rows * p->shape.columns; at++)
            tag[hx_placement_board(p, at, s->x)] = a->job[i].tag;
    }
    return tag;
}

/* ---- text ---- */

static void print_map(const struct allocation *a)
{
    static const char letters[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    uint16_t *tag = tags_of(a);
    for (unsigned board = 0; board < hx_spec_boards(a->spec); board++) {
        bool failed = hx_spec_board_failed(a->spec, board);
        char shown = failed ? '#' : tag[board] == HX_NO_JOB ? '.' : letters[tag[board] % 62];
        printf("%c%c", shown, ((board + 1) % a->spec->x) ? ' ' : '\n');
    }
    free(tag);
}

/* Writes "0-3,7" for ascending numbers; ends with ",..." if the text is too short. */
static void write_ranges(const uint32_t *at, unsigned count, char *text, size_t bytes)
{
    size_t used = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned first = i;
        if (used + 24 >= bytes) {
            (void)snprintf(text + used, bytes - used, ",...");
            return;
        }
        while (i + 1 < count && at[i + 1] == at[i] + 1)
            i++;
        used += (size_t)snprintf(text + used, bytes - used, i > first ? "%s%u-%u" : "%s%u", first ? "," : "", at[first],
                                 at[i]);
    }
}

static void print_job(struct text_table *t, const struct allocation *a, const struct allocate_job *job)
{
    char tag[16], shape[32] = "", columns[128] = "", rows[128] = "", upper[16] = "";
    const struct hx_placement *p = &job->placement;
    (void)snprintf(tag, sizeof tag, "%u", job->tag);
    if (job->placed) {
        (void)snprintf(shape, sizeof shape, "%ux%u", p->shape.columns, p->shape.rows);
        write_ranges(p->column, p->shape.columns, columns, sizeof columns);
        write_ranges(p->row, p->shape.rows, rows, sizeof rows);
        (void)snprintf(upper, sizeof upper, "%.1f", 100 * hx_upper_share(p, HX_NEAR_ALL_TO_ALL, a->rules->leaf));
    }
    text_table_row(t, tag, job->asked, job->placed ? shape : "no room", columns, rows, upper);
}

void allocation_print(const struct allocation *a)
{
    struct text_table *t = text_table_new(5);
    text_table_row(t, "job", "asked", "boards", "columns", "rows", "upper level (%)");
    for (unsigned i = 0; i < a->jobs; i++)
        print_job(t, a, &a->job[i]);
    text_table_print(t, stdout);
    text_table_free(t);
    if (a->spec->x <= WIDEST_MAP) {
        printf("\n");
        print_map(a);
    }
    printf("\n%u of %u jobs placed; %u of %u boards in use, %.1f %%\n", allocation_placed(a), a->jobs,
           a->usable - a->boards.free, a->usable, 100 * utilization(a));
}

/* ---- JSON ---- */

static json_t *places(const uint32_t *at, unsigned count)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < count; i++)
        json_array_append_new(list, json_integer(at[i]));
    return list;
}

static json_t *job_json(const struct allocation *a, const struct allocate_job *job)
{
    const struct hx_placement *p = &job->placement;
    json_t *object = json_pack("{s:i, s:s, s:b}", "tag", job->tag, "asked", job->asked, "placed", job->placed);
    json_object_set_new(object, "columns", places(p->column, p->shape.columns));
    json_object_set_new(object, "rows", places(p->row, p->shape.rows));
    if (job->placed)
        json_object_set_new(object, "upper_traffic",
                            json_pack("{s:f, s:f}", "all_to_all", hx_upper_share(p, HX_NEAR_ALL_TO_ALL, a->rules->leaf),
                                      "all_reduce", hx_upper_share(p, HX_NEAR_ALL_REDUCE, a->rules->leaf)));
    return object;
}

json_t *allocation_json(const struct allocation *a)
{
    json_t *jobs = json_array();
    for (unsigned i = 0; i < a->jobs; i++)
        json_array_append_new(jobs, job_json(a, &a->job[i]));
    return json_pack("{s:o, s:i, s:i, s:i, s:f, s:i, s:o}", "fabric", hx_json_text(a->spec->fabric), "boards",
                     (int)hx_spec_boards(a->spec), "usable", (int)a->usable, "in_use",
                     (int)(a->usable - a->boards.free), "utilization", utilization(a), "placed",
                     (int)allocation_placed(a), "jobs", jobs);
}

/* ---- fabric file ---- */

static void write_board(const struct hx_spec *s, unsigned board, unsigned *count, FILE *out)
{
    (void)fprintf(out, "%s[%u, %u]", (*count)++ ? ", " : "", board % s->x, board / s->x);
}

/* Lists failed boards of a job too: they belong to it. */
static void write_job(const struct hx_spec *s, const struct hx_job *job, const uint16_t *tag, FILE *out)
{
    unsigned count = 0;
    hx_job_write(job, out);
    (void)fprintf(out, "    boards: [");
    for (unsigned board = 0; board < hx_spec_boards(s); board++)
        if (tag[board] == job->tag)
            write_board(s, board, &count, out);
    (void)fprintf(out, "]\n");
}

static void write_failed(const struct hx_spec *s, FILE *out)
{
    unsigned count = 0;
    (void)fprintf(out, "failed_boards: [");
    for (unsigned board = 0; board < hx_spec_boards(s); board++)
        if (hx_spec_board_failed(s, board))
            write_board(s, board, &count, out);
    (void)fprintf(out, "]\n");
}

void allocation_write_file(const struct allocation *a, const char *path)
{
    const struct hx_spec *s = a->spec;
    uint16_t *tag = tags_of(a);
    FILE *out = hx_output_open(path);
    hx_spec_write_names(s, out);
    (void)fprintf(out, "planes: %u\nradix: %u\ntaper: %u\n", s->planes, s->radix, s->taper);
    write_failed(s, out);
    (void)fprintf(out, "jobs:\n");
    for (unsigned i = 0; i < s->named_jobs; i++)
        write_job(s, &s->named[i], tag, out);
    for (unsigned i = 0; i < a->jobs; i++)
        if (a->job[i].placed)
            write_job(s, &(struct hx_job){.tag = a->job[i].tag}, tag, out);
    hx_output_close(out, path);
    free(tag);
}
