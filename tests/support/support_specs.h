/* support_specs.h - random fabrics of every topology but `graph`. */
#ifndef HXMESH_TESTS_SUPPORT_SPECS_H
#define HXMESH_TESTS_SUPPORT_SPECS_H

#include "topology/topology.h"

/* Draws a spec string into `text`, and builds its fabric of one plane and at most `hosts` hosts. */
void specs_draw(uint64_t *random, uint32_t hosts, char text[HX_SPEC_BYTES], struct hx_fabric *f);

/* Visits so many random fabrics; seeded_run is the seed of each. */
void specs_each(unsigned fabrics, uint32_t hosts, void (*visit)(const char *spec, const struct hx_fabric *f));

#endif
