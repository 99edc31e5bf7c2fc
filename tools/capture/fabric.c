/* fabric.c - ports, cables and minimal ways (tools/capture/fabric.h). */
#include "tools/capture/fabric.h"

void hx_cap_fabric_init(struct hx_cap_fabric *f, const struct hx_spec *spec, const struct hx_capture_facts *facts,
                        bool jobs_known)
{
    *f = (struct hx_cap_fabric){.known = true, .jobs_known = jobs_known, .spec = *spec, .facts = *facts};
    f->g = hx_spec_fabric(spec);
    const struct hx_geometry *m = &f->g->mesh;
    hx_line_init(&f->row, m->a, m->x, &m->row);
    hx_line_init(&f->column, m->b, m->y, &m->column);
}

void hx_cap_fabric_free(struct hx_cap_fabric *f)
{
    hx_line_free(&f->row);
    hx_line_free(&f->column);
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
    found.spot = spot_of(&f->g->mesh, found.node);
    *at = found;
    return true;
}

/* The line a port belongs to, and the port's number on it. */
static bool on_row(const struct hx_cap_fabric *f, const struct hx_port_at *at, unsigned *port)
{
    if (!hx_cap_is_accelerator(f, at)) {
        *port = at->port;
        return at->spot.x >= f->g->columns;
    }
    *port = at->port == HX_E || at->port == HX_S ? HX_HIGH : HX_LOW;
    return at->port == HX_E || at->port == HX_W;
}

struct hx_port_at hx_cap_far(const struct hx_cap_fabric *f, const struct hx_port_at *at)
{
    struct hx_port_at far = {.plane = at->plane, .node = HX_NOWHERE};
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

unsigned hx_cap_cabled(const struct hx_cap_fabric *f, const struct hx_port_at *at)
{
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

struct hx_way hx_cap_way(struct hx_cap_fabric *f, unsigned gx, unsigned gy, struct hx_spot to)
{
    struct hx_reach x = hx_line_reach(&f->row, gx, to.x);
    struct hx_reach y = hx_line_reach(&f->column, gy, to.y);
    return (struct hx_way){.cables = (unsigned)x.cables + y.cables,
                           .least_crossings = (unsigned)x.least_crossings + y.least_crossings,
                           .most_crossings = (unsigned)x.most_crossings + y.most_crossings};
}
