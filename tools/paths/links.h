/* links.h - the links of a plane that a check takes down. */
#ifndef HXMESH_TOOLS_LINKS_H
#define HXMESH_TOOLS_LINKS_H

#include "topology/fabric.h"

enum hx_links_kind {
    HX_LINKS_ALL,       /* but not of a host to the router that is the same machine (topology/name.h, "trace") */
    HX_LINKS_OF_ROUTERS /* between routers */
};

struct hx_links {
    struct hx_end *link; /* [count]: the first end of each, in the order of nodes and ports. Free it */
    uint32_t count;
};

struct hx_links hx_links_list(const struct hx_fabric *f, enum hx_links_kind kind);

#endif
