/* attach.h - opens a running fabric from another process: by name, through its head (fabric.h). */
#ifndef ATTACH_H
#define ATTACH_H

#include "fabric.h"

#include <jansson.h>

struct attached {
    struct shm_arena arena;
    const struct hx_metrics_head *metrics;
    const struct fab_head *head;
    struct fab_control *control;
    struct hx_fabric graph;
    int supervisor; /* pidfd: readable when the supervisor ends */
    char name[128]; /* as --name gives it */
};

/* Opens the fabric `name`; NULL: the only running one. Returns false: there is none, or several. */
bool attach_open(struct attached *a, const char *name, struct hx_problem *problem);
void attach_close(struct attached *a);

/* Whether the fabric has ended. */
bool attach_has_ended(const struct attached *a);

/* Lists running fabrics, or the one of that name. Ends the program if it does not run. {"fabrics": [{"name", "fabric",
 * "title", "pid", "workers", "planes", "ports": [names]}]} */
json_t *attach_list(const char *name);

#endif
