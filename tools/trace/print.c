/* print.c - traces as text (tools/trace/trace_report.h). */
#include "base/text.h"
#include "base/value.h"
#include "tools/trace/trace_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *duration(uint64_t ns)
{
    static char texts[4][HX_VALUE_TEXT];
    static unsigned turn;
    return hx_value_print_duration(texts[turn++ % 4], ns);
}

static uint64_t since(uint64_t ns, uint64_t from)
{
    return ns > from ? ns - from : 0;
}

/* ---- a packet ---- */

static void print_stay(const struct hx_trace_view *v, const struct hx_trace_packet *p, const struct hx_trace_stay *stay,
                       const struct hx_trace_step **from)
{
    const struct hx_capture_index *c = v->trace->c;
    const struct hx_trace_step *any = stay->in ? stay->in : stay->out;
    char node[HX_TRACE_NODE];
    char vc[16];
    if (stay->in && stay->out && stay->in->vc != stay->out->vc)
        snprintf(vc, sizeof vc, "%u->%u", stay->in->vc, stay->out->vc);
    else
        snprintf(vc, sizeof vc, "%u", any->vc);
    printf("  %10s", duration(since(any->time_ns, p->steps[0].time_ns)));
    printf(" %10s", *from && stay->in ? duration(since(stay->in->time_ns, (*from)->time_ns)) : "-");
    printf(" %10s", stay->in && stay->out ? duration(since(stay->out->time_ns, stay->in->time_ns)) : "-");
    printf("  %-16s %-6s %-6s %-5s", hx_trace_node(node, c, any->port),
           stay->in ? hx_trace_port(c, stay->in->port) : "?", stay->out ? hx_trace_port(c, stay->out->port) : "?", vc);
    printf(" %" PRIu64, any->frame);
    if (stay->in && stay->out)
        printf(" %" PRIu64, stay->out->frame);
    putchar('\n');
    *from = stay->out;
}

/* The target of the packet's detour as its frames name it (hxmesh/frame.h); 0: no detour seen. */
static unsigned via_of(const struct hx_trace_packet *p)
{
    unsigned via = 0;
    for (uint32_t i = 0; i < p->count && !via; i++)
        via = p->steps[i].via;
    return via;
}

void hx_trace_print_packet(const struct hx_trace_view *v, const struct hx_trace_packet *p)
{
    const struct hx_header *h = &p->header;
    char packet[HX_PACKET_TEXT];
    printf("%s, job %u, plane %u, %u bytes", hx_cap_packet_text(packet, &v->trace->c->fabric, h), h->job, h->plane,
           h->length);
    if (via_of(p))
        printf(", by a detour to the router of addr_hi %u", via_of(p) - 1);
    printf(": ");
    const char *took = duration(since(p->steps[p->count - 1].time_ns, p->steps[0].time_ns));
    switch (hx_trace_fate(v->trace->c, p)) {
    case HX_TRACE_DELIVERED:
        printf("delivered%s %s\n", p->injected ? " after" : "; seen for", took);
        break;
    case HX_TRACE_DAMAGED:
        printf("DAMAGED, its checksum is wrong where it came out; seen for %s\n", took);
        break;
    case HX_TRACE_MISSING:
        printf("MISSING; seen for %s\n", took);
        break;
    default:
        printf("went out of sight, to ports that the capture does not show; seen for %s\n", took);
    }
    printf("  %10s %10s %10s  %-16s %-6s %-6s %-5s frames\n", "at", "cable", "waited", "node", "in", "out", "VC");
    struct hx_trace_stay stay;
    const struct hx_trace_step *from = NULL;
    for (uint32_t at = 0; hx_trace_next_stay(p, v->trace->c, &at, &stay);)
        print_stay(v, p, &stay, &from);
    putchar('\n');
}

/* ---- messages ---- */

static int by_packets(const void *a, const void *b)
{
    const struct hx_path *one = a;
    const struct hx_path *other = b;
    return one->packets == other->packets ? 0 : one->packets < other->packets ? 1 : -1;
}

static void print_message(const struct hx_cap_fabric *f, const struct hx_message_sum *m, uint64_t most)
{
    const struct hx_coordinate from = hx_cap_host(f, m->key.src_addr_hi, m->key.src_addr_lo);
    const struct hx_coordinate to = hx_cap_host(f, m->key.dst_addr_hi, m->key.dst_addr_lo);
    printf("message %u from a%u,%u to a%u,%u: %u packet%s, %" PRIu64 " seen, %" PRIu64 " delivered", m->key.message,
           from.addr_hi, from.addr_lo, to.addr_hi, to.addr_lo, m->packets, hx_plural(m->packets), m->seen,
           m->delivered);
    if (m->delivered)
        printf(" within %s", duration(since(m->last_ns, m->first_ns)));
    printf(", %" PRIu64 " acknowledgement%s\n", m->acknowledgements, hx_plural(m->acknowledgements));
    if (m->latency.count)
        printf("  %-12s%s .. %s, mean %s\n", "latency", duration(m->latency.least), duration(m->latency.most),
               duration(hx_time_mean(&m->latency)));
    printf("  %-12s", "first port");
    for (unsigned port = 0; port < HX_ACCELERATOR_PORTS; port++)
        if (m->by_port[port])
            printf("%s %" PRIu64 "  ", hx_port_letters[port], m->by_port[port]);
    printf("\n  %-12s", "planes");
    for (unsigned plane = 0; plane < HX_MAX_PLANES; plane++)
        if (m->by_plane[plane])
            printf("p%u %" PRIu64 "  ", plane, m->by_plane[plane]);
    putchar('\n');
    if (m->paths)
        qsort(m->paths, m->path_count, sizeof *m->paths, by_packets);
    for (uint32_t i = 0; i < m->path_count && i < most; i++)
        printf("  %5.1f %%  mean %-10s %s\n", 100.0 * (double)m->paths[i].packets / (double)m->latency.count,
               duration(hx_time_mean(&m->paths[i].latency)), m->paths[i].text ? m->paths[i].text : "other paths");
    if (m->path_count > most)
        printf("  %" PRIu64 " more paths\n", m->path_count - most);
}

/* ---- totals ---- */

struct busy {
    uint64_t waited;
    uint32_t port;
};

static int by_wait(const void *a, const void *b)
{
    const struct busy *one = a;
    const struct busy *other = b;
    if (one->waited != other->waited)
        return one->waited < other->waited ? 1 : -1;
    return one->port < other->port ? -1 : one->port > other->port;
}

uint32_t *hx_trace_busiest(const struct hx_trace_sums *s)
{
    struct busy *list = hx_allocate(s->port_count, sizeof *list);
    uint32_t *order = hx_allocate(s->port_count, sizeof *order);
    for (uint32_t i = 0; i < s->port_count; i++)
        list[i] = (struct busy){s->ports[i].wait.sum, i};
    qsort(list, s->port_count, sizeof *list, by_wait);
    for (uint32_t i = 0; i < s->port_count; i++)
        order[i] = list[i].port;
    free(list);
    return order;
}

static void print_ports(const struct hx_trace_view *v)
{
    const struct hx_trace_sums *s = v->sums;
    uint32_t *order = hx_trace_busiest(s);
    for (uint32_t i = 0; i < s->port_count && i < v->most && s->ports[order[i]].wait.sum; i++) {
        const struct hx_port_wait *w = &s->ports[order[i]];
        printf("%-13s%-16s %" PRIu64 " packet%s, mean %s, most %s\n", i == 0 ? "waited for" : "",
               v->trace->c->ports[order[i]].name, w->wait.count, hx_plural(w->wait.count),
               duration(hx_time_mean(&w->wait)), duration(w->wait.most));
    }
    free(order);
}

static void print_missing(const struct hx_trace_view *v)
{
    const struct hx_trace_sums *s = v->sums;
    uint64_t shown = 0;
    uint64_t missing = s->fate[HX_TRACE_MISSING];
    for (; shown < missing && shown < v->most && shown < HX_MISSING_KEPT; shown++) {
        const struct hx_missing *m = &s->kept[shown];
        char packet[HX_PACKET_TEXT];
        printf("%-13s%s: seen last in frame %" PRIu64 ", %s %s, %s after the start\n", shown == 0 ? "missing" : "",
               hx_cap_packet_text(packet, &v->trace->c->fabric, &m->header), m->frame,
               m->out ? "leaving by" : "coming in by", v->trace->c->ports[m->port].name,
               duration(since(m->time_ns, v->trace->first_ns)));
    }
    if (missing > shown)
        printf("%-13s%" PRIu64 " more\n", "", missing - shown);
    if (missing == 0 && v->missing_only)
        printf("no packet is missing\n");
}

void hx_trace_print(const struct hx_trace_view *v)
{
    const struct hx_trace_sums *s = v->sums;
    const struct hx_capture_index *c = v->trace->c;
    printf("%s: %s, %" PRIu64 " frame%s at %u port%s, %s\n", v->file,
           c->fabric.known ? c->fabric.spec.fabric : "fabric not known", c->frames, hx_plural(c->frames), c->port_count,
           hx_plural(c->port_count), duration(since(v->trace->last_ns, v->trace->first_ns)));
    printf("%-13s%" PRIu64 ": %" PRIu64 " delivered, %" PRIu64 " missing, %" PRIu64 " damaged, %" PRIu64
           " went out of sight\n",
           "packets", s->packets, s->fate[HX_TRACE_DELIVERED], s->fate[HX_TRACE_MISSING], s->fate[HX_TRACE_DAMAGED],
           s->fate[HX_TRACE_OUT_OF_SIGHT]);
    if (s->latency.count)
        printf("%-13sleast %s, median %s, 99 %% %s, most %s\n", "latency", duration(s->latency.least),
               duration(hx_sums_quantile(s, 0.5)), duration(hx_sums_quantile(s, 0.99)), duration(s->latency.most));
    printf("%-13s%zu\n", "messages", s->messages.count);
    uint64_t dropped = hx_capture_index_dropped(c);
    if (dropped)
        printf("%-13s%" PRIu64 " frame%s to the capture: %s\n", "lost", dropped, hx_plural(dropped),
               HX_CAPTURE_KEEPS_ALL);
    if (c->cut_at)
        printf("%-13sat byte %" PRIu64 ", within a block: packets that were in flight there count as missing\n",
               "cut off", c->cut_at);
    print_ports(v);
    print_missing(v);
    if (!v->packets_shown)
        return;
    const struct hx_message_sum **list = hx_sums_messages(s);
    putchar('\n');
    for (size_t i = 0; i < s->messages.count && i < v->most; i++)
        print_message(&c->fabric, list[i], v->most);
    if (s->messages.count > v->most)
        printf("%" PRIu64 " more message%s\n", (uint64_t)s->messages.count - v->most,
               hx_plural(s->messages.count - v->most));
    free(list);
}
