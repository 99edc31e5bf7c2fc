/* programs.h - hosts with traffic from programs outside of the fabric (include/hxmesh/program.h).
 *
 * Prepared by the supervisor, inherited by the workers. */
#ifndef PROGRAMS_H
#define PROGRAMS_H

#include "hal/program/attachment.h"
#include "topology/fabric.h"

struct programs {
    const struct hx_fabric *g;
    struct attachment *at; /* [hosts]; without a head: not for programs */
};

/* Writes the constants in a host's attachment. Call for each new program: an earlier one may have overwritten them. */
void programs_describe(const struct programs *programs, uint32_t host);

#endif
