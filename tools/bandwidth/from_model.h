/* from_model.h - what an iteration of a model's training computes and sends on a network (tools/bandwidth/work.h).
 *
 * Communication is that of the pipeline stage that sends the most. With `overlap` gradients travel beside the backward
 * passes, but for those of the first layer, and parameters of ZeRO 3 as well; with `pairs` all that passes send. */
#ifndef HXMESH_TOOLS_BANDWIDTH_FROM_MODEL_H
#define HXMESH_TOOLS_BANDWIDTH_FROM_MODEL_H

#include "schedule/training/communication.h"
#include "tools/bandwidth/work.h"

/* Returns false and sets *problem if the model's ranks are not the network's NPUs, or a group does not fill dimensions
 * evenly. */
bool bandwidth_work_of(struct bandwidth_work *w, const struct training_model *m, const struct bandwidth_network *n,
                       struct hx_problem *problem);

#endif
