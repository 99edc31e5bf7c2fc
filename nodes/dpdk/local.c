/* local.c - traffic of the built-in endpoint (local.h). */
#include "local.h"
#include "base/error.h"
#include "base/random.h"
#include "hxmesh/error.h"
#include "workload/endpoint.h"
#include "workload/host_payload.h"

#include <rte_cycles.h>
#include <stdlib.h>

enum { SENDS = 8, UNREACHABLE_MS = 40000 };
#define WAIT_FOR_LINKS_NS (5000 * NS_PER_MS)
static const double plane_bytes_per_ns = 4 * 50.0; /* four links of 400 Gb/s (table III) */

/* ---- callbacks of the endpoint ---- */

static void fill(void *of, const struct hx_send *s, uint32_t packet, uint8_t *to, unsigned bytes)
{
    const struct local *l = of;
    host_payload_fill(&l->traffic, l->rank, s, packet, to, bytes);
}

static void place(void *of, const struct hx_header *h, const uint8_t *payload)
{
    struct local *l = of;
    if (l->traffic.settings.verify)
        l->bytes_corrupted += host_payload_check(&l->traffic, l->rank, h, payload);
}

static void take_event(void *of, const struct hx_event *event)
{
    (void)of;
    (void)event;
}

/* ---- messages ---- */

/* Messages from others to this one; UINT64_MAX: unknown. */
static uint64_t expected(const struct local *l)
{
    const struct hx_settings *s = &l->traffic.settings;
    if (s->duration_ns)
        return UINT64_MAX;
    if (s->pattern == HX_ALL_TO_ALL || s->pattern == HX_ALL_TO_ALL_RANDOM)
        return l->to_send;
    uint64_t sum = 0;
    for (uint32_t rank = 0; rank < l->traffic.g->hosts; rank++)
        sum += traffic_messages_between(&l->traffic, rank, l->rank);
    return sum;
}

/* Neighbours start in any order; packets sent before they are up have no path. */
static bool links_came_up(struct local *l)
{
    uint64_t up = atomic_load_explicit(&l->node->up, memory_order_relaxed);
    l->links_were_up = l->links_were_up || (l->node->cables & ~up) == 0 || l->hal.now > WAIT_FOR_LINKS_NS;
    return l->links_were_up;
}

/* Runs after the cores: repeated packets use the new routes. */
static void follow_links(struct local *l)
{
    uint64_t up = atomic_load_explicit(&l->node->up, memory_order_relaxed);
    if (up == l->up)
        return;
    l->up = up;
    hx_endpoint_routes_changed(&l->endpoint);
}

static bool may_begin(struct local *l)
{
    const struct hx_settings *s = &l->traffic.settings;
    if (atomic_load_explicit(&l->node->phase, memory_order_relaxed) != NODE_RUNNING || !links_came_up(l))
        return false;
    if (s->duration_ns && l->hal.now >= s->duration_ns)
        return false;
    return s->rate >= 1 || (double)l->offered <= (double)l->hal.now * plane_bytes_per_ns * s->rate;
}

static void begin_messages(struct local *l)
{
    const struct hx_fabric *g = l->traffic.g;
    while (l->begun < l->to_send && hx_endpoint_takes(&l->endpoint) && may_begin(l)) {
        struct hx_coordinate to = hx_address_of(g, traffic_destination(&l->traffic, l->rank, l->begun));
        uint64_t bytes = l->traffic.settings.message;
        if (hx_endpoint_send(&l->endpoint, to.addr_hi, to.addr_lo, bytes, 0, l->begun) != HX_OK)
            return;
        l->begun++;
        l->offered += bytes;
    }
}

static bool all_is_done(const struct local *l)
{
    const struct hx_settings *s = &l->traffic.settings;
    bool begun = l->begun >= l->to_send || (s->duration_ns && l->hal.now >= s->duration_ns);
    bool come = l->to_receive == UINT64_MAX || l->endpoint.stats.messages_received >= l->to_receive;
    return begun && come && hx_endpoint_idle(&l->endpoint);
}

unsigned local_step(struct local *l)
{
    uint64_t ticks = rte_rdtsc() - l->node->started;
    l->hal.now = (uint64_t)((unsigned __int128)ticks * 1000000000U / l->node->ticks_per_second);
    unsigned work = dpdk_receive(&l->port);
    follow_links(l);
    begin_messages(l);
    unsigned packets = hx_endpoint_step(&l->endpoint);
    (void)dpdk_flush(&l->port, rte_rdtsc());
    atomic_store_explicit(&l->done, all_is_done(l), memory_order_relaxed);
    return work + packets;
}

void local_take_config(struct local *l, const struct node_config *c)
{
    l->endpoint.config.job = c->job;
    l->port.cable.period = l->port.cable.ask_period = node_ticks(l->node, c->values.credit_period_ns);
}

bool local_is_idle(const struct local *l)
{
    return hx_endpoint_idle(&l->endpoint);
}

bool local_is_good(const struct local *l)
{
    return l->bytes_corrupted == 0 && l->endpoint.stats.messages_failed == 0;
}

/* ---- start and end ---- */

static struct hx_endpoint_config config_of(const struct node_config *c)
{
    struct hx_endpoint_config config = endpoint_config(c->spec.graph, c->node);
    endpoint_waits(&config);
    config.plane_set = (uint8_t)(1U << c->plane);
    config.sends = SENDS;
    config.epoch = hx_random_epoch();
    config.key = hx_random_64();
    config.retries = WAIT_RETRIES;
    config.check = true;
    config.job = c->job;
    config.unreachable_ns = UNREACHABLE_MS * NS_PER_MS;
    return config;
}

struct local *local_new(struct node *n, uint16_t device)
{
    const struct node_config *c = n->config;
    struct local *l = hx_allocate(1, sizeof *l);
    l->node = n;
    l->rank = c->node;
    traffic_init(&l->traffic, &c->spec, c->spec.graph, &c->values.settings, NULL);
    l->to_send = traffic_messages(&l->traffic, l->rank);
    l->to_receive = expected(l);
    l->hal = (struct hal_endpoint){.pool = node_pool(n, HX_LOCAL),
                                   .drops = l->drops,
                                   .user = {.fill = fill, .place = place, .event = take_event, .of = l}};
    for (uint32_t i = 0; i < DPDK_ENDPOINT_BUFFERS; i++)
        l->hal.free[l->hal.free_count++] = i;
    const struct dpdk_port_config port = {.device = device,
                                          .plane = (uint8_t)c->plane,
                                          .vcs = (uint8_t)c->vcs,
                                          .blocks = c->spec.credits,
                                          .peer_blocks = c->spec.credits,
                                          .credit_period = n->port[HX_LOCAL].cable.period,
                                          .pool = node_pool(n, HX_LOCAL),
                                          .drops = l->drops};
    dpdk_port_init(&l->port, &port, hx_allocate(1, dpdk_port_bytes(port.vcs, port.blocks, port.peer_blocks)));
    l->hal.port[c->plane] = &l->port;
    l->hal.around = c->vcs > HX_ESCAPE_VC ? &n->core[n->owner[HX_LOCAL]]->sw.route : NULL;
    const struct hx_endpoint_config endpoint = config_of(c);
    l->memory = hx_allocate(1, hx_endpoint_bytes(&endpoint));
    if (hx_endpoint_init(&l->endpoint, &endpoint, &l->hal, l->memory) != HX_OK)
        hx_die(HX_EXIT_CONFIG, c->name, "its endpoint cannot be built");
    return l;
}

void local_free(struct local *l)
{
    if (!l)
        return;
    free(l->port.arrivals.slots[0]);
    free(l->memory);
    traffic_free(&l->traffic);
    free(l);
}
