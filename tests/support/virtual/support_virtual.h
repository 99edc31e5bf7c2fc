/* support_virtual.h - a fabric under the virtual clock, run by forked processes, for chosen flows.
 *
 * A worker never frees its memory (arena.h), so every run has processes of its own. Their results are in the model,
 * in shared memory. */
#ifndef SUPPORT_VIRTUAL_H
#define SUPPORT_VIRTUAL_H

#include "fabric-emu/virtual/worker.h"

/* Source and destination, by rank. Each source has one flow. */
struct support_flow {
    uint32_t from, to;
};

/* Settings of a test; 0 is the default of each. */
struct support_virtual_plan {
    const char *spec;
    unsigned planes, radix, taper, workers;
    struct hx_settings settings; /* pattern, message, ...: those in .given */
    struct hx_timing timing;
    const struct support_flow *flow; /* [flows]; 0: the flows of the pattern. Each sends settings.count messages */
    unsigned flows;
    const struct hx_option_list *jobs, *only; /* as of --job and --only; NULL: none */
    const bool *failed;                       /* per board; NULL: none */
    const struct hx_fault_settings *faults;   /* with their times; NULL: none */
    void (*change)(struct worker *w);         /* called on each worker once it is built; may be NULL */
};

struct support_virtual {
    const struct support_virtual_plan *plan;
    struct hx_spec spec;
    const struct hx_fabric *g;
    struct traffic traffic;
    struct collective_plan collective;
    struct schedule_plan schedule;
    struct workload_plan workload;
    struct hx_faults faults;
    struct model m;
    char said[8192]; /* stderr of the workers or the watchdog */
};

/* Makes the model. A test may change it before the run. */
void support_virtual_open(struct support_virtual *s, const struct support_virtual_plan *plan);
/* Makes the model, and its first worker in this process, for tests that step it themselves. */
void support_virtual_open_worker(struct support_virtual *s, const struct support_virtual_plan *plan, struct worker *w);
/* Clears the items of a simulated node, for tests that take packets from its inputs themselves. */
void support_virtual_forget(struct virtual_sim_node *e);
void support_virtual_close_worker(struct support_virtual *s, struct worker *w);
/* Runs the model to its end; returns whether every worker ended by itself and reported success. */
bool support_virtual_run(struct support_virtual *s);
/* Calls report(m), which writes to stderr, and keeps the text in `said`. */
void support_virtual_listen(struct support_virtual *s, void (*report)(const struct model *m));
void support_virtual_close(struct support_virtual *s);

/* Simulated time of the last complete message, ps. */
uint64_t support_virtual_end(const struct support_virtual *s);
/* Whether every worker ended with nothing in flight: all messages acknowledged, all buffers free, no drops. */
bool support_virtual_whole(const struct support_virtual *s);

#endif
