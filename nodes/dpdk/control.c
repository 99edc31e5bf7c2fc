/* control.c - signals, links and phases (control.h). */
#include "control.h"
#include "base/error.h"
#include "base/signals.h"
#include "devices.h"
#include "local.h"
#include "node_counts.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <rte_cycles.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { TICK_MS = 10, QUIET_MS = 50, DRAIN_MS = 2000, TOGETHER_MS = 200 };

void control_block_signals(void)
{
    const sigset_t set = hx_signals_ending();
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
}

void control_open(struct control *c, struct node *n, const struct reload_source *source, bool quiet)
{
    *c = (struct control){.node = n, .quiet = quiet, .source = source};
    c->signals = hx_signals_open();
    if (c->signals < 0)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "cannot take signals: %s", strerror(errno));
}

static uint64_t ms_since(const struct control *c, uint64_t then)
{
    uint64_t now = rte_rdtsc();
    return now > then ? (now - then) * 1000 / c->node->ticks_per_second : 0;
}

static void set_phase(struct control *c, enum node_phase phase)
{
    atomic_store(&c->node->phase, phase);
}

/* Resets what cores reported: a core that is busy or does not run must not count as empty. */
void control_drain(struct control *c)
{
    const struct node *n = c->node;
    for (unsigned i = 0; i < n->cores; i++)
        atomic_store(&n->core[i]->waiting, UINT32_MAX);
    c->ended = rte_rdtsc();
    set_phase(c, NODE_DRAINING);
}

static void follow_file(struct control *c)
{
    if (!reload(c->node, c->source))
        return;
    c->reloads++;
    if (!c->quiet)
        (void)fprintf(stderr, "%s: follows %s as it is now\n", c->node->config->name, c->source->file);
}

static void take_signals(struct control *c)
{
    struct signalfd_siginfo info;
    while (read(c->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGHUP && info.ssi_code <= 0 && c->source->file) {
            follow_file(c);
            continue;
        }
        /* timeout(1) and service managers signal the process and then its group: both count as one signal. */
        if (c->interrupted && ms_since(c, c->ended) < TOGETHER_MS)
            continue;
        if (c->interrupted) {
            c->aborted = true;
            set_phase(c, NODE_STOPPING);
        }
        c->interrupted = true;
        if (atomic_load(&c->node->phase) == NODE_RUNNING)
            control_drain(c);
    }
}

/* ---- reports of cores ---- */

bool control_is_quiet(const struct control *c)
{
    const struct node *n = c->node;
    uint64_t waiting = 0;
    for (unsigned i = 0; i < n->cores; i++)
        waiting += atomic_load_explicit(&n->core[i]->waiting, memory_order_relaxed);
    return waiting == 0 && ms_since(c, c->ended) >= QUIET_MS && (!n->local || local_is_idle(n->local));
}

/* True if the node was done and idle for the linger time. Other nodes may need its switch for longer than its endpoint
 * is busy. */
static bool lingered(struct control *c)
{
    const struct node *n = c->node;
    uint64_t linger = n->config->values.linger_ns;
    bool done = n->local && linger && atomic_load_explicit(&n->local->done, memory_order_relaxed);
    uint64_t moved = node_moved(n);
    if (!done || moved != c->moved) {
        c->moved = moved;
        c->moved_at = rte_rdtsc();
        return false;
    }
    return ms_since(c, c->moved_at) >= linger / 1000000;
}

/* ---- links ---- */

enum { LINK_TEXT = NODE_DEVICE_BYTES + DEVICE_SPEED_TEXT + 32 };

/* Prints a line for each of these ports, whole: other nodes may print to the same place. */
static void say(const struct control *c, uint64_t ports,
                void (*write)(const struct node *n, unsigned port, char text[LINK_TEXT]))
{
    const struct node_config *config = c->node->config;
    for (uint64_t left = c->quiet ? 0 : ports; left; left &= left - 1) {
        const unsigned port = (unsigned)__builtin_ctzll(left);
        char name[HX_NAME_BYTES];
        char text[LINK_TEXT];
        write(c->node, port, text);
        (void)fprintf(stderr, "%s: %s\n", hx_port_name(name, config->spec.graph, config->plane, config->node, port),
                      text);
    }
}

static void write_carrier(const struct node *n, unsigned port, char text[LINK_TEXT])
{
    char speed[DEVICE_SPEED_TEXT];
    const char *device = n->config->port[port].device;
    if (atomic_load(&n->carrier) >> port & 1)
        (void)snprintf(text, LINK_TEXT, "%s has a carrier, %s", device, device_speed(n->port[port].device, speed));
    else
        (void)snprintf(text, LINK_TEXT, "%s has no carrier", device);
}

static void write_link(const struct node *n, unsigned port, char text[LINK_TEXT])
{
    (void)snprintf(text, LINK_TEXT, "link %s", atomic_load(&n->up) >> port & 1 ? "up" : "down");
}

static void watch_links(struct control *c)
{
    const uint64_t changed = node_watch_links(c->node);
    const uint64_t carrier = atomic_load(&c->node->carrier);
    say(c, carrier ^ c->carrier, write_carrier);
    c->carrier = carrier;
    say(c, changed, write_link);
}

/* ---- statistics ---- */

struct sample {
    uint64_t at, moved, bytes;
};

static struct sample take_sample(const struct node *n)
{
    struct sample s = {.at = rte_rdtsc(), .moved = node_moved(n)};
    for (unsigned port = 0; port < n->config->ports; port++)
        s.bytes += node_seen(&n->port[port].counts.tx_bytes);
    return s;
}

static void print_statistics(const struct control *c, const struct sample *before, const struct sample *now)
{
    uint64_t drops[HX_DROP_COUNT];
    uint64_t dropped = 0;
    double seconds = (double)(now->at - before->at) / (double)c->node->ticks_per_second;
    node_drops(c->node, drops);
    for (unsigned reason = 0; reason < HX_DROP_COUNT; reason++)
        dropped += drops[reason];
    (void)fprintf(stderr,
                  "%s: %.3f M packets/s, %.2f Gb/s, %" PRIu64 " packets in all, %" PRIu64 " lost by devices, %" PRIu64
                  " dropped\n",
                  c->node->config->name, (double)(now->moved - before->moved) / seconds / 1e6,
                  (double)(now->bytes - before->bytes) * 8 / seconds / 1e9, now->moved, node_lost_by_devices(c->node),
                  dropped);
}

static void keep_statistics(const struct control *c, struct sample *before)
{
    uint64_t every = c->node->config->values.statistics_ns;
    if (!every || ms_since(c, before->at) < every / 1000000)
        return;
    struct sample now = take_sample(c->node);
    print_statistics(c, before, &now);
    *before = now;
}

void *control_run(void *control)
{
    struct control *c = control;
    struct pollfd wait = {.fd = c->signals, .events = POLLIN};
    struct sample before = take_sample(c->node);
    while (atomic_load(&c->node->phase) != NODE_STOPPING) {
        (void)poll(&wait, 1, TICK_MS);
        take_signals(c);
        watch_links(c);
        keep_statistics(c, &before);
        if (atomic_load(&c->node->phase) == NODE_RUNNING && lingered(c))
            control_drain(c);
        if (atomic_load(&c->node->phase) != NODE_DRAINING)
            continue;
        c->timed_out = ms_since(c, c->ended) > DRAIN_MS;
        if (c->timed_out || control_is_quiet(c))
            set_phase(c, NODE_STOPPING);
    }
    (void)close(c->signals);
    return NULL;
}
