/* packets.c - a run of circuits and a schedule (packets.h). */
#include "tools/circuits/packets.h"
#include "base/arguments.h"
#include "base/error.h"
#include "base/progress.h"
#include "tools/simulation.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static struct hx_arguments arguments_of(const struct circuits_running *how)
{
    char fabric[PATH_MAX + 8];
    (void)snprintf(fabric, sizeof fabric, "graph %s", how->graph);
    struct hx_arguments a = simulation_arguments(fabric);
    hx_arguments_add(&a, "--traffic=%s", how->schedule);
    hx_arguments_add(&a, "--workers=%" PRIu64, how->workers);
    hx_arguments_add(&a, "--clock=virtual");
    simulation_ask(&a, how->quiet);
    return a;
}

static void take_purpose(struct circuits_run *run, const struct report *p)
{
    const char *name = report_text(p, "purpose");
    const bool exchange = strcmp(name, "exchange") == 0;
    if (!exchange && strcmp(name, "data") != 0)
        return;
    *(exchange ? &run->exchanges : &run->sums) = report_number(p, "seconds.mean");
    *(exchange ? &run->exchanged_bytes : &run->reduced_bytes) = report_number(p, "bytes");
}

static void take_report(struct circuits_run *run, const struct report *r)
{
    const struct report o = report_entry(r, "schedule", 0);
    run->iteration = report_number(&o, "seconds");
    run->computing = report_number(&o, "computing_seconds.mean");
    run->exposed = report_number(&o, "exposed_seconds.mean");
    for (size_t i = 0; i < report_length(&o, "purposes"); i++) {
        const struct report p = report_entry(&o, "purposes", i);
        take_purpose(run, &p);
    }
}

static void show(void *of, double share)
{
    hx_progress_show(of, share, "");
}

int circuits_simulate(const struct circuits_running *how, struct circuits_run *run)
{
    struct hx_progress bar = hx_progress_start("packets", how->quiet);
    struct hx_arguments a = arguments_of(how);
    struct simulation s = simulation_run("hxmesh run", &a, show, &bar);
    hx_progress_end(&bar);
    if (s.report.json)
        take_report(run, &s.report);
    run->real_seconds = s.seconds;
    const int code = simulation_end(&s);
    run->there = code == HX_EXIT_DONE;
    return code;
}
