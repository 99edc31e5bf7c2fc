/* simulation.h - `hxmesh run` started by another program: its arguments, its end, and its report.
 *
 *     struct hx_arguments a = simulation_arguments("4x4 Hx2Mesh");
 *     hx_arguments_add(&a, "--clock=virtual");
 *     simulation_ask(&a, true);
 *     struct simulation s = simulation_run("4x4 Hx2Mesh", &a, NULL, NULL);
 *     seconds = report_number(&s.report, "virtual_seconds");
 *     code = simulation_end(&s);
 *
 * SIGINT, SIGTERM, SIGHUP and SIGQUIT are passed on to the run, and do not end this program. simulation_end() prints
 * one line if the run failed, if it wrote no report, or if a key that was read is not in the report. */
#ifndef HXMESH_TOOLS_SIMULATION_H
#define HXMESH_TOOLS_SIMULATION_H

#include "base/arguments.h"
#include "tools/child.h"
#include "tools/simulation_report.h"

struct simulation {
    const char *name;     /* in its error line */
    int exit_code;        /* of the run */
    double seconds;       /* from start to end */
    struct report report; /* .json NULL: there is none, or the run failed */
    json_t *json;         /* the report, also of a run that failed; NULL: none */
    struct report_notes *notes;
    char error[CHILD_ERROR]; /* the rest of the run's error line, or why its output is no report; "": neither */
};

/* Dies with HX_EXIT_ENVIRONMENT if `hxmesh` is not beside this program, or cannot be run. */
void simulation_check(void);

/* hxmesh run FABRIC; more can be added. */
struct hx_arguments simulation_arguments(const char *fabric);
/* Adds what asks for the report. */
void simulation_ask(struct hx_arguments *a, bool quiet);

/* Starts a run, for child_wait(). Frees the arguments. */
void simulation_start(struct child *c, struct hx_arguments *a);
/* Takes the result of a run that has ended, and its output. `name` must outlive it. */
struct simulation simulation_take(const char *name, struct child_result *r);

/* Is told from time to time what share of the run is done, 0 .. 1. */
typedef void simulation_show(void *of, double share);
/* Runs it until it ends. Frees the arguments. show: NULL is allowed. */
struct simulation simulation_run(const char *name, struct hx_arguments *a, simulation_show *show, void *of);

/* Whether the run ended well, and all was in its report that has been read. */
bool simulation_is_good(const struct simulation *s);
/* Prints why not, unless there was a signal. */
void simulation_complain(const struct simulation *s);
void simulation_free(struct simulation *s);
/* Prints why it is not good, if it is not, and frees it. Returns an exit code: HX_EXIT_DONE if it is good,
 * HX_EXIT_INTERRUPTED after a signal. */
int simulation_end(struct simulation *s);

#endif
