/* links.c - lists the links of a plane (links.h). */
#include "tools/paths/links.h"

static bool is_listed(const struct hx_fabric *f, uint32_t node, unsigned port, enum hx_links_kind kind)
{
    if (!hx_fabric_is_first_end(f, node, port))
        return false;
    if (f->mesh.nodes || (!hx_is_host(f, node) && !hx_is_host(f, hx_fabric_far(f, node, port).node)))
        return true;
    return kind == HX_LINKS_ALL && hx_fabric_link(f, node, port)->kind != HX_TRACE;
}

struct hx_links hx_links_list(const struct hx_fabric *f, enum hx_links_kind kind)
{
    struct hx_links links = {.link = hx_allocate(f->ports, sizeof *links.link)};
    for (uint32_t node = 0; node < f->nodes; node++)
        for (unsigned port = 0; port < hx_fabric_ports(f, node); port++)
            if (is_listed(f, node, port, kind))
                links.link[links.count++] = (struct hx_end){node, (uint16_t)port};
    return links;
}
