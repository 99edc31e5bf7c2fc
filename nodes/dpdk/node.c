/* node.c - builds a node from its configuration (node.h). */
#include "node.h"
#include "base/error.h"
#include "core.h" /* circle: a node builds its cores, which run it */
#include "devices.h"
#include "local.h" /* circle: a node builds its endpoint, which reads the node */

#include <limits.h>
#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    POOL_CACHE = 256,
    SPARE_FRAMES = 256,
    RETRY_NS = 200000000,
    FRAME_ROOM = RTE_PKTMBUF_HEADROOM + ((HX_MAX_FRAME + 127) & ~127),
    AUTHENTICATED_FRAME_ROOM =
        FRAME_ROOM + 128 /* a packet socket's ring needs more (devices.c) than the authentication tag */
};

static uint16_t frame_room(const struct node_config *c)
{
    return c->authenticated ? AUTHENTICATED_FRAME_ROOM : FRAME_ROOM;
}

static void *memory(size_t bytes)
{
    void *at = rte_zmalloc(NULL, bytes, RTE_CACHE_LINE_SIZE);
    if (!at)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "EAL has no %zu KiB of memory left (its argument -m)", bytes >> 10);
    return at;
}

/* ---- buffers ---- */

static unsigned ports_used(const struct node_config *c)
{
    unsigned used = 0;
    for (unsigned port = 0; port < c->ports; port++)
        used += c->port[port].device[0] != 0;
    return used;
}

/* Mbufs for all credit: a block may be a packet, and a packet is an mbuf. In addition: the devices' queues, the
 * endpoint, and the caches of lcores. */
static uint32_t frames_needed(const struct node_config *c, uint32_t blocks)
{
    unsigned ends = ports_used(c) + c->has_endpoint;
    uint32_t of_port = dpdk_port_frames(c->vcs, blocks, c->spec.credits) + 2U * (uint32_t)c->values.queue;
    return ends * of_port + DPDK_ENDPOINT_BUFFERS + rte_lcore_count() * 2U * POOL_CACHE + SPARE_FRAMES;
}

/* Blocks a VC that this node grants: the fabric's, or as many as `frames` allow. */
static uint32_t blocks_for(const struct node_config *c, uint32_t frames)
{
    uint32_t blocks = c->spec.credits;
    while (blocks > HX_PACKET_BLOCKS && frames_needed(c, blocks) > frames)
        blocks -= HX_PACKET_BLOCKS;
    if (frames_needed(c, blocks) > frames)
        hx_die(HX_EXIT_CONFIG, "--frames", "%u frames are too few: %u ports need at least %u", frames, ports_used(c),
               frames_needed(c, blocks));
    return blocks;
}

/* Descriptors have 48 bits for a frame's address (hal/dpdk/port.h). */
static void check_addresses(struct rte_mempool *pool, void *all_fit, struct rte_mempool_memhdr *memory, unsigned number)
{
    (void)pool;
    (void)number;
    *(bool *)all_fit = *(bool *)all_fit && ((uintptr_t)memory->addr + memory->len) >> DPDK_ADDRESS_BITS == 0;
}

static uint32_t make_pool(struct node *n)
{
    const struct node_config *c = n->config;
    uint32_t all = frames_needed(c, c->spec.credits);
    n->frames = c->values.frames ? (uint32_t)c->values.frames : all;
    uint32_t blocks = blocks_for(c, n->frames);
    char name[32];
    (void)snprintf(name, sizeof name, "hx_frames_%u_%u", c->node, c->plane);
    n->pool = rte_pktmbuf_pool_create(name, n->frames, POOL_CACHE, 0, frame_room(c), (int)rte_socket_id());
    if (!n->pool)
        hx_die(HX_EXIT_ENVIRONMENT, NULL,
               "no memory for %u frames, %u MiB: %s (EAL's -m or more huge pages; --frames or --credits for fewer)",
               n->frames, (unsigned)((uint64_t)n->frames * (frame_room(c) + 192U) >> 20), rte_strerror(rte_errno));
    bool all_fit = true;
    (void)rte_mempool_mem_iter(n->pool, check_addresses, &all_fit);
    if (!all_fit)
        hx_die(HX_EXIT_ENVIRONMENT, NULL,
               "EAL's memory lies at addresses of more than %u bits (its argument --base-virtaddr)",
               (unsigned)DPDK_ADDRESS_BITS);
    return blocks;
}

/* ---- ports ---- */

/* True if mbufs of other pools can arrive: a ring passes on those of its other end. */
static bool has_foreign_frames(const struct node_config *c)
{
    for (unsigned port = 0; port < c->ports; port++)
        if (strstr(c->port[port].device, "net_ring"))
            return true;
    return false;
}

/* EAL reports too many devices only by a line of its own. */
static void check_device_count(const struct node_config *c)
{
    unsigned devices = ports_used(c) + c->has_endpoint;
    if (devices > RTE_MAX_ETHPORTS)
        hx_die(HX_EXIT_ENVIRONMENT, "--ports",
               "%u devices are needed, but this DPDK was built for %u at most (meson "
               "setup -Dmax_ethports=%u)",
               devices, (unsigned)RTE_MAX_ETHPORTS, (unsigned)HX_MAX_RADIX + 2);
}

/* Names of the two ends of the link to the built-in endpoint. */
static void name_path(const struct node_config *c, char names[2][32])
{
    (void)snprintf(names[0], sizeof names[0], "hx_local_%u_%u", c->node, c->plane);
    (void)snprintf(names[1], sizeof names[1], "hx_endpoint_%u_%u", c->node, c->plane);
}

static void open_path_to_endpoint(struct node *n, uint16_t ends[2], const struct device_needs *needs)
{
    const struct node_config *c = n->config;
    char names[2][32];
    name_path(c, names);
    const char *const both[2] = {names[0], names[1]};
    device_pair(both, ends, dpdk_port_frames(c->vcs, c->spec.credits, c->spec.credits), needs);
    (void)device_start("local", ends[1]);
}

static void close_path_to_endpoint(struct node *n)
{
    char names[2][32];
    name_path(n->config, names);
    const char *const both[2] = {names[0], names[1]};
    const uint16_t ends[2] = {n->port[HX_LOCAL].device, n->endpoint_device};
    device_pair_close(both, ends);
}

/* Job of the board behind a tree switch's port. A network carries all jobs and its switch checks no tags. Without this
 * check a board could send with another job's tag. */
static struct dpdk_job job_of(const struct node_config *c, unsigned port)
{
    struct hx_end far = hx_far_end(&c->g, c->node, port);
    if (c->place.kind == HX_ACCELERATOR || far.node == HX_NOWHERE || !hx_is_host(c->spec.graph, far.node))
        return (struct dpdk_job){0};
    return (struct dpdk_job){hx_spec_board_job(&c->spec, hx_spec_board_of(&c->spec, far.node)), UINT16_MAX};
}

static void open_port(struct node *n, unsigned port, uint32_t blocks)
{
    const struct node_config *c = n->config;
    char word[HX_NAME_BYTES];
    char where[HX_NAME_BYTES + 8];
    (void)snprintf(where, sizeof where, "port %s", node_port_word(word, c, port));
    const char *device = c->port[port].device;
    uint16_t ends[2] = {DPDK_NO_DEVICE, DPDK_NO_DEVICE};
    bool endpoint = port == HX_LOCAL && c->has_endpoint && c->place.kind == HX_ACCELERATOR;
    bool authenticated = c->authenticated && !endpoint;
    const struct device_needs needs = {(unsigned)c->values.mtu + (authenticated ? HX_AUTH_TAG_BYTES : 0U),
                                       (unsigned)c->values.queue, n->pool, has_foreign_frames(c)};
    if (endpoint)
        open_path_to_endpoint(n, ends, &needs);
    else if (device[0])
        ends[0] = device_open(where, device, &needs);
    const struct dpdk_port_config config = {.device = ends[0],
                                            .plane = (uint8_t)c->plane,
                                            .vcs = (uint8_t)c->vcs,
                                            .blocks = blocks,
                                            .peer_blocks = c->spec.credits,
                                            .lose_credit = (uint32_t)c->values.lose_credits,
                                            .credit_period = node_ticks(n, c->values.credit_period_ns),
                                            .key = authenticated ? &c->key : NULL,
                                            .pool = n->pool,
                                            .notices = endpoint ? NULL : &n->notices,
                                            .number = port,
                                            .drops = n->core[n->owner[port]]->drops,
                                            .job = job_of(c, port)};
    dpdk_port_init(&n->port[port], &config,
                   device[0] ? memory(dpdk_port_bytes(c->vcs, blocks, c->spec.credits)) : NULL);
    n->cables |= (uint64_t)(ends[0] != DPDK_NO_DEVICE) << port;
    n->unstarted |= (uint64_t)(ends[0] != DPDK_NO_DEVICE) << port;
    if (ends[1] != DPDK_NO_DEVICE)
        n->endpoint_device = ends[1];
}

/* ---- cores ---- */

static unsigned default_lcore(void)
{
    unsigned worker = rte_get_next_lcore(UINT_MAX, 1, 0);
    return worker < RTE_MAX_LCORE ? worker : rte_get_main_lcore();
}

static struct core *core_on(struct node *n, unsigned lcore)
{
    for (unsigned i = 0; i < n->cores; i++)
        if (n->core[i]->lcore == lcore)
            return n->core[i];
    struct core *c = memory(sizeof *c);
    c->node = n;
    c->lcore = lcore;
    c->index = n->cores;
    c->is_tree = n->config->place.kind != HX_ACCELERATOR;
    n->core[n->cores++] = c;
    return c;
}

static void assign_ports(struct node *n)
{
    for (unsigned port = 0; port < n->config->ports; port++) {
        const struct node_port_config *p = &n->config->port[port];
        unsigned lcore = p->lcore == NODE_ANY_LCORE ? default_lcore() : (unsigned)p->lcore;
        char word[HX_NAME_BYTES];
        if (!rte_lcore_is_enabled(lcore))
            hx_die(HX_EXIT_CONFIG, "--lcores", "port %s: EAL runs no lcore %u (its argument -l)",
                   node_port_word(word, n->config, port), lcore);
        if (p->device[0])
            n->owner[port] = (uint8_t)core_on(n, lcore)->index;
    }
}

static void make_shares(struct node *n, struct core *c)
{
    for (unsigned port = 0; port < n->config->ports; port++) {
        char name[32];
        if (!n->config->port[port].device[0] || n->owner[port] == c->index)
            continue;
        (void)snprintf(name, sizeof name, "hx_share_%u_%u_%u", n->config->node, c->index, port);
        c->send[port] = dpdk_share_new(name, n->config->vcs * n->config->spec.credits, (int)rte_socket_id(), c->drops);
        if (!c->send[port])
            hx_die(HX_EXIT_ENVIRONMENT, NULL, "EAL has no memory left for rings between cores (its argument -m)");
    }
}

static void make_switch(struct node *n, struct core *c)
{
    const struct node_config *config = n->config;
    for (unsigned port = 0; port < config->ports; port++)
        c->hal.mine |= (uint64_t)(config->port[port].device[0] && n->owner[port] == c->index) << port;
    c->hal.port = n->port;
    c->hal.ports = config->ports;
    c->hal.send = c->send;
    c->hal.drops = c->drops;
    c->hal.stalls = c->stalls;
    c->hal.up = atomic_load(&n->up);
    c->carrier = atomic_load(&n->carrier);
    atomic_store(&c->carrier_seen, c->carrier);
    c->tables = memory(hx_route_bytes(&config->g, config->node));
    hx_switch_init(&c->sw, config->ports, config->vcs, config->job, &c->hal,
                   memory(hx_switch_bytes(config->ports, config->vcs)));
    core_around_open(&c->around, &n->notices, config);
    core_around_build(&c->around, c->hal.up, (struct hx_blocked_boards){n->blocked}, &c->sw.route, c->tables);
}

/* ---- links ---- */

bool node_is_left_alone(const struct node *n, unsigned port)
{
    return !(atomic_load_explicit(&n->core[n->owner[port]]->carrier_seen, memory_order_acquire) >> port & 1);
}

static bool is_time_to_retry(const struct node *n, unsigned port)
{
    return rte_rdtsc() - n->looked_at[port] > node_ticks(n, RETRY_NS);
}

static bool has_carrier(struct node *n, unsigned port)
{
    uint64_t bit = (uint64_t)1 << port;
    uint16_t device = n->port[port].device;
    char word[HX_NAME_BYTES];
    if (!(n->unstarted & bit) && device_is_up(device)) {
        n->looked_at[port] = rte_rdtsc();
        return true;
    }
    if (!node_is_left_alone(n, port) || !is_time_to_retry(n, port))
        return false;
    n->looked_at[port] = rte_rdtsc();
    if (!(n->unstarted & bit) && !device_stop_to_retry(device))
        return false;
    n->unstarted |= bit;
    n->unstarted ^= device_start(node_port_word(word, n->config, port), device) ? bit : 0;
    return false;
}

/* Says which links are dead. A port without a device is no link of the fabric that was built. */
static void say_dead(struct node *n, uint64_t up)
{
    dpdk_notices_lock(&n->notices);
    cable_notices_say(&n->notices.of, &n->links, n->config->node, up, rte_rdtsc());
    dpdk_notices_unlock(&n->notices);
}

uint64_t node_watch_links(struct node *n)
{
    uint64_t carrier = 0;
    uint64_t up = 0;
    for (uint64_t left = n->cables; left; left &= left - 1) {
        unsigned port = (unsigned)__builtin_ctzll(left);
        carrier |= (uint64_t)has_carrier(n, port) << port;
    }
    for (unsigned i = 0; i < n->cores; i++)
        up |= atomic_load_explicit(&n->core[i]->open, memory_order_relaxed);
    up &= carrier;
    say_dead(n, up);
    atomic_store_explicit(&n->carrier, carrier, memory_order_relaxed);
    return atomic_exchange_explicit(&n->up, up, memory_order_relaxed) ^ up;
}

void node_routes_build(struct node *n, struct node_routes *r)
{
    const struct node_config *c = n->config;
    *r = (struct node_routes){.tables = hx_allocate(hx_route_bytes(&c->g, c->node), 1)};
    core_around_open(&r->around, &n->notices, c);
    core_around_build(&r->around, atomic_load(&n->up), (struct hx_blocked_boards){n->blocked}, &r->route, r->tables);
}

void node_routes_free(struct node_routes *r)
{
    core_around_close(&r->around);
    free(r->tables);
}

void node_shares_of(const struct node *n, unsigned port, struct dpdk_share **shares)
{
    for (unsigned core = 0; core < n->cores; core++)
        shares[core] = n->core[core]->send[port];
}

/* ---- start and end ---- */

void node_start_clock(struct node *n)
{
    n->started = rte_rdtsc();
    n->links.grace_end = n->started + node_ticks(n, CABLE_SILENCE_NS);
}

void node_open(struct node *n, const struct node_config *config)
{
    *n = (struct node){.config = config, .endpoint_device = DPDK_NO_DEVICE, .ticks_per_second = rte_get_tsc_hz()};
    n->blocked = hx_allocate(hx_spec_boards(&config->spec) / 8U + 1U, 1);
    (void)hx_spec_blocked_boards(&config->spec, config->job, n->blocked);
    around_open_notices(&n->notices, config);
    n->notices.of.hold = node_ticks(n, CABLE_NOTICE_HOLD_NS);
    n->notices.of.period = node_ticks(n, CABLE_NOTICE_PERIOD_NS);
    check_device_count(config);
    assign_ports(n);
    uint32_t blocks = make_pool(n);
    n->port = memory(config->ports * sizeof *n->port);
    for (unsigned port = 0; port < config->ports; port++)
        open_port(n, port, blocks);
    n->links.all = config->place.kind == HX_ACCELERATOR ? n->cables & ~((uint64_t)1 << HX_LOCAL) : n->cables;
    node_start_clock(n);
    (void)node_watch_links(n);
    for (unsigned i = 0; i < n->cores; i++) {
        make_shares(n, n->core[i]);
        make_switch(n, n->core[i]);
    }
    if (config->has_endpoint) {
        n->local = local_new(n, n->endpoint_device);
        n->core[n->owner[HX_LOCAL]]->local = n->local;
    }
}

void node_close(struct node *n)
{
    for (unsigned port = 0; port < n->config->ports; port++) {
        if (n->port[port].device != DPDK_NO_DEVICE && !(n->local && port == HX_LOCAL))
            device_close(n->port[port].device);
        rte_free(n->port[port].arrivals.slots[0]);
    }
    if (n->local)
        close_path_to_endpoint(n);
    local_free(n->local);
    for (unsigned i = 0; i < n->cores; i++) {
        for (unsigned port = 0; port < n->config->ports; port++)
            dpdk_share_free(n->core[i]->send[port]);
        core_around_close(&n->core[i]->around);
        rte_free(n->core[i]->tables);
        rte_free(n->core[i]->sw.input);
        rte_free(n->core[i]);
    }
    rte_free(n->port);
    around_close_notices(&n->notices);
    free(n->blocked);
}

/* ---- totals ---- */

void node_drops(const struct node *n, uint64_t drops[HX_DROP_COUNT])
{
    for (unsigned reason = 0; reason < HX_DROP_COUNT; reason++) {
        drops[reason] = n->local ? node_seen(&n->local->drops[reason]) : 0;
        for (unsigned i = 0; i < n->cores; i++)
            drops[reason] += node_seen(&n->core[i]->drops[reason]);
    }
}

void node_stalls(const struct node *n, uint64_t stalls[HX_STALL_COUNT])
{
    for (unsigned cause = 0; cause < HX_STALL_COUNT; cause++) {
        stalls[cause] = 0;
        for (unsigned i = 0; i < n->cores; i++)
            stalls[cause] += node_seen(&n->core[i]->stalls[cause]);
    }
}

uint64_t node_moved(const struct node *n)
{
    uint64_t moved = 0;
    for (unsigned i = 0; i < n->cores; i++)
        moved += atomic_load_explicit(&n->core[i]->moved, memory_order_relaxed);
    return moved;
}
