/* main.c - the program hxmesh-virtual: `hxmesh run --clock virtual`. */
#include "fabric-emu/run_options.h"
#include "host/error.h"
#include "host/json.h"
#include "run.h"

#include <unistd.h>

static unsigned cores(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : (unsigned)n;
}

static unsigned workers_of(const struct hx_settings *s)
{
    if (s->workers > VIRTUAL_MOST_WORKERS)
        hx_die(HX_EXIT_USAGE, "--workers", "%u workers; at most %d", (unsigned)s->workers, VIRTUAL_MOST_WORKERS);
    unsigned n = s->workers ? (unsigned)s->workers : cores();
    return n < VIRTUAL_MOST_WORKERS ? n : VIRTUAL_MOST_WORKERS;
}

static int exit_code(const struct result *r)
{
    if (r->outcome.exit_code)
        return r->outcome.exit_code;
    if (r->outcome.interrupted)
        return HX_EXIT_INTERRUPTED;
    return result_is_good(r) ? HX_EXIT_DONE : HX_EXIT_FAILED;
}

int main(int argc, char **argv)
{
    run_block_signals();
    struct run_options o;
    run_options_parse(&o, argc, argv);
    o.settings.clock = HX_CLOCK_VIRTUAL;
    struct traffic traffic;
    traffic_init(&traffic, &o.spec, &o.g, &o.settings, o.target);
    struct collective_plan plan = {0};
    bool collective = o.settings.pattern >= HX_COLLECTIVES;
    struct hx_problem problem;
    if (collective && !collective_plan_init(&plan, &traffic, o.target, &problem))
        hx_die_of(&problem);
    const struct hx_timing timing = hx_timing_complete(&o.timing);
    struct model m;
    model_create(&m, &traffic, collective ? &plan : NULL, &timing, workers_of(&o.settings));
    m.watchdog = o.watchdog_ns * 1000;
    m.check_steps = o.check_steps;
    struct result r;
    run_model(&m, o.common.quiet, &r);
    r.hide_links = !o.links;
    if (o.common.json)
        hx_json_write(result_json(&r), o.common.json);
    else
        result_print(&r, &traffic);
    int code = exit_code(&r);
    result_free(&r);
    model_destroy(&m);
    if (collective)
        collective_plan_free(&plan);
    traffic_free(&traffic);
    hx_spec_free(&o.spec);
    hx_output_close(stdout, "-");
    return code;
}
