/* machine.c - QEMU, its console, its end (machine.h). */
#include "machine.h"
#include "base/arguments.h"
#include "base/beside.h"
#include "base/error.h"
#include "base/signals.h"
#include "workload/endpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define QEMU  "qemu-system-riscv64"
#define IMAGE "hx-node-riscv64.elf"

/* Load address of the configuration text, as in hal/riscv-virt/link.ld, and memory that includes it. */
#define TEXT_ADDRESS "0x86000000"
#define MEMORY       "100M"

enum {
    STOP_MS = 2000,
    MOST_READS = 16, /* of the console at once: bounds the time of a call */
    MOST_LINES = 100 /* shown of one run */
};

void machine_open(struct machine *m, const struct fab_fabric *f, unsigned external)
{
    const struct hx_external *e = &f->spec.external[external];
    *m = (struct machine){.external = external,
                          .rank = hx_host_at(f->g, e->addr_hi, e->addr_lo),
                          .harts = e->harts,
                          .to = -1,
                          .from = -1};
    (void)hx_node_name(m->name, f->g, e->plane, m->rank);
    for (unsigned port = 0; port < HX_CABLE_PORTS; port++)
        m->cable[port] = -1;
}

/* ---- starting ---- */

/* Writes QEMU's arguments: only the named devices. Slots of network devices are ports E W N S (nodes/bare/node.h). */
static void describe(struct hx_arguments *a, const struct machine *m, const char *image, int text)
{
    hx_arguments_add(a, "%s", QEMU);
    static const char *const fixed[] = {"-M",   "virt",     "-m",    MEMORY,        "-bios",
                                        "none", "-display", "none",  "-nodefaults", "-monitor",
                                        "none", "-serial",  "stdio", "-global",     "virtio-mmio.force-legacy=false"};
    for (unsigned i = 0; i < sizeof fixed / sizeof *fixed; i++)
        hx_arguments_add(a, "%s", fixed[i]);
    hx_arguments_add(a, "-smp");
    hx_arguments_add(a, "%u", m->harts);
    hx_arguments_add(a, "-name");
    hx_arguments_add(a, "hxmesh-image");
    hx_arguments_add(a, "-kernel");
    hx_arguments_add(a, "%s", image);
    hx_arguments_add(a, "-device");
    hx_arguments_add(a, "loader,addr=" TEXT_ADDRESS ",force-raw=on,file=/proc/self/fd/%d", text);
    for (unsigned port = 0; port < HX_CABLE_PORTS; port++) {
        if (m->cable[port] < 0)
            continue;
        hx_arguments_add(a, "-netdev");
        hx_arguments_add(a, "dgram,id=cable%u,local.type=fd,local.str=%d", port, m->cable[port]);
        hx_arguments_add(a, "-device");
        hx_arguments_add(a, "virtio-net-device,netdev=cable%u,bus=virtio-mmio-bus.%u", port, port);
    }
}

/* Puts the configuration into an anonymous file. Returns a descriptor or -errno. */
static int text_file(const char *text)
{
    size_t bytes = strlen(text);
    int fd = memfd_create("hxmesh-node", MFD_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t written = write(fd, text, bytes);
    if (written == (ssize_t)bytes)
        return fd;
    int error = written < 0 ? errno : ENOSPC;
    (void)close(fd);
    return -error;
}

static void keep_open(int fd)
{
    (void)fcntl(fd, F_SETFD, 0);
}

/* Becomes QEMU, or writes the error to `failed`. Its own process group keeps signals of the terminal away. */
_Noreturn static void become_qemu(const struct machine *m, struct hx_arguments *a, const int in[2], const int out[2],
                                  int text, int failed, pid_t supervisor)
{
    sigset_t set = hx_signals_ending();
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)setpgid(0, 0);
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
    (void)dup2(in[0], STDIN_FILENO);
    (void)dup2(out[1], STDOUT_FILENO);
    (void)dup2(out[1], STDERR_FILENO);
    for (unsigned port = 0; port < HX_CABLE_PORTS; port++)
        keep_open(m->cable[port]); /* -1: fcntl() does nothing */
    keep_open(text);
    if (getppid() == supervisor)
        (void)execvp(a->item[0], a->item);
    int error = errno;
    (void)!write(failed, &error, sizeof error);
    _exit(HX_EXIT_ENVIRONMENT);
}

/* Opens all pipes or none. Returns 0 or an errno. */
static int open_pipes(int ends[][2], unsigned count)
{
    for (unsigned n = 0; n < count; n++) {
        if (pipe2(ends[n], O_CLOEXEC) == 0)
            continue;
        int error = errno;
        while (n-- > 0) {
            (void)close(ends[n][0]);
            (void)close(ends[n][1]);
        }
        return error;
    }
    return 0;
}

/* Returns 0 or an errno. */
static int spawn(struct machine *m, struct hx_arguments *a, int text)
{
    enum { IN, OUT, FAILED, PIPES };
    int pipes[PIPES][2];
    int error = open_pipes(pipes, PIPES);
    if (error)
        return error;
    pid_t supervisor = getpid();
    m->pid = fork();
    if (m->pid == 0)
        become_qemu(m, a, pipes[IN], pipes[OUT], text, pipes[FAILED][1], supervisor);
    error = m->pid < 0 ? errno : 0;
    (void)close(pipes[FAILED][1]);
    if (error == 0 && read(pipes[FAILED][0], &error, sizeof error) == (ssize_t)sizeof error)
        (void)waitpid(m->pid, NULL, 0);
    (void)close(pipes[FAILED][0]);
    (void)close(pipes[IN][0]);
    (void)close(pipes[OUT][1]);
    m->to = pipes[IN][1];
    m->from = pipes[OUT][0];
    (void)fcntl(m->from, F_SETFL, O_NONBLOCK);
    (void)fcntl(m->to, F_SETFL, O_NONBLOCK);
    if (error)
        machine_ended(m);
    return error;
}

/* Discards frames for an earlier run. */
static void empty_cables(const struct machine *m)
{
    uint8_t frame[HX_MAX_FRAME];
    for (unsigned port = 0; port < HX_CABLE_PORTS; port++)
        while (m->cable[port] >= 0 && recv(m->cable[port], frame, sizeof frame, MSG_DONTWAIT) > 0) {
        }
}

bool machine_start(struct machine *m, const char *text, struct hx_problem *problem)
{
    char image[PATH_MAX];
    struct hx_arguments a = {.count = 0};
    m->to = m->from = -1;
    m->ready = false;
    m->lines = 0;
    m->line_bytes = 0;
    if (!beside_path(IMAGE, image, sizeof image) || access(image, R_OK) != 0)
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, image,
                       "the image of a node is not there (make, with package gcc-riscv64-unknown-elf)");
    int file = text_file(text);
    if (file >= 0)
        describe(&a, m, image, file);
    empty_cables(m);
    int error = file < 0 ? -file : spawn(m, &a, file);
    if (file >= 0)
        (void)close(file);
    hx_arguments_free(&a);
    if (error)
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, m->name, QEMU " cannot be started: %s%s", strerror(error),
                       error == ENOENT ? " (package qemu-system-misc)" : "");
    m->starts++;
    char sent = m->sent;
    m->sent = 0;
    if (sent)
        machine_send(m, sent);
    return true;
}

/* ---- the console ---- */

static struct machine_count *count_of(struct machine *m, const char *name, size_t bytes)
{
    struct machine_count *c = m->count;
    while (c->name[0] && (strlen(c->name) != bytes || strncmp(c->name, name, bytes) != 0))
        c++;
    if (c->name[0])
        return c;
    if (c == &m->count[MACHINE_COUNTS] || bytes >= sizeof c->name)
        return NULL;
    memcpy(c->name, name, bytes);
    return c;
}

/* "messages_sent=12 ..." */
static void take_numbers(struct machine *m, const char *text, bool is_state)
{
    for (const char *equals; (equals = strchr(text, '=')) != NULL;) {
        while (*text == ' ')
            text++;
        char *end;
        uint64_t number = strtoull(equals + 1, &end, 10);
        struct machine_count *c = count_of(m, text, (size_t)(equals - text));
        if (c) {
            c->now = number;
            c->is_state = is_state;
        }
        text = end;
    }
}

static const char counts[] = "stat ";
static const char states[] = "state ";

static bool line_begins(const struct machine *m, const char *word)
{
    return strncmp(m->line, word, strlen(word)) == 0;
}

static void take_line(struct machine *m)
{
    m->line[m->line_bytes] = 0;
    if (line_begins(m, counts)) {
        take_numbers(m, m->line + sizeof counts - 1, false);
    } else if (line_begins(m, states)) {
        take_numbers(m, m->line + sizeof states - 1, true);
    } else if (line_begins(m, "ready ")) {
        m->ready = true;
        m->hopeless = 0;
    } else if (m->line_bytes && m->lines++ < MOST_LINES) {
        hx_warn(m->name, "%s%s", m->line, m->lines == MOST_LINES ? " (what it says more is not shown)" : "");
    }
    m->line_bytes = 0;
}

/* Handles a line that the end of the machine cut. Counts in it may be cut: those of the line before stand. */
static void take_cut_line(struct machine *m)
{
    m->line[m->line_bytes] = 0;
    if (!line_begins(m, counts) && !line_begins(m, states))
        take_line(m);
    m->line_bytes = 0;
}

/* Returns false at the end of the output. */
static bool read_console(struct machine *m)
{
    char text[4096];
    ssize_t bytes = 0;
    for (unsigned n = 0; n < MOST_READS && m->from >= 0 && (bytes = read(m->from, text, sizeof text)) > 0; n++) {
        for (ssize_t i = 0; i < bytes; i++) {
            if (text[i] == '\n')
                take_line(m);
            else if (m->line_bytes < MACHINE_LINE - 1 && text[i] != '\r')
                m->line[m->line_bytes++] = text[i];
        }
    }
    return m->from >= 0 && bytes != 0;
}

void machine_read(struct machine *m)
{
    (void)read_console(m);
}

void machine_send(struct machine *m, char letter)
{
    if (letter == m->sent)
        return;
    m->sent = letter;
    if (m->to >= 0)
        (void)!write(m->to, &letter, 1);
}

/* ---- numbers ---- */

static uint64_t value_of(const struct machine_count *c)
{
    return c->before + c->now;
}

uint64_t machine_number(const struct machine *m, const char *name)
{
    for (const struct machine_count *c = m->count; c->name[0]; c++) {
        if (strcmp(c->name, name) == 0)
            return value_of(c);
    }
    return 0;
}

json_t *machine_json(const struct machine *m)
{
    json_t *o = json_pack("{s:s, s:i}", "node", m->name, "starts", (int)m->starts);
    for (const struct machine_count *c = m->count; c->name[0]; c++)
        (void)json_object_set_new(o, c->name, json_integer((json_int_t)value_of(c)));
    return o;
}

/* ---- end ---- */

static void close_console(struct machine *m)
{
    if (m->to >= 0)
        (void)close(m->to);
    if (m->from >= 0)
        (void)close(m->from);
    m->to = m->from = -1;
    m->pid = 0;
}

void machine_ended(struct machine *m)
{
    machine_read(m);
    take_cut_line(m);
    close_console(m);
    m->hopeless += !m->ready;
    for (struct machine_count *c = m->count; c->name[0]; c++) {
        if (c->is_state)
            continue;
        c->before = value_of(c);
        c->now = 0;
    }
}

void machine_ask_to_stop(struct machine *m)
{
    if (m->sent == 'q')
        return;
    machine_send(m, 'q');
    m->stop_by = hx_metrics_now() + STOP_MS * NS_PER_MS;
}

void machine_stop(struct machine *m)
{
    if (m->pid == 0)
        return;
    machine_ask_to_stop(m);
    struct pollfd wait = {.fd = m->from, .events = POLLIN};
    while (read_console(m) && hx_metrics_now() < m->stop_by)
        (void)poll(&wait, 1, STOP_MS / 10);
    (void)kill(m->pid, SIGKILL);
    (void)waitpid(m->pid, NULL, 0);
    machine_ended(m);
}

void machine_close(struct machine *m)
{
    machine_stop(m);
    for (unsigned port = 0; port < HX_CABLE_PORTS; port++) {
        if (m->cable[port] >= 0)
            (void)close(m->cable[port]);
        m->cable[port] = -1;
    }
}
