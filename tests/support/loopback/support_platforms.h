/* support_platforms.h - the firmware's switch, compiled with the constants of each platform (include/hxmesh/hal.h) on
 * the example platform's links, so that one test tries all. */
#ifndef HXMESH_TESTS_SUPPORT_PLATFORMS_H
#define HXMESH_TESTS_SUPPORT_PLATFORMS_H

#include "hxmesh/switch.h"

/* The switch's functions: of an accelerator, of a router. */
struct switch_calls {
    const char *platform;
    size_t (*bytes)(unsigned ports, unsigned vcs);
    void (*init)(struct hx_switch *, unsigned ports, unsigned vcs, uint16_t job, struct hal_switch *, void *memory);
    size_t (*sharing_bytes)(unsigned ports, unsigned vcs);
    void (*init_sharing)(struct hx_switch *, unsigned ports, unsigned vcs, uint16_t job, struct hal_switch *,
                         struct hx_rows *, void *memory);
    void (*reroute)(struct hx_switch *);
    unsigned (*step[2])(struct hx_switch *);
    unsigned (*pass[2])(struct hx_switch *, const struct hx_single_arrival *);
    uint64_t (*grant[2])(struct hx_switch *, unsigned output);
    void (*wait)(struct hx_switch *, const struct hx_single_arrival *);
};

enum { SWITCH_PLATFORMS = 3 };
/* DPDK and bare metal; shared memory; the virtual clock. */
extern const struct switch_calls switch_of_links, switch_of_shared_memory, switch_of_virtual_clock;
extern const struct switch_calls *const switch_platforms[SWITCH_PLATFORMS];

#define SWITCH_CALLS(name)                                                                                             \
    {                                                                                                                  \
        name, hx_switch_bytes, hx_switch_init, hx_switch_sharing_bytes, hx_switch_init_sharing, hx_switch_reroute,     \
            {hx_accelerator_step, hx_router_step}, {hx_accelerator_pass, hx_router_pass},                              \
            {hx_accelerator_grant, hx_router_grant}, hx_switch_wait                                                    \
    }

#endif
