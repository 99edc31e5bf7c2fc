/* main.c - the program hxmesh: runs a built-in verb, or the program hxmesh-VERB beside this one. */
#include "base/beside.h"
#include "base/error.h"
#include "base/json.h"
#include "base/version.h"
#include "help.h"
#include "supervisor.h"
#include "verbs.h"

#include <stdio.h>
#include <string.h>

static const struct verb verbs[] = {
    {"demo", verb_demo, "run a small HammingMesh, verify it and show it"},
    {"run", verb_run, "run a fabric, send traffic through it, report"},
    {"up", verb_up, "keep a fabric running, an interface on each host, for programs"},
    {"exec", verb_exec, "run a program on a host of such a fabric, on all of them, or by MPI"},
    {"down", verb_down, "end such a fabric, and the programs on it"},
    {"send", verb_send, "carry a file through a fabric and compare it where it arrives"},
    {"serve", verb_serve, "keep a fabric running for programs that use its hosts"},
    {"capture", verb_capture, "write the frames at a running fabric's ports to a file"},
    {"replay", verb_replay, "send the frames of a capture again, into a fabric or an interface"},
    {"fault", verb_fault, "break links, boards, ... of a running fabric"},
    {"top", NULL, "a running fabric: hottest links, rates, drops, workers, map"},
    {"topologies", NULL, "what fabrics there are, and how each is written"},
    {"info", NULL, "size, cost, diameter and limits of a fabric, or several compared"},
    {"route", NULL, "every minimal path between hosts"},
    {"check", NULL, "prove a fabric's routes free of deadlock"},
    {"allocate", NULL, "boards for jobs: a virtual sub-HammingMesh for each; job mixes"},
    {"jobs", NULL, "a queue of jobs over time: utilization, waiting, failures"},
    {"interference", NULL, "jobs alone and together: slowdown, shared links"},
    {"schedule", NULL, "what is in a schedule, whether its messages match; conversion"},
    {"train", NULL, "a training job on fabrics: iteration, communication, cost"},
    {"plan", NULL, "the best layout of a training job on a fabric: parallelism, memory, time"},
    {"bandwidth", NULL, "rates of the dimensions of a network for a training job, from a budget"},
    {"topology", NULL, "optical circuits for a training job: graph, strategy, time, cost"},
    {"sweep", NULL, "runs over lists and ranges of options: table, CSV, JSON, plot"},
    {"reproduce", NULL, "the paper's experiments under the virtual clock: tables and plots"},
    {"trace", NULL, "follow packets through a capture, hop by hop"},
    {"verify", NULL, "check a capture against the rules of the fabric"},
    {"clean", verb_clean, "remove what killed runs left in /dev/shm"},
    {NULL, NULL, NULL},
};
enum { VERBS = sizeof verbs / sizeof *verbs - 1 };

/* "--help", "--help=man", "-h", "help"; *format NULL: the default. */
static bool asks_for_help(const char *word, const char **format)
{
    static const char with_format[] = "--help=";
    bool has_format = strncmp(word, with_format, sizeof with_format - 1) == 0;
    *format = has_format ? word + sizeof with_format - 1 : NULL;
    return has_format || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0;
}

int main(int argc, char **argv)
{
    char hint[HX_HINT_TEXT];
    hx_output_guard();
    const char *format = NULL;
    char *of_verb[] = {argv[0], argc > 2 ? argv[2] : NULL, "--help", NULL};
    if (argc > 2 && strcmp(argv[1], "help") == 0) { /* "help run" is "run --help" */
        argv = of_verb;
        argc = 3;
    }
    if (argc < 2 || asks_for_help(argv[1], &format)) {
        if (format && strcmp(format, "fabric") == 0)
            help_print_fabric_page(stdout);
        else
            help_print(verbs, hx_help_format(format), stdout);
        return argc < 2 ? HX_EXIT_USAGE : HX_EXIT_DONE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("hxmesh %s\n", HXMESH_VERSION);
        return HX_EXIT_DONE;
    }
    const char *names[VERBS + 1] = {NULL};
    bool is_verb = false;
    for (unsigned i = 0; i < VERBS; i++) {
        names[i] = verbs[i].name;
        is_verb = is_verb || strcmp(argv[1], verbs[i].name) == 0;
        if (verbs[i].run && strcmp(argv[1], verbs[i].name) == 0) {
            supervisor_block_signals();
            int code = verbs[i].run(argc - 1, argv + 1);
            hx_output_close(stdout, "-");
            return code;
        }
    }
    if (!strchr(argv[1], '/'))
        beside_run(argv[1], argv + 1);
    if (is_verb)
        hx_die(HX_EXIT_ENVIRONMENT, argv[1], "its program, hxmesh-%s, is not beside this one (make)", argv[1]);
    hx_die(HX_EXIT_USAGE, argv[1], "no such verb%s", hx_did_you_mean(hint, argv[1], names));
}
