/* healthy.h - the same run without its faults, for --compare-healthy.
 *
 * A child process of its own, since faults change routes, virtual channels and buffers of the whole fabric. It begins
 * when this process has read the faults without an error, and ends before the run with faults begins.
 *
 *     healthy_fork(&h);           in the child: h.is_child, which goes on without faults
 *     healthy_begin(&h);          the parent's faults are good
 *     code = healthy_wait(&h);    its figures are in h.figures
 *
 * The child calls healthy_await() before it runs, and healthy_tell() after. */
#ifndef VIRTUAL_HEALTHY_H
#define VIRTUAL_HEALTHY_H

#include "fabric-emu/report/healthy_report.h"

#include <sys/types.h>

struct healthy_run {
    bool is_child;
    pid_t pid;       /* of the child */
    int begin, told; /* pipes; of each, the end of this process */
    struct healthy_figures figures;
};

void healthy_fork(struct healthy_run *h);

void healthy_begin(struct healthy_run *h);
/* Passes signals on that would end this process, which are blocked. Returns an exit code; HX_EXIT_DONE: all arrived. */
int healthy_wait(struct healthy_run *h);

/* Exits if the parent ended before healthy_begin(). */
void healthy_await(const struct healthy_run *h);
void healthy_tell(const struct healthy_run *h, const struct healthy_figures *figures);

#endif
