/* attach.h - a running fabric seen from another process: found by name, described by its head (fabric.h). */
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
    int supervisor; /* descriptor that becomes readable when the supervisor ends */
    char name[128]; /* as --name says it */
};

/* name NULL: the only one that runs. false: there is none, or several. */
bool attach_open(struct attached *a, const char *name, struct hx_problem *problem);
void attach_close(struct attached *a);

/* Whether the fabric has ended. */
bool attach_has_ended(const struct attached *a);

/* {"fabrics": [{"name", "fabric", "spec_name", "pid", "workers", "planes", "ports": [names]}]} of those that run; of
 * that name alone, unless it is NULL. Dies if there is none. */
json_t *attach_list(const char *name);

#endif
