/* external.c - reads accelerators that run elsewhere (spec/yaml/external.h). */
#include "spec/yaml/external.h"
#include "base/key.h"
#include "topology/name.h"

#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct hx_external_values hx_external_defaults = {.wait_ns = UINT64_C(10000000000), .harts = 1};

const char *const hx_cable_words[HX_CABLES] = {"out", "memif", "veth", "tap", "qemu"};
const char *const hx_external_nodes[HX_NODES_OUTSIDE + 1] = {"elsewhere", "qemu", NULL};

/* ---- values ---- */

struct reading {
    const struct hx_yaml *y;
    const struct hx_spec *spec;
    struct hx_problem *problem;
    const struct hx_yaml_item *entry;
    struct hx_external *external;
};

static bool read_place(struct reading *r)
{
    const struct hx_spec *s = r->spec;
    const struct hx_yaml_item *at = hx_yaml_within(r->entry, "external[].at");
    uint32_t place[2];
    if (!hx_yaml_pair(r->y, at, place, r->problem))
        return false;
    const struct hx_coordinate ranges = hx_coordinate_ranges(s->graph);
    if (hx_host_at(s->graph, place[0], place[1]) == HX_NOWHERE)
        return hx_yaml_fail(r->y, at, r->problem, "accelerator a%u,%u is outside the fabric (gx 0 .. %u, gy 0 .. %u)",
                            place[0], place[1], ranges.addr_hi - 1, ranges.addr_lo - 1);
    if (hx_spec_board_failed(s, hx_spec_board_at(s, place[0], place[1])))
        return hx_yaml_fail(r->y, at, r->problem, "accelerator a%u,%u is on a failed board", place[0], place[1]);
    r->external->addr_hi = (uint16_t)place[0];
    r->external->addr_lo = (uint16_t)place[1];
    return true;
}

static bool read_key(struct reading *r, const char *name)
{
    char *path = hx_yaml_beside(r->y, name);
    r->external->authenticated = hx_key_read(&r->external->key, path, r->problem);
    free(path);
    return r->external->authenticated;
}

static bool read_values(struct reading *r)
{
    struct hx_external_values v = hx_external_defaults;
    const struct hx_option options[] = {HX_EXTERNAL_OPTIONS(&v, r->spec->planes), HX_OPTIONS_END};
    if (!hx_yaml_apply(r->y, r->entry, options, r->problem))
        return false;
    r->external->plane = (unsigned)v.plane;
    r->external->wait_ns = v.wait_ns;
    r->external->lose_credits = v.lose_credits;
    r->external->harts = (unsigned)v.harts;
    r->external->node = (enum hx_external_node)v.node;
    if (v.key && r->external->node == HX_NODE_QEMU)
        return hx_yaml_fail_key(r->y, hx_yaml_within(r->entry, "external[].key"), r->problem,
                                "an image in QEMU has cables that no other program reaches (without key)");
    const struct hx_yaml_item *harts = hx_yaml_within(r->entry, "external[].harts");
    if (harts && r->external->node != HX_NODE_QEMU)
        return hx_yaml_fail_key(r->y, harts, r->problem, "harts are those of an image in QEMU (with node: qemu)");
    return !v.key || read_key(r, v.key);
}

/* ---- cables ---- */

static bool read_cable(const struct reading *r, const struct hx_yaml_item *item, struct hx_external_port *port)
{
    const char *text = item->text;
    size_t word = strcspn(text, ":");
    unsigned cable = HX_CABLE_MEMIF;
    while (cable < HX_CABLE_QEMU &&
           (strlen(hx_cable_words[cable]) != word || strncmp(text, hx_cable_words[cable], word) != 0))
        cable++;
    if (cable == HX_CABLE_QEMU || text[word] != ':' || text[word + 1] == '\0')
        return hx_yaml_fail(r->y, item, r->problem, "'%s' is no cable (memif:SOCKET, veth:INTERFACE or tap:INTERFACE)",
                            text);
    const char *target = text + word + 1;
    size_t room = cable == HX_CABLE_MEMIF ? HX_CABLE_TARGET_BYTES : IF_NAMESIZE;
    if (strlen(target) >= room)
        return hx_yaml_fail(r->y, item, r->problem, "'%s' is too long: the kernel takes %zu characters", target,
                            room - 1);
    port->cable = (enum hx_cable_kind)cable;
    snprintf(port->target, sizeof port->target, "%s", target);
    return true;
}

/* An image in QEMU has a cable at each port that has one in the fabric. */
static void plug_image(struct reading *r)
{
    const struct hx_fabric *g = hx_spec_fabric(r->spec);
    struct hx_external *e = r->external;
    uint32_t rank = hx_host_at(g, e->addr_hi, e->addr_lo);
    for (unsigned port = 0; e->node == HX_NODE_QEMU && port < HX_CABLE_PORTS; port++) {
        if (hx_fabric_far(g, rank, port).node == HX_NOWHERE)
            continue;
        e->port[port].cable = HX_CABLE_QEMU;
        (void)hx_port_name(e->port[port].target, g, e->plane, rank, port);
    }
}

static bool read_ports(struct reading *r)
{
    static const char *const keys[HX_CABLE_PORTS] = {[HX_E] = "external[].ports.E",
                                                     [HX_W] = "external[].ports.W",
                                                     [HX_N] = "external[].ports.N",
                                                     [HX_S] = "external[].ports.S"};
    const struct hx_fabric *g = hx_spec_fabric(r->spec);
    const struct hx_yaml_item *ports = hx_yaml_within(r->entry, "external[].ports");
    struct hx_external *e = r->external;
    if (e->node == HX_NODE_QEMU)
        return !ports ||
               hx_yaml_fail_key(r->y, ports, r->problem, "an image in QEMU has all its cables (without ports)");
    if (!ports)
        return hx_yaml_fail_key(r->y, r->entry, r->problem, "key 'ports' is missing (its cables, or node: qemu)");
    for (unsigned port = 0; port < HX_CABLE_PORTS; port++) {
        const struct hx_yaml_item *item = hx_yaml_within(ports, keys[port]);
        if (item && hx_fabric_far(g, hx_host_at(g, e->addr_hi, e->addr_lo), port).node == HX_NOWHERE)
            return hx_yaml_fail_key(r->y, item, r->problem, "no cable is on this port of %u,%u in a %s", e->addr_hi,
                                    e->addr_lo, r->spec->fabric);
        if (item && !read_cable(r, item, &e->port[port]))
            return false;
    }
    return ports->entries > 0 || hx_yaml_fail_key(r->y, ports, r->problem, "none of E, W, N, S has a cable");
}

/* ---- entries ---- */

static bool is_same(const struct hx_external_port *a, const struct hx_external_port *b)
{
    return a->cable != HX_CABLE_OUT && a->cable == b->cable && strcmp(a->target, b->target) == 0;
}

/* Compares the last entry with itself and those before it. */
static bool is_new(const struct reading *r, const struct hx_external *first)
{
    const struct hx_external *last = r->external;
    for (const struct hx_external *e = first; e <= last; e++) {
        if (e != last && e->addr_hi == last->addr_hi && e->addr_lo == last->addr_lo && e->plane == last->plane)
            return hx_yaml_fail_key(r->y, r->entry, r->problem, "accelerator %u,%u has two entries for plane %u",
                                    e->addr_hi, e->addr_lo, e->plane);
        if (e != last && e->addr_hi == last->addr_hi && e->addr_lo == last->addr_lo &&
            (e->node == HX_NODE_QEMU || last->node == HX_NODE_QEMU))
            return hx_yaml_fail_key(r->y, r->entry, r->problem,
                                    "accelerator %u,%u is an image in QEMU, which is there in one plane only",
                                    e->addr_hi, e->addr_lo);
        for (unsigned i = 0; i < HX_CABLE_PORTS * HX_CABLE_PORTS; i++) {
            unsigned mine = i % HX_CABLE_PORTS;
            unsigned other = i / HX_CABLE_PORTS;
            if ((e != last || mine < other) && is_same(&last->port[mine], &e->port[other]))
                return hx_yaml_fail_key(r->y, r->entry, r->problem, "%s:%s is on two ports",
                                        hx_cable_words[last->port[mine].cable], last->port[mine].target);
        }
    }
    return true;
}

bool hx_external_read(const struct hx_yaml *y, struct hx_spec *spec, struct hx_problem *problem)
{
    const struct hx_yaml_item *list = hx_yaml_find(y, "external");
    if (!list || !list->entries)
        return true;
    if (!spec->a)
        return hx_yaml_fail_key(y, list, problem, "accelerators that run elsewhere are a HammingMesh's: a %s has none",
                                spec->graph->topology->word);
    spec->external = hx_allocate(list->entries, sizeof *spec->external);
    for (const struct hx_yaml_item *entry = hx_yaml_first(list); entry; entry = hx_yaml_next(list, entry)) {
        struct reading r = {
            .y = y, .spec = spec, .problem = problem, .entry = entry, .external = &spec->external[spec->externals]};
        if (!read_place(&r) || !read_values(&r) || !read_ports(&r))
            return false;
        plug_image(&r);
        if (!is_new(&r, spec->external))
            return false;
        spec->externals++;
    }
    return true;
}
