/* support_virtual.h - a fabric under the virtual clock, run by processes that a test forks, for chosen flows.
 *
 * Memory of a worker is never given back (arena.h), so every run has processes of its own; what they report lies in the
 * model, which all share. */
#ifndef SUPPORT_VIRTUAL_H
#define SUPPORT_VIRTUAL_H

#include "fabric-emu/virtual/worker.h"

/* Who sends to whom, by rank. Each source has one flow. */
struct support_flow {
    uint32_t from, to;
};

/* What a test wants; 0 is the default of each. */
struct support_virtual_plan {
    const char *spec;
    unsigned planes, radix, taper, workers;
    struct hx_settings settings; /* pattern, message, ...: what .given says */
    struct hx_timing timing;
    const struct support_flow *flow; /* [flows]; 0: the pattern's own. Each sends settings.count messages */
    unsigned flows;
    const struct hx_option_list *jobs, *only; /* as --job and --only say them; NULL: none */
    const bool *failed;                       /* per board; NULL: none */
    void (*change)(struct worker *w);         /* after it was built; may be NULL */
};

struct support_virtual {
    const struct support_virtual_plan *plan;
    struct hx_spec spec;
    const struct hx_fabric *g;
    struct traffic traffic;
    struct collective_plan collective;
    struct model m;
    char said[8192]; /* what the workers, or the watchdog, said on stderr */
};

/* Makes the model. A test may change it before it runs. */
void support_virtual_open(struct support_virtual *s, const struct support_virtual_plan *plan);
/* Makes it, and its first worker in this process, whose steps a test makes itself. */
void support_virtual_open_worker(struct support_virtual *s, const struct support_virtual_plan *plan, struct worker *w);
/* Nothing is noted for it any more: for a test that takes packets out of its inputs itself. */
void support_virtual_forget(struct virtual_sim_node *e);
void support_virtual_close_worker(struct support_virtual *s, struct worker *w);
/* Runs it to its end; returns whether every worker ended by itself, having said it was done. */
bool support_virtual_run(struct support_virtual *s);
/* Calls report(m), which writes to stderr, for `said`. */
void support_virtual_listen(struct support_virtual *s, void (*report)(const struct model *m));
void support_virtual_close(struct support_virtual *s);

/* Simulated time of the last complete message, ps. */
uint64_t support_virtual_end(const struct support_virtual *s);
/* Whether every worker ended with nothing under way: all messages acknowledged, all buffers free, nothing dropped. */
bool support_virtual_whole(const struct support_virtual *s);

#endif
