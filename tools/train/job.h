/* job.h - what `hxmesh train` trains: a model or another schedule. */
#ifndef HXMESH_TOOLS_TRAIN_JOB_H
#define HXMESH_TOOLS_TRAIN_JOB_H

#include "schedule/formats.h"
#include "schedule/training/model.h"
#include "tools/train/network_memory.h"

/* Either schedule or model is set. */
struct train_job {
    const char *path;
    struct schedule *schedule;
    struct schedule_notes notes;  /* of the reader */
    struct training_model *model; /* its schedule of all ranks is not made: estimates need none */
    uint32_t ranks;
    bool quiet;                                   /* estimates show no progress */
    struct network_memory *memory;                /* of quick estimates (estimate.h); NULL: they are not quick */
    uint64_t samples, tokens;                     /* of an iteration; 0: not known */
    uint64_t iterations;                          /* of the whole schedule, 1 and up */
    uint32_t dimension[SCHEDULE_MOST_DIMENSIONS]; /* of the ranks' grid; [0] 0: none */
};

/* Reads a file. Returns false and sets *problem. */
bool train_job_read(struct train_job *job, const char *path, const struct schedule_read_options *options,
                    struct hx_problem *problem);
/* Sets what follows from a model: the model, ranks, samples, tokens, iterations, and the grid. */
void train_job_take_model(struct train_job *job, struct training_model *m);
void train_job_free(struct train_job *job);

#endif
