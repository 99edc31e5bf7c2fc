/* name_mesh.c - names of nodes and ports of a HammingMesh (topology/name_mesh.h). */
#include "topology/name_mesh.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const struct hx_network *network_of(const struct hx_geometry *g, enum hx_node_kind kind)
{
    return kind == HX_ROW_SWITCH ? &g->row : &g->column;
}

const char *hx_mesh_node_name(char name[HX_NAME_BYTES], const struct hx_geometry *g, unsigned plane, uint32_t node)
{
    struct hx_place p = hx_place_of(g, node);
    if (p.kind == HX_ACCELERATOR) {
        snprintf(name, HX_NAME_BYTES, "a%u,%u/p%u", p.gx, p.gy, plane);
        return name;
    }
    const struct hx_network *n = network_of(g, p.kind);
    bool leaf = p.index < n->leaves;
    snprintf(name, HX_NAME_BYTES, "%s%u/p%u/%s%u", p.kind == HX_ROW_SWITCH ? "row" : "col", p.line, plane,
             leaf ? "leaf" : "spine", leaf ? p.index : (unsigned)p.index - n->leaves);
    return name;
}

const char *hx_mesh_port_name(char name[HX_NAME_BYTES], const struct hx_geometry *g, unsigned plane, uint32_t node,
                              unsigned port)
{
    struct hx_place p = hx_place_of(g, node);
    const struct hx_network *n = network_of(g, p.kind);
    if (p.kind == HX_ACCELERATOR)
        snprintf(name, HX_NAME_BYTES, "a%u,%u/p%u/%s", p.gx, p.gy, plane,
                 port < HX_ACCELERATOR_PORTS ? hx_port_letters[port] : "?");
    else if (p.index >= n->leaves)
        snprintf(name, HX_NAME_BYTES, "%s%u/p%u/spine%u/%u", p.kind == HX_ROW_SWITCH ? "row" : "col", p.line, plane,
                 (unsigned)p.index - n->leaves, port);
    else if (port >= n->down)
        snprintf(name, HX_NAME_BYTES, "%s%u/p%u/leaf%u/up%u", p.kind == HX_ROW_SWITCH ? "row" : "col", p.line, plane,
                 p.index, port - n->down);
    else
        snprintf(name, HX_NAME_BYTES, "%s%u/p%u/%u", p.kind == HX_ROW_SWITCH ? "row" : "col", p.line, plane,
                 p.index * (unsigned)n->down + port);
    return name;
}

/* First part of a name: a node kind with its line or coordinates, and the plane. */
struct head {
    enum hx_node_kind kind;
    unsigned line, gx, gy, plane;
};

static bool take_head(const char **text, const struct hx_geometry *g, struct head *h)
{
    if (hx_name_take(text, "a", &h->gx) || hx_name_take(text, "", &h->gx)) {
        h->kind = HX_ACCELERATOR;
        if (!hx_name_take(text, ",", &h->gy) || h->gx >= g->columns || h->gy >= g->rows)
            return false;
    } else if (hx_name_take(text, "row", &h->line)) {
        h->kind = HX_ROW_SWITCH;
        if (h->line >= g->rows)
            return false;
    } else if (hx_name_take(text, "col", &h->line)) {
        h->kind = HX_COLUMN_SWITCH;
        if (h->line >= g->columns)
            return false;
    } else {
        return false;
    }
    return hx_name_take(text, "/p", &h->plane) && h->plane < g->planes;
}

/* Takes "/leafN" or "/spineN" and sets the node. */
static bool take_switch(const char **text, const struct hx_geometry *g, const struct head *h, uint32_t *node,
                        bool *is_leaf)
{
    const struct hx_network *n = network_of(g, h->kind);
    unsigned index;
    *is_leaf = hx_name_take(text, "/leaf", &index);
    if (!*is_leaf && !hx_name_take(text, "/spine", &index))
        return false;
    if (index >= (*is_leaf ? n->leaves : n->spines))
        return false;
    *node = hx_tree_switch(g, h->kind, h->line, *is_leaf ? index : n->leaves + index);
    return true;
}

bool hx_mesh_node_parse(const char *name, const struct hx_geometry *g, unsigned *plane, uint32_t *node)
{
    struct head h;
    bool is_leaf;
    if (!take_head(&name, g, &h))
        return false;
    if (h.kind == HX_ACCELERATOR)
        *node = hx_accelerator(g, h.gx, h.gy);
    else if (!take_switch(&name, g, &h, node, &is_leaf))
        return false;
    *plane = h.plane;
    return *name == '\0';
}

bool hx_mesh_letter_parse(const char *text, unsigned *port)
{
    for (*port = 0; *port < HX_ACCELERATOR_PORTS; (*port)++)
        if (text[0] == '/' && strcmp(text + 1, hx_port_letters[*port]) == 0)
            return true;
    return false;
}

bool hx_mesh_port_parse(const char *name, const struct hx_geometry *g, unsigned *plane, uint32_t *node, unsigned *port)
{
    struct head h;
    bool is_leaf;
    if (!take_head(&name, g, &h))
        return false;
    *plane = h.plane;
    if (h.kind == HX_ACCELERATOR) {
        *node = hx_accelerator(g, h.gx, h.gy);
        return hx_mesh_letter_parse(name, port);
    }
    const struct hx_network *n = network_of(g, h.kind);
    unsigned number;
    if (hx_name_take(&name, "/", &number)) {
        *node = hx_tree_switch(g, h.kind, h.line, number / n->down);
        *port = number % n->down;
        return *name == '\0' && number < (unsigned)n->leaves * n->down;
    }
    if (!take_switch(&name, g, &h, node, &is_leaf) || !hx_name_take(&name, is_leaf ? "/up" : "/", &number))
        return false;
    *port = number + (is_leaf ? n->down : 0);
    return *name == '\0' && *port < hx_node_ports(g, *node);
}
