/* node_report.c - the final report (node_report.h). */
#include "node_report.h"
#include "base/counts.h"
#include "base/json.h"
#include "base/value.h"
#include "devices.h"
#include "local.h"
#include "node_counts.h"

#include <inttypes.h>
#include <rte_cycles.h>
#include <stdio.h>

static double seconds_of(const struct control *c)
{
    uint64_t end = c->ended ? c->ended : rte_rdtsc();
    return (double)(end - c->node->started) / (double)c->node->ticks_per_second;
}

bool report_is_good(const struct control *c)
{
    const struct local *l = c->node->local;
    if (!l)
        return true;
    bool done = l->endpoint.stats.messages_sent + l->endpoint.stats.messages_failed >= l->begun;
    return local_is_good(l) && (done || c->interrupted);
}

/* ---- text ---- */

static void print_ports(const struct node *n)
{
    const struct node_config *c = n->config;
    uint64_t up = atomic_load(&n->up);
    printf("  %-6s %-20s %-5s %14s %14s %10s %10s\n", "port", "device", "link", "received", "sent", "dropped",
           "sessions");
    for (unsigned port = 0; port < c->ports; port++) {
        char word[HX_NAME_BYTES];
        const struct dpdk_port *p = &n->port[port];
        if (!c->port[port].device[0])
            continue;
        printf("  %-6s %-20s %-5s %14" PRIu64 " %14" PRIu64 " %10" PRIu64 " %10" PRIu32 "\n",
               node_port_word(word, c, port), c->port[port].device, up >> port & 1 ? "up" : "down",
               p->counts.rx_packets, p->counts.tx_packets, p->counts.rx_dropped + p->counts.tx_dropped,
               p->cable.link.sessions);
    }
}

static void print_counts(const struct node *n)
{
    uint64_t drops[HX_DROP_COUNT];
    uint64_t stalls[HX_STALL_COUNT];
    node_drops(n, drops);
    node_stalls(n, stalls);
    hx_print_counts("drops", hx_drop_names, drops);
    printf("  lost by devices %" PRIu64 "\n", node_lost_by_devices(n));
    hx_print_counts("stalls", hx_stall_names, stalls);
}

static void print_endpoint(const struct local *l)
{
    const struct hx_endpoint_stats *s = &l->endpoint.stats;
    char size[HX_VALUE_TEXT];
    printf("  messages       %" PRIu64 " of %" PRIu64 " sent, %" PRIu64 " received, %" PRIu64 " given up\n",
           s->messages_sent, l->begun, s->messages_received, s->messages_failed);
    printf("  packets        %" PRIu64 " sent, %" PRIu64 " repeated, %" PRIu64 " delivered\n", s->packets_sent,
           s->packets_repeated, s->packets_delivered);
    printf("  payload        %s delivered, ", hx_value_print_bytes(size, s->bytes_delivered));
    if (l->traffic.settings.verify)
        printf("every byte checked, %" PRIu64 " corrupted\n", l->bytes_corrupted);
    else
        printf("not checked\n");
}

static void print_cores(const struct node *n)
{
    for (unsigned i = 0; i < n->cores; i++) {
        const struct core *c = n->core[i];
        uint64_t ticks = atomic_load(&c->busy_ticks);
        uint64_t moved = atomic_load(&c->moved);
        printf("  lcore %-3u      %" PRIu64 " packets sent on, %.1f cycles each, %" PRIu64 " of %" PRIu64
               " loops found something\n",
               c->lcore, moved, moved ? (double)ticks / (double)moved : 0, atomic_load(&c->busy_loops),
               atomic_load(&c->loops));
    }
}

void report_print(const struct control *c)
{
    const struct node *n = c->node;
    double seconds = seconds_of(c);
    printf("%s of a %s: %" PRIu64 " packets sent on in %.3f s%s\n", n->config->name, n->config->spec.fabric,
           node_moved(n), seconds,
           c->aborted     ? ", ABORTED"
           : c->timed_out ? ", NOT DRAINED"
                          : "");
    print_ports(n);
    print_counts(n);
    if (n->local)
        print_endpoint(n->local);
    print_cores(n);
}

/* ---- JSON ---- */

static json_t *integer(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static void add_to_object(void *object, const char *name, uint64_t value)
{
    (void)json_object_set_new(object, name, integer(value));
}

static json_t *port_json(const struct node *n, unsigned port)
{
    const struct dpdk_port *p = &n->port[port];
    char word[HX_NAME_BYTES];
    char speed[DEVICE_SPEED_TEXT];
    int64_t lost = 0;
    for (unsigned vc = 0; vc < p->cable.link.vcs; vc++)
        lost += (int32_t)p->cable.link.rx[vc].lost;
    json_t *o = json_pack("{s:s, s:s, s:i, s:b, s:b, s:b}", "port", node_port_word(word, n->config, port), "device",
                          n->config->port[port].device, "lcore", (int)n->core[n->owner[port]]->lcore, "carrier",
                          (int)(atomic_load(&n->carrier) >> port & 1), "up", (int)(atomic_load(&n->up) >> port & 1),
                          "open", (int)p->cable.link.open);
    json_t *extended = json_object();
    (void)json_object_set_new(o, "speed", json_string(device_speed(p->device, speed)));
    node_counts_of_port(n, port, add_to_object, o);
    (void)json_object_set_new(o, "blocks_written_off", json_integer(lost));
    device_counts_extended(p->device, add_to_object, extended);
    (void)json_object_set_new(o, "xstats", extended);
    return o;
}

static json_t *ports_json(const struct node *n)
{
    json_t *all = json_array();
    for (unsigned port = 0; port < n->config->ports; port++) {
        if (n->config->port[port].device[0])
            (void)json_array_append_new(all, port_json(n, port));
    }
    return all;
}

static json_t *drops_json(const struct node *n)
{
    uint64_t drops[HX_DROP_COUNT];
    node_drops(n, drops);
    return hx_json_counts(hx_drop_names, drops);
}

static json_t *stalls_json(const struct node *n)
{
    uint64_t stalls[HX_STALL_COUNT];
    node_stalls(n, stalls);
    return hx_json_counts(hx_stall_names, stalls);
}

static json_t *cores_json(const struct node *n)
{
    json_t *all = json_array();
    for (unsigned i = 0; i < n->cores; i++) {
        const struct core *c = n->core[i];
        json_t *o = json_pack("{s:i}", "lcore", (int)c->lcore);
        (void)json_object_set_new(o, "packets", integer(atomic_load(&c->moved)));
        (void)json_object_set_new(o, "loops", integer(atomic_load(&c->loops)));
        (void)json_object_set_new(o, "busy_loops", integer(atomic_load(&c->busy_loops)));
        (void)json_object_set_new(o, "busy_ticks", integer(atomic_load(&c->busy_ticks)));
        (void)json_array_append_new(all, o);
    }
    return all;
}

static json_t *endpoint_json(const struct local *l)
{
    const struct hx_endpoint_stats *s = &l->endpoint.stats;
    json_t *o = json_object();
#define SET(key, value) (void)json_object_set_new(o, key, integer(value))
    SET("messages_begun", l->begun);
    SET("messages_sent", s->messages_sent);
    SET("messages_received", s->messages_received);
    SET("messages_failed", s->messages_failed);
    SET("packets_sent", s->packets_sent);
    SET("packets_repeated", s->packets_repeated);
    SET("packets_delivered", s->packets_delivered);
    SET("bytes_delivered", s->bytes_delivered);
    SET("bytes_corrupted", l->bytes_corrupted);
    SET("max_vc", l->hal.max_vc);
#undef SET
    return o;
}

json_t *report_json(const struct control *c)
{
    const struct node *n = c->node;
    json_t *o = json_object();
    (void)json_object_set_new(o, "node", json_string(n->config->name));
    (void)json_object_set_new(o, "fabric", json_string(n->config->spec.fabric));
    (void)json_object_set_new(o, "job", json_integer(n->config->job));
    (void)json_object_set_new(o, "seconds", json_real(seconds_of(c)));
    (void)json_object_set_new(o, "interrupted", json_boolean(c->interrupted));
    (void)json_object_set_new(o, "drained", json_boolean(!c->aborted && !c->timed_out));
    (void)json_object_set_new(o, "reloads", json_integer(c->reloads));
    (void)json_object_set_new(o, "packets", integer(node_moved(n)));
    (void)json_object_set_new(o, "drops", drops_json(n));
    (void)json_object_set_new(o, "stalls", stalls_json(n));
    (void)json_object_set_new(o, "ports", ports_json(n));
    if (n->local)
        (void)json_object_set_new(o, "endpoint", endpoint_json(n->local));
    (void)json_object_set_new(o, "lcores", cores_json(n));
    return o;
}
