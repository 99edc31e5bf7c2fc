/* train_memory.h - memory of an accelerator in the report of `hxmesh train`, and whether the model fits. */
#ifndef HXMESH_TOOLS_TRAIN_TRAIN_MEMORY_H
#define HXMESH_TOOLS_TRAIN_TRAIN_MEMORY_H

#include "schedule/training/memory.h"

#include <jansson.h>

struct train_memory {
    const struct training_model *model; /* NULL: the job is no model */
    struct training_memory *stage;      /* [pipeline stages] */
    uint32_t most;                      /* stage with the most memory */
    uint32_t unsaid;                    /* layers that do not say what they keep */
};

/* Finds the memory of a model. Returns false and sets *problem if it has fewer layers than stages. NULL: no model. */
bool train_memory_find(struct train_memory *t, const struct training_model *m, struct hx_problem *problem);
void train_memory_free(struct train_memory *t);

/* Whether each stage fits, or the model does not say how much there is. */
bool train_memory_fits(const struct train_memory *t);
/* Writes why it does not fit: "stage 3 needs 95.2 GB of 80 GB, most of it activations (60.1 GB)". */
void train_memory_excess(const struct train_memory *t, char *text, size_t bytes);

void train_memory_print(const struct train_memory *t);
/* Returns null without a model. */
json_t *train_memory_json(const struct train_memory *t);

#endif
