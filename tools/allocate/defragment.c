/* defragment.c - moves jobs on the boards of a fabric (defragment.h). */
#include "tools/allocate/defragment.h"
#include "allocation/defragment.h"
#include "base/output.h"
#include "base/text.h"
#include "base/value.h"
#include "spec/jobs.h"
#include "tools/draw/text_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- placements ---- */

/* Finds the boards of a tag. false: the job cannot move, because its boards are no sub-HammingMesh or one has
 * failed. */
static bool find_placement(struct hx_placement *p, const struct hx_spec *s, uint16_t tag)
{
    bool *row = hx_allocate(s->y, sizeof *row), *column = hx_allocate(s->x, sizeof *column);
    unsigned boards = 0;
    bool failed = false;
    for (unsigned board = 0; board < hx_spec_boards(s); board++) {
        if (s->job[board] != tag)
            continue;
        row[board / s->x] = column[board % s->x] = true;
        failed = failed || hx_spec_board_failed(s, board);
        boards++;
    }
    *p =
        (struct hx_placement){.row = hx_allocate(s->y, sizeof *p->row), .column = hx_allocate(s->x, sizeof *p->column)};
    for (unsigned y = 0; y < s->y; y++)
        if (row[y])
            p->row[p->shape.rows++] = y;
    for (unsigned x = 0; x < s->x; x++)
        if (column[x])
            p->column[p->shape.columns++] = x;
    free(row);
    free(column);
    bool whole = boards && !failed && boards == p->shape.rows * p->shape.columns;
    if (!whole)
        hx_placement_free(p);
    return whole;
}

static void find_jobs(struct defragment *d)
{
    const struct hx_spec *s = d->spec;
    d->job = hx_allocate(hx_spec_boards(s), sizeof *d->job);
    for (unsigned i = 0; s->job && i < s->named_jobs; i++) {
        struct defragment_job *job = &d->job[d->jobs];
        job->tag = s->named[i].tag;
        job->named = i;
        d->jobs += find_placement(&job->from, s, job->tag);
    }
}

/* ---- moves ---- */

static const struct hx_placement *now(const struct defragment_job *job)
{
    return job->to.shape.rows ? &job->to : &job->from;
}

static void set_tag(struct hx_spec *s, const struct hx_placement *p, uint16_t tag)
{
    for (unsigned n = 0; n < p->shape.rows * p->shape.columns; n++)
        s->job[hx_placement_board(p, n, s->x)] = tag;
}

/* Frees the old boards of all jobs that move before any takes its new ones. */
static void apply(struct defragment *d, struct allocation *a, struct hx_spec *s, struct hx_placement *move)
{
    for (unsigned i = 0; i < d->jobs; i++) {
        if (!move[i].shape.rows)
            continue;
        set_tag(s, now(&d->job[i]), HX_NO_JOB);
        hx_placement_give_back(now(&d->job[i]), &a->boards);
    }
    for (unsigned i = 0; i < d->jobs; i++) {
        if (!move[i].shape.rows)
            continue;
        hx_placement_free(&d->job[i].to);
        d->job[i].to = move[i];
        set_tag(s, &move[i], d->job[i].tag);
        hx_job_keep_grid(&s->named[d->job[i].named], s, d->job[i].from.shape, move[i].shape);
        hx_placement_take(&move[i], &a->boards);
    }
}

static void make_room(struct defragment *d, struct allocation *a, struct hx_spec *spec, struct allocate_job *job)
{
    struct hx_placement *standing = hx_allocate(d->jobs, sizeof *standing), *move = hx_allocate(d->jobs, sizeof *move);
    for (unsigned i = 0; i < d->jobs; i++)
        standing[i] = *now(&d->job[i]);
    job->placed = hx_make_room(&job->placement, move, standing, d->jobs, &a->boards, job->shape, a->rules);
    if (job->placed) {
        apply(d, a, spec, move);
        hx_placement_take(&job->placement, &a->boards);
    }
    free(standing);
    free(move);
}

void defragment_run(struct defragment *d, struct allocation *a, struct hx_spec *spec, uint64_t state)
{
    *d = (struct defragment){.spec = spec, .state = state, .before = a->usable - a->boards.free};
    find_jobs(d);
    for (unsigned i = 0; i < a->jobs; i++)
        if (!a->job[i].placed)
            make_room(d, a, spec, &a->job[i]);
}

void defragment_free(struct defragment *d)
{
    for (unsigned i = 0; i < d->jobs; i++) {
        hx_placement_free(&d->job[i].from);
        hx_placement_free(&d->job[i].to);
    }
    free(d->job);
}

/* ---- reports ---- */

struct sum {
    unsigned jobs, boards;
    uint64_t bytes;
};

static struct sum sum_of(const struct defragment *d)
{
    struct sum sum = {0, 0, 0};
    for (unsigned i = 0; i < d->jobs; i++) {
        unsigned boards = hx_boards_moved(&d->job[i].from, &d->job[i].to);
        sum.jobs += boards > 0;
        sum.boards += boards;
    }
    sum.bytes = d->state * sum.boards * d->spec->a * d->spec->b;
    return sum;
}

static double share_in_use(const struct allocation *a, unsigned boards)
{
    return a->usable ? (double)boards / a->usable : 0;
}

void defragment_print(const struct defragment *d, const struct allocation *a)
{
    struct sum sum = sum_of(d);
    char bytes[HX_VALUE_TEXT], each[HX_VALUE_TEXT];
    if (!sum.jobs)
        return;
    struct text_table *t = text_table_new(2);
    text_table_row(t, "moves", "boards", "of which elsewhere");
    for (unsigned i = 0; i < d->jobs; i++) {
        const struct defragment_job *job = &d->job[i];
        char tag[16], boards[16], moved[16];
        (void)snprintf(tag, sizeof tag, "job %u", job->tag);
        (void)snprintf(boards, sizeof boards, "%ux%u", job->to.shape.columns, job->to.shape.rows);
        (void)snprintf(moved, sizeof moved, "%u", hx_boards_moved(&job->from, &job->to));
        if (hx_boards_moved(&job->from, &job->to))
            text_table_row(t, tag, boards, moved);
    }
    printf("\n");
    text_table_print(t, stdout);
    text_table_free(t);
    printf("\n%u job%s: %u board%s, %s at %s an accelerator; %.1f %% of the boards in use before, %.1f %% now\n",
           sum.jobs, sum.jobs == 1 ? " moves" : "s move", sum.boards, hx_plural(sum.boards),
           hx_value_print_bytes(bytes, sum.bytes), hx_value_print_bytes(each, d->state),
           100 * share_in_use(a, d->before), 100 * share_in_use(a, a->usable - a->boards.free));
}

json_t *defragment_json(const struct defragment *d, const struct allocation *a)
{
    struct sum sum = sum_of(d);
    json_t *moves = json_array();
    for (unsigned i = 0; i < d->jobs; i++) {
        const struct defragment_job *job = &d->job[i];
        if (hx_boards_moved(&job->from, &job->to))
            json_array_append_new(moves, json_pack("{s:i, s:i}", "tag", (int)job->tag, "boards",
                                                   (int)hx_boards_moved(&job->from, &job->to)));
    }
    return json_pack("{s:o, s:i, s:I, s:I, s:f, s:f}", "moves", moves, "boards", (int)sum.boards, "state_bytes",
                     (json_int_t)d->state, "bytes", (json_int_t)sum.bytes, "utilization_before",
                     share_in_use(a, d->before), "utilization_after", share_in_use(a, a->usable - a->boards.free));
}

static void write_job(const struct defragment *d, const struct defragment_job *job, FILE *out)
{
    const struct hx_spec *s = d->spec;
    for (unsigned n = 0; n < job->to.shape.rows * job->to.shape.columns; n++) {
        unsigned from = hx_placement_board(&job->from, n, s->x), to = hx_placement_board(&job->to, n, s->x);
        for (unsigned i = 0; from != to && i < s->a * s->b; i++)
            (void)fprintf(out, "0,%u:%u,%u:%u,%" PRIu64 "\n", from % s->x * s->a + i % s->a,
                          from / s->x * s->b + i / s->a, to % s->x * s->a + i % s->a, to / s->x * s->b + i / s->a,
                          d->state);
    }
}

void defragment_write_moves(const struct defragment *d, const char *path)
{
    FILE *out = hx_output_open(path);
    (void)fprintf(out, "start,source,destination,bytes\n");
    for (unsigned i = 0; i < d->jobs; i++)
        write_job(d, &d->job[i], out);
    hx_output_close(out, path);
}
