/* netns_holder.c - holds namespaces (netns_holder.h). */
#include "netns_holder.h"
#include "attach_server.h"
#include "base/error.h"
#include "descriptors.h"
#include "hal/wire/passing.h"
#include "host_names.h"
#include "netns.h"
#include "workload/host_ip.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LINE = 3,        /* the holder's end of the socket */
    ASKED_MS = 1000, /* between SIGTERM and SIGKILL */
    LOOK_MS = 20,    /* between checks for processes */
    MOST_LOOKS = 500 /* after SIGKILL: a program may fork faster than it is killed */
};

/* Message on the socket: to the supervisor an interface (with its descriptor), a problem, or MADE; to the holder
 * END. */
enum kind { INTERFACE, PROBLEM, MADE, END };
struct message {
    enum kind kind;
    uint32_t host;
    struct hx_problem problem;
};

/* ---- socket ---- */

/* fd -1: no descriptor to pass. */
static bool send_message(int line, const struct message *message, int fd)
{
    return passing_send(line, message, sizeof *message, fd, 0);
}

/* Receives a message; *fd -1: without a descriptor. Returns false: the other end is gone. */
static bool receive_message(int line, struct message *message, int *fd)
{
    return passing_receive(line, message, sizeof *message, fd, 0) == (ssize_t)sizeof *message;
}

/* ---- holder ---- */

static bool *hosts_that_run(const struct fab_fabric *f)
{
    bool *runs = hx_allocate(f->g->hosts, sizeof *runs);
    for (uint32_t host = 0; host < f->g->hosts; host++)
        runs[host] = !f->layout.dead[host];
    return runs;
}

/* The file of names has a path only until it is mounted. */
static bool make_fabric(const struct fab_fabric *f, const bool *runs, struct hx_problem *problem)
{
    char path[] = "/dev/shm/" SHM_PREFIX "names-XXXXXX";
    int fd = mkstemp(path);
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    bool written = out && fchmod(fd, 0644) == 0 && host_names_write(out, f->g, runs);
    bool made = written ? netns_make(path, problem)
                        : hx_fail(problem, HX_EXIT_ENVIRONMENT, path, "cannot be written: %s", strerror(errno));
    if (out)
        (void)fclose(out);
    if (fd >= 0)
        (void)unlink(path);
    return made;
}

static bool make_host(const struct fab_fabric *f, uint32_t number, unsigned mtu, struct hx_problem *problem)
{
    char name[HX_NAME_BYTES];
    const struct netns_host host = {
        .number = number,
        .name = host_own_name(name, f->g, number),
        .ip = host_ip(f->g, number),
        .prefix = HOST_IP_PREFIX,
        .ip6 = {host_ip6(f->g, number, HOST_IP6_FABRIC), host_ip6(f->g, number, HOST_IP6_LINK)},
        .prefix6 = HOST_IP6_PREFIX,
        .mtu = mtu};
    int fd = netns_make_host(&host, problem);
    if (fd < 0)
        return false;
    const struct message message = {.kind = INTERFACE, .host = number};
    bool sent = send_message(LINE, &message, fd);
    (void)close(fd);
    return sent || hx_fail(problem, HX_EXIT_ENVIRONMENT, NULL, "the supervisor is gone");
}

static bool make_all(const struct fab_fabric *f, unsigned mtu, struct hx_problem *problem)
{
    bool *runs = hosts_that_run(f);
    bool good = make_fabric(f, runs, problem);
    for (uint32_t host = 0; good && host < f->g->hosts; host++)
        good = !runs[host] || make_host(f, host, mtu, problem);
    free(runs);
    return good;
}

/* Closes all that is the supervisor's: its lock on the shared memory, the terminal. */
static void close_inherited(struct fab_fabric *f, int line)
{
    shm_arena_close(&f->arena, false);
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        (void)dup2(nothing, fd);
    (void)dup3(line, LINE, O_CLOEXEC);
    (void)close_range(LINE + 1, ~0U, 0);
}

static void end_programs(uint32_t hosts, bool at_once)
{
    for (int waited = 0; !at_once && waited < ASKED_MS; waited += LOOK_MS) {
        if (netns_signal(hosts, waited ? 0 : SIGTERM) == 0)
            return;
        (void)poll(NULL, 0, LOOK_MS);
    }
    for (unsigned looks = 0; looks < MOST_LOOKS && netns_signal(hosts, SIGKILL) > 0; looks++)
        (void)poll(NULL, 0, LOOK_MS);
}

/* Removes what the dead supervisor left. Its workers hold the attach socket open until they have died, too. */
static void remove_left(const struct fab_fabric *f)
{
    const char *name = shm_arena_name(&f->arena);
    (void)shm_arena_remove_dead(&f->arena);
    for (unsigned looks = 0; looks < MOST_LOOKS && attach_server_has_socket(name) && !attach_server_remove_dead(name);
         looks++)
        (void)poll(NULL, 0, LOOK_MS);
}

static _Noreturn void hold(struct fab_fabric *f, unsigned mtu, int line)
{
    struct message message = {.kind = PROBLEM};
    int fd;
    (void)prctl(PR_SET_NAME, "hxmesh-hosts");
    (void)setsid(); /* keeps Ctrl-C away, which is for the supervisor */
    close_inherited(f, line);
    bool made = make_all(f, mtu, &message.problem);
    message.kind = made ? MADE : PROBLEM;
    bool sent = send_message(LINE, &message, -1);
    bool requested = made && sent && receive_message(LINE, &message, &fd);
    end_programs(f->g->hosts, !requested);
    if (!requested)
        remove_left(f);
    _exit(HX_EXIT_DONE);
}

/* ---- supervisor ---- */

static bool take_interfaces(struct netns_holder *h, struct hx_problem *problem)
{
    struct message message;
    int fd;
    while (receive_message(h->line, &message, &fd)) {
        if (message.kind == MADE)
            return true;
        if (message.kind == PROBLEM) {
            *problem = message.problem;
            return false;
        }
        if (fd < 0)
            return hx_fail(problem, HX_EXIT_ENVIRONMENT, NETNS_INTERFACE,
                           "cannot be handed over: there are too many descriptors%s", descriptors_advice(EMFILE));
        h->tun[message.host] = fd;
    }
    return hx_fail(problem, HX_EXIT_ENVIRONMENT, NULL, "the process that holds the hosts' namespaces died");
}

bool netns_holder_start(struct netns_holder *h, const struct fab_fabric *f, unsigned mtu, struct hx_problem *problem)
{
    int line[2];
    *h = (struct netns_holder){.line = -1, .hosts = f->g->hosts, .tun = hx_allocate(f->g->hosts, sizeof *h->tun)};
    for (uint32_t host = 0; host < h->hosts; host++)
        h->tun[host] = -1;
    descriptors_allow(); /* in the holder two a host, with attachments more here and in workers */
    bool paired = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, line) == 0;
    pid_t pid = paired ? fork() : -1;
    if (pid == 0) {
        struct fab_fabric own = *f;
        hold(&own, mtu, line[1]);
    }
    if (paired)
        (void)close(line[1]);
    h->line = paired ? line[0] : -1;
    if (pid < 0) {
        (void)hx_fail(problem, HX_EXIT_ENVIRONMENT, NULL, "no process can be started: %s", strerror(errno));
        netns_holder_stop(h);
        return false;
    }
    h->pid = pid;
    if (take_interfaces(h, problem))
        return true;
    (void)close(h->line); /* the holder may block in a send that is never read */
    h->line = -1;
    netns_holder_stop(h);
    return false;
}

void netns_holder_stop(struct netns_holder *h)
{
    const struct message end = {.kind = END};
    if (h->pid) {
        if (h->line >= 0)
            (void)send_message(h->line, &end, -1);
        (void)waitpid(h->pid, NULL, 0);
    }
    for (uint32_t host = 0; h->tun && host < h->hosts; host++) {
        if (h->tun[host] >= 0)
            (void)close(h->tun[host]);
    }
    if (h->line >= 0)
        (void)close(h->line);
    free(h->tun);
    *h = (struct netns_holder){.line = -1};
}
