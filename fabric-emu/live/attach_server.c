/* attach_server.c - answers requests at the attach socket (attach_server.h). */
#include "attach_server.h"
#include "base/arena.h"
#include "hal/wire/named.h"
#include "hal/wire/passing.h"
#include "host_names.h"
#include "program/attach_socket.h"
#include "topology/metrics.h"
#include "workload/endpoint.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MOST_ANSWERS = 64, /* of one child; limits descriptors that it holds */
    MOST_MS = 1000     /* of a child; a request takes microseconds */
};

/* ---- life ---- */

/* The name for shm_open(). */
static const char *object_of(const struct sockaddr_un *name)
{
    return name->sun_path + strlen(ATTACH_SOCKET_FOLDER);
}

bool attach_server_open(struct attach_server *p, const char *fabric, struct hx_problem *problem)
{
    *p = (struct attach_server){.attach_socket = -1};
    if (!attach_socket_name(&p->name, fabric))
        return hx_fail(problem, HX_EXIT_USAGE, fabric, "is too long a name for a fabric with programs (at most %zu B)",
                       sizeof p->name.sun_path - sizeof ATTACH_SOCKET_FOLDER
                           "/" ATTACH_SOCKET_PREFIX ATTACH_SOCKET_SUFFIX);
    p->attach_socket = named_open(SOCK_DGRAM, &p->name);
    if (p->attach_socket < 0)
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, p->name.sun_path,
                       "cannot be made, programs ask for hosts there: %s", strerror(-p->attach_socket));
    shm_remove_at_exit(object_of(&p->name));
    return true;
}

void attach_server_close(struct attach_server *p)
{
    if (p->attach_socket < 0)
        return;
    if (p->child) {
        (void)kill(p->child, SIGKILL);
        (void)waitpid(p->child, NULL, 0);
        p->child = 0;
    }
    shm_remove(object_of(&p->name));
    (void)close(p->attach_socket);
    p->attach_socket = -1;
}

bool attach_server_has_socket(const char *fabric)
{
    struct sockaddr_un name;
    return attach_socket_name(&name, fabric) && named_file(name.sun_path);
}

bool attach_server_remove_dead(const char *fabric)
{
    struct sockaddr_un name;
    return attach_socket_name(&name, fabric) && named_remove_left(SOCK_DGRAM, &name);
}

/* ---- answering ---- */

/* Parses a host: "3", or any name of a host. Returns HX_NOWHERE: unknown. */
static uint32_t host_called(const struct hx_fabric *g, const char *name)
{
    struct hx_problem problem;
    char *end;
    uint32_t host;
    unsigned long number = strtoul(name, &end, 10);
    if (*name >= '0' && *name <= '9' && !*end)
        return number < g->hosts ? (uint32_t)number : HX_NOWHERE;
    return host_parse(name, g, &host, &problem) ? host : HX_NOWHERE;
}

/* Opens the attachment that a program asks for, and sets *wakeup_fd. Returns a descriptor or -errno. */
static int fetch(const struct programs *programs, const struct attach_request *q, int *wakeup_fd)
{
    char name[ATTACH_SOCKET_HOST_BYTES];
    if (q->version != ATTACHMENT_VERSION)
        return -EPROTO;
    (void)snprintf(name, sizeof name, "%.*s", (int)sizeof q->host - 1, q->host);
    uint32_t host = host_called(programs->g, name);
    if (host == HX_NOWHERE || !programs->at[host].head)
        return -ENOENT;
    programs_describe(programs, host);
    *wakeup_fd = programs->at[host].wakeup_fd;
    return attachment_open_anew(&programs->at[host]);
}

/* Sends the reply. A program that does not read gets none. */
static void answer(const struct programs *programs, const struct attach_request *q, int to)
{
    int wakeup_fd = -1;
    int fd = fetch(programs, q, &wakeup_fd);
    const struct attach_reply a = {
        .magic = ATTACH_SOCKET_MAGIC, .version = ATTACHMENT_VERSION, .error = fd < 0 ? fd : 0};
    (void)passing_send(to, &a, sizeof a, fd < 0 ? -1 : fd, MSG_DONTWAIT);
    if (fd < 0)
        return;
    (void)passing_send(to, &a, sizeof a, wakeup_fd, MSG_DONTWAIT);
    (void)close(fd);
}

/* Descriptors that come with requests stay open until this process ends. */
static _Noreturn void answer_all(const struct attach_server *p, const struct programs *programs)
{
    for (unsigned n = 0; n < MOST_ANSWERS; n++) {
        struct attach_request q;
        int to;
        ssize_t bytes = passing_receive(p->attach_socket, &q, sizeof q, &to, MSG_DONTWAIT);
        if (bytes < 0 && errno != EPROTO)
            break;
        if (bytes == (ssize_t)sizeof q && q.magic == ATTACH_SOCKET_MAGIC && to >= 0)
            answer(programs, &q, to);
    }
    _exit(HX_EXIT_DONE);
}

static bool is_asked(const struct attach_server *p)
{
    struct pollfd attach_socket = {.fd = p->attach_socket, .events = POLLIN};
    return poll(&attach_socket, 1, 0) == 1;
}

int attach_server_poll_fd(const struct attach_server *p)
{
    return p->child ? -1 : p->attach_socket;
}

void attach_server_answer(struct attach_server *p, const struct programs *programs)
{
    pid_t supervisor = getpid();
    uint64_t now = hx_metrics_now();
    if (p->child && now >= p->kill_at)
        (void)kill(p->child, SIGKILL);
    if (p->child || !is_asked(p))
        return;
    pid_t child = fork();
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == supervisor)
            answer_all(p, programs);
        _exit(HX_EXIT_ENVIRONMENT); /* the supervisor died before prctl() */
    }
    p->child = child > 0 ? child : 0; /* fork failed: requests wait for the next call */
    p->kill_at = now + MOST_MS * NS_PER_MS;
}

bool attach_server_ended(struct attach_server *p, pid_t pid)
{
    if (!p->child || p->child != pid)
        return false;
    p->child = 0;
    return true;
}

/* ---- leftovers ---- */

struct cleaning {
    void (*found)(const char *name, bool removed, size_t bytes);
    int removed;
};

static void clean_one(const char *name, void *of)
{
    struct cleaning *c = of;
    char file[256];
    char fabric[256];
    (void)snprintf(file, sizeof file, ATTACH_SOCKET_PREFIX "%s", name);
    size_t length = attach_socket_fabric(file);
    (void)snprintf(fabric, sizeof fabric, "%.*s", (int)length, name);
    struct sockaddr_un at;
    if (!length || !attach_socket_name(&at, fabric) || !named_file(at.sun_path))
        return;
    struct stat is;
    if (lstat(at.sun_path, &is) != 0 || is.st_uid != geteuid()) /* another user's stays */
        return;
    bool removed = named_remove_left(SOCK_DGRAM, &at);
    c->removed += removed;
    c->found(file, removed, 0);
}

int attach_server_clean(void (*found)(const char *name, bool removed, size_t bytes))
{
    struct cleaning c = {.found = found};
    (void)shm_arena_each(clean_one, &c);
    return c.removed;
}
