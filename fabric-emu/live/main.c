/* main.c - the program hxmesh: finds the verb. A verb that is not built in is a program hxmesh-VERB beside this one. */
#include "beside.h"
#include "host/error.h"
#include "host/json.h"
#include "host/version.h"
#include "supervisor.h"
#include "verbs.h"

#include <stdio.h>
#include <string.h>

struct verb {
    const char *name;
    int (*run)(int argc, char **argv); /* NULL: hxmesh-NAME */
    const char *help;
};

static const struct verb verbs[] = {
    {"demo", verb_demo, "a small HammingMesh, moved through, verified and shown"},
    {"run", verb_run, "run a fabric, send traffic through it, report"},
    {"send", verb_send, "carry a file through a fabric and compare it where it arrives"},
    {"capture", verb_capture, "write the frames at a running fabric's ports to a file, for Wireshark"},
    {"replay", verb_replay, "send the frames of a capture again, into a fabric or onto an interface"},
    {"info", NULL, "size, cost, diameter and limits of a fabric"},
    {"route", NULL, "every minimal way between accelerators"},
    {"check", NULL, "prove a fabric's routes free of deadlock"},
    {"reproduce", NULL, "the paper's experiments under the virtual clock: tables and plots"},
    {"trace", NULL, "follow packets through a capture, hop by hop"},
    {"verify", NULL, "judge a capture against the rules of the fabric"},
    {"clean", verb_clean, "remove what killed runs left in /dev/shm"},
};
enum { VERBS = sizeof verbs / sizeof *verbs };

static void print_help(void)
{
    printf("hxmesh - a HammingMesh of real switch and endpoint firmware on one machine\n\n"
           "usage: hxmesh VERB [ARGUMENTS]      hxmesh VERB --help\n\n");
    for (unsigned i = 0; i < VERBS; i++)
        printf("  %-10s %s\n", verbs[i].name, verbs[i].help);
    printf("\nexit codes: 0 done, 1 verification failed, 2 usage, 3 bad configuration, 4 the machine refused,\n"
           "            130 interrupted and cleaned up\n");
}

int main(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_help();
        return argc < 2 ? HX_EXIT_USAGE : HX_EXIT_DONE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("hxmesh %s\n", HXMESH_VERSION);
        return HX_EXIT_DONE;
    }
    const char *names[VERBS + 1] = {NULL};
    for (unsigned i = 0; i < VERBS; i++) {
        names[i] = verbs[i].name;
        if (verbs[i].run && strcmp(argv[1], verbs[i].name) == 0) {
            supervisor_block_signals();
            int code = verbs[i].run(argc - 1, argv + 1);
            hx_output_close(stdout, "-");
            return code;
        }
    }
    if (!strchr(argv[1], '/'))
        beside_run(argv[1], argv + 1);
    hx_die(HX_EXIT_USAGE, argv[1], "no such verb%s", hx_did_you_mean(argv[1], names));
}
