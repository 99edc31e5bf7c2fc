/* jobs.c - places jobs on the boards of a fabric (jobs.h). */
#include "tools/allocate/jobs.h"
#include "allocation/trace.h"
#include "spec/tags.h"

#include <stdlib.h>

static void read_shape(struct allocate_job *job, const char *asked, const struct hx_spec *spec)
{
    job->asked = asked;
    if (!hx_job_shape(asked, &job->shape))
        hx_die(HX_EXIT_USAGE, asked, "is no job (write a number of boards, as 6, or COLUMNSxROWS of them, as 3x2)");
    uint64_t boards = (uint64_t)job->shape.rows * job->shape.columns;
    if (boards > hx_spec_boards(spec))
        hx_die(HX_EXIT_CONFIG, asked, "asks for %llu boards, and %s has %u", (unsigned long long)boards, spec->fabric,
               hx_spec_boards(spec));
}

static void give_tags(struct allocation *a)
{
    struct hx_tags tags;
    hx_tags_make(&tags, a->spec);
    for (unsigned i = 0; i < a->jobs; i++) {
        a->job[i].tag = hx_tags_take(&tags);
        if (a->job[i].tag == HX_NO_JOB)
            hx_die(HX_EXIT_CONFIG, a->job[i].asked, "all %d tags are taken", UINT16_MAX);
    }
}

static void take_boards_of_file(struct allocation *a)
{
    const struct hx_spec *s = a->spec;
    a->usable = hx_spec_boards(s);
    for (unsigned board = 0; board < hx_spec_boards(s); board++) {
        bool failed = s->failed && s->failed[board], of_a_job = s->job && s->job[board] != HX_NO_JOB;
        if (failed || of_a_job)
            hx_board_take(&a->boards, board % s->x, board / s->x);
        a->usable -= failed;
        a->taken += of_a_job && !failed;
    }
}

void allocation_make(struct allocation *a, const struct hx_spec *spec, const struct hx_placement_rules *rules,
                     char *const *asked, unsigned jobs)
{
    *a = (struct allocation){.spec = spec, .rules = rules, .jobs = jobs};
    a->job = hx_allocate(jobs + 1, sizeof *a->job);
    for (unsigned i = 0; i < jobs; i++)
        read_shape(&a->job[i], asked[i], spec);
    hx_boards_make(&a->boards, spec->x, spec->y);
    take_boards_of_file(a);
    give_tags(a);
}

struct turn {
    unsigned job, boards;
};

static int larger_first(const void *a, const void *b)
{
    const struct turn *one = a, *other = b;
    return one->boards != other->boards ? (one->boards < other->boards) - (one->boards > other->boards)
                                        : (one->job > other->job) - (one->job < other->job);
}

void allocation_place(struct allocation *a, bool sort)
{
    struct turn *turn = hx_allocate(a->jobs + 1, sizeof *turn);
    for (unsigned i = 0; i < a->jobs; i++)
        turn[i] = (struct turn){i, a->job[i].shape.rows * a->job[i].shape.columns};
    if (sort)
        qsort(turn, a->jobs, sizeof *turn, larger_first);
    for (unsigned i = 0; i < a->jobs; i++) {
        struct allocate_job *job = &a->job[turn[i].job];
        job->placed = hx_place(&job->placement, &a->boards, job->shape, a->rules);
        if (job->placed)
            hx_placement_take(&job->placement, &a->boards);
    }
    free(turn);
}

unsigned allocation_placed(const struct allocation *a)
{
    unsigned placed = 0;
    for (unsigned i = 0; i < a->jobs; i++)
        placed += a->job[i].placed;
    return placed;
}

void allocation_free(struct allocation *a)
{
    for (unsigned i = 0; i < a->jobs; i++)
        hx_placement_free(&a->job[i].placement);
    free(a->job);
    hx_boards_free(&a->boards);
}
