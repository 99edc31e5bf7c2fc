/* programs.h - hosts whose traffic comes from programs outside of the fabric (include/hxmesh/program.h).
 *
 * Prepared by the supervisor, inherited by the workers. */
#ifndef PROGRAMS_H
#define PROGRAMS_H

#include "hal/program/attachment.h"
#include "topology/fabric.h"

struct programs {
    const struct hx_fabric *g;
    struct attachment *at; /* [hosts]; without a head: this host is for nobody */
};

/* Writes what is constant in a host's attachment. A program that had it may have written over it: so it is done anew
 * for each that asks. */
void programs_describe(const struct programs *programs, uint32_t host);

#endif
