/* attachments.h - the attachments of all hosts of a fabric for programs (hal/program/attachment.h), and the server that
 * hands them out. */
#ifndef ATTACHMENTS_H
#define ATTACHMENTS_H

#include "attach_server.h"
#include "fabric.h"

struct attachments {
    struct programs programs;
    struct attach_server attach_server;
};

/* Makes an attachment for each local host, and opens the attach socket. On failure returns false and leaves nothing. */
bool attachments_open(struct attachments *all, const struct fab_fabric *f, struct hx_problem *problem);

/* Tells programs that the fabric has ended, and frees everything. */
void attachments_close(struct attachments *all);

#endif
