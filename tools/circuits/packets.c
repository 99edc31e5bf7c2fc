/* packets.c - a run of circuits and a schedule (packets.h). */
#include "tools/circuits/packets.h"
#include "base/arguments.h"
#include "base/error.h"
#include "base/progress.h"
#include "tools/child.h"

#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { TICK_MS = 500 };

static struct hx_arguments arguments_of(const struct circuits_running *how)
{
    char hxmesh[PATH_MAX];
    struct hx_arguments a = {.count = 0};
    child_beside("hxmesh", hxmesh, sizeof hxmesh);
    hx_arguments_add(&a, "%s", hxmesh);
    hx_arguments_add(&a, "run");
    hx_arguments_add(&a, "graph %s", how->graph);
    hx_arguments_add(&a, "--traffic=%s", how->schedule);
    hx_arguments_add(&a, "--workers=%" PRIu64, how->workers);
    hx_arguments_add(&a, "--clock=virtual");
    hx_arguments_add(&a, "--json=-");
    if (how->quiet)
        hx_arguments_add(&a, "--quiet");
    return a;
}

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static double mean(const json_t *object, const char *key)
{
    return number(json_object_get(object, key), "mean");
}

static void take_report(struct circuits_run *run, const json_t *report)
{
    const json_t *o = json_array_get(json_object_get(report, "schedule"), 0);
    const json_t *purposes = json_object_get(o, "purposes");
    run->there = json_is_number(json_object_get(o, "seconds"));
    run->iteration = number(o, "seconds");
    run->computing = mean(o, "computing_seconds");
    run->exposed = mean(o, "exposed_seconds");
    for (size_t i = 0; i < json_array_size(purposes); i++) {
        const json_t *p = json_array_get(purposes, i);
        const char *name = json_string_value(json_object_get(p, "purpose"));
        const bool exchange = name && strcmp(name, "exchange") == 0;
        if (exchange || (name && strcmp(name, "data") == 0)) {
            *(exchange ? &run->exchanges : &run->sums) = mean(p, "seconds");
            *(exchange ? &run->exchanged_bytes : &run->reduced_bytes) = number(p, "bytes");
        }
    }
}

int circuits_simulate(const struct circuits_running *how, struct circuits_run *run)
{
    struct hx_progress bar = hx_progress_start("packets", how->quiet);
    struct hx_arguments a = arguments_of(how);
    struct child c = {0};
    child_start(&c, a.item);
    c.reads_progress = true;
    while (child_wait(&c, 1, TICK_MS) == 1)
        hx_progress_show(&bar, c.progress, "");
    hx_progress_end(&bar);
    hx_arguments_free(&a);
    int code = c.result.exit_code;
    json_t *report = code == HX_EXIT_DONE ? json_loadb(c.result.output, c.result.bytes, 0, NULL) : NULL;
    if (report)
        take_report(run, report);
    run->real_seconds = c.result.seconds;
    if (child_interrupted())
        code = HX_EXIT_INTERRUPTED;
    else if (!run->there) {
        hx_complain("hxmesh run", "%s", c.result.error[0] ? c.result.error : "ended without a report");
        code = code == HX_EXIT_DONE || code > HX_EXIT_INTERRUPTED ? HX_EXIT_FAILED : code;
    }
    json_decref(report);
    free(c.result.output);
    return code;
}
