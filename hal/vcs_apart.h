/* vcs_apart.h - what every platform says that moves bursts, and on whose links each VC has buffers of its own
 * (include/hxmesh/hal.h); included by its hal_port.h. */
#ifndef HAL_VCS_APART_H
#define HAL_VCS_APART_H

#include "hxmesh/geometry.h"

#include <stdbool.h>

struct hal_switch;

static inline bool hal_sparse(const struct hal_switch *h)
{
    (void)h;
    return false;
}

static inline unsigned hal_first_vc(const struct hal_switch *h)
{
    (void)h;
    return HX_VCS;
}

static inline bool hal_closes(const struct hal_switch *h, unsigned output)
{
    (void)h;
    (void)output;
    return false;
}

#endif
