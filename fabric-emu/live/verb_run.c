/* verb_run.c - `hxmesh run`: a fabric, traffic, a report. */
#include "host/json.h"
#include "session.h"
#include "verbs.h"

struct run_settings {
    struct hx_settings given; /* by options */
    struct hx_overrides overrides;
    struct hx_coordinate target;
    const char *name;
    bool restart;
};

static int finish(struct session *s, const struct hx_common *common)
{
    if (common->json)
        hx_json_write(result_json(&s->result), common->json);
    else
        result_print(&s->result, &s->traffic);
    int code = session_exit_code(s);
    session_close(s);
    return code;
}

static struct hx_settings settled(const struct hx_spec *spec, const struct hx_settings *given)
{
    struct hx_settings settings = spec->settings;
    hx_settings_merge(&settings, given);
    if (settings.clock == HX_CLOCK_VIRTUAL)
        hx_die(HX_EXIT_USAGE, "--clock", "this version runs the wall clock only");
    if (settings.count == 0 && settings.duration_ns == 0)
        hx_die(HX_EXIT_USAGE, "--count", "0 messages need a --duration");
    return settings;
}

int verb_run(int argc, char **argv)
{
    struct run_settings run = {.given = hx_default_settings, .restart = true};
    run.given.given = 0;
    const struct hx_option options[] = {
        HX_OPTIONS_HEADING("Traffic"),
        HX_SETTINGS_OPTIONS(&run.given),
        {.name = "target",
         .kind = HX_OPTION_COORDINATE,
         .to.coordinate = &run.target,
         .help = "who receives in incast traffic (0,0)"},
        HX_OPTIONS_HEADING("Fabric"),
        HX_OVERRIDE_OPTIONS(&run.overrides),
        HX_CREDIT_OPTION(&run.overrides),
        {.name = "name",
         .kind = HX_OPTION_STRING,
         .argument = "NAME",
         .to.string = &run.name,
         .help = "of the fabric's shared memory, /dev/shm/hxmesh-NAME (the process number)"},
        {.name = "restart",
         .kind = HX_OPTION_FLAG,
         .negatable = true,
         .to.flag = &run.restart,
         .help = "start workers that were killed again (on)"},
        HX_OPTIONS_END};
    const struct hx_command command = {
        .program = "hxmesh run",
        .operands = "SPEC|FILE",
        .summary =
            "Runs a whole HammingMesh of the firmware on this machine, sends traffic through it and checks every "
            "byte that arrives.",
        .details = "SPEC is a fabric such as \"4x4 Hx2Mesh\"; FILE a *.hxm.yaml. Exit code: 0 all arrived, 1 something "
                   "was lost or corrupted, 130 interrupted.",
        .least_operands = 1,
        .most_operands = 1,
        .options = options};
    struct hx_common common;
    int first = hx_options_parse(&command, argc, argv, &common);
    hx_output_check(common.json);
    struct hx_spec spec;
    hx_spec_load(argv[first], &run.overrides, &spec);
    hx_spec_check_coordinate(&spec, "--target", run.target);
    struct hx_settings settings = settled(&spec, &run.given);
    if (settings.pattern == HX_INCAST &&
        hx_spec_board_failed(&spec, hx_spec_board_at(&spec, run.target.gx, run.target.gy)))
        hx_die(HX_EXIT_USAGE, "--target", "a%u,%u is on a failed board", run.target.gx, run.target.gy);
    struct session s;
    const struct fab_options fabric = {.workers = (unsigned)settings.workers, .name = run.name};
    session_open(&s, &spec, &fabric);
    uint32_t target = hx_accelerator(&s.f.g, run.target.gx, run.target.gy);
    session_run_traffic(&s, &settings, target, run.restart, common.quiet);
    return finish(&s, &common);
}
