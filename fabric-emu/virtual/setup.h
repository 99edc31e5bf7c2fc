/* setup.h - a run of the virtual clock from its options to its model: for hxmesh-virtual and for libhxmesh-sim.
 *
 *     setup_parse      reads the command line
 *     setup_settle     faults, timing, algorithms of collectives
 *     setup_prepare    traffic and model
 *     setup_report     after the run: the figures of the report
 *     setup_close
 *
 * All of them die with one line on an error. */
#ifndef VIRTUAL_SETUP_H
#define VIRTUAL_SETUP_H

#include "fabric-emu/run_options.h"
#include "model.h"

/* The model points into the other members. */
struct setup {
    struct run_options o;
    struct hx_faults faults;
    struct hx_timing timing;
    struct flows *flows;
    struct traffic traffic;
    struct collective_plan collectives;
    struct schedule_plan schedules;
    struct posted *posted; /* replaces the traffic; NULL: none. Set between settle and prepare */
    struct model m;
    struct healthy without_faults; /* with --compare-healthy, set before setup_report() */
};

/* called: by the library. */
void setup_parse(struct setup *s, int argc, char **argv, bool called);
void setup_settle(struct setup *s);
/* workers: asked for. */
void setup_prepare(struct setup *s, unsigned workers);
/* Writes *result, which points into *s; free it with result_free(). as_json: it becomes JSON, which may list links. */
void setup_report(const struct setup *s, const struct outcome *outcome, bool as_json, struct result *result);
void setup_close(struct setup *s);

#endif
