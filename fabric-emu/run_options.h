/* run_options.h - the command line of `hxmesh run`, the same for both clocks: each is a program of its own. */
#ifndef RUN_OPTIONS_H
#define RUN_OPTIONS_H

#include "spec/spec.h"

#include <jansson.h>

#define RUN_WATCHDOG_NS UINT64_C(100000)

struct run_options {
    struct hx_spec spec;
    const struct hx_fabric *g;
    struct hx_settings settings; /* the file's, the command line's over them */
    struct hx_capture_settings capture;
    struct hx_fault_settings faults;
    struct hx_timing timing; /* as given: hx_timing_complete() */
    const char *name;
    bool restart;
    bool links;      /* the JSON report lists them */
    bool watch;      /* hxmesh-top in place of the bar */
    const char *csv; /* file or "-"; NULL: none */
    /* Virtual clock: */
    uint64_t watchdog_ns; /* how long nothing may move though it should; 0: for ever */
    bool check_steps;     /* after each window of time, that nothing was lost or made up */
    bool share_cores;     /* as many workers as settings.workers says, though there are fewer cores */
    struct hx_common common;
};

/* Reads and checks all of it; dies with one line if something is wrong. *o owns a spec from then on. */
void run_options_parse(struct run_options *o, int argc, char **argv);

/* The schedule of faults that they say; dies with one line if something is wrong with it. To be freed. Where links of
 * another fabric than a HammingMesh go down, o->spec and o->g have ways that are searched afterwards
 * (hx_spec_search_updown). */
struct hx_faults run_options_faults(struct run_options *o);

/* Whether the report for a person goes to stdout: nothing else does. */
bool run_options_print(const struct run_options *o);
/* Writes the report where --json and --csv want it; takes the reference. */
void run_options_write(const struct run_options *o, json_t *report);

#endif
