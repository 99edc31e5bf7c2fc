/* fabric.c - a row of three accelerators in one image (fabric.h). */
#include "fabric.h"
#include "hal/bare/bare.h"
#include "hal/bare/libc/stdlib.h"
#include "hal_port.h"
#include "hxmesh/error.h"
#include "workload/payload.h"

enum {
    ACCELERATORS = 3,
    BLOCKS = HX_PACKET_BLOCKS, /* limit of 16 MiB of memory: each granted block has a buffer */
    SENDS = 4,
    MESSAGES = 6,  /* per pair of accelerators and run */
    STEP_NS = 500, /* simulated time a step */
    WIRE_NS = 100,
    MOST_STEPS = 200000,
    ALL = ACCELERATORS * (ACCELERATORS - 1) * MESSAGES
};

/* Wires come in pairs, one per direction; first the outgoing one. */
struct accelerator {
    struct hal_switch switch_hal;
    struct hal_endpoint endpoint_hal;
    struct hx_switch sw;
    struct hx_endpoint endpoint;
    struct loopback_wire local[2]; /* to the switch, to the endpoint */
    struct loopback_wire east[2];  /* to the eastern neighbour, from it */
    unsigned rank;
    unsigned begun; /* messages begun */
};

struct fabric {
    struct hx_geometry g;
    struct accelerator at[ACCELERATORS];
    uint64_t now, random;
    /* Of one run: */
    unsigned message; /* bytes */
    unsigned received, failed;
    uint64_t wrong_bytes;
    uint64_t hops, switch_ticks; /* packets forwarded, and cycles of the switch steps */
};

/* ---- payload ---- */

static struct fabric f; /* the only one of the image */

static void fill(void *of, const struct hx_send *s, uint32_t packet, uint8_t *to, unsigned bytes)
{
    const struct accelerator *a = of;
    payload_fill(1, a->rank, s->dst_addr_hi, s, packet, to, bytes);
}

static void place(void *of, const struct hx_header *h, const uint8_t *payload)
{
    const struct accelerator *a = of;
    f.wrong_bytes += payload_check(1, h->src_addr_hi, a->rank, h, payload);
}

static void event(void *of, const struct hx_event *e)
{
    (void)of;
    f.received += e->type == HX_EVENT_RECEIVED && e->bytes == f.message;
    f.failed += e->type == HX_EVENT_FAILED;
}

/* ---- building ---- */

static void join(struct loopback_node *a, unsigned port_a, struct loopback_node *b, unsigned port_b,
                 struct loopback_wire wires[2])
{
    for (unsigned i = 0; i < 2; i++)
        loopback_wire_init(&wires[i], BLOCKS, WIRE_NS, calloc(1, loopback_wire_bytes(BLOCKS)));
    loopback_plug(a, port_a, 0, &wires[0], &wires[1], ++f.random);
    loopback_plug(b, port_b, 0, &wires[1], &wires[0], ++f.random);
}

static void build_switch(struct accelerator *a)
{
    unsigned west = a->rank > 0;
    unsigned east = a->rank < ACCELERATORS - 1;
    uint64_t up = 1U << HX_LOCAL | west << HX_W | east << HX_E;
    loopback_node_init(&a->switch_hal.node, HX_ACCELERATOR_PORTS, HX_MESH_VCS, BLOCKS, 0,
                       calloc(1, loopback_node_bytes(HX_ACCELERATOR_PORTS, HX_MESH_VCS, BLOCKS, 0)));
    hx_switch_init(&a->sw, HX_ACCELERATOR_PORTS, HX_MESH_VCS, 0, &a->switch_hal,
                   calloc(1, hx_switch_bytes(HX_ACCELERATOR_PORTS, HX_MESH_VCS)));
    hx_route_build(&a->sw.route, &f.g, a->rank, (struct hx_blocked_boards){NULL}, up,
                   calloc(1, hx_route_bytes(&f.g, a->rank)));
}

static void build_endpoint(struct accelerator *a)
{
    static const uint64_t late_ns = 10000000;
    const struct hx_endpoint_config config = {.addr_hi = (uint16_t)a->rank,
                                              .columns = ACCELERATORS,
                                              .rows = 1,
                                              .plane_set = 1,
                                              .window = HX_PEER_WINDOW,
                                              .retries = 8,
                                              .sends = SENDS,
                                              .epoch = 1000 + a->rank,
                                              .key = 77 + a->rank,
                                              .check = true,
                                              .timeout_ns = late_ns,
                                              .least_ns = late_ns,
                                              .most_ns = late_ns};
    loopback_node_init(&a->endpoint_hal.node, 1, HX_MESH_VCS, BLOCKS, SENDS,
                       calloc(1, loopback_node_bytes(1, HX_MESH_VCS, BLOCKS, SENDS)));
    a->endpoint_hal.user = (struct hal_user){.fill = fill, .place = place, .event = event, .of = a};
    if (hx_endpoint_init(&a->endpoint, &config, &a->endpoint_hal, calloc(1, hx_endpoint_bytes(&config))) != HX_OK)
        bare_die("an endpoint cannot be built");
    join(&a->endpoint_hal.node, 0, &a->switch_hal.node, HX_LOCAL, a->local);
}

static void build(void)
{
    (void)hx_geometry_init(&f.g, ACCELERATORS, 1, 1, 1, 1, HX_DEFAULT_RADIX, 1);
    for (unsigned i = 0; i < ACCELERATORS; i++) {
        f.at[i].rank = i;
        build_switch(&f.at[i]);
        build_endpoint(&f.at[i]);
    }
    for (unsigned i = 0; i + 1 < ACCELERATORS; i++)
        join(&f.at[i].switch_hal.node, HX_E, &f.at[i + 1].switch_hal.node, HX_W, f.at[i].east);
}

/* ---- running ---- */

static void begin_message(struct accelerator *a)
{
    unsigned to = (a->rank + 1 + a->begun % (ACCELERATORS - 1)) % ACCELERATORS;
    if (a->begun < MESSAGES * (ACCELERATORS - 1) && hx_endpoint_send(&a->endpoint, to, 0, f.message, 0, 0) == HX_OK)
        a->begun++;
}

static bool is_idle(void)
{
    bool idle = true;
    for (unsigned i = 0; i < ACCELERATORS; i++)
        idle = idle && hx_endpoint_idle(&f.at[i].endpoint);
    return idle;
}

static void step(struct accelerator *a)
{
    begin_message(a);
    loopback_poll(&a->endpoint_hal.node, f.now);
    (void)hx_endpoint_step(&a->endpoint);
    loopback_poll(&a->switch_hal.node, f.now);
    uint32_t before = board_cycles();
    unsigned hops = hx_accelerator_step(&a->sw);
    f.switch_ticks += hops ? board_cycles() - before : 0;
    f.hops += hops;
}

/* All drops and repeated packets. */
static unsigned faults(void)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < ACCELERATORS; i++) {
        const struct accelerator *a = &f.at[i];
        sum += a->endpoint.stats.packets_repeated;
        for (unsigned reason = 0; reason < HX_DROP_COUNT; reason++)
            sum += a->switch_hal.node.drops[reason] + a->endpoint_hal.node.drops[reason];
    }
    return (unsigned)sum;
}

/* Runs all messages, of `bytes` bytes each. Returns true if all arrived intact, once. */
static bool run_messages(unsigned bytes)
{
    f.message = bytes;
    f.received = f.failed = 0;
    f.wrong_bytes = f.hops = f.switch_ticks = 0;
    for (unsigned i = 0; i < ACCELERATORS; i++)
        f.at[i].begun = 0;
    for (unsigned steps = 0; steps < MOST_STEPS && (f.received < ALL || !is_idle()); steps++) {
        f.now += STEP_NS;
        for (unsigned i = 0; i < ACCELERATORS; i++)
            step(&f.at[i]);
    }
    bare_print("a row of %u accelerators: %u of %u messages of %u bytes, %u wrong bytes, %u failed, %u drops and "
               "repetitions; %u packet-hops, %u ticks each in the switch\n",
               (unsigned)ACCELERATORS, f.received, (unsigned)ALL, bytes, (unsigned)f.wrong_bytes, f.failed, faults(),
               (unsigned)f.hops, f.hops ? (unsigned)(f.switch_ticks / f.hops) : 0);
    return f.received == ALL && f.failed == 0 && f.wrong_bytes == 0 && faults() == 0 && is_idle();
}

bool fabric_run(void)
{
    enum { SHORT = 8, LONG = 50000 };
    build();
    bool good = run_messages(LONG);
    return run_messages(SHORT) && good;
}
