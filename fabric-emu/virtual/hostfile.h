/* hostfile.h - the machines of a run by ranks. A line for each:
 *
 *     # comment
 *     HOST [slots=N] [max_slots=N]
 *
 * It has room for `slots` ranks, by default one. A host may have several lines. */
#ifndef VIRTUAL_HOSTFILE_H
#define VIRTUAL_HOSTFILE_H

#include "base/error.h"

#include <stdint.h>

struct hostfile {
    char *hosts; /* "left:2,right:1", as mpirun --host takes them; for free() */
    uint64_t slots;
};

/* Returns false and sets *problem if the file cannot be read or a line has another form. */
bool hostfile_read(struct hostfile *h, const char *path, struct hx_problem *problem);

#endif
