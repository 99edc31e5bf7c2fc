/* graph_text.c - writes a fabric's graph for Graphviz and as an edge list (tools/info/graph_text.h). */
#include "tools/info/graph_text.h"

#include "base/output.h"
#include "topology/attachment_routers.h"
#include "topology/name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *plain_name(char name[HX_NAME_BYTES], const struct hx_fabric *g, uint32_t node)
{
    (void)hx_node_name(name, g, 0, node);
    char *plane = strstr(name, "/p0");
    if (plane)
        memmove(plane, plane + 3, strlen(plane + 3) + 1);
    for (char *comma = name; (comma = strchr(comma, ','));)
        *comma = '.';
    return name;
}

/* Calls `each` once for every link, except links of hosts that `skip` selects (NULL: none). */
static void every_link(const struct hx_fabric *g, FILE *out,
                       void (*each)(FILE *out, const char *a, const char *b, const struct hx_link_class *c),
                       bool (*skip)(const struct hx_fabric *g, uint32_t node))
{
    for (uint32_t node = 0; node < g->nodes; node++) {
        if (skip && skip(g, node)) /* hosts have the lowest numbers, so they are the first end of their links */
            continue;
        for (unsigned port = 0; port < hx_fabric_ports(g, node); port++) {
            if (!hx_fabric_is_first_end(g, node, port))
                continue;
            struct hx_end far = hx_fabric_far(g, node, port);
            char a[HX_NAME_BYTES];
            char b[HX_NAME_BYTES];
            each(out, plain_name(a, g, node), plain_name(b, g, far.node), hx_fabric_link(g, node, port));
        }
    }
}

static unsigned links_of(const struct hx_fabric *g, uint32_t node)
{
    unsigned links = 0;
    for (unsigned port = 0; port < hx_fabric_ports(g, node); port++)
        links += hx_fabric_far(g, node, port).node != HX_NOWHERE;
    return links;
}

/* ---- Graphviz ---- */

static void dot_link(FILE *out, const char *a, const char *b, const struct hx_link_class *c)
{
    static const char *const style[HX_LINK_KINDS] = {[HX_TRACE] = "dotted", [HX_DAC] = "solid", [HX_AOC] = "bold"};
    fprintf(out, "  \"%s\" -- \"%s\" [style=%s];\n", a, b, style[c->kind]);
}

void graph_text_dot(const struct hx_fabric *g, const char *name, const char *path)
{
    FILE *out = hx_output_open(path);
    fprintf(out, "graph \"%s\" {\n", name);
    for (uint32_t node = 0; node < g->nodes; node++) {
        char text[HX_NAME_BYTES];
        if (links_of(g, node) == 0)
            continue;
        fprintf(out, "  \"%s\" [shape=%s];\n", plain_name(text, g, node), hx_is_host(g, node) ? "ellipse" : "box");
    }
    every_link(g, out, dot_link, NULL);
    fprintf(out, "}\n");
    hx_output_close(out, path);
}

/* ---- edge list ---- */

/* Returns the only host beside a router, on a trace; HX_NOWHERE: there is none, or there are several. */
static uint32_t host_beside(const struct hx_fabric *g, uint32_t node)
{
    uint32_t host = HX_NOWHERE;
    for (unsigned port = 0; port < hx_fabric_ports(g, node); port++) {
        uint32_t far = hx_fabric_far(g, node, port).node;
        if (far == HX_NOWHERE || !hx_is_host(g, far))
            continue;
        if (host != HX_NOWHERE || hx_fabric_link(g, node, port)->kind != HX_TRACE)
            return HX_NOWHERE;
        host = far;
    }
    return host;
}

/* Returns the host that a router stands for; HX_NOWHERE: it is a plain switch. A host with a name in a graph's file
 * stands for itself, also on a trace. */
static uint32_t host_of(const struct hx_fabric *g, uint32_t node)
{
    if (hx_is_host(g, node))
        return HX_NOWHERE;
    uint32_t host = g->mesh.nodes ? HX_NOWHERE : host_beside(g, node);
    return host != HX_NOWHERE && g->graph_name && g->graph_name[host] ? HX_NOWHERE : host;
}

/* Whether it is the host of such a router. The list has one node for both: the router. */
static bool has_router(const struct hx_fabric *g, uint32_t node)
{
    uint32_t router = hx_is_host(g, node) ? hx_fabric_attachment_router(g, node) : node;
    return router != node && host_of(g, router) == node;
}

static void edge(FILE *out, const char *a, const char *b, const struct hx_link_class *c)
{
    fprintf(out, "%s,%s,", a, b);
    if (c->gbps || c->times)
        fprintf(out, "%.0f", hx_class_gbps(c, HX_LINK_GBPS));
    fputc(',', out);
    if (c->latency_ns != HX_LATENCY_OF_KIND)
        fprintf(out, "%" PRIu32, c->latency_ns);
    fprintf(out, ",%s\n", hx_link_kinds[c->kind]);
}

/* The keyword of a node's role. NULL: the number of its links implies it, or a failure left it without links. */
static const char *role_of(const struct hx_fabric *g, uint32_t node)
{
    if (links_of(g, node) == 0)
        return NULL;
    if (!hx_is_host(g, node))
        return host_of(g, node) != HX_NOWHERE ? "forward" : links_of(g, node) == 1 ? "switch" : NULL;
    return hx_fabric_attachment_router(g, node) == node ? "forward" : NULL;
}

static void write_role(FILE *out, const struct hx_fabric *g, uint32_t node)
{
    char text[HX_NAME_BYTES];
    const char *role = has_router(g, node) ? NULL : role_of(g, node);
    if (!role)
        return;
    fprintf(out, "%s %s", role, plain_name(text, g, node));
    if (g->forwarding && host_of(g, node) != HX_NOWHERE) {
        const struct hx_forwarding *f = &g->forwarding[node - g->hosts];
        fprintf(out, " %" PRIu32 " %" PRIu32, f->delay_ns, f->gbps);
    }
    fputc('\n', out);
}

void graph_text_edges(const struct hx_fabric *g, const char *name, const char *path)
{
    FILE *out = hx_output_open(path);
    fprintf(out, "# %s\n", name);
    for (uint32_t node = 0; node < g->nodes; node++)
        write_role(out, g, node);
    every_link(g, out, edge, has_router);
    hx_output_close(out, path);
}
