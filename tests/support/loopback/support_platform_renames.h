/* support_platform_renames.h - renames the functions of firmware/switch.c and switch_setup.c to PLATFORM_..., where a
 * file compiles them once more (support_platforms.h). No guard: defines macros only. */
#define PLATFORM_NAME_OF(platform, name) platform##_##name
#define PLATFORM_NAME(platform, name)    PLATFORM_NAME_OF(platform, name)

#define hx_accelerator_step     PLATFORM_NAME(PLATFORM, accelerator_step)
#define hx_router_step          PLATFORM_NAME(PLATFORM, router_step)
#define hx_accelerator_pass     PLATFORM_NAME(PLATFORM, accelerator_pass)
#define hx_router_pass          PLATFORM_NAME(PLATFORM, router_pass)
#define hx_accelerator_grant    PLATFORM_NAME(PLATFORM, accelerator_grant)
#define hx_router_grant         PLATFORM_NAME(PLATFORM, router_grant)
#define hx_switch_wait          PLATFORM_NAME(PLATFORM, switch_wait)
#define hx_switch_bytes         PLATFORM_NAME(PLATFORM, switch_bytes)
#define hx_switch_sharing_bytes PLATFORM_NAME(PLATFORM, switch_sharing_bytes)
#define hx_switch_init          PLATFORM_NAME(PLATFORM, switch_init)
#define hx_switch_init_sharing  PLATFORM_NAME(PLATFORM, switch_init_sharing)
#define hx_switch_reroute       PLATFORM_NAME(PLATFORM, switch_reroute)
#define hx_switch_waiting       PLATFORM_NAME(PLATFORM, switch_waiting)
