/* main.c - the image that tests the firmware on the board: the conformance kit on the example platform, then a fabric
 * inside this image. It prints the cost last. */
#include "conformance/kit.h"
#include "fabric.h"
#include "hal/bare/bare.h"

/* Without processes the first harmful function ends the test. */
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

/* Memory of an accelerator of a 4x4 Hx2Mesh, without packet buffers, which the platform owns. */
static void print_memory(void)
{
    struct hx_geometry g;
    (void)hx_geometry_init(&g, 2, 2, 4, 4, 1, HX_DEFAULT_RADIX, 1);
    const struct hx_endpoint_config config = {
        .columns = g.columns, .rows = g.rows, .plane_set = 1, .window = HX_PEER_WINDOW, .sends = 8};
    bare_print("memory of a 4x4 Hx2Mesh's accelerator: switch %u bytes, routes %u, endpoint that knows all %u\n",
               (unsigned)hx_switch_bytes(HX_ACCELERATOR_PORTS, HX_MESH_VCS), (unsigned)hx_route_bytes(&g, 0),
               (unsigned)hx_endpoint_bytes(&config));
}

int image_main(void)
{
    bool good = try_contract();
    good = fabric_run() && good;
    print_memory();
    bare_print("stack %u bytes\n", (unsigned)bare_stack_used());
    return !good;
}
