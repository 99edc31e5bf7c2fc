/* mpirun.c - `hxmesh run --mpi` (mpirun.h).
 *
 * mpirun has a session of its own: Ctrl-C does not reach it, and ssh cannot ask for a password. It passes SIGUSR1 on to
 * the ranks, which end with a report; SIGTERM makes it end them at once. --quiet silences it. Its standard error has
 * the ranks' lines, which pass, and those of others, such as ssh: they explain why ranks did not start. */
#include "mpirun.h"
#include "base/arguments.h"
#include "base/beside.h"
#include "base/clock.h"
#include "base/color.h"
#include "base/error.h"
#include "base/processor.h"
#include "base/signals.h"
#include "hostfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    TICK_MS = 50,
    SIGNALLED = 128, /* exit code of mpirun, and the signal that ended a rank */
    LONGEST_LINE = 4096,
    HELD = 16 << 10
};
#define KILL_NS UINT64_C(5000000000) /* for mpirun to end, after SIGTERM */

/* A variable of the environment that asks rank 0 for the line. */
static const char asks[] = "HXMESH_TELL_BEGUN";
static const char error[] = "hxmesh: error: ";
static const char begun[] = "hxmesh: begun";

void mpirun_tell_begun(unsigned self)
{
    if (self == 0 && getenv(asks))
        fprintf(stderr, "%s\n", begun);
}

struct started {
    pid_t pid;
    int errors; /* its standard error */
    int status; /* its exit code; -1: it runs */
    struct hx_requests requests;
    bool begun;              /* all ranks have joined */
    bool complains;          /* a rank does */
    bool interrupted, asked; /* by the user; then, by SIGUSR1 */
    uint64_t ended_ns;       /* when it got SIGTERM; 0: never */
    char line[LONGEST_LINE];
    size_t used;
    char held[HELD]; /* lines that are not the ranks' */
    size_t holds;
};

/* ---- the command ---- */

static void check_slots(const struct run_options *o, const struct hostfile *h)
{
    if (o->ranks.count <= h->slots || o->share_cores)
        return;
    if (o->ranks.hostfile)
        hx_die(HX_EXIT_USAGE, "--mpi",
               "%" PRIu64 " are too many for %s, slots: %" PRIu64 " (HOST slots=N, or --share-cores)", o->ranks.count,
               o->ranks.hostfile, h->slots);
    hx_die(HX_EXIT_USAGE, "--mpi",
           "%" PRIu64 " are too many for this machine, cores: %" PRIu64 " (--hostfile for others, or --share-cores)",
           o->ranks.count, h->slots);
}

static struct hostfile machines_of(const struct run_options *o)
{
    static const char here[] = "localhost";
    struct hx_problem problem;
    struct hostfile h = {.slots = hx_processor_cores()};
    if (o->ranks.hostfile && !hostfile_read(&h, o->ranks.hostfile, &problem))
        hx_die_of(&problem);
    if (!o->ranks.hostfile && asprintf(&h.hosts, "%s:%" PRIu64, here, h.slots) < 0)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "no memory for a list of machines");
    check_slots(o, &h);
    return h;
}

static void add_program(struct hx_arguments *a, char **given)
{
    static const char name[] = "hxmesh-virtual-mpi";
    char path[PATH_MAX];
    if (!beside_path(name, path, sizeof path) || access(path, X_OK) != 0)
        hx_die(HX_EXIT_ENVIRONMENT, name, "%s", RUN_NO_VIRTUAL_MPI);
    hx_arguments_add(a, "%s", path);
    for (char **word = given + 1; *word; word++)
        hx_arguments_add(a, "%s", *word);
}

static void set_variable(struct hx_arguments *a, const char *name)
{
    (void)setenv(name, "1", true);
    hx_arguments_add(a, "-x");
    hx_arguments_add(a, "%s", name);
}

/* Ranks are placed machine by machine, in their order: neighbouring parts then share a machine. */
static struct hx_arguments command_of(const struct run_options *o, char **given)
{
    struct hx_arguments a = {.count = 0};
    struct hostfile h = machines_of(o);
    const bool shares = o->ranks.count > h.slots;
    const char *const fixed[] = {"mpirun", "--allow-run-as-root", "--quiet", "--map-by", "slot", "--bind-to"};
    for (unsigned i = 0; i < sizeof fixed / sizeof *fixed; i++)
        hx_arguments_add(&a, "%s", fixed[i]);
    hx_arguments_add(&a, shares ? "none" : "core:overload-allowed");
    if (shares)
        hx_arguments_add(&a, "--oversubscribe");
    hx_arguments_add(&a, "--host");
    hx_arguments_add(&a, "%s", h.hosts);
    hx_arguments_add(&a, "-n");
    hx_arguments_add(&a, "%" PRIu64, o->ranks.count);
    set_variable(&a, asks);
    if (!hx_color_on(stdout))
        set_variable(&a, "NO_COLOR"); /* ranks write to a terminal of mpirun's */
    add_program(&a, given);
    free(h.hosts);
    return a;
}

/* ---- start ---- */

_Noreturn static void become(char **command, pid_t parent, int errors)
{
    sigset_t none;
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    (void)setsid();
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(HX_EXIT_ENVIRONMENT);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)dup2(nothing, STDIN_FILENO);
    (void)dup2(errors, STDERR_FILENO);
    (void)execvp(command[0], command);
    if (errno == ENOENT)
        hx_complain(command[0], "is not installed: --mpi needs Open MPI (package openmpi-bin)");
    else
        hx_complain(command[0], "cannot be run: %s", strerror(errno));
    _exit(HX_EXIT_ENVIRONMENT);
}

static struct started *start(char **command)
{
    struct started *m = hx_allocate(1, sizeof *m);
    pid_t parent = getpid();
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        hx_die(HX_EXIT_ENVIRONMENT, "pipe", "%s", strerror(errno));
    m->pid = fork();
    if (m->pid < 0)
        hx_die(HX_EXIT_ENVIRONMENT, "fork", "%s", strerror(errno));
    if (m->pid == 0)
        become(command, parent, ends[1]);
    (void)close(ends[1]);
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    m->errors = ends[0];
    m->status = -1;
    return m;
}

/* ---- what it says ---- */

/* Whether a rank wrote the line: an error, a warning, or its progress. */
static bool is_of_a_rank(const char *line)
{
    static const char *const begins[] = {"hxmesh: ", "run: "};
    bool is = false;
    for (unsigned i = 0; i < sizeof begins / sizeof *begins; i++)
        is = is || strncmp(line, begins[i], strlen(begins[i])) == 0;
    return is;
}

static void pass(struct started *m)
{
    m->complains = m->complains || strncmp(m->line, error, strlen(error)) == 0;
    fprintf(stderr, "%s\n", m->line);
}

static void take_line(struct started *m)
{
    while (m->used > 0 && m->line[m->used - 1] == '\r') /* ssh ends lines so */
        m->used--;
    m->line[m->used] = '\0';
    if (strcmp(m->line, begun) == 0)
        m->begun = true;
    else if (is_of_a_rank(m->line))
        pass(m);
    else if (m->holds + m->used + 2 < sizeof m->held)
        m->holds += (size_t)sprintf(m->held + m->holds, "%s\n", m->line);
    m->used = 0;
}

static void read_errors(struct started *m)
{
    char part[LONGEST_LINE];
    ssize_t got;
    while ((got = read(m->errors, part, sizeof part)) > 0) {
        for (ssize_t i = 0; i < got; i++) {
            if (part[i] != '\n')
                m->line[m->used++] = part[i];
            if (part[i] == '\n' || m->used + 1 == sizeof m->line)
                take_line(m);
        }
    }
}

/* ---- its end ---- */

static void end_ranks(struct started *m, uint64_t now)
{
    (void)kill(m->pid, SIGTERM);
    m->ended_ns = now;
}

/* The first request makes ranks report, if they have begun. */
static void take_request(struct started *m, uint64_t now)
{
    enum hx_request request = hx_signals_request(&m->requests, now);
    m->interrupted = true;
    if (m->ended_ns || request == HX_REQUEST_SAME)
        return;
    m->asked = m->asked || m->begun;
    if (request == HX_REQUEST_FIRST && m->asked)
        (void)kill(m->pid, SIGUSR1);
    else
        end_ranks(m, now);
}

static void take_requests(struct started *m)
{
    const sigset_t set = hx_signals_ending();
    const struct timespec at_once = {0};
    uint64_t now = hx_monotonic_ns();
    while (sigtimedwait(&set, NULL, &at_once) > 0)
        take_request(m, now);
    if (m->ended_ns && now > m->ended_ns + KILL_NS)
        (void)kill(-m->pid, SIGKILL);
}

static void await_end(struct started *m)
{
    while (m->status < 0) {
        int status;
        struct pollfd errors = {.fd = m->errors, .events = POLLIN};
        (void)poll(&errors, 1, TICK_MS);
        if (errors.revents & POLLHUP)
            (void)poll(NULL, 0, TICK_MS);
        take_requests(m);
        if (waitpid(m->pid, &status, WNOHANG) == m->pid)
            m->status = WIFEXITED(status) ? WEXITSTATUS(status) : SIGNALLED + WTERMSIG(status);
        read_errors(m);
    }
    if (m->used)
        take_line(m);
}

/* Whether the ranks ended by themselves: either time ran, or they said why not. */
static bool ended_by_itself(const struct started *m)
{
    bool is_ours = false;
    for (const struct hx_exit_meaning *e = hx_exit_meanings; e->meaning; e++)
        is_ours = is_ours || e->code == m->status;
    return is_ours && !m->ended_ns && (m->begun || m->complains);
}

static int explain(struct started *m)
{
    m->held[m->holds ? strcspn(m->held, "\n") : 0] = '\0';
    if (m->interrupted) {
        hx_complain("hxmesh run", "interrupted %s: no report",
                    m->asked ? "again before all ranks had reported" : "before time ran");
        return HX_EXIT_INTERRUPTED;
    }
    if (m->status == SIGNALLED + SIGKILL || m->status == SIGNALLED + SIGTERM) {
        hx_complain("mpirun", "a rank, or mpirun, was killed by signal %d: simulated time cannot go on without it",
                    m->status - SIGNALLED);
        return HX_EXIT_FAILED;
    }
    hx_complain("mpirun", "cannot run a rank on each machine, code %d: %s", m->status,
                m->held[0]
                    ? m->held
                    : "each needs Open MPI, the same hxmesh and this folder (`mpirun` without --quiet says more)");
    return HX_EXIT_ENVIRONMENT;
}

int mpirun_run(const struct run_options *o, char **argv)
{
    struct hx_arguments command = command_of(o, argv);
    struct started *m = start(command.item);
    await_end(m);
    int code = m->status;
    if (!ended_by_itself(m))
        code = explain(m);
    else if (m->holds)
        fputs(m->held, stderr);
    (void)close(m->errors);
    hx_arguments_free(&command);
    free(m);
    return code;
}
