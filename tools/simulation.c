/* simulation.c - runs of `hxmesh run` (tools/simulation.h). */
#include "tools/simulation.h"
#include "base/error.h"

#include <limits.h>
#include <stdlib.h>

enum { TICK_MS = 500 };

/* ---- its arguments ---- */

void simulation_check(void)
{
    char hxmesh[PATH_MAX];
    child_beside("hxmesh", hxmesh, sizeof hxmesh);
}

struct hx_arguments simulation_arguments(const char *fabric)
{
    char hxmesh[PATH_MAX];
    struct hx_arguments a = {.count = 0};
    child_beside("hxmesh", hxmesh, sizeof hxmesh);
    hx_arguments_add(&a, "%s", hxmesh);
    hx_arguments_add(&a, "run");
    hx_arguments_add(&a, "%s", fabric);
    return a;
}

void simulation_ask(struct hx_arguments *a, bool quiet)
{
    hx_arguments_add(a, "--json");
    hx_arguments_add(a, "-");
    if (quiet)
        hx_arguments_add(a, "--quiet");
}

/* ---- its end ---- */

static void read_json(struct simulation *s, const struct child_result *r)
{
    json_error_t wrong;
    s->json = r->bytes ? json_loadb(r->output, r->bytes, 0, &wrong) : NULL;
    if (r->exit_code == HX_EXIT_DONE && !r->bytes)
        (void)snprintf(s->error, CHILD_ERROR, "ended without a report");
    else if (r->exit_code == HX_EXIT_DONE && !s->json)
        (void)snprintf(s->error, CHILD_ERROR, "its report is no JSON: line %d: %s", wrong.line, wrong.text);
    else if (s->json && !json_is_object(s->json)) {
        (void)snprintf(s->error, CHILD_ERROR, "its report is no JSON object");
        json_decref(s->json);
        s->json = NULL;
    }
}

static void describe_end(struct simulation *s)
{
    if (s->error[0] || s->exit_code == HX_EXIT_DONE)
        return;
    if (s->exit_code == HX_EXIT_FAILED)
        (void)snprintf(s->error, CHILD_ERROR, "something was lost, corrupted or not finished (exit code 1)");
    else if (s->exit_code > 128)
        (void)snprintf(s->error, CHILD_ERROR, "ended by signal %d", s->exit_code - 128);
    else
        (void)snprintf(s->error, CHILD_ERROR, "ended with exit code %d", s->exit_code);
}

struct simulation simulation_take(const char *name, struct child_result *r)
{
    struct simulation s = {.name = name, .exit_code = r->exit_code, .seconds = r->seconds};
    (void)snprintf(s.error, CHILD_ERROR, "%s", r->error);
    s.notes = hx_allocate(1, sizeof *s.notes);
    read_json(&s, r);
    describe_end(&s);
    s.report = report_open(s.exit_code == HX_EXIT_DONE ? s.json : NULL, s.notes);
    free(r->output);
    r->output = NULL;
    return s;
}

/* ---- all of it ---- */

void simulation_start(struct child *c, struct hx_arguments *a)
{
    child_catch_signals();
    child_start(c, a->item);
    c->reads_progress = true;
    hx_arguments_free(a);
}

struct simulation simulation_run(const char *name, struct hx_arguments *a, simulation_show *show, void *of)
{
    struct child c = {0};
    simulation_start(&c, a);
    c.reads_progress = show != NULL; /* else its lines pass through */
    while (child_wait(&c, 1, TICK_MS) == 1)
        if (show)
            show(of, c.progress);
    return simulation_take(name, &c.result);
}

bool simulation_is_good(const struct simulation *s)
{
    return s->report.json && !s->notes->missing[0];
}

void simulation_complain(const struct simulation *s)
{
    if (child_interrupted() || simulation_is_good(s))
        return;
    if (s->report.json)
        hx_complain(s->name, "its report has no '%s'", s->notes->missing);
    else
        hx_complain(s->name, "%s", s->error);
}

void simulation_free(struct simulation *s)
{
    json_decref(s->json);
    free(s->notes);
    *s = (struct simulation){.json = NULL};
}

int simulation_end(struct simulation *s)
{
    const bool good = simulation_is_good(s);
    const bool kept = s->exit_code != HX_EXIT_DONE && s->exit_code < HX_EXIT_INTERRUPTED;
    const int code = good ? HX_EXIT_DONE : kept ? s->exit_code : HX_EXIT_FAILED;
    simulation_complain(s);
    simulation_free(s);
    return child_interrupted() ? HX_EXIT_INTERRUPTED : code;
}