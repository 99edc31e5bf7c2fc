/* main.c - the image that tries the firmware on the board itself: the conformance kit on the example platform, then a
 * fabric that is all in this image. What it says last is what it costs. */
#include "conformance/kit.h"
#include "fabric.h"
#include "hal/bare/bare.h"

/* Without processes the first function that does harm is the last one that is tried. */
void kit_abandon(void)
{
    bare_print("nothing after this clause was tried\n");
    board_end(1);
}

static bool try_contract(void)
{
    static struct kit_shared shared;
    unsigned clauses = 0;
    unsigned broken = 0;
    kit_shared = &shared;
    for (unsigned i = 0; i < KIT_GROUPS; i++) {
        for (const struct kit_check *check = kit_groups[i]; check->function; check++, clauses++) {
            kit_begin(check);
            kit_try();
            broken += shared.broken;
        }
    }
    bare_print("%u clauses of the contract tried, %u broken\n", clauses, broken);
    return broken == 0;
}

/* What an accelerator of a 4x4 Hx2Mesh is handed over besides packet buffers, which are the platform's. */
static void say_memory(void)
{
    struct hx_geometry g;
    (void)hx_geometry_init(&g, 2, 2, 4, 4, 1, HX_DEFAULT_RADIX, 1);
    const struct hx_endpoint_config config = {.columns = g.columns, .rows = g.rows, .plane_set = 1, .sends = 8};
    bare_print("memory of a 4x4 Hx2Mesh's accelerator: switch %u bytes, routes %u, endpoint that knows all %u\n",
               (unsigned)hx_switch_bytes(HX_ACCELERATOR_PORTS, HX_MESH_VCS), (unsigned)hx_route_bytes(&g, 0),
               (unsigned)hx_endpoint_bytes(&config));
}

int image_main(void)
{
    bool good = try_contract();
    good = fabric_run() && good;
    say_memory();
    bare_print("stack %u bytes\n", (unsigned)bare_stack_used());
    return !good;
}
