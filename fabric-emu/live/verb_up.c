/* verb_up.c - `hxmesh up`: keeps a fabric running for programs: each host has a network interface. */
#include "background.h"
#include "base/options/options.h"
#include "base/text.h"
#include "host_names.h"
#include "log.h"
#include "notify.h"
#include "session.h"
#include "spec/circuits/circuits.h"
#include "verbs.h"
#include "workload/host_ip.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_HOSTS = 1024 }; /* the kernel takes 1 ms to make a namespace, one after another */

struct up_options {
    struct hx_overrides overrides;
    uint64_t workers, mtu;
    const char *name;
    const char *log;
    const char *circuits; /* file of a plan; NULL: that of the fabric's file, if any */
    bool foreground;
    struct hx_common common;
};

/* What begun() needs, and prints. */
struct made {
    struct background background;
    struct log log; /* path empty: none */
    const char *name;
    const struct up_options *o;
    char title[128];
    char first[HX_NAME_BYTES], last[HX_NAME_BYTES];
    unsigned hosts;
    uint32_t ip[2];
};

static void describe(struct made *m, const struct hx_spec *spec, const struct hx_fabric *g)
{
    uint32_t last = 0;
    (void)hx_text_copy(m->title, sizeof m->title, spec->name);
    for (uint32_t host = 0; host < g->hosts; host++) {
        if (hx_spec_board_failed(spec, hx_spec_board_of(spec, host)))
            continue;
        if (m->hosts++ == 0) {
            (void)host_place(m->first, g, host);
            m->ip[0] = host_ip(g, host);
        }
        last = host;
    }
    (void)host_place(m->last, g, last);
    m->ip[1] = host_ip(g, last);
}

static void print_ip(uint32_t ip)
{
    printf("%u.%u.%u.%u", ip >> 24, ip >> 16 & 0xff, ip >> 8 & 0xff, ip & 0xff);
}

/* Returns whether it could be written: without the fabric's name a user cannot end it. */
static bool print(const struct made *m)
{
    if (m->o->common.quiet)
        return true;
    printf("%s is up: %u host%s, %s to %s, at ", m->name, m->hosts, hx_plural(m->hosts), m->first, m->last);
    print_ip(m->ip[0]);
    printf(" to ");
    print_ip(m->ip[1]);
    printf(", MTU %llu\n", (unsigned long long)m->o->mtu);
    printf("  hxmesh exec --name %s %s -- ping -c 3 %s     a program on a host\n"
           "  hxmesh top %s                               what it does to the fabric\n"
           "  hxmesh down %s                              ends it\n",
           m->name, m->first, m->last, m->name, m->name);
    if (m->log.path[0])
        printf("  its log: %s\n", m->log.path);
    return fflush(stdout) == 0 && !ferror(stdout);
}

static void begun(void *of)
{
    struct made *m = of;
    if (m->o->foreground && !print(m))
        (void)kill(getpid(), SIGTERM);
    background_ready(&m->background);
    notify("READY=1");
    if (m->background.is_child)
        (void)fprintf(stderr, "hxmesh: %s is up: %s, process %ld\n", m->name, m->title, (long)getpid());
}

/* Opens the log. Without --name only on request: each process number would leave a file. A name with '/' is refused
 * later. */
static void open_log(struct made *m)
{
    struct hx_problem problem;
    char place[PATH_MAX];
    m->log = (struct log){.fd = -1};
    if (m->o->foreground && m->o->log)
        hx_die(HX_EXIT_USAGE, "--log", "is for the background (with --foreground: 2>FILE, or the journal)");
    if (m->o->log) {
        if (!log_open(&m->log, m->o->log, &problem))
            hx_die_of(&problem);
    } else if (m->o->name && !m->o->foreground && !strchr(m->o->name, '/') &&
               (!log_place(place, m->name, &problem) || !log_open(&m->log, place, &problem))) {
        hx_warn(problem.where, "%s (it goes on without a log; --log FILE names another place)", problem.what);
        m->log = (struct log){.fd = -1};
    }
}

/* Runs the fabric, as its supervisor. Frees *plan. */
static int serve(struct made *m, struct hx_spec *spec, struct hx_faults *plan)
{
    const struct up_options *o = m->o;
    struct session s;
    session_open(&s, spec,
                 &(struct fab_options){.workers = (unsigned)o->workers, .name = m->name, .quiet = o->common.quiet});
    session_schedule(&s, plan);
    session_run_packets(&s, (unsigned)o->mtu, true, begun, m);
    int code = session_exit_code(&s);
    session_close(&s);
    if (m->background.is_child)
        (void)fprintf(stderr, "hxmesh: %s is down, with code %d\n", m->name, code);
    background_leave(&m->background);
    return code;
}

/* `hxmesh fault` may cut links at any time, so routes are searched from the start where rerouting needs it. Where hosts
 * forward, a fabric keeps its own routes. */
static void prepare_for_faults(struct hx_spec *spec)
{
    struct hx_problem none;
    if (hx_spec_fabric(spec)->mesh.nodes)
        hx_spec_add_escape_vc(spec);
    else if (!hx_hosts_forward(hx_spec_fabric(spec)))
        (void)hx_spec_search_updown(spec, &none);
}

/* Reads the plan of circuits, and searches routes for all its states. */
static struct hx_faults plan_of(struct hx_spec *spec, const char *circuits)
{
    struct hx_faults plan = {.count = 0};
    struct hx_problem problem;
    bool is_mesh = hx_spec_fabric(spec)->mesh.nodes != 0; /* has no circuits, which the reader says */
    if ((!is_mesh && !hx_spec_search_updown(spec, &problem)) ||
        !hx_circuits_read(&plan, circuits, hx_spec_fabric(spec), &problem) ||
        !hx_circuits_order(spec->graph, &plan, &problem))
        hx_die_of(&problem);
    return plan;
}

static int up(const struct up_options *o, const char *argument)
{
    struct hx_spec spec;
    struct hx_faults plan = {.count = 0};
    hx_spec_load(argument, &o->overrides, &spec);
    const char *circuits = o->circuits ? o->circuits : spec.faults.circuits;
    if (circuits)
        plan = plan_of(&spec, circuits);
    else
        prepare_for_faults(&spec);
    const struct hx_fabric *g = hx_spec_fabric(&spec);
    hx_spec_refuse_external(&spec, "hxmesh up");
    if (g->hosts > MOST_HOSTS)
        hx_die(HX_EXIT_CONFIG, spec.source, "has %u hosts, programs can be on %d (choose a smaller fabric)",
               (unsigned)g->hosts, MOST_HOSTS);
    char by_process[32];
    (void)snprintf(by_process, sizeof by_process, "%ld", (long)getpid());
    struct made m = {.name = o->name ? o->name : by_process, .o = o};
    describe(&m, &spec, g);
    open_log(&m);
    if (o->foreground || background_fork(&m.background, &m.log))
        return serve(&m, &spec, &plan);
    if (!print(&m))
        background_end(&m.background);
    hx_faults_free(&plan);
    hx_spec_free(&spec);
    return HX_EXIT_DONE;
}

int verb_up(int argc, char **argv)
{
    struct up_options o = {.mtu = PACKETS_MTU};
    const struct hx_option options[] = {
        HX_OVERRIDE_OPTIONS(&o.overrides),
        HX_CREDIT_OPTION(&o.overrides),
        HX_WORKERS_OPTION(&o.workers),
        {HX_STRING("name", "NAME", &o.name, "of the fabric, for exec, down, top, fault and capture"),
         .otherwise = "the process number"},
        {HX_NUMBER(
             "mtu", &o.mtu, PACKETS_LEAST_MTU, PACKETS_MOST_MTU,
             "longest IP packet of the hosts' interfaces; the fabric carries 8,192 B in one packet of its own, and "
             "longer ones in several"),
         .argument = "BYTES"},
        {HX_STRING("circuits", "FILE", &o.circuits,
                   "a plan of circuits, links that open and close at their times from the start (docs/faults.md)"),
         .otherwise = "links do not change"},
        {HX_STRING("log", "FILE", &o.log, "what it says while it is up; at 1 MiB it becomes FILE.1 and begins anew"),
         .otherwise = "~/.local/state/hxmesh/NAME.log; without --name none"},
        {HX_FLAG("foreground", &o.foreground, "do not return; Ctrl-C ends the fabric")},
        HX_OPTIONS_END};
    const struct hx_command command = {
        HX_PROGRAM("hxmesh up", "hxmesh-exec hxmesh-down hxmesh-top hxmesh-fault hxmesh-capture"),
        .examples = {{"hxmesh up \"2x2 Hx2Mesh\" --name lab", "16 hosts, each with an interface hx0"},
                     {"hxmesh up \"fat-tree hosts=16 radix=8\" --name tree", "the same programs, another fabric"},
                     {"hxmesh exec --name lab a0,0 -- ping a3,3", "a program on a host"},
                     {"hxmesh down --name lab", "ends it, and what runs on it"}},
        .failed = "the fabric ended by itself",
        HX_OPERANDS("SPEC|FILE", 1, 1),
        .summary =
            "Keeps a live fabric running in the background, for programs that know nothing of it: each host is a "
            "network namespace with an interface hx0. No root is needed.",
        .details = "IP packets between hosts go as messages of the endpoint firmware: sprayed, nothing lost, in order. "
                   "A host at "
                   "HI,LO has the address 10.HI.LO.1 and the names a0,1, a0-1 and h1 (by number). It returns when the "
                   "fabric is "
                   "ready. With --foreground the exit code is 130 after Ctrl-C.",
        .no_json = true,
        .options = options};
    int first = hx_options_parse(&command, argc, argv, &o.common);
    return up(&o, argv[first]);
}
