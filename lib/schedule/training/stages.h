/* stages.h - which layers a pipeline stage has.
 *
 * There are pipeline x chunks virtual stages; virtual stage v is chunk v / pipeline of stage v % pipeline. Each has
 * successive layers, at least one. The division minimises the longest forward plus backward time of a virtual stage;
 * of equal divisions the one with the earliest cuts. */
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
