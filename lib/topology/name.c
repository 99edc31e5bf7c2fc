/* name.c - names of nodes and ports of any fabric (topology/name.h). */
#include "topology/name.h"
#include "topology/name_mesh.h" /* circle: a HammingMesh has its own names */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const hx_port_letters[HX_ACCELERATOR_PORTS] = {
    [HX_E] = "E", [HX_W] = "W", [HX_N] = "N", [HX_S] = "S", [HX_LOCAL] = "local"};

/* Where hosts are split, a host's links are its router's, and the trace between the two has a name of its own. */
static const char trace_name[] = "/trace";

static bool is_named_as_hosts(const struct hx_fabric *g, uint32_t node, unsigned port)
{
    return g->split_hosts && !hx_is_host(g, node) && hx_fabric_port(g, node, port)->host_port < HX_LOCAL;
}

/* "/E" of a host, or of the router that has its port. */
static const char *host_port_name(const struct hx_fabric *g, uint32_t node, unsigned port)
{
    static const char *const names[] = {"/E", "/W", "/N", "/S", "/local"};
    if (!hx_is_host(g, node))
        return names[hx_fabric_port(g, node, port)->host_port];
    if (g->split_hosts && port == HX_E)
        return trace_name;
    return port < HX_ACCELERATOR_PORTS ? names[port] : "/?";
}

static int print_place(char name[HX_NAME_BYTES], const struct hx_fabric *g, uint32_t node)
{
    if (hx_is_host(g, node)) {
        struct hx_coordinate at = hx_coordinate_of(g, node);
        return snprintf(name, HX_NAME_BYTES, "a%u,%u", at.addr_hi, at.addr_lo);
    }
    for (unsigned i = 0; i < g->names; i++) {
        const struct hx_name_range *r = &g->name[i];
        uint32_t at = node - r->first;
        if (at < r->count && r->inner)
            return snprintf(name, HX_NAME_BYTES, "%s%u,%u", r->word, at / r->inner, at % r->inner);
        if (at < r->count)
            return snprintf(name, HX_NAME_BYTES, "%s%u", r->word, at);
    }
    return snprintf(name, HX_NAME_BYTES, "s%u", node - g->hosts);
}

const char *hx_place_name(char name[HX_NAME_BYTES], const struct hx_fabric *g, uint32_t node)
{
    (void)print_place(name, g, node);
    return name;
}

const char *hx_node_name(char name[HX_NAME_BYTES], const struct hx_fabric *g, unsigned plane, uint32_t node)
{
    if (g->mesh.nodes)
        return hx_mesh_node_name(name, &g->mesh, plane, node);
    int used = print_place(name, g, node);
    (void)snprintf(name + used, HX_NAME_BYTES - (size_t)used, "/p%u", plane);
    return name;
}

const char *hx_port_name(char name[HX_NAME_BYTES], const struct hx_fabric *g, unsigned plane, uint32_t node,
                         unsigned port)
{
    if (g->mesh.nodes)
        return hx_mesh_port_name(name, &g->mesh, plane, node, port);
    bool as_hosts = is_named_as_hosts(g, node, port);
    int used = print_place(name, g, as_hosts ? node - g->hosts : node);
    if (hx_is_host(g, node) || as_hosts)
        (void)snprintf(name + used, HX_NAME_BYTES - (size_t)used, "/p%u%s", plane, host_port_name(g, node, port));
    else
        (void)snprintf(name + used, HX_NAME_BYTES - (size_t)used, "/p%u/%u", plane, port);
    return name;
}

bool hx_name_take(const char **text, const char *word, unsigned *number)
{
    size_t length = strlen(word);
    if (strncmp(*text, word, length) != 0)
        return false;
    const char *digits = *text + length;
    size_t count = strspn(digits, "0123456789");
    if (count == 0 || count > 6 || (count > 1 && *digits == '0'))
        return false;
    *number = (unsigned)strtoul(digits, NULL, 10);
    *text = digits + count;
    return true;
}

static bool take_router(const char **text, const struct hx_fabric *g, uint32_t *node)
{
    static const struct hx_name_range plain = {.word = "s"};
    for (unsigned i = 0; i <= g->names; i++) {
        const struct hx_name_range *r = i < g->names ? &g->name[i] : &plain;
        uint32_t first = i < g->names ? r->first : g->hosts;
        uint32_t count = i < g->names ? r->count : g->nodes - g->hosts;
        const char *next = *text;
        unsigned at;
        unsigned inner = 0;
        if (!hx_name_take(&next, r->word, &at) ||
            (r->inner && (!hx_name_take(&next, ",", &inner) || inner >= r->inner)))
            continue;
        at = r->inner ? at * r->inner + inner : at;
        if (at >= count)
            return false;
        *node = first + at;
        *text = next;
        return true;
    }
    return false;
}

static bool take_place(const char **text, const struct hx_fabric *g, uint32_t *node)
{
    const char *next = *text;
    unsigned addr_hi;
    unsigned addr_lo;
    if ((hx_name_take(&next, "a", &addr_hi) || hx_name_take(&next, "", &addr_hi)) &&
        hx_name_take(&next, ",", &addr_lo)) {
        *node = hx_host_at(g, addr_hi, addr_lo);
        if (*node == HX_NOWHERE)
            return false;
        *text = next;
    } else if (!take_router(text, g, node)) {
        return false;
    }
    return true;
}

static bool take_node(const char **text, const struct hx_fabric *g, unsigned *plane, uint32_t *node)
{
    return take_place(text, g, node) && hx_name_take(text, "/p", plane) && *plane < g->planes;
}

bool hx_node_parse(const char *name, const struct hx_fabric *g, unsigned *plane, uint32_t *node)
{
    if (g->mesh.nodes)
        return hx_mesh_node_parse(name, &g->mesh, plane, node);
    return take_node(&name, g, plane, node) && *name == '\0';
}

/* A port of a host, or of the router that has its links. Sets *node to the latter. */
static bool take_host_port(const char *text, const struct hx_fabric *g, uint32_t *node, unsigned *port)
{
    if (g->split_hosts && strcmp(text, trace_name) == 0) {
        *port = HX_E;
        return true;
    }
    if (!hx_mesh_letter_parse(text, port))
        return false;
    if (!g->split_hosts || *port == HX_LOCAL)
        return true;
    unsigned said = *port;
    uint32_t router = *node + g->hosts;
    for (*port = 0; *port < hx_fabric_ports(g, router); (*port)++) {
        if (hx_fabric_port(g, router, *port)->host_port != said)
            continue;
        *node = router;
        return true;
    }
    return false;
}

static bool take_port(const char *text, const struct hx_fabric *g, uint32_t *node, unsigned *port)
{
    if (hx_is_host(g, *node))
        return take_host_port(text, g, node, port);
    return hx_name_take(&text, "/", port) && *text == '\0' && *port < hx_fabric_ports(g, *node);
}

bool hx_port_parse(const char *name, const struct hx_fabric *g, unsigned *plane, uint32_t *node, unsigned *port)
{
    if (g->mesh.nodes)
        return hx_mesh_port_parse(name, &g->mesh, plane, node, port);
    return take_node(&name, g, plane, node) && take_port(name, g, node, port);
}

bool hx_place_parse(const char *name, const struct hx_fabric *g, uint32_t *node, unsigned *port)
{
    *port = HX_WHOLE_NODE;
    return take_place(&name, g, node) && (*name == '\0' || take_port(name, g, node, port));
}
