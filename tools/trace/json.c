/* json.c - traces as JSON, and as a timeline in Chrome's trace event format (tools/trace/trace_report.h). */
#include "base/json.h"
#include "tools/trace/trace_report.h"

#include <inttypes.h>
#include <stdlib.h>

static json_t *number(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static json_t *time_json(const struct hx_time_sum *s)
{
    return json_pack("{s:I, s:I, s:I, s:I}", "packets", (json_int_t)s->count, "least", (json_int_t)s->least, "mean",
                     (json_int_t)hx_time_mean(s), "most", (json_int_t)s->most);
}

static json_t *host_json(const struct hx_capture_index *c, unsigned addr_hi, unsigned addr_lo)
{
    const struct hx_coordinate at = hx_cap_host(&c->fabric, addr_hi, addr_lo);
    return json_pack("[i, i]", (int)at.addr_hi, (int)at.addr_lo);
}

static json_t *header_json(const struct hx_capture_index *c, const struct hx_header *h)
{
    return json_pack("{s:s, s:o, s:o, s:i, s:i, s:I, s:I}", "kind", hx_seen_name(h), "from",
                     host_json(c, h->src_addr_hi, h->src_addr_lo), "to", host_json(c, h->dst_addr_hi, h->dst_addr_lo),
                     "plane", (int)h->plane, "job", (int)h->job, "message", (json_int_t)h->message, "offset",
                     (json_int_t)h->offset);
}

static json_t *end_json(const struct hx_capture_index *c, const struct hx_trace_step *step)
{
    if (!step)
        return json_null();
    return json_pack("{s:s, s:I, s:i, s:o, s:I}", "port", c->ports[step->port].name, "time_ns",
                     (json_int_t)step->time_ns, "vc", (int)step->vc, "via",
                     step->via ? json_integer(step->via - 1) : json_null(), "frame", (json_int_t)step->frame);
}

static const char *const fates[HX_TRACE_FATES] = {[HX_TRACE_DELIVERED] = "delivered",
                                                  [HX_TRACE_DAMAGED] = "damaged",
                                                  [HX_TRACE_MISSING] = "missing",
                                                  [HX_TRACE_OUT_OF_SIGHT] = "out of sight"};

json_t *hx_trace_packet_json(const struct hx_trace_view *v, const struct hx_trace_packet *p)
{
    const struct hx_capture_index *c = v->trace->c;
    json_t *hops = json_array();
    struct hx_trace_stay stay;
    for (uint32_t at = 0; hx_trace_next_stay(p, c, &at, &stay);) {
        char node[HX_TRACE_NODE];
        json_t *hop =
            json_pack("{s:s, s:o, s:o}", "at", hx_trace_node(node, c, stay.in ? stay.in->port : stay.out->port), "in",
                      end_json(c, stay.in), "out", end_json(c, stay.out));
        bool both = stay.in && stay.out && stay.out->time_ns >= stay.in->time_ns;
        json_object_set_new(hop, "waited_ns", both ? number(stay.out->time_ns - stay.in->time_ns) : json_null());
        json_array_append_new(hops, hop);
    }
    json_t *packet = header_json(c, &p->header);
    json_object_set_new(packet, "injected", json_boolean(p->injected));
    json_object_set_new(packet, "delivered", json_boolean(p->out && !p->damaged));
    json_object_set_new(packet, "fate", json_string(fates[hx_trace_fate(c, p)]));
    json_object_set_new(packet, "hops", hops);
    return packet;
}

static json_t *message_json(const struct hx_capture_index *c, const struct hx_message_sum *m)
{
    json_t *planes = json_array();
    for (unsigned plane = 0; plane < HX_MAX_PLANES; plane++)
        json_array_append_new(planes, number(m->by_plane[plane]));
    json_t *first = json_object();
    for (unsigned port = 0; port < HX_ACCELERATOR_PORTS; port++)
        json_object_set_new(first, hx_port_letters[port], number(m->by_port[port]));
    json_t *paths = json_array();
    for (uint32_t i = 0; i < m->path_count; i++)
        json_array_append_new(paths, json_pack("{s:s?, s:I, s:f, s:o}", "ports", m->paths[i].text, "packets",
                                               (json_int_t)m->paths[i].packets, "share",
                                               (double)m->paths[i].packets / (double)m->latency.count, "latency_ns",
                                               time_json(&m->paths[i].latency)));
    return json_pack("{s:o, s:o, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "from",
                     host_json(c, m->key.src_addr_hi, m->key.src_addr_lo), "to",
                     host_json(c, m->key.dst_addr_hi, m->key.dst_addr_lo), "job", (int)m->key.job, "message",
                     (json_int_t)m->key.message, "packets", (json_int_t)m->packets, "seen", (json_int_t)m->seen,
                     "delivered", (json_int_t)m->delivered, "acknowledgements", (json_int_t)m->acknowledgements,
                     "first_ns", (json_int_t)m->first_ns, "last_ns", (json_int_t)m->last_ns, "planes", planes,
                     "first_port", first, "latency_ns", time_json(&m->latency), "paths", paths);
}

static json_t *ports_json(const struct hx_trace_view *v)
{
    const struct hx_trace_sums *s = v->sums;
    json_t *ports = json_array();
    uint32_t *order = hx_trace_busiest(s);
    for (uint32_t i = 0; i < s->port_count && i < v->most; i++)
        json_array_append_new(ports, json_pack("{s:s, s:I, s:o}", "port", v->trace->c->ports[order[i]].name, "out",
                                               (json_int_t)s->ports[order[i]].out, "waited_ns",
                                               time_json(&s->ports[order[i]].wait)));
    free(order);
    return ports;
}

static json_t *missing_json(const struct hx_trace_view *v)
{
    json_t *missing = json_array();
    for (uint64_t i = 0; i < v->sums->fate[HX_TRACE_MISSING] && i < v->most && i < HX_MISSING_KEPT; i++) {
        const struct hx_missing *m = &v->sums->kept[i];
        json_t *one = header_json(v->trace->c, &m->header);
        json_object_set_new(one, "frame", number(m->frame));
        json_object_set_new(one, "time_ns", number(m->time_ns));
        json_object_set_new(one, "port", json_string(v->trace->c->ports[m->port].name));
        json_object_set_new(one, "direction", json_string(m->out ? "out" : "in"));
        json_array_append_new(missing, one);
    }
    return missing;
}

json_t *hx_trace_json(const struct hx_trace_view *v, json_t *packets)
{
    const struct hx_trace_sums *s = v->sums;
    const struct hx_capture_index *c = v->trace->c;
    json_t *messages = json_array();
    const struct hx_message_sum **list = hx_sums_messages(s);
    for (size_t i = 0; i < s->messages.count && i < v->most; i++)
        json_array_append_new(messages, message_json(c, list[i]));
    free(list);
    json_t *latency = json_pack("{s:I, s:I, s:I, s:I}", "least", (json_int_t)s->latency.least, "p50",
                                (json_int_t)hx_sums_quantile(s, 0.5), "p99", (json_int_t)hx_sums_quantile(s, 0.99),
                                "max", (json_int_t)s->latency.most);
    return json_pack(
        "{s:o, s:o, s:I, s:I, s:I, s:{s:I, s:I, s:I, s:I, s:I}, s:o, s:I, s:o, s:o, s:o, s:o, s:o}", "file",
        hx_json_text(v->file), "spec", hx_json_text(c->fabric.known ? c->fabric.spec.fabric : NULL), "frames",
        (json_int_t)c->frames, "ports", (json_int_t)c->port_count, "frames_lost",
        (json_int_t)hx_capture_index_dropped(c), "packets", "seen", (json_int_t)s->packets, "delivered",
        (json_int_t)s->fate[HX_TRACE_DELIVERED], "missing", (json_int_t)s->fate[HX_TRACE_MISSING], "damaged",
        (json_int_t)s->fate[HX_TRACE_DAMAGED], "on_their_way", (json_int_t)s->fate[HX_TRACE_OUT_OF_SIGHT], "latency_ns",
        latency, "message_count", (json_int_t)s->messages.count, "messages", messages, "waited_for", ports_json(v),
        "missing_packets", missing_json(v), "hops", packets, "cut_at", c->cut_at ? number(c->cut_at) : json_null());
}

/* ---- timeline ---- */

struct process {
    struct hx_message_key key;
    uint32_t number;
};

void hx_timeline_begin(struct hx_timeline *t, FILE *out, const struct hx_capture_index *c)
{
    *t = (struct hx_timeline){.out = out, .c = c};
    t->messages = hx_map_make(sizeof(struct hx_message_key), sizeof(struct process));
    fputs("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [", out);
}

static void begin_event(struct hx_timeline *t)
{
    fputs(t->events++ ? ",\n" : "\n", t->out);
}

static uint32_t process_of(struct hx_timeline *t, const struct hx_header *h)
{
    struct hx_message_key key = {.src_addr_hi = h->src_addr_hi,
                                 .src_addr_lo = h->src_addr_lo,
                                 .dst_addr_hi = h->dst_addr_hi,
                                 .dst_addr_lo = h->dst_addr_lo,
                                 .message = h->message,
                                 .job = h->job,
                                 .epoch = h->kind};
    struct process *p = hx_map_get(&t->messages, &key);
    if (p->number == 0) {
        const struct hx_coordinate from = hx_cap_host(&t->c->fabric, h->src_addr_hi, h->src_addr_lo);
        const struct hx_coordinate to = hx_cap_host(&t->c->fabric, h->dst_addr_hi, h->dst_addr_lo);
        p->number = (uint32_t)t->messages.count;
        begin_event(t);
        fprintf(t->out,
                "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": %u, \"args\": {\"name\": \"%sa%u,%u to a%u,%u "
                "message "
                "%u\"}}",
                p->number, h->kind == HX_DATA ? "" : "answers ", from.addr_hi, from.addr_lo, to.addr_hi, to.addr_lo,
                h->message);
    }
    return p->number;
}

/* Writes a port name. It comes from a file, so quotes and unprintable characters become '?'. */
static void put_name(FILE *out, const char *name)
{
    for (; *name; name++)
        fputc(*name < ' ' || *name > '~' || *name == '"' || *name == '\\' ? '?' : *name, out);
}

static void slice(struct hx_timeline *t, uint32_t process, const char *what, const char *where, uint64_t from,
                  uint64_t to, unsigned vc, uint64_t frame)
{
    uint64_t length = to > from ? to - from : 0;
    begin_event(t);
    fprintf(t->out,
            "{\"ph\": \"X\", \"pid\": %u, \"tid\": %u, \"ts\": %" PRIu64 ".%03u, \"dur\": %" PRIu64 ".%03u, \"name\": "
            "\"%s",
            process, t->threads, from / 1000, (unsigned)(from % 1000), length / 1000, (unsigned)(length % 1000), what);
    put_name(t->out, where);
    fprintf(t->out, "\", \"args\": {\"vc\": %u, \"frame\": %" PRIu64 "}}", vc, frame);
}

void hx_timeline_packet(struct hx_timeline *t, const struct hx_trace_packet *p)
{
    uint32_t process = process_of(t, &p->header);
    t->threads++;
    begin_event(t);
    fprintf(t->out,
            "{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": %u, \"tid\": %u, \"args\": {\"name\": \"%s %u%s\"}}",
            process, t->threads, hx_seen_name(&p->header), p->header.offset,
            p->out && !p->damaged ? "" : " (not delivered)");
    struct hx_trace_stay stay;
    const struct hx_trace_step *from = NULL;
    for (uint32_t at = 0; hx_trace_next_stay(p, t->c, &at, &stay);) {
        char node[HX_TRACE_NODE];
        if (from && stay.in)
            slice(t, process, "cable ", t->c->ports[from->port].name, from->time_ns, stay.in->time_ns, from->vc,
                  from->frame);
        if (stay.in)
            slice(t, process, "", hx_trace_node(node, t->c, stay.in->port), stay.in->time_ns,
                  stay.out ? stay.out->time_ns : stay.in->time_ns, stay.in->vc, stay.in->frame);
        from = stay.out;
    }
}

void hx_timeline_end(struct hx_timeline *t)
{
    fputs("\n]}\n", t->out);
    hx_map_free(&t->messages);
}
