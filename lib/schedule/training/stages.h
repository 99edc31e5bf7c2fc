/* stages.h - which layers a pipeline stage has.
 *
 * There are pipeline x chunks virtual stages; virtual stage v is chunk v / pipeline of stage v % pipeline. Each has
 * successive layers, at least one.
 *
 * Of one chunk the division minimises the longest forward plus backward time of a stage; of equal divisions it is the
 * one with the earliest cuts. Of several chunks a stage computes all of its chunks for each micro-batch, so the longest
 * sum over a stage's chunks counts first, then the longest virtual stage, then squares of both. That division
 * is searched for, by moves of a layer from one virtual stage to another, from the division of the virtual stages alone
 * and from some drawn ones, the same each time; it is never worse than the former. More than 128
 * virtual stages are not searched: theirs is the division of the virtual stages alone. */
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
