/* ports.c - chooses ports by name (ports.h). */
#include "fabric-emu/capture/ports.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PATTERNS = 256, LONGEST_PATTERN = 64 };

struct patterns {
    unsigned count;
    struct {
        char text[LONGEST_PATTERN];
        bool matched;
    } of[MOST_PATTERNS];
};

static bool split(struct patterns *patterns, const char *text, const char *option, struct hx_problem *problem)
{
    static const char blanks[] = " \t\n";
    for (text += strspn(text, blanks); *text; text += strspn(text, blanks)) {
        size_t length = strcspn(text, blanks);
        if (length >= LONGEST_PATTERN || patterns->count == MOST_PATTERNS)
            return hx_fail(problem, HX_EXIT_USAGE, option, "'%.40s': %s", text,
                           length >= LONGEST_PATTERN ? "longer than any port's name" : "too many patterns");
        memcpy(patterns->of[patterns->count].text, text, length);
        patterns->of[patterns->count++].text[length] = 0;
        text += length;
    }
    return true;
}

/* Matches the port's name, or the node's name ("a5,3", "row*") for all its ports. An accelerator's letter may be left
 * out. */
static bool matches(const char *pattern, const char *name)
{
    char node[HX_NAME_BYTES];
    (void)snprintf(node, sizeof node, "%.*s", (int)strcspn(name, "/"), name);
    bool bare = name[0] == 'a' && isdigit((unsigned char)pattern[0]);
    return fnmatch(pattern, name + bare, 0) == 0 || fnmatch(pattern, node + bare, 0) == 0;
}

static bool is_chosen(struct patterns *patterns, const char *name)
{
    bool chosen = patterns->count == 0;
    for (unsigned i = 0; i < patterns->count; i++) {
        bool is = matches(patterns->of[i].text, name);
        patterns->of[i].matched |= is;
        chosen |= is;
    }
    return chosen;
}

static bool exists(const struct hx_fabric *g, uint32_t node, unsigned port)
{
    return (node < g->hosts && port == HX_LOCAL) || hx_fabric_far(g, node, port).node != HX_NOWHERE;
}

static void choose_of_node(struct capture_ports *p, struct patterns *patterns, unsigned plane, uint32_t node,
                           uint32_t first)
{
    for (unsigned port = 0; port < hx_fabric_ports(p->g, node); port++) {
        char name[HX_NAME_BYTES];
        if (!exists(p->g, node, port) || !is_chosen(patterns, hx_port_name(name, p->g, plane, node, port)))
            continue;
        p->port[p->interfaces++] = (struct capture_port){node, (uint16_t)port, (uint8_t)plane};
        p->interface[first + port] = p->interfaces;
    }
}

static uint32_t count_ports(const struct hx_fabric *g)
{
    uint32_t ports = 0;
    for (uint32_t node = 0; node < g->nodes; node++)
        ports += hx_fabric_ports(g, node);
    return ports * g->planes;
}

/* Names of some ports of this fabric, as examples. */
static void name_some(char names[3 * HX_NAME_BYTES], const struct hx_fabric *g)
{
    char edge[HX_NAME_BYTES];
    char local[HX_NAME_BYTES];
    char router[HX_NAME_BYTES] = "";
    (void)hx_port_name(edge, g, 0, 0, HX_E);
    (void)hx_port_name(local, g, 0, 0, HX_LOCAL);
    if (g->nodes > g->hosts)
        (void)hx_port_name(router, g, 0, g->hosts, 1);
    (void)snprintf(names, 3 * HX_NAME_BYTES, "%s, %s%s%s", edge, local, *router ? ", " : "", router);
}

bool capture_ports_choose(struct capture_ports *p, const struct hx_fabric *g, const struct hx_option_list *patterns,
                          const char *option, struct hx_problem *problem)
{
    *p = (struct capture_ports){.g = g, .ports = count_ports(g)};
    struct patterns *split_up = hx_allocate(1, sizeof *split_up);
    for (unsigned i = 0; i < patterns->count; i++) {
        if (!split(split_up, patterns->item[i], option, problem)) {
            free(split_up);
            return false;
        }
    }
    p->interface = hx_allocate(p->ports, sizeof *p->interface);
    p->port = hx_allocate(p->ports, sizeof *p->port);
    uint32_t first = 0;
    for (unsigned plane = 0; plane < g->planes; plane++) {
        for (uint32_t node = 0; node < g->nodes; node++) {
            choose_of_node(p, split_up, plane, node, first);
            first += hx_fabric_ports(g, node);
        }
    }
    bool good = true;
    for (unsigned i = 0; good && i < split_up->count; i++) {
        if (split_up->of[i].matched)
            continue;
        char names[3 * HX_NAME_BYTES];
        name_some(names, g);
        good = hx_fail(problem, HX_EXIT_USAGE, option, "'%s': no port of this fabric is named so (%s, ...)",
                       split_up->of[i].text, names);
    }
    free(split_up);
    if (!good)
        capture_ports_free(p);
    return good;
}

void capture_ports_leave_out(struct capture_ports *p, uint32_t node, unsigned port)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->ports; i++) {
        if (p->interface[i] == 0)
            continue;
        const struct capture_port chosen = p->port[p->interface[i] - 1];
        bool stays = chosen.node != node || chosen.port != port;
        p->interface[i] = stays ? kept + 1 : 0;
        p->port[kept] = chosen; /* both are in the same order */
        kept += stays;
    }
    p->interfaces = kept;
}

void capture_ports_free(struct capture_ports *p)
{
    free(p->interface);
    free(p->port);
    *p = (struct capture_ports){.interfaces = 0};
}

const char *capture_port_name(char name[HX_NAME_BYTES], const struct capture_ports *p, uint32_t interface)
{
    const struct capture_port *port = &p->port[interface];
    return hx_port_name(name, p->g, port->plane, port->node, port->port);
}
