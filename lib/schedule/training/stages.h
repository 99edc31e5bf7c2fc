/* stages.h - which layers a pipeline stage has.
 *
 * There are pipeline x chunks virtual stages; virtual stage v is chunk v / pipeline of stage v % pipeline. Each has
 * successive layers, at least one.
 *
 * Of one chunk the division minimises the longest forward plus backward time of a stage; of equal divisions it is the
 * one with the earliest cuts. Of several chunks two divisions are searched for, and the shorter iteration
 * (training_pipeline_ps()) decides: a stage computes all of its chunks for each micro-batch, but waits for others in
 * each. One has the shortest longest sum over a stage's chunks, then the shortest longest virtual stage; the other in
 * the opposite order. Both are found by moves of a layer from one virtual stage to another, from the division of the
 * virtual stages alone and from some drawn ones, the same each time.
 * More than 128 virtual stages are not searched: theirs is the division of the virtual stages alone. */
#ifndef TRAINING_STAGES_H
#define TRAINING_STAGES_H

#include "schedule/training/model.h"

struct training_stages {
    uint32_t count;  /* virtual stages */
    uint32_t *first; /* [count + 1]: layers first[v] .. first[v + 1] - 1 */
};

/* Returns false and sets *problem if there are fewer layers than virtual stages. */
bool training_stages_make(struct training_stages *s, const struct training_model *m, struct hx_problem *problem);
void training_stages_free(struct training_stages *s);

#endif
