/* capture_index.c - turns blocks of a capture file into frames (tools/capture/capture_index.h). */
#include "tools/capture/capture_index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct named {
    char name[HX_PORT_NAME_BYTES];
    uint32_t port;
};

static bool opened(struct hx_capture_index *c, const struct hx_spec *given, bool good)
{
    c->given = given;
    c->names = hx_table_make(HX_PORT_NAME_BYTES, sizeof(struct named));
    return good;
}

bool hx_capture_index_open(struct hx_capture_index *c, const char *path, const struct hx_spec *given,
                           struct hx_problem *problem)
{
    *c = (struct hx_capture_index){.ports = NULL};
    return opened(c, given, hx_pcapng_open(&c->reader, path, problem));
}

bool hx_capture_index_open_file(struct hx_capture_index *c, FILE *in, const char *name, const struct hx_spec *given,
                                struct hx_problem *problem)
{
    *c = (struct hx_capture_index){.ports = NULL};
    return opened(c, given, hx_pcapng_open_file(&c->reader, in, name, problem));
}

void hx_capture_index_close(struct hx_capture_index *c)
{
    hx_pcapng_close(&c->reader);
    if (c->fabric.known) {
        if (c->given) /* the caller owns the spec */
            c->fabric.spec = (struct hx_spec){.failed = NULL};
        hx_cap_fabric_free(&c->fabric);
    }
    hx_table_free(&c->names);
    free(c->ports);
    free(c->interface);
    free(c->ethernet);
    c->ports = NULL;
    c->interface = NULL;
    c->ethernet = NULL;
}

/* ---- sections, interfaces and statistics ---- */

/* Joins the graph file's text from the section's comments into *joined, which the caller frees. If there is none,
 * returns the text of the given fabric. */
static struct hx_graph_text graph_text(const struct hx_capture_index *c, char **joined)
{
    static const char mark[] = HX_CAPTURE_GRAPH_MARK;
    const struct hx_pcapng_read_section *s = &c->reader.section;
    size_t bytes = 0;
    for (unsigned i = 0; i < s->comments; i++)
        bytes += s->comment[i].length;
    char *text = hx_allocate(bytes + 1, 1);
    size_t used = 0;
    for (unsigned i = 0; i < s->comments; i++) {
        const struct hx_pcapng_text *one = &s->comment[i];
        if (one->length < sizeof mark - 1 || memcmp(one->bytes, mark, sizeof mark - 1) != 0)
            continue;
        memcpy(text + used, one->bytes + sizeof mark - 1, one->length - (sizeof mark - 1));
        used += one->length - (sizeof mark - 1);
    }
    *joined = text;
    const struct hx_fabric *known = c->given ? c->given->graph : NULL;
    if (used == 0 && known)
        return (struct hx_graph_text){known->graph_text, known->graph_bytes};
    return (struct hx_graph_text){used ? text : NULL, used};
}

static bool take_section(struct hx_capture_index *c, struct hx_problem *problem)
{
    c->interfaces = 0;
    const struct hx_pcapng_text *comment = NULL;
    for (unsigned i = 0; i < c->reader.section.comments && !comment; i++)
        if (hx_capture_marked(c->reader.section.comment[i].bytes, c->reader.section.comment[i].length))
            comment = &c->reader.section.comment[i];
    struct hx_spec spec = {.failed = NULL};
    struct hx_capture_facts facts;
    char *joined = NULL;
    struct hx_graph_text graph = graph_text(c, &joined);
    bool read = comment && hx_capture_parse(comment->bytes, comment->length, &graph, &spec, &facts, problem);
    free(joined);
    if (comment && !read && !c->given) {
        struct hx_problem inner = *problem;
        return hx_fail(problem, inner.exit_code, c->reader.name, "section comment: %s", inner.what);
    }
    if (!read)
        facts = (struct hx_capture_facts){.link = HX_CAPTURE_WIRE};
    if (c->given_buffer)
        facts.buffer = 0;
    bool first = !c->begun;
    c->begun = true;
    if (first && (comment || c->given)) {
        bool jobs_known = c->given ? c->given->job != NULL : !facts.jobs_unknown;
        if (c->given)
            hx_spec_free(&spec);
        hx_cap_fabric_init(&c->fabric, c->given ? c->given : &spec, &facts, jobs_known);
        return true;
    }
    bool same = !comment || c->given || (c->fabric.known && strcmp(spec.fabric, c->fabric.spec.fabric) == 0);
    hx_spec_free(&spec);
    return same || hx_fail(problem, HX_EXIT_CONFIG, c->reader.name, "has sections of different fabrics (%s and %s)",
                           c->fabric.known ? c->fabric.spec.fabric : "one without a name", spec.fabric);
}

static uint32_t port_named(struct hx_capture_index *c, const struct hx_pcapng_text *text)
{
    struct named key = {.name = "unknown"};
    if (text->length > 0) {
        size_t length = text->length < sizeof key.name - 1 ? text->length : sizeof key.name - 1;
        memset(key.name, 0, sizeof key.name);
        for (size_t i = 0; i < length; i++) /* Names come from untrusted files; terminals obey control characters. */
            key.name[i] = (char)(text->bytes[i] >= ' ' && text->bytes[i] <= '~' ? text->bytes[i] : '?');
    }
    const struct named *known = hx_table_find(&c->names, key.name);
    if (known)
        return known->port;
    c->ports = hx_grow(c->ports, c->port_count, &c->port_room, sizeof *c->ports);
    struct hx_cap_port *port = &c->ports[c->port_count];
    *port = (struct hx_cap_port){.filtered = false};
    memcpy(port->name, key.name, sizeof port->name);
    (void)hx_cap_port(&c->fabric, port->name, &port->at);
    struct named *added = hx_table_add(&c->names, key.name);
    added->port = c->port_count;
    return c->port_count++;
}

static void take_interface(struct hx_capture_index *c)
{
    const struct hx_pcapng_read_interface *i = &c->reader.interface;
    size_t room = c->interface_room;
    c->interface = hx_grow(c->interface, c->interfaces, &room, sizeof *c->interface);
    c->ethernet = hx_grow(c->ethernet, c->interfaces, &c->interface_room, sizeof *c->ethernet);
    uint32_t port = port_named(c, &i->name);
    c->ports[port].filtered = c->ports[port].filtered || i->filter.length > 0;
    c->interface[c->interfaces] = port;
    c->ethernet[c->interfaces++] = i->link_type == HX_PCAPNG_ETHERNET;
}

/* Counts run from the start of the capture, so a later block replaces an earlier one. They include drops reported with
 * single frames. */
static void take_statistics(struct hx_capture_index *c)
{
    const struct hx_pcapng_statistics *s = &c->reader.statistics;
    struct hx_cap_port *port = &c->ports[c->interface[s->interface]];
    uint64_t dropped = 0;
    if (s->dropped != HX_PCAPNG_NOT_KNOWN)
        dropped = s->dropped;
    if (s->os_dropped != HX_PCAPNG_NOT_KNOWN && dropped + s->os_dropped >= dropped)
        dropped += s->os_dropped;
    if (dropped > port->dropped)
        port->dropped = dropped;
}

static void take_packet(struct hx_capture_index *c, struct hx_capture_frame *s)
{
    const struct hx_pcapng_read_packet *p = &c->reader.packet;
    *s = (struct hx_capture_frame){.frame = p->frame,
                                   .has_time = p->has_time,
                                   .has_queue = p->has_queue,
                                   .queue = p->queue,
                                   .time_ns = p->time_ns,
                                   .port = c->interface[p->interface],
                                   .direction = p->direction,
                                   .bytes = p->bytes,
                                   .captured = p->captured,
                                   .original = p->original,
                                   .comment = p->comment};
    if (c->ethernet[p->interface])
        hx_seen_read(&s->seen, p->bytes, p->captured, p->original);
    else
        s->seen.kind = HX_SEEN_FOREIGN;
    struct hx_cap_port *port = &c->ports[s->port];
    port->frames[s->direction]++;
    if (p->has_dropped && port->dropped + p->dropped >= port->dropped)
        port->dropped += p->dropped;
    c->frames++;
    c->bytes += p->original;
}

int hx_capture_index_next(struct hx_capture_index *c, struct hx_capture_frame *s, struct hx_problem *problem)
{
    for (;;) {
        switch (hx_pcapng_next(&c->reader, problem)) {
        case HX_PCAPNG_IS_SECTION:
            if (!take_section(c, problem))
                return -1;
            break;
        case HX_PCAPNG_IS_INTERFACE:
            take_interface(c);
            break;
        case HX_PCAPNG_IS_STATISTICS:
            take_statistics(c);
            break;
        case HX_PCAPNG_IS_PACKET:
            take_packet(c, s);
            return 1;
        case HX_PCAPNG_IS_END:
            return 0;
        default:
            if (!c->reader.cut || c->frames == 0)
                return -1;
            c->cut_at = c->reader.offset;
            return 0;
        }
    }
}

uint64_t hx_capture_index_dropped(const struct hx_capture_index *c)
{
    uint64_t dropped = 0;
    for (uint32_t i = 0; i < c->port_count; i++)
        dropped += c->ports[i].dropped;
    return dropped;
}

const char *hx_capture_index_node_name(char name[HX_NODE_NAME_BYTES], const struct hx_capture_index *c,
                                       const struct hx_port_at *at)
{
    return hx_node_name(name, c->fabric.g, at->plane, at->node);
}

uint32_t hx_capture_index_named(const struct hx_capture_index *c, const char *name)
{
    struct named key = {.port = 0};
    (void)snprintf(key.name, sizeof key.name, "%s", name);
    const struct named *known = hx_table_find(&c->names, key.name);
    return known ? known->port : UINT32_MAX;
}

uint32_t hx_capture_index_port(const struct hx_capture_index *c, const struct hx_port_at *at)
{
    char name[HX_NAME_BYTES];
    return hx_capture_index_named(c, hx_port_name(name, c->fabric.g, at->plane, at->node, at->port));
}
