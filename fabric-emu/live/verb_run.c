/* verb_run.c - `hxmesh run`: a fabric, traffic, a report. */
#include "beside.h"
#include "fabric-emu/run_options.h"
#include "host/json.h"
#include "session.h"
#include "verbs.h"

static int finish(struct session *s, const struct hx_common *common)
{
    if (common->json)
        hx_json_write(session_json(s), common->json);
    else
        session_print(s);
    if (s->capture)
        (void)capture_report_complain(&s->captured);
    int code = session_exit_code(s);
    session_close(s);
    return code;
}

int verb_run(int argc, char **argv)
{
    struct run_options o;
    run_options_parse(&o, argc, argv);
    if (o.settings.clock == HX_CLOCK_VIRTUAL) {
        beside_run("virtual", argv);
        hx_die(HX_EXIT_ENVIRONMENT, "hxmesh-virtual", "is not beside hxmesh (`make` builds both)");
    }
    struct session s;
    const struct fab_options fabric = {.workers = (unsigned)o.settings.workers, .name = o.name};
    session_open(&s, &o.spec, &fabric);
    s.capture = o.capture.file ? &o.capture : NULL;
    session_run_traffic(&s, &o.settings, o.target, o.restart, o.common.quiet);
    s.result.hide_links = !o.links;
    return finish(&s, &o.common);
}
