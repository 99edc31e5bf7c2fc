/* programs.h - hosts whose traffic comes from programs outside of the fabric (include/hxmesh/program.h).
 *
 * Prepared by the supervisor, inherited by the workers. */
#ifndef PROGRAMS_H
#define PROGRAMS_H

#include "host/topology/fabric.h"
#include "program/attachment.h"

struct programs {
    const struct hx_fabric *g;
    struct attachment *at; /* [hosts]; without a head: this host is for nobody */
};

#endif
