/* verb_exec.c - `hxmesh exec`: runs programs on hosts of a fabric of `hxmesh up`. */
#include "attach.h"
#include "base/options/options.h"
#include "exec.h"
#include "host_names.h"
#include "verbs.h"

#include <string.h>

/* Returns the number of arguments after "--", which getopt may move; argc if there is no "--". */
static int count_arguments(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--") == 0)
            return argc - i - 1;
    return argc;
}

int verb_exec(int argc, char **argv)
{
    struct exec_plan plan = {.ranks = 0};
    const char *name = NULL;
    const struct hx_option options[] = {
        {HX_STRING("name", "FABRIC", &name, "of the fabric, as `hxmesh up --name` gave it"),
         .otherwise = "the only one that runs"},
        {HX_FLAG("all", &plan.all, "on every host at once; each line of output begins with the host's name"),
         .letter = 'a'},
        {HX_NUMBER("mpi", &plan.ranks, 1, EXEC_MOST_RANKS,
                   "start the program by Open MPI's mpirun, a rank on each host in turn"),
         .argument = "RANKS", .default_value = &plan.ranks, .otherwise = "no MPI"},
        {HX_CHOICE(
             "over", &plan.over, ((const char *const[]){"ip", "messages", NULL}),
             "with --mpi: ranks talk by TCP over hx0, or by messages of the fabric through libfabric, one rank on "
             "a host"),
         .argument = "WHAT"},
        {HX_FLAG("shell", &plan.shell,
                 "give the words to a shell as one line, as rsh and ssh do: for programs that start others by one of "
                 "those")},
        HX_OPTIONS_END};
    const struct hx_command command = {
        HX_PROGRAM("hxmesh exec", "hxmesh-up hxmesh-down"),
        .examples = {{"hxmesh exec a0,0 -- ping -c 3 a3,3", "a program on a host of the only fabric"},
                     {"hxmesh exec --name lab --all -- hostname", "on every host"},
                     {"hxmesh exec --mpi 16 --over messages -- ./program", "by Open MPI, over the fabric"}},
        .failed = "with --all: some program failed; else as the program ends",
        HX_OPERANDS("[HOST] -- COMMAND [ARGUMENT...]", 1, EXEC_MOST_WORDS),
        .summary = "Runs a program on a host of a fabric that `hxmesh up` keeps, on all hosts, or by MPI.",
        .details =
            "HOST is a0,1, a0-1 or h1. The program has the host's network and nothing else of its own: the same "
            "files, this folder, the same environment with HXMESH_FABRIC, HXMESH_HOST, HXMESH_HOST_NUMBER (from 0) and "
            "HXMESH_HOSTS in it, and FI_PROVIDER_PATH where programs of libfabric need it. The exit code is the "
            "program's, with --all 1 where some failed; 127 "
            "it is not there, 126 it cannot "
            "be run.",
        .no_json = true,
        .options = options};
    struct hx_common common;
    int arguments = count_arguments(argc, argv);
    int first = hx_options_parse(&command, argc, argv, &common);
    bool host_is_before = argc - first > arguments;
    struct attached a;
    struct hx_problem problem;
    bool names_host = !plan.all && !plan.ranks;
    plan.command = argv + first + names_host;
    if (!names_host && host_is_before)
        hx_die(HX_EXIT_USAGE, argv[first], "is a host, and %s says on which already (leave out one of them)",
               plan.all ? "--all" : "--mpi");
    if (names_host && first + 1 == argc && arguments == 1)
        hx_die(HX_EXIT_USAGE, "HOST", "is missing: where is %s to run? (such as `hxmesh exec a0,0 -- hostname`)",
               argv[first]);
    if (names_host && first + 1 == argc)
        hx_die(HX_EXIT_USAGE, "COMMAND", "is missing: what is to run on %s? (such as `hxmesh exec a0,0 -- hostname`)",
               argv[first]);
    if (plan.over == EXEC_OVER_MESSAGES && !plan.ranks)
        hx_die(HX_EXIT_USAGE, "--over", "is for ranks of MPI (give --mpi, too)");
    if (plan.all && plan.ranks)
        hx_die(HX_EXIT_USAGE, "--mpi", "and --all: which of both?");
    if (!attach_open(&a, name, &problem))
        hx_die_of(&problem);
    if (!a.head->netns_holder)
        hx_die(HX_EXIT_USAGE, a.name, "has no hosts for programs (start it with `hxmesh up`)");
    if (names_host && !host_parse(argv[first], &a.graph, &plan.host, &problem))
        hx_die_of(&problem);
    int code = exec_run(&a, &plan);
    attach_close(&a);
    return code;
}
