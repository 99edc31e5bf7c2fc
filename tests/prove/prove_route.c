/* prove_route.c - tables of every node of some small HammingMeshes, with any links up and any boards blocked, and any
 * packet's look-up in them: address, input and VC are any that a switch passes on.
 *
 * The shapes: boards of 1x1, 2x2 and 2x3; lines of one crossbar and of trees of leaves and spines. */
#include "hxmesh/error.h"
#include "hxmesh/route.h"
#include "prove.h"

enum { MOST_WORDS = 64, BOARDS = 12 };

static const struct shape {
    uint8_t a, b, x, y, radix, taper;
} shapes[] = {{1, 1, 3, 2, 64, 1}, {2, 2, 2, 2, 64, 1}, {2, 3, 2, 1, 64, 1}, {1, 1, 4, 3, 4, 1}, {1, 1, 3, 1, 4, 3}};

static void look_up(const struct hx_route *r, unsigned ports, unsigned columns, unsigned rows)
{
    const unsigned input = (unsigned)any(0, ports - 1);
    const unsigned vc = (unsigned)any(0, HX_MESH_VCS - 1);
    (void)hx_route_candidates(r, input, vc, (unsigned)any(0, columns - 1), (unsigned)any(0, rows - 1));
    (void)hx_route_vc(r, input, vc, (unsigned)any(0, ports - 1));
}

int main(void)
{
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const struct shape s = shapes[i];
        struct hx_geometry g;
        if (hx_geometry_init(&g, s.a, s.b, s.x, s.y, 1, s.radix, s.taper) != HX_OK)
            return 1;
        for (uint32_t node = 0; node < g.nodes; node++) {
            uint8_t bits[(BOARDS + 7) / 8];
            uint64_t memory[MOST_WORDS];
            struct hx_route r;
            const unsigned ports = hx_node_ports(&g, node);
            any_bytes(bits, sizeof bits);
            hx_route_build(&r, &g, node, (struct hx_blocked_boards){bits}, any(0, UINT64_MAX), memory);
            look_up(&r, ports, g.columns, g.rows);
            hx_route_order_x_first(&r, memory);
            look_up(&r, ports, g.columns, g.rows);
        }
    }
    return 0;
}
