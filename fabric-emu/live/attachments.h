/* attachments.h - the attachments of all hosts of a fabric that is run for programs (hal/program/attachment.h), and who
 * hands them over. */
#ifndef ATTACHMENTS_H
#define ATTACHMENTS_H

#include "attach_server.h"
#include "fabric.h"

struct attachments {
    struct programs programs;
    struct attach_server attach_server;
};

/* Makes one for each host that runs here, and opens the door; false: the machine refused, and nothing is left. */
bool attachments_open(struct attachments *all, const struct fab_fabric *f, struct hx_problem *problem);

/* Tells programs that the fabric has ended, and removes what they held. */
void attachments_close(struct attachments *all);

#endif
