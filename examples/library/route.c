/* route.c - uses the firmware's platform-free parts as a library: routes of a packet, and its frame.
 *
 *     cc route.c $(pkg-config --cflags --libs hxmesh) -o route && ./route */
#include <hxmesh/error.h>
#include <hxmesh/frame.h>
#include <hxmesh/geometry.h>
#include <hxmesh/route.h>
#include <stdio.h>
#include <stdlib.h>

/* Prints the output ports on minimal paths from accelerator (from_gx, from_gy) to (gx, gy). */
static void print_ports(const struct hx_geometry *g, unsigned from_gx, unsigned from_gy, unsigned gx, unsigned gy)
{
    static const char *const names[] = {"E", "W", "N", "S", "here"};
    uint32_t node = hx_accelerator(g, from_gx, from_gy);
    void *tables = calloc(1, hx_route_bytes(g, node));
    struct hx_route route;
    hx_route_build(&route, g, node, (struct hx_blocked_boards){NULL}, UINT64_MAX, tables);
    uint64_t ports = hx_route_ports(&route, HX_LOCAL, gx, gy);
    printf("%u,%u to %u,%u:", from_gx, from_gy, gx, gy);
    for (unsigned port = 0; port < HX_ACCELERATOR_PORTS; port++)
        if (ports >> port & 1)
            printf(" %s", names[port]);
    printf("\n");
    free(tables);
}

static int write_and_read_frame(void)
{
    static uint8_t frame[HX_HEADER_BYTES + 5] = {[HX_HEADER_BYTES] = 'h', 'e', 'l', 'l', 'o'};
    const struct hx_header written = {.credit_vc = HX_NO_CREDIT,
                                      .kind = HX_DATA,
                                      .dst_addr_hi = 5,
                                      .dst_addr_lo = 6,
                                      .message_packets = 1,
                                      .length = 5,
                                      .epoch = 1};
    struct hx_header read;
    hx_frame_encode(frame, &written);
    hx_frame_set_crc(frame, hx_frame_crc(frame, written.length));
    int error = hx_frame_decode(&read, frame, sizeof frame);
    if (error != HX_OK)
        return error;
    printf("%zu bytes on the wire, %u of payload for %u,%u, CRC-32C %08x\n", sizeof frame, read.length,
           read.dst_addr_hi, read.dst_addr_lo, read.crc);
    return HX_OK;
}

int main(void)
{
    struct hx_geometry g;
    if (hx_geometry_init(&g, 2, 2, 4, 4, 1, HX_DEFAULT_RADIX, 1) != HX_OK) /* 4x4 Hx2Mesh, one plane */
        return 1;
    printf("%u accelerators, %u nodes\n", g.accelerators, g.nodes);
    print_ports(&g, 0, 0, 5, 6);
    print_ports(&g, 0, 0, 1, 0);
    return write_and_read_frame() != HX_OK;
}
