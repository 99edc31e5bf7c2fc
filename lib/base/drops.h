/* drops.h - the names of drop reasons. */
#ifndef HXMESH_BASE_DROPS_H
#define HXMESH_BASE_DROPS_H

#include "hxmesh/switch.h"

/* Names of enum hx_drop in reports; ends with NULL. */
extern const char *const hx_drop_names[HX_DROP_COUNT + 1];

#endif
