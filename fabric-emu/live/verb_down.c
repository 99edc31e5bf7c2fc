/* verb_down.c - `hxmesh down`: ends a fabric of `hxmesh up`, and waits for its end. */
#include "attach.h"
#include "base/options/options.h"
#include "base/running.h"
#include "verbs.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WAIT_MS = 60000 };

static void end(struct attached *a)
{
    struct pollfd supervisor = {.fd = a->supervisor, .events = POLLIN};
    if (!a->head->netns_holder)
        hx_die(HX_EXIT_USAGE, a->name, "was not started by `hxmesh up` (Ctrl-C ends a run)");
    if (syscall(SYS_pidfd_send_signal, a->supervisor, SIGTERM, NULL, 0) != 0 && errno != ESRCH)
        hx_die(HX_EXIT_ENVIRONMENT, a->name, "process %d cannot be asked to end: %s", (int)a->metrics->pid,
               strerror(errno));
    if (poll(&supervisor, 1, WAIT_MS) != 1)
        hx_die(HX_EXIT_FAILED, a->name, "process %d does not end (kill -9 it: nothing stays behind)",
               (int)a->metrics->pid);
}

int verb_down(int argc, char **argv)
{
    const char *name = NULL;
    const struct hx_option options[] = {
        {HX_STRING("name", "FABRIC", &name, "of the fabric, as `hxmesh up --name` gave it"),
         .otherwise = "the only one that runs"},
        HX_OPTIONS_END};
    const struct hx_command command = {
        HX_PROGRAM("hxmesh down", "hxmesh-up hxmesh-exec"),
        .examples = {{"hxmesh down", "the only fabric that runs"}, {"hxmesh down --name lab", "the one of this name"}},
        .failed = "the fabric did not end",
        HX_OPERANDS("[NAME]", 0, 1),
        .summary =
            "Ends a fabric that `hxmesh up` keeps running, and the programs on its hosts; nothing of it is left.",
        .details = "Programs are asked to end (SIGTERM), and a second later they are killed.",
        .hides_operands = true,
        .options = options,
        .no_json = true};
    struct hx_common common;
    int first = hx_options_parse(&command, argc, argv, &common);
    struct attached a;
    struct hx_problem problem;
    if (!attach_open(&a, hx_running_said(name, first < argc ? argv[first] : NULL), &problem))
        hx_die_of(&problem);
    end(&a);
    if (!common.quiet)
        printf("%s is down\n", a.name);
    attach_close(&a);
    return HX_EXIT_DONE;
}
