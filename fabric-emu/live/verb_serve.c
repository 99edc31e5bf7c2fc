/* verb_serve.c - `hxmesh serve`: keeps a fabric running for programs (include/hxmesh/program.h). */
#include "attachments.h"
#include "base/error.h"
#include "base/json.h"
#include "base/options/options.h"
#include "base/output.h"
#include "session.h"
#include "verbs.h"

#include <stdio.h>

struct serve_settings {
    struct hx_overrides overrides;
    const char *name;
    uint64_t workers;
    uint64_t duration_ns;
};

/* Unfinished messages of programs are no failure, nor is a signal: it is the usual end. */
static int exit_code(const struct result *r)
{
    bool whole = r->bytes_corrupted == 0 && r->outcome.buffers_missing == 0;
    return r->outcome.exit_code ? r->outcome.exit_code : whole ? HX_EXIT_DONE : HX_EXIT_FAILED;
}

static int serve(const struct serve_settings *serve, const char *fabric, const struct hx_common *common)
{
    hx_output_check(common->json);
    struct hx_spec spec;
    hx_spec_load(fabric, &serve->overrides, &spec);
    hx_spec_refuse_external(&spec, "hxmesh serve");
    struct session s;
    session_open(
        &s, &spec,
        &(struct fab_options){.workers = (unsigned)serve->workers, .name = serve->name, .quiet = common->quiet});
    struct attachments all;
    struct hx_problem problem;
    if (!attachments_open(&all, &s.f, &problem)) {
        session_close(&s);
        hx_die_of(&problem);
    }
    if (!common->quiet && !hx_output_is_stdout(common->json)) {
        printf("%s: %u %ss for programs, by the name %s\n", s.f.spec.name, s.f.g->hosts, hx_host_word(s.f.g),
               shm_arena_name(&s.f.arena));
        hx_output_close(stdout, "-"); /* fails if it cannot be written: users need the name */
    }
    s.context.common = common;
    session_run_programs(&s, &all, serve->duration_ns);
    attachments_close(&all);
    if (common->json)
        hx_json_write(session_json(&s), common->json);
    if (!hx_output_is_stdout(common->json))
        session_print(&s);
    int code = exit_code(&s.result);
    session_close(&s);
    return code;
}

int verb_serve(int argc, char **argv)
{
    struct serve_settings settings = {.name = NULL};
    const struct hx_option options[] = {
        HX_OVERRIDE_OPTIONS(&settings.overrides),
        HX_CREDIT_OPTION(&settings.overrides),
        HX_WORKERS_OPTION(&settings.workers),
        {HX_DURATION("duration", &settings.duration_ns, 0, HX_MOST_DURATION, "how long"), .letter = 'd',
         .otherwise = "until it is told to end"},
        {HX_STRING("name", "NAME", &settings.name, "by which programs find it"), .otherwise = "the process number"},
        HX_OPTIONS_END};
    const struct hx_command command = {
        HX_PROGRAM("hxmesh serve", "hxmesh-run hxmesh-top hxmesh-fault"),
        .examples = {{"hxmesh serve \"2x2 Hx2Mesh\" --name lab", "16 hosts; programs open them (docs/programs.md)"}},
        .failed = "the fabric corrupted or lost something",
        HX_OPERANDS("SPEC|FILE", 1, 1),
        .summary = "Keeps a fabric running for programs that send by its hosts, until a signal (Ctrl-C, SIGTERM), and "
                   "reports.",
        .details =
            "Programs open a host with the library libhxmesh-program. Exit code: 0 also when it was told to end.",
        .options = options};
    struct hx_common common;
    int first = hx_options_parse(&command, argc, argv, &common);
    return serve(&settings, argv[first], &common);
}
