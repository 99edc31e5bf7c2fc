/* fabric.c - ports, cables and minimal paths (tools/capture/fabric.h). */
#include "tools/capture/fabric.h"
#include "tools/capture/frame.h"

#include <stdio.h>

void hx_cap_fabric_init(struct hx_cap_fabric *f, const struct hx_spec *spec, const struct hx_capture_facts *facts,
                        bool jobs_known)
{
    *f = (struct hx_cap_fabric){.known = true, .jobs_known = jobs_known, .spec = *spec, .facts = *facts};
    f->g = hx_spec_fabric(spec);
    const struct hx_geometry *m = &f->g->mesh;
    if (!m->nodes) {
        hx_cap_graph_init(&f->graph, f->g);
        return;
    }
    hx_line_init(&f->row, m->a, m->x, &m->row);
    hx_line_init(&f->column, m->b, m->y, &m->column);
}

void hx_cap_fabric_free(struct hx_cap_fabric *f)
{
    hx_line_free(&f->row);
    hx_line_free(&f->column);
    hx_cap_graph_free(&f->graph);
    hx_spec_free(&f->spec);
    f->known = false;
}

static struct hx_spot spot_of(const struct hx_geometry *g, uint32_t node)
{
    struct hx_place p = hx_place_of(g, node);
    switch (p.kind) {
    case HX_ROW_SWITCH:
        return (struct hx_spot){(uint32_t)g->columns + p.index, p.line};
    case HX_COLUMN_SWITCH:
        return (struct hx_spot){p.line, (uint32_t)g->rows + p.index};
    default:
        return (struct hx_spot){p.gx, p.gy};
    }
}

static struct hx_spot spot_in(const struct hx_cap_fabric *f, uint32_t node)
{
    if (f->g->mesh.nodes)
        return spot_of(&f->g->mesh, node);
    return (struct hx_spot){f->g->node[node].addr_hi, f->g->node[node].addr_lo};
}

static uint32_t node_at(const struct hx_geometry *g, struct hx_spot s)
{
    if (s.x >= g->columns)
        return hx_tree_switch(g, HX_ROW_SWITCH, s.y, s.x - g->columns);
    if (s.y >= g->rows)
        return hx_tree_switch(g, HX_COLUMN_SWITCH, s.x, s.y - g->rows);
    return hx_accelerator(g, s.x, s.y);
}

bool hx_cap_port(const struct hx_cap_fabric *f, const char *name, struct hx_port_at *at)
{
    *at = (struct hx_port_at){.node = HX_NOWHERE};
    struct hx_port_at found = *at;
    if (!f->known || !hx_port_parse(name, f->g, &found.plane, &found.node, &found.port))
        return false;
    found.spot = spot_in(f, found.node);
    *at = found;
    return true;
}

/* Whether the port is on a row; *port: its number on its line. */
static bool on_row(const struct hx_cap_fabric *f, const struct hx_port_at *at, unsigned *port)
{
    if (!hx_cap_is_accelerator(f, at)) {
        *port = at->port;
        return at->spot.x >= f->g->columns;
    }
    *port = at->port == HX_E || at->port == HX_S ? HX_HIGH : HX_LOW;
    return at->port == HX_E || at->port == HX_W;
}

static struct hx_port_at far_in_graph(const struct hx_cap_fabric *f, const struct hx_port_at *at)
{
    struct hx_port_at far = {.plane = at->plane, .node = HX_NOWHERE};
    struct hx_end end = hx_fabric_far(f->g, at->node, at->port);
    if (end.node == HX_NOWHERE)
        return far;
    far.spot = spot_in(f, end.node);
    far.node = end.node;
    far.port = end.port;
    return far;
}

struct hx_port_at hx_cap_far(const struct hx_cap_fabric *f, const struct hx_port_at *at)
{
    struct hx_port_at far = {.plane = at->plane, .node = HX_NOWHERE};
    if (!f->g->mesh.nodes)
        return far_in_graph(f, at);
    if (hx_cap_is_accelerator(f, at) && at->port >= HX_LOCAL)
        return far;
    unsigned port;
    bool row = on_row(f, at, &port);
    const struct hx_line *line = row ? &f->row : &f->column;
    struct hx_line_end end = hx_line_far(line, row ? at->spot.x : at->spot.y, port);
    if (end.place == HX_NOWHERE)
        return far;
    far.spot = row ? (struct hx_spot){end.place, at->spot.y} : (struct hx_spot){at->spot.x, end.place};
    far.node = node_at(&f->g->mesh, far.spot);
    far.port = end.port;
    if (end.place < line->accelerators)
        far.port = row ? (end.port == HX_LOW ? HX_W : HX_E) : (end.port == HX_LOW ? HX_N : HX_S);
    return far;
}

static unsigned cabled_in_graph(const struct hx_cap_fabric *f, uint32_t node)
{
    unsigned count = hx_is_host(f->g, node); /* LOCAL */
    for (unsigned port = 0; port < hx_fabric_ports(f->g, node); port++)
        count += hx_fabric_far(f->g, node, port).node != HX_NOWHERE;
    return count;
}

unsigned hx_cap_cabled(const struct hx_cap_fabric *f, const struct hx_port_at *at)
{
    if (!f->g->mesh.nodes)
        return cabled_in_graph(f, at->node);
    if (hx_cap_is_accelerator(f, at))
        return HX_ACCELERATOR_PORTS;
    bool row = at->spot.x >= f->g->columns;
    const struct hx_line *line = row ? &f->row : &f->column;
    uint32_t place = row ? at->spot.x : at->spot.y;
    unsigned count = 0;
    for (unsigned port = 0; port < hx_line_ports(line, place); port++)
        count += hx_line_far(line, place, port).place != HX_NOWHERE;
    return count;
}

bool hx_cap_leaves_board(const struct hx_cap_fabric *f, const struct hx_port_at *at)
{
    if (!hx_cap_is_accelerator(f, at))
        return false;
    struct hx_port_at far = hx_cap_far(f, at);
    return far.node != HX_NOWHERE && far.node >= f->g->hosts;
}

struct hx_capture_path hx_cap_path(struct hx_cap_fabric *f, unsigned gx, unsigned gy, struct hx_spot to)
{
    struct hx_reach x = hx_line_reach(&f->row, gx, to.x);
    struct hx_reach y = hx_line_reach(&f->column, gy, to.y);
    return (struct hx_capture_path){.cables = (unsigned)x.cables + y.cables,
                                    .least_crossings = (unsigned)x.least_crossings + y.least_crossings,
                                    .most_crossings = (unsigned)x.most_crossings + y.most_crossings};
}

/* ---- paths ---- */

static struct hx_leg leg_of(struct hx_capture_path done)
{
    return (struct hx_leg){done.cables, done.cables, done.least_crossings, done.most_crossings};
}

/* Computes the leg on a HammingMesh from the source to `far`, by `near` and then `cables` cables. false: not on a
 * minimal path. */
static bool leg_in_mesh(struct hx_cap_fabric *f, struct hx_journey journey, struct hx_spot near, unsigned cables,
                        struct hx_spot far, struct hx_leg *leg)
{
    struct hx_spot from = spot_in(f, journey.source);
    struct hx_spot to = spot_in(f, journey.destination);
    unsigned behind = hx_cap_path(f, from.x, from.y, near).cables + cables;
    *leg = leg_of(hx_cap_path(f, from.x, from.y, far));
    return behind + hx_cap_path(f, to.x, to.y, far).cables == hx_cap_path(f, from.x, from.y, to).cables;
}

bool hx_cap_leg(struct hx_cap_fabric *f, struct hx_journey journey, const struct hx_port_at *near, struct hx_leg *leg)
{
    if (f->g->mesh.nodes)
        return leg_in_mesh(f, journey, near->spot, 1, hx_cap_far(f, near).spot, leg);
    *leg = (struct hx_leg){0};
    struct hx_end cable = {near->node, (uint16_t)near->port};
    if (journey.source == journey.destination)
        return false;
    if (f->g->routing.policy != HX_MINIMAL)
        return hx_cap_detour_leg(&f->graph, journey.source, journey.destination, journey.via, cable, leg);
    return hx_cap_graph_leg(&f->graph, journey.source, journey.destination, cable, leg);
}

bool hx_cap_leg_to(struct hx_cap_fabric *f, struct hx_journey journey, uint32_t host, struct hx_leg *leg)
{
    if (f->g->mesh.nodes)
        return leg_in_mesh(f, journey, spot_in(f, host), 0, spot_in(f, host), leg);
    *leg = (struct hx_leg){0};
    if (journey.source != journey.destination)
        *leg = f->g->routing.policy != HX_MINIMAL ? hx_cap_detour_whole(&f->graph, journey.source, journey.destination)
                                                  : hx_cap_graph_whole(&f->graph, journey.source, journey.destination);
    return host == journey.destination;
}

unsigned hx_cap_vc(const struct hx_cap_fabric *f, const struct hx_port_at *in, unsigned vc,
                   const struct hx_port_at *out)
{
    if (f->g->mesh.nodes)
        return vc + hx_cap_leaves_board(f, out);
    return hx_cap_graph_vc(&f->graph, in->node, in->port, vc, out->port);
}

/* ---- words ---- */

struct hx_coordinate hx_cap_host(const struct hx_cap_fabric *f, unsigned addr_hi, unsigned addr_lo)
{
    return f->known ? hx_coordinate_at(f->g, addr_hi, addr_lo) : (struct hx_coordinate){addr_hi, addr_lo};
}

const char *hx_cap_packet_text(char text[HX_PACKET_TEXT], const struct hx_cap_fabric *f, const struct hx_header *h)
{
    const struct hx_coordinate from = hx_cap_host(f, h->src_addr_hi, h->src_addr_lo);
    const struct hx_coordinate to = hx_cap_host(f, h->dst_addr_hi, h->dst_addr_lo);
    (void)snprintf(text, HX_PACKET_TEXT, "%s %u of message %u from a%u,%u to a%u,%u", hx_seen_name(h), h->offset,
                   h->message, from.addr_hi, from.addr_lo, to.addr_hi, to.addr_lo);
    return text;
}
