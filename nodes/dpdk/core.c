/* core.c - the loop (core.h). */
#include "core.h"
#include "local.h"
#include "node_ports.h"
#include "unmap.h"

#include <rte_cycles.h>
#include <rte_pause.h>
#include <time.h>

enum {
    IDLE_LOOPS = 256,      /* without work, before an idle wait */
    LOOKS_A_SECOND = 1000, /* checks of sessions */
    SILENT_PERIODS = 16    /* credit periods until a peer counts as silent */
};

/* ---- links and routes ---- */

void core_reroute(struct core *c)
{
    const struct hx_blocked_boards blocked = {c->config->blocked};
    core_around_build(&c->around, c->hal.up, blocked, &c->sw.route, c->tables);
    hx_switch_reroute(&c->sw);
}

/* Sessions and credit stay, so no packet is lost; one of a job that may no more pass is dropped where it arrives. */
static void take_config(struct core *c, const struct node_config *config)
{
    c->config = config;
    c->sw.job = config->job;
    for (uint64_t left = c->hal.mine; left; left &= left - 1) {
        const unsigned port = (unsigned)__builtin_ctzll(left);
        struct dpdk_port *p = &c->node->port[port];
        p->job = node_job_of(config, port);
        p->cable.period = p->cable.ask_period = node_ticks(c->node, config->values.credit_period_ns);
        p->cable.lose_credit = (uint32_t)config->values.lose_credits;
    }
    if (c->local)
        local_take_config(c->local, config);
    core_around_close(&c->around);
    c->around = (struct core_around){.notices = NULL};
    core_around_open(&c->around, &c->node->notices, config);
    core_reroute(c);
}

static void update_carriers(struct core *c, uint64_t carrier)
{
    uint64_t changed = (carrier ^ c->carrier) & c->hal.mine;
    for (; changed; changed &= changed - 1)
        dpdk_port_restart(&c->node->port[__builtin_ctzll(changed)]);
    c->carrier = carrier;
    atomic_store_explicit(&c->carrier_seen, carrier, memory_order_release); /* polls no other ports from here on */
}

static uint64_t polled(const struct core *c)
{
    return c->hal.mine & c->carrier;
}

/* Time until a peer counts as silent. It sends credit every period, but frames may be lost. */
static uint64_t silence_of(const struct core *c, const struct dpdk_port *p)
{
    uint64_t silence = node_ticks(c->node, CABLE_SILENCE_NS);
    uint64_t periods = SILENT_PERIODS * p->cable.period;
    return periods > silence ? periods : silence;
}

/* Publishes the ports with a session. A session with a silent peer ends; the peer's next frame begins another. */
static void check_sessions(struct core *c, uint64_t now)
{
    uint64_t open = 0;
    for (uint64_t left = polled(c); left; left &= left - 1) {
        unsigned port = (unsigned)__builtin_ctzll(left);
        struct dpdk_port *p = &c->node->port[port];
        if (cable_fell_silent(&p->cable, now, silence_of(c, p)))
            dpdk_port_restart(p);
        open |= (uint64_t)p->cable.link.open << port;
        dpdk_look_at_notices(p, now);
    }
    atomic_store_explicit(&c->open, open, memory_order_relaxed);
    c->looked_at = now;
}

/* ---- the loop ---- */

static void add(_Atomic uint64_t *count, uint64_t n)
{
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + n, memory_order_relaxed);
}

static unsigned receive(struct core *c)
{
    unsigned frames = 0;
    for (uint64_t left = polled(c); left; left &= left - 1) {
        unsigned port = (unsigned)__builtin_ctzll(left);
        unsigned n = dpdk_receive(&c->node->port[port]);
        c->hal.news |= (uint64_t)(n != 0) << port;
        frames += n;
    }
    return frames;
}

static unsigned hand_over(struct core *c)
{
    unsigned packets = 0;
    for (unsigned port = 0; port < c->hal.ports; port++) {
        if (c->send[port])
            dpdk_share_rest(c->send[port]);
    }
    for (uint64_t left = c->hal.mine; left; left &= left - 1) {
        unsigned port = (unsigned)__builtin_ctzll(left);
        struct dpdk_share *shares[RTE_MAX_LCORE];
        node_shares_of(c->node, port, shares);
        packets += dpdk_share_serve(&c->node->port[port], shares, c->node->cores, &c->turn[port]);
    }
    return packets;
}

static void flush(struct core *c, uint64_t now)
{
    if ((int64_t)(now - c->looked_at) >= (int64_t)(c->node->ticks_per_second / LOOKS_A_SECOND))
        check_sessions(c, now);
    for (uint64_t left = polled(c); left; left &= left - 1)
        (void)dpdk_flush(&c->node->port[__builtin_ctzll(left)], now);
}

unsigned core_loop(struct core *c)
{
    uint64_t carrier = atomic_load_explicit(&c->node->carrier, memory_order_acquire);
    uint64_t up = atomic_load_explicit(&c->node->up, memory_order_relaxed);
    if (__builtin_expect(carrier != c->carrier, 0))
        update_carriers(c, carrier);
    const struct node_config *config = atomic_load_explicit(&c->node->config, memory_order_acquire);
    if (__builtin_expect(config != c->config, 0))
        take_config(c, config);
    if (__builtin_expect(up != c->hal.up || core_around_changed(&c->around), 0)) {
        c->hal.up = up;
        core_reroute(c);
    }
    unsigned work = receive(c);
    unsigned moved = c->is_tree ? hx_router_step(&c->sw) : hx_accelerator_step(&c->sw);
    add(&c->moved, moved);
    work += moved;
    if (c->node->cores > 1)
        work += hand_over(c);
    flush(c, rte_rdtsc());
    return work;
}

/* ---- start and end ---- */

void core_publish_waiting(struct core *c)
{
    uint32_t waiting = 0;
    for (uint64_t left = c->hal.mine; left; left &= left - 1)
        waiting += dpdk_port_waiting(&c->node->port[__builtin_ctzll(left)]);
    for (unsigned port = 0; port < c->hal.ports; port++)
        waiting += c->send[port] ? dpdk_share_waiting(c->send[port]) : 0;
    atomic_store_explicit(&c->waiting, waiting, memory_order_relaxed);
}

/* Sends a last credit frame by each port. Packets that other cores sent are dropped with the rings. */
static void finish(struct core *c)
{
    for (uint64_t left = polled(c); left; left &= left - 1) {
        struct dpdk_port *p = &c->node->port[__builtin_ctzll(left)];
        p->cable.link.answer = true;
        (void)dpdk_flush(p, rte_rdtsc());
    }
    core_publish_waiting(c);
}

static void wait_idle(const struct core *c)
{
    const uint64_t ns = c->config->values.idle_wait_ns;
    const struct timespec wait = {.tv_sec = (time_t)(ns / 1000000000U), .tv_nsec = (long)(ns % 1000000000U)};
    if (ns == 0)
        return;
    unmap_end(c->index);
    (void)nanosleep(&wait, NULL);
    unmap_begin(c->index);
}

int core_run(void *core)
{
    struct core *c = core;
    unsigned idle = 0;
    uint64_t before = rte_rdtsc();
    uint32_t phase;
    unmap_begin(c->index);
    while ((phase = atomic_load_explicit(&c->node->phase, memory_order_relaxed)) != NODE_STOPPING) {
        unmap_between_loops(c->index);
        unsigned work = core_loop(c);
        uint64_t now = rte_rdtsc();
        add(&c->loops, 1);
        if (work) {
            add(&c->busy_loops, 1);
            add(&c->busy_ticks, now - before);
        }
        if (c->local) {
            work += local_step(c->local);
            now = rte_rdtsc();
        }
        before = now;
        idle = work ? 0 : idle + 1;
        if (__builtin_expect(phase == NODE_DRAINING, 0))
            core_publish_waiting(c);
        if (idle >= IDLE_LOOPS) {
            idle = 0;
            wait_idle(c);
            before = rte_rdtsc();
        }
    }
    finish(c);
    unmap_end(c->index);
    return 0;
}
