/* run_options.h - the command line of `hxmesh run`, shared by the programs of both clocks. */
#ifndef RUN_OPTIONS_H
#define RUN_OPTIONS_H

#include "fabric-emu/report/result.h"
#include "spec/spec.h"

#include <jansson.h>

#define RUN_NO_VIRTUAL_MPI                                                                                             \
    "is not beside hxmesh: ranks of MPI need it (package hxmesh-mpi; `make` builds it where Open MPI is installed)"
#define RUN_WATCHDOG_NS UINT64_C(100000)

/* What of a schedule's repeats is simulated: all, or periods that differ. */
enum run_repeats { RUN_REPEATS_RUN, RUN_REPEATS_CUT };

struct run_options {
    struct hx_spec spec;
    const struct hx_fabric *g;
    struct hx_settings settings; /* the file's, overridden by the command line */
    struct hx_capture_settings capture;
    struct hx_fault_settings faults;
    struct hx_timing timing; /* as given: hx_timing_complete() */
    const char *name;
    uint8_t *chosen; /* algorithms of collectives, for struct traffic; owned */
    bool restart;
    bool links;           /* the JSON report has them */
    bool watch;           /* hxmesh-top instead of the bar */
    const char *csv;      /* file or "-"; NULL: none */
    const char *timeline; /* of schedules, as csv */
    /* Virtual clock: */
    uint64_t watchdog_ns; /* longest time without a move; 0: no limit */
    bool check_steps;     /* after each window, that nothing is lost or invented */
    unsigned repeats;     /* enum run_repeats */
    bool compare_healthy; /* with the same run without faults */
    bool share_cores;     /* settings.workers workers, or ranks, even on fewer cores */
    struct hx_ranks ranks;
    bool posted; /* read for a library, and no traffic is given: its caller posts messages */
    struct hx_common common;
};

/* If this is one of several ranks of mpirun, runs hxmesh-virtual-mpi, which prints an error once for all ranks. */
void run_options_join_ranks(char **argv);

/* Reads and checks all options; dies with one line on an error. *o then owns a spec. called: by a library. */
void run_options_parse(struct run_options *o, int argc, char **argv, bool called);

/* Checks the collectives of the run and chooses their algorithms, after run_options_parse() and in the program that
 * runs them: this may be long. Dies with one line on an error. */
void run_options_choose(struct run_options *o);

/* The schedule of faults; dies with one line on an error. The caller frees it. If links of a fabric other than a
 * HammingMesh go down, it gives o->spec and o->g searched routes (hx_spec_search_updown). */
struct hx_faults run_options_faults(struct run_options *o);

/* Whether stdout is free for the report for a person. */
bool run_options_print(const struct run_options *o);
/* Writes the report to --json and --csv, and operations to --timeline; takes the reference. */
void run_options_write(const struct run_options *o, const struct result *r, json_t *report);

#endif
