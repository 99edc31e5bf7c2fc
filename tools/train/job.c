/* job.c - reads what is trained (job.h). */
#include "tools/train/job.h"
#include "schedule/walk.h"

#include <string.h>

/* Iterations of the outermost repeats of the rank with the most. */
static uint64_t repeats_of(const struct schedule *s)
{
    uint64_t most = 1;
    for (uint32_t rank = 0; rank < schedule_ranks(s); rank++) {
        uint64_t count = 0;
        for (uint32_t i = 0; i < schedule_count(s, rank); i = schedule_next(s, rank, i)) {
            const struct schedule_operation *o = schedule_at(s, rank, i);
            count = schedule_add(count, o->kind == SCHEDULE_REPEAT ? o->amount : 0);
        }
        most = count > most ? count : most;
    }
    return most;
}

static void take_schedule(struct train_job *job)
{
    const struct schedule_head *h = job->schedule->head;
    const bool says_work = h->samples || h->tokens || h->iterations > 1;
    job->ranks = h->ranks;
    job->samples = h->samples;
    job->tokens = h->tokens;
    job->iterations = says_work ? h->iterations : repeats_of(job->schedule);
    memcpy(job->dimension, h->dimension, sizeof job->dimension);
}

void train_job_take_model(struct train_job *job, struct training_model *m)
{
    unsigned count = 0;
    job->model = m;
    job->ranks = training_ranks(m);
    job->samples = m->samples;
    job->tokens = schedule_multiply(m->samples, m->sample_tokens);
    job->iterations = m->iterations;
    for (unsigned i = 0; i < TRAINING_AXES; i++) {
        if (m->parallel[m->order[i]] > 1)
            job->dimension[count++] = m->parallel[m->order[i]];
    }
}

bool train_job_read(struct train_job *job, const char *path, const struct schedule_read_options *options,
                    struct hx_problem *problem)
{
    *job = (struct train_job){.path = path};
    if (schedule_format_of(path) == &schedule_model)
        job->model = training_model_read(path, options, problem);
    else
        job->schedule = schedule_read(path, options, &job->notes, problem);
    if (job->model)
        train_job_take_model(job, job->model);
    if (job->schedule)
        take_schedule(job);
    return job->model || job->schedule;
}

void train_job_free(struct train_job *job)
{
    schedule_close(job->schedule);
    training_model_free(job->model);
    *job = (struct train_job){.path = NULL};
}
