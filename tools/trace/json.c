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

static json_t *planes_json(const struct hx_message_sum *m)
{
    json_t *planes = json_array();
    for (unsigned plane = 0; plane < HX_MAX_PLANES; plane++)
        json_array_append_new(planes, number(m->by_plane[plane]));
    return planes;
}

static json_t *first_port_json(const struct hx_message_sum *m)
{
    json_t *first = json_object();
    for (unsigned port = 0; port < HX_ACCELERATOR_PORTS; port++)
        json_object_set_new(first, hx_port_letters[port], number(m->by_port[port]));
    return first;
}

static json_t *path_json(const struct hx_message_sum *m, const struct hx_path *path)
{
    return json_pack("{s:s?, s:I, s:f, s:o}", "ports", path->text, "packets", (json_int_t)path->packets, "share",
                     (double)path->packets / (double)m->latency.count, "latency_ns", time_json(&path->latency));
}

static json_t *message_json(const struct hx_capture_index *c, const struct hx_message_sum *m)
{
    json_t *paths = json_array();
    for (uint32_t i = 0; i < m->path_count; i++)
        json_array_append_new(paths, path_json(m, &m->paths[i]));
    json_t *message = json_object();
    json_object_set_new(message, "from", host_json(c, m->key.src_addr_hi, m->key.src_addr_lo));
    json_object_set_new(message, "to", host_json(c, m->key.dst_addr_hi, m->key.dst_addr_lo));
    json_object_set_new(message, "job", number(m->key.job));
    json_object_set_new(message, "message", number(m->key.message));
    json_object_set_new(message, "packets", number(m->packets));
    json_object_set_new(message, "seen", number(m->seen));
    json_object_set_new(message, "delivered", number(m->delivered));
    json_object_set_new(message, "acknowledgements", number(m->acknowledgements));
    json_object_set_new(message, "first_ns", number(m->first_ns));
    json_object_set_new(message, "last_ns", number(m->last_ns));
    json_object_set_new(message, "planes", planes_json(m));
    json_object_set_new(message, "first_port", first_port_json(m));
    json_object_set_new(message, "latency_ns", time_json(&m->latency));
    json_object_set_new(message, "paths", paths);
    return message;
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

static json_t *packets_json(const struct hx_trace_sums *s)
{
    const uint64_t *fate = s->fate;
    return json_pack("{s:I, s:I, s:I, s:I, s:I}", "seen", (json_int_t)s->packets, "delivered",
                     (json_int_t)fate[HX_TRACE_DELIVERED], "missing", (json_int_t)fate[HX_TRACE_MISSING], "damaged",
                     (json_int_t)fate[HX_TRACE_DAMAGED], "out_of_sight", (json_int_t)fate[HX_TRACE_OUT_OF_SIGHT]);
}

static json_t *latency_json(const struct hx_trace_sums *s)
{
    return json_pack("{s:I, s:I, s:I, s:I}", "least", (json_int_t)s->latency.least, "p50",
                     (json_int_t)hx_sums_quantile(s, 0.5), "p99", (json_int_t)hx_sums_quantile(s, 0.99), "max",
                     (json_int_t)s->latency.most);
}

static json_t *messages_json(const struct hx_trace_view *v)
{
    const struct hx_trace_sums *s = v->sums;
    json_t *messages = json_array();
    const struct hx_message_sum **list = hx_sums_messages(s);
    for (size_t i = 0; i < s->messages.count && i < v->most; i++)
        json_array_append_new(messages, message_json(v->trace->c, list[i]));
    free(list);
    return messages;
}

json_t *hx_trace_json(const struct hx_trace_view *v, json_t *hops)
{
    const struct hx_trace_sums *s = v->sums;
    const struct hx_capture_index *c = v->trace->c;
    json_t *trace = json_object();
    json_object_set_new(trace, "schema", number(2));
    json_object_set_new(trace, "file", hx_json_text(v->file));
    json_object_set_new(trace, "spec", hx_json_text(c->fabric.known ? c->fabric.spec.fabric : NULL));
    json_object_set_new(trace, "frames", number(c->frames));
    json_object_set_new(trace, "ports", number(c->port_count));
    json_object_set_new(trace, "frames_lost", number(hx_capture_index_dropped(c)));
    json_object_set_new(trace, "packets", packets_json(s));
    json_object_set_new(trace, "latency_ns", latency_json(s));
    json_object_set_new(trace, "message_count", number(s->messages.count));
    json_object_set_new(trace, "messages", messages_json(v));
    json_object_set_new(trace, "waited_for", ports_json(v));
    json_object_set_new(trace, "missing_packets", missing_json(v));
    json_object_set_new(trace, "hops", hops);
    json_object_set_new(trace, "cut_at", c->cut_at ? number(c->cut_at) : json_null());
    return trace;
}

/* ---- timeline ---- */

/* A message, or what answers it: a process of the timeline. */
struct process_key {
    uint16_t src_addr_hi, src_addr_lo, dst_addr_hi, dst_addr_lo;
    uint32_t message;
    uint16_t job;
    uint16_t kind; /* enum hx_kind */
};

struct process {
    struct process_key key;
    uint32_t number;
};

void hx_timeline_begin(struct hx_timeline *t, FILE *out, const struct hx_capture_index *c)
{
    *t = (struct hx_timeline){.out = out, .c = c};
    t->messages = hx_table_make(sizeof(struct process_key), sizeof(struct process));
    fputs("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [", out);
}

static void begin_event(struct hx_timeline *t)
{
    fputs(t->events++ ? ",\n" : "\n", t->out);
}

static uint32_t process_of(struct hx_timeline *t, const struct hx_header *h)
{
    struct process_key key = {.src_addr_hi = h->src_addr_hi,
                              .src_addr_lo = h->src_addr_lo,
                              .dst_addr_hi = h->dst_addr_hi,
                              .dst_addr_lo = h->dst_addr_lo,
                              .message = h->message,
                              .job = h->job,
                              .kind = h->kind};
    struct process *p = hx_table_find_or_add(&t->messages, &key);
    if (p->number == 0) {
        const struct hx_coordinate from = hx_cap_host(&t->c->fabric, h->src_addr_hi, h->src_addr_lo);
        const struct hx_coordinate to = hx_cap_host(&t->c->fabric, h->dst_addr_hi, h->dst_addr_lo);
        p->number = (uint32_t)t->messages.count;
        begin_event(t);
        fprintf(t->out,
                "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": %u, \"args\": {\"name\": \"%sa%u,%u to a%u,%u "
                "message %u\"}}",
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
    hx_table_free(&t->messages);
}
