/* verb_demo.c - `hxmesh demo`: shows a small HammingMesh in three steps. */
#include "base/options/options.h"
#include "session.h"
#include "verbs.h"

#include <stdio.h>
#include <string.h>

static const char demo_fabric[] = "4x4 Hx2Mesh";
static const char picture[] =
    "    board 0,0                board 1,0\n"
    "  +-----------------+      +-----------------+\n"
    "--| a0,0 --- a1,0 |--o--| a2,0 --- a3,0 |--o--   every row of accelerators has its own row\n"
    "  |  |        |   |  :  |  |        |   |  :     network (o) that joins the W and E edges of\n"
    "--| a0,1 --- a1,1 |--o--| a2,1 --- a3,1 |--o--   all boards on it; columns likewise. Each\n"
    "  +-----------------+      +-----------------+     accelerator forwards packets itself, E W N S.\n";

static void say(const char *line)
{
    printf("\n== %s\n", line);
    (void)fflush(stdout);
}

static int run_all_to_all(const struct hx_common *common)
{
    struct hx_spec spec;
    hx_spec_load(demo_fabric, NULL, &spec);
    struct hx_settings settings = spec.settings;
    struct session s;
    session_open_traffic(&s, &spec, &(struct fab_options){0}, &settings, NULL);
    s.context.common = common;
    session_run_traffic(&s, true, common->quiet);
    result_print(&s.result);
    int code = session_exit_code(&s);
    session_close(&s);
    return code;
}

int verb_demo(int argc, char **argv)
{
    const struct hx_command command = {
        HX_PROGRAM("hxmesh demo", "hxmesh-run hxmesh-send"),
        .examples = {{"hxmesh demo", "takes some seconds, and says what it does"},
                     {"hxmesh demo --quiet", "the same without bars, as for a log"}},
        .failed = "something was lost or corrupted",
        .summary =
            "Runs a 4x4 Hx2Mesh of 64 accelerators on this machine: everyone sends to everyone, then one real file "
            "goes to all, and every byte is checked.",
        .no_json = true};
    struct hx_common common;
    (void)hx_options_parse(&command, argc, argv, &common);
    say("A 4x4 Hx2Mesh: 16 boards of 2x2 accelerators, 8 row networks, 8 column networks");
    (void)fputs(picture, stdout);
    say("All-to-all: each of the 64 accelerators sends 64 KiB to each of the 63 others");
    int code = run_all_to_all(&common);
    if (code != HX_EXIT_DONE)
        return code;
    say("One file, this program itself, from the north-west corner to all 63 others");
    char self[] = "/proc/self/exe";
    char *send[] = {argv[0], self, "--quiet", NULL};
    code = verb_send(3, send);
    if (code != HX_EXIT_DONE)
        return code;
    say("Next");
    printf("  hxmesh run \"8x8 Hx2Mesh\" --traffic uniform --duration 10s     a larger one\n"
           "  hxmesh route \"4x4 Hx2Mesh\" --from 0,0 --to 5,6                every minimal path of a packet\n"
           "  hxmesh info \"16x16 Hx2Mesh\"                                   what it costs, and its limits\n"
           "  hxmesh --help\n");
    return HX_EXIT_DONE;
}
