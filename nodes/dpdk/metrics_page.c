/* metrics_page.c - families of metrics, one after the other (metrics_page.h). */
#include "metrics_page.h"
#include "base/counts.h"
#include "node_counts.h"

#include <inttypes.h>
#include <rte_cycles.h>
#include <string.h>

/* Counts of a port: those of two lists, sessions and suspected. */
enum { MOST_COUNTS = 2 + (sizeof(struct dpdk_counts) + sizeof(struct device_counts)) / sizeof(uint64_t) };

/* ---- samples ---- */

static void begin_family(FILE *out, const char *name, const char *type, const char *help)
{
    (void)fprintf(out, "# HELP hxmesh_%s %s\n# TYPE hxmesh_%s %s\n", name, help, name, type);
}

/* The value of a label. */
static void put_label(FILE *out, const char *name, const char *value)
{
    (void)fprintf(out, ",%s=\"", name);
    for (; *value; value++) {
        if (*value == '\\' || *value == '"')
            (void)fputc('\\', out);
        (void)fputc(*value, out);
    }
    (void)fputc('"', out);
}

/* Begins a sample: its name and the label of the node. */
static void begin_sample(FILE *out, const struct node *n, const char *name)
{
    (void)fprintf(out, "hxmesh_%s{node=\"%s\"", name, n->config->name);
}

static void end_sample(FILE *out, uint64_t value)
{
    (void)fprintf(out, "} %" PRIu64 "\n", value);
}

static void put_port(FILE *out, const struct node *n, const char *name, unsigned port)
{
    char word[HX_NAME_BYTES];
    begin_sample(out, n, name);
    put_label(out, "port", node_port_word(word, n->config, port));
    put_label(out, "device", n->config->port[port].device);
}

/* ---- of the node ---- */

static void put_node(FILE *out, const struct node *n)
{
    begin_family(out, "node", "gauge", "The node; its value is 1.");
    begin_sample(out, n, "node");
    put_label(out, "fabric", n->config->spec.fabric);
    end_sample(out, 1);
    begin_family(out, "uptime_seconds", "gauge", "Time since the node's start.");
    begin_sample(out, n, "uptime_seconds");
    (void)fprintf(out, "} %.3f\n", (double)(rte_rdtsc() - n->started) / (double)n->ticks_per_second);
}

/* Counts by their names, which end with NULL. */
static void put_counts(FILE *out, const struct node *n, const char *family, const char *label, const char *const *names,
                       const uint64_t *counts)
{
    for (unsigned i = 0; names[i]; i++) {
        begin_sample(out, n, family);
        put_label(out, label, names[i]);
        end_sample(out, counts[i]);
    }
}

static void put_drops_and_stalls(FILE *out, const struct node *n)
{
    uint64_t drops[HX_DROP_COUNT];
    uint64_t stalls[HX_STALL_COUNT];
    node_drops(n, drops);
    node_stalls(n, stalls);
    begin_family(out, "drops_total", "counter", "Packets dropped, by reason.");
    put_counts(out, n, "drops_total", "reason", hx_drop_names, drops);
    begin_family(out, "stalls_total", "counter", "Packets that began to wait, by cause.");
    put_counts(out, n, "stalls_total", "cause", hx_stall_names, stalls);
}

/* ---- of its ports ---- */

static void put_states(FILE *out, const struct node *n, const char *family, const char *help, uint64_t states)
{
    begin_family(out, family, "gauge", help);
    for (unsigned port = 0; port < n->config->ports; port++) {
        if (!n->config->port[port].device[0])
            continue;
        put_port(out, n, family, port);
        end_sample(out, states >> port & 1);
    }
}

struct port_counts {
    const char *name[MOST_COUNTS];
    uint64_t value[MOST_COUNTS];
    unsigned count;
};

static void keep_count(void *of, const char *name, uint64_t value)
{
    struct port_counts *c = of;
    c->name[c->count] = name;
    c->value[c->count++] = value;
}

/* A family has the samples of all ports, so the counts of all are taken first. */
static void put_port_counts(FILE *out, const struct node *n)
{
    struct port_counts of[HX_MAX_RADIX] = {{.count = 0}};
    unsigned first = 0;
    for (unsigned port = n->config->ports; port-- > 0;) {
        if (!n->config->port[port].device[0])
            continue;
        node_counts_of_port(n, port, keep_count, &of[port]);
        first = port;
    }
    for (unsigned i = 0; i < of[first].count; i++) {
        char family[64];
        (void)snprintf(family, sizeof family, "port_%s_total", of[first].name[i]);
        begin_family(out, family, "counter", "A count of a port (docs/deployment.md).");
        for (unsigned port = first; port < n->config->ports; port++) {
            if (!of[port].count)
                continue;
            put_port(out, n, family, port);
            end_sample(out, of[port].value[i]);
        }
    }
}

struct extended {
    FILE *out;
    const struct node *node;
    unsigned port;
};

static void put_extended(void *of, const char *name, uint64_t value)
{
    const struct extended *e = of;
    put_port(e->out, e->node, "device_xstat_total", e->port);
    put_label(e->out, "name", name);
    end_sample(e->out, value);
}

static void put_devices(FILE *out, const struct node *n)
{
    begin_family(out, "device_xstat_total", "counter", "A count of the device's driver that is not 0.");
    for (unsigned port = 0; port < n->config->ports; port++)
        if (n->config->port[port].device[0])
            device_counts_extended(n->port[port].device, put_extended, &(struct extended){out, n, port});
}

/* ---- of its cores ---- */

static uint64_t moved(const struct core *c)
{
    return atomic_load_explicit(&c->moved, memory_order_relaxed);
}

static uint64_t loops(const struct core *c)
{
    return atomic_load_explicit(&c->loops, memory_order_relaxed);
}

static uint64_t busy_loops(const struct core *c)
{
    return atomic_load_explicit(&c->busy_loops, memory_order_relaxed);
}

static void put_cores(FILE *out, const struct node *n)
{
    static const struct {
        const char *family, *help;
        uint64_t (*value)(const struct core *c);
    } of_core[] = {{"lcore_packets_total", "Packets that an lcore sent on.", moved},
                   {"lcore_loops_total", "Loops of an lcore.", loops},
                   {"lcore_busy_loops_total", "Loops of an lcore that found something.", busy_loops}};
    for (unsigned i = 0; i < sizeof of_core / sizeof *of_core; i++) {
        begin_family(out, of_core[i].family, "counter", of_core[i].help);
        for (unsigned core = 0; core < n->cores; core++) {
            begin_sample(out, n, of_core[i].family);
            (void)fprintf(out, ",lcore=\"%u\"", n->core[core]->lcore);
            end_sample(out, of_core[i].value(n->core[core]));
        }
    }
}

/* ---- all ---- */

void metrics_page_write(const struct node *n, FILE *out)
{
    put_node(out, n);
    put_drops_and_stalls(out, n);
    put_states(out, n, "port_carrier", "1: the port's device has a link.", atomic_load(&n->carrier));
    put_states(out, n, "port_up", "1: the neighbour answers.", atomic_load(&n->up));
    put_port_counts(out, n);
    put_devices(out, n);
    put_cores(out, n);
}
