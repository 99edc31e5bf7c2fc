/* verb_run.c - `hxmesh run`: runs a fabric with traffic, and reports. */
#include "base/arguments.h"
#include "base/beside.h"
#include "base/error.h"
#include "fabric-emu/run_options.h"
#include "session.h"
#include "verbs.h"

#include <stdlib.h>
#include <string.h>

static int finish(struct session *s, const struct run_options *o)
{
    run_options_write(o, &s->result, session_json(s));
    if (run_options_print(o))
        session_print(s);
    if (s->capture)
        (void)capture_report_complain(&s->captured);
    int code = session_exit_code(s);
    session_close(s);
    return code;
}

/* Reads faults before the fabric exists, so that an error leaves none behind. The defaults of random faults fit
 * simulated time only. */
static struct hx_faults faults_of(struct run_options *o)
{
    bool random = o->faults.file && strcmp(o->faults.file, HX_FAULTS_RANDOM) == 0;
    if (random && !(o->faults.given & HX_GIVEN_MTBF && o->faults.given & HX_GIVEN_MTTR))
        hx_die(HX_EXIT_USAGE, "--faults", "random on the wall clock needs --mtbf and --mttr (such as 1s and 500ms)");
    return run_options_faults(o);
}

int verb_run(int argc, char **argv)
{
    struct run_options o;
    run_options_join_ranks(argv);
    struct hx_arguments given = hx_arguments_copy(argv); /* parsing puts operands last */
    run_options_parse(&o, argc, argv, false);
    if (o.settings.clock == HX_CLOCK_VIRTUAL) {
        beside_run("virtual", given.item);
        hx_die(HX_EXIT_ENVIRONMENT, "hxmesh-virtual", "is not beside hxmesh (`make` builds both)");
    }
    hx_arguments_free(&given);
    run_options_choose(&o);
    if (o.g->forwarding)
        hx_warn(o.spec.name, "what hosts take to forward, ns and gbps of its file, only --clock virtual keeps to");
    struct flows *flows = flows_load(&o.settings, &o.spec, o.g);
    struct hx_faults faults = faults_of(&o);
    struct session s;
    const struct fab_options fabric = {
        .workers = (unsigned)o.settings.workers, .name = o.name, .quiet = o.common.quiet};
    session_open_traffic(&s, &o.spec, &fabric, &o.settings, flows);
    s.traffic.chosen = o.chosen;
    s.context.common = &o.common;
    s.context.fault_settings = &o.faults;
    s.context.hide_links = !o.links || !o.common.json;
    session_schedule(&s, &faults);
    s.watched = o.watch;
    s.capture = o.capture.file ? &o.capture : NULL;
    session_run_traffic(&s, o.restart, o.common.quiet);
    int code = finish(&s, &o);
    flows_free(flows);
    free(o.chosen);
    return code;
}
