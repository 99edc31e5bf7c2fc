/* failures.c - removes failed parts from a fabric (topology/failures.h). */
#include "topology/failures.h"

#include "topology/name.h"
#include "topology/topology.h"
#include "topology/updown.h"

#include <stdio.h>
#include <string.h>

static void cut(struct hx_fabric *f, uint32_t node, unsigned port)
{
    struct hx_fabric_port *near = &f->port[f->node[node].first_port + port];
    if (near->far.node == HX_NOWHERE)
        return;
    f->failed_link = hx_grow(f->failed_link, f->failed_links, &f->failed_room, sizeof *f->failed_link);
    f->failed_link[f->failed_links++] =
        (struct hx_failed_link){.a = node, .b = near->far.node, .link_class = near->link_class};
    f->port[f->node[near->far.node].first_port + near->far.port].far.node = HX_NOWHERE;
    near->far.node = HX_NOWHERE;
}

void hx_failures_cut_off(struct hx_fabric *f, uint32_t node)
{
    for (unsigned port = 0; port < hx_fabric_ports(f, node); port++)
        cut(f, node, port);
}

/* Cuts off a group, written "group12". */
static bool take_group(struct hx_fabric *f, const char *name)
{
    unsigned group;
    if (!hx_name_take(&name, "group", &group) || *name || group >= f->groups)
        return false;
    for (uint32_t node = 0; node < f->nodes; node++)
        if (f->node[node].group == group)
            hx_failures_cut_off(f, node);
    return true;
}

static bool take_name(struct hx_fabric *f, const char *name, struct hx_problem *problem)
{
    char example[HX_NAME_BYTES];
    uint32_t node;
    unsigned port;
    if (take_group(f, name))
        return true;
    if (!hx_place_parse(name, f, &node, &port))
        return hx_fail(problem, HX_EXIT_CONFIG, NULL,
                       "fail: '%.60s' is none of its nodes, links and groups (such as %s, %s/0, group%u)", name,
                       hx_place_name(example, f, f->nodes - 1), example, f->groups - 1);
    if (port != HX_WHOLE_NODE)
        cut(f, node, port);
    else
        hx_failures_cut_off(f, node);
    if (port == HX_WHOLE_NODE && f->split_hosts && hx_is_host(f, node))
        hx_failures_cut_off(f, f->hosts + node);
    return true;
}

/* Marks hosts without a link as failed. Returns the number of others. */
static uint32_t mark_hosts(struct hx_fabric *f)
{
    uint32_t left = 0;
    f->failed = hx_allocate(f->hosts, sizeof *f->failed);
    for (uint32_t host = 0; host < f->hosts; host++) {
        f->failed[host] = hx_fabric_far(f, host, HX_E).node == HX_NOWHERE;
        left += !f->failed[host];
    }
    return left;
}

bool hx_failures_take(struct hx_fabric *f, const char *list, struct hx_problem *problem)
{
    char names[HX_SPEC_BYTES];
    char *rest = NULL;
    (void)snprintf(names, sizeof names, "%s", list);
    for (char *name = strtok_r(names, "+", &rest); name; name = strtok_r(NULL, "+", &rest))
        if (!take_name(f, name, problem))
            return false;
    uint32_t left = mark_hosts(f);
    if (left < 2)
        return hx_fail(problem, HX_EXIT_CONFIG, NULL, "fail: %u host%s left, too few to send anything", left,
                       left == 1 ? " is" : "s are");
    f->updown = hx_updown_search(f, NULL, HX_VCS, NULL, problem);
    if (!f->updown)
        return false;
    f->vcs = f->updown->vcs;
    return f->vcs || hx_fail(problem, HX_EXIT_CONFIG, NULL,
                             "fail: %d VCs do not suffice for minimal paths around the failures", HX_VCS);
}
