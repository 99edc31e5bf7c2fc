/* attachments.h - the attachments of all hosts of a fabric that is run for programs (program/attachment.h). */
#ifndef ATTACHMENTS_H
#define ATTACHMENTS_H

#include "fabric-emu/workload/programs.h"
#include "fabric.h"

struct attachments {
    struct programs programs;
    struct shm_arena *arena; /* [hosts]; base NULL: none */
};

/* Makes one for each host that runs here; false: the machine refused, and nothing is left. */
bool attachments_open(struct attachments *all, const struct fab_fabric *f, struct hx_problem *problem);

/* Tells programs that the fabric has ended, and removes what they held. */
void attachments_close(struct attachments *all);

#endif
