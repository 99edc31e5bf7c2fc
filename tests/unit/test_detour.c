/* test_detour.c - the packets that a router sends on a detour, and the end of a detour, on one router. Port n leads
 * to router n, port 0 to its hosts. */
#include "hxmesh/detour.h"
#include "tests/support/loopback/support_loopback.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { ROUTERS = 8, PLACES = 2, BLOCKS = 64, TO = 5, PACKETS = 6000 };

static struct rig rig;
static struct hx_detour detour;
static uint64_t addr_hi_ports[2 * ROUTERS]; /* entries beyond the routers are paths that no packet may take */
static uint64_t addr_lo_ports[PLACES + 1];
static uint8_t distances[ROUTERS * ROUTERS];

static void start(enum hx_policy policy)
{
    rig_init(&rig, HX_ROW_SWITCH, ROUTERS, 0, BLOCKS);
    for (unsigned addr_hi = 0; addr_hi < 2 * ROUTERS; addr_hi++)
        addr_hi_ports[addr_hi] = (uint64_t)1 << (addr_hi + addr_hi / ROUTERS) % ROUTERS;
    addr_lo_ports[0] = addr_lo_ports[1] = UINT64_MAX;
    addr_lo_ports[PLACES] = ~UINT64_C(1);
    detour = (struct hx_detour){
        .routers = ROUTERS, .area = 1, .policy = (uint8_t)policy, .candidates = 4, .cost = 2 * HX_DETOUR_ONE};
    rig.sw.route.addr_hi_ports = addr_hi_ports;
    rig.sw.route.addr_lo_ports = addr_lo_ports;
    rig.sw.route.columns = ROUTERS;
    rig.sw.route.rows = PLACES;
    rig.sw.route.detour = &detour;
    rig.sw.route.choosing = 1;
    for (unsigned port = 0; port < ROUTERS; port++)
        for (unsigned vc = 0; vc < HX_VCS; vc++)
            hx_credit_sender_init(&rig.hal.node.port[port].cable.link.tx[vc], BLOCKS);
    rig_room_everywhere(&rig, BLOCKS);
}

static void arrive_long(unsigned input, unsigned addr_hi, unsigned blocks)
{
    const struct hx_desc d = {.length = (uint16_t)(256 * blocks),
                              .hops = 1,
                              .dst_addr_hi = (uint16_t)addr_hi,
                              .dst_addr_lo = 1,
                              .job = RIG_JOB};
    rig_arrive_as(&rig, input, 0, 7, &d);
}

static void arrive(unsigned input, unsigned addr_hi)
{
    arrive_long(input, addr_hi, 1);
}

/* A packet arrives that is on a detour to `by`, as its frame says. */
static void arrive_on_detour(unsigned input, unsigned by, unsigned addr_hi, unsigned addr_lo)
{
    struct hx_desc d = {
        .length = 256, .hops = 1, .dst_addr_hi = (uint16_t)addr_hi, .dst_addr_lo = (uint16_t)addr_lo, .job = RIG_JOB};
    rig_arrive_as(&rig, input, 0, 7, &d);
    struct arrivals *a = &rig.hal.node.port[input].arrivals;
    hx_desc_set_via(arrivals_slot(a, 0, (uint16_t)(hx_lane(a->arrived, 0) - 1)), by + 1);
}

/* Output of the one packet that leaves in a step; *via: in its frame. */
static unsigned leaves_by(unsigned *via)
{
    assert_int_equal(rig_step(&rig), 1);
    struct rig_packet p;
    for (unsigned port = 0; port < ROUTERS; port++) {
        if (!rig_take(&rig, port, &p))
            continue;
        assert_true(p.intact);
        *via = p.via;
        return port;
    }
    fail_msg("nothing left");
    return 0;
}

/* Next router of a packet from a host to router `to`: `to` or an intermediate. */
static unsigned chosen_to(unsigned to)
{
    unsigned via;
    arrive(0, to);
    unsigned port = leaves_by(&via);
    unsigned addr_hi = via ? via - 1 : to;
    assert_int_equal(addr_hi_ports[addr_hi], (uint64_t)1 << port);
    return addr_hi;
}

static unsigned chosen(void)
{
    return chosen_to(TO);
}

/* Makes the router another one than 0, the one at the end of its port `own`. */
static void be(unsigned own)
{
    detour.own = (uint16_t)own;
    addr_hi_ports[0] = (uint64_t)1 << own;
    addr_hi_ports[own] = 1;
}

/* Occupied blocks on VC 0 of the link to a router; of all other links. */
static void queues(unsigned straight, unsigned others)
{
    rig_room_everywhere(&rig, BLOCKS);
    for (unsigned port = 1; port < ROUTERS; port++)
        rig_room(&rig, port, 0, BLOCKS - (port == TO ? straight : others));
}

static void valiant_draws_every_other_router_alike(void **state)
{
    (void)state;
    unsigned taken[ROUTERS] = {0};
    start(HX_VALIANT);
    for (unsigned n = 0; n < PACKETS; n++) {
        rig_room_everywhere(&rig, BLOCKS);
        taken[chosen()]++;
    }
    for (unsigned addr_hi = 0; addr_hi < ROUTERS; addr_hi++) {
        bool out = addr_hi == 0 || addr_hi == TO;
        assert_in_range(taken[addr_hi], out ? 0 : PACKETS / 7, out ? 0 : PACKETS / 5);
    }
}

/* With areas of two routers, none is drawn from the destination's area or the router's own. */
static void areas_of_both_ends_are_left_out(void **state)
{
    (void)state;
    unsigned taken[ROUTERS] = {0};
    start(HX_VALIANT);
    detour.area = 2;
    for (unsigned n = 0; n < PACKETS; n++) {
        rig_room_everywhere(&rig, BLOCKS);
        taken[chosen()]++;
    }
    for (unsigned addr_hi = 0; addr_hi < ROUTERS; addr_hi++) {
        bool out = addr_hi / 2 == 0 || addr_hi / 2 == TO / 2;
        assert_in_range(taken[addr_hi], out ? 0 : PACKETS / 5, out ? 0 : PACKETS / 3);
    }
    detour.area = 4; /* leaves no other router */
    rig_room_everywhere(&rig, BLOCKS);
    assert_int_equal(chosen(), TO);
}

/* Routers of the own and of the destination's area are not drawn, and all others are. */
static void every_router_of_another_area_is_drawn(void **state)
{
    (void)state;
    static const unsigned cases[][3] = {{0, 1, 2}, {0, 1, 4}, {6, 1, 1}, {6, 1, 2}, {7, 6, 2}, {3, 4, 1}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned own = cases[i][0];
        unsigned to = cases[i][1];
        unsigned area = cases[i][2];
        unsigned others = ROUTERS - area * (own / area == to / area ? 1 : 2);
        unsigned taken[ROUTERS] = {0};
        start(HX_VALIANT);
        be(own);
        detour.area = (uint16_t)area;
        for (unsigned n = 0; n < PACKETS; n++) {
            rig_room_everywhere(&rig, BLOCKS);
            taken[chosen_to(to)]++;
        }
        for (unsigned addr_hi = 0; addr_hi < ROUTERS; addr_hi++) {
            bool out = addr_hi / area == own / area || addr_hi / area == to / area;
            assert_in_range(taken[addr_hi], out ? 0 : PACKETS / (others + 1), out ? 0 : PACKETS / (others - 1));
        }
        lab_free(NULL);
    }
}

static void only_packets_of_its_hosts_to_other_routers_choose(void **state)
{
    (void)state;
    unsigned via;
    start(HX_VALIANT);
    for (unsigned n = 0; n < 100; n++) {
        rig_room_everywhere(&rig, BLOCKS);
        arrive(3, TO);
        assert_int_equal(leaves_by(&via), TO);
        assert_int_equal(via, 0);
        arrive(0, 0);
        assert_int_equal(leaves_by(&via), 0);
        assert_int_equal(via, 0);
    }
    rig_validate_empty(&rig);
}

static void unreachable_routers_are_passed_over(void **state)
{
    (void)state;
    start(HX_VALIANT);
    for (unsigned addr_hi = 0; addr_hi < ROUTERS; addr_hi++)
        addr_hi_ports[addr_hi] = addr_hi == TO ? addr_hi_ports[addr_hi] : 0;
    assert_int_equal(chosen(), TO);
    detour.policy = HX_UGAL;
    queues(40, 0);
    assert_int_equal(chosen(), TO);
}

static void a_detour_goes_on_and_ends_where_it_leads_to(void **state)
{
    (void)state;
    unsigned via;
    start(HX_VALIANT);
    arrive_on_detour(2, 6, 3, 1);
    assert_int_equal(leaves_by(&via), 6);
    assert_int_equal(via, 7);
    arrive_on_detour(2, 0, 3, 1);
    assert_int_equal(leaves_by(&via), 3);
    assert_int_equal(via, 0);
    arrive_on_detour(2, 0, 2, 1); /* back to where it came from */
    assert_int_equal(leaves_by(&via), 2);
    detour.area = 4;
    arrive_on_detour(6, 3, 7, 1); /* any router of the area ends the detour */
    assert_int_equal(leaves_by(&via), 7);
    assert_int_equal(via, 0);
    rig_validate_empty(&rig);
}

/* A waiting packet keeps its detour in its descriptor, so the next step sends it by the same one. */
static void a_packet_that_waits_stays_on_its_detour(void **state)
{
    (void)state;
    unsigned via;
    start(HX_VALIANT);
    rig_room_everywhere(&rig, 0);
    arrive(0, TO);
    assert_int_equal(rig_step(&rig), 0);
    struct arrivals *a = &rig.hal.node.port[0].arrivals;
    const struct hx_desc d = *arrivals_slot(a, 0, hx_lane(a->tail, 0));
    assert_int_equal(d.dst_addr_lo, HX_NO_ADDRESS);
    hx_switch_reroute(&rig.sw);
    rig_room_everywhere(&rig, BLOCKS);
    assert_int_equal(leaves_by(&via), d.dst_addr_hi);
    assert_int_equal(via, d.dst_addr_hi + 1);
    rig_validate_empty(&rig);
}

static void a_packet_on_an_impossible_detour_is_malformed(void **state)
{
    (void)state;
    start(HX_VALIANT);
    arrive_on_detour(2, ROUTERS, 3, 1);
    arrive_on_detour(2, 0, ROUTERS, 1);
    arrive_on_detour(2, 0, 3, PLACES);
    assert_int_equal(rig_step(&rig), 0);
    assert_int_equal(rig.hal.node.drops[HX_DROP_MALFORMED], 3);
    rig.sw.route.detour = NULL;
    arrive_on_detour(2, 6, 3, 1);
    assert_int_equal(rig_step(&rig), 0);
    assert_int_equal(rig.hal.node.drops[HX_DROP_MALFORMED], 4);
    rig_validate_empty(&rig);
}

static void ugal_takes_the_cheaper_path(void **state)
{
    (void)state;
    start(HX_UGAL);
    queues(16, 8); /* twice eight is not less */
    assert_int_equal(chosen(), TO);
    queues(17, 8);
    assert_int_not_equal(chosen(), TO);
    detour.cost = HX_DETOUR_ONE + HX_DETOUR_ONE / 2;
    queues(12, 8);
    assert_int_equal(chosen(), TO);
    queues(13, 8);
    assert_int_not_equal(chosen(), TO);
    queues(0, 0);
    assert_int_equal(chosen(), TO);
}

/* With enough draws of routers, a free output is found. */
static void ugal_takes_the_cheapest_of_its_draws(void **state)
{
    (void)state;
    start(HX_UGAL);
    detour.candidates = HX_MOST_CANDIDATES;
    queues(40, 10);
    rig_room(&rig, 3, 0, BLOCKS - 9);
    assert_int_equal(chosen(), 3);
    detour.candidates = 1;
    unsigned other = 0;
    for (unsigned n = 0; n < 100; n++) {
        queues(40, 10);
        rig_room(&rig, 3, 0, BLOCKS - 9);
        other += chosen() != 3;
    }
    assert_in_range(other, 60, 99);
}

static void all_vcs_of_a_link_count(void **state)
{
    (void)state;
    start(HX_UGAL);
    queues(8, 0);
    for (unsigned port = 1; port < ROUTERS; port++)
        rig_room(&rig, port, 1, BLOCKS - (port == TO ? 0 : 4));
    assert_int_equal(chosen(), TO);
    queues(8, 0);
    rig_room(&rig, TO, 1, BLOCKS - 1);
    for (unsigned port = 1; port < ROUTERS; port++)
        rig_room(&rig, port, 1, BLOCKS - (port == TO ? 1 : 4));
    assert_int_not_equal(chosen(), TO);
}

/* Packets that wait in the router, of any VC and length, each count as long as the packet that chooses. */
static void validate_waiting(unsigned vc, unsigned waiting, unsigned blocks)
{
    rig_room_everywhere(&rig, BLOCKS);
    rig_room(&rig, TO, vc, 0);
    for (unsigned n = 0; n < waiting; n++) {
        const struct hx_desc d = {
            .length = 256, .vc = (uint8_t)vc, .dst_addr_hi = TO, .dst_addr_lo = 1, .job = RIG_JOB};
        rig_arrive_as(&rig, 3, vc, 1, &d);
    }
    assert_int_equal(rig_step(&rig), 0);
    for (unsigned port = 1; port < ROUTERS; port++) {
        rig_room(&rig, port, 0, BLOCKS - (port == TO ? 0 : BLOCKS / 2 + 1));
        rig_room(&rig, port, vc, port == TO ? 0 : BLOCKS / 2 - 1);
    }
    arrive_long(0, TO, blocks); /* occupancy of 64 and the waiting packets, against 66 */
    unsigned via;
    unsigned port = leaves_by(&via);
    assert_int_equal(port == TO, waiting * blocks <= 2);
    rig_room_everywhere(&rig, BLOCKS);
    assert_int_equal(rig_step(&rig), waiting);
    for (struct rig_packet p; rig_take(&rig, TO, &p);)
        assert_true(p.intact);
    rig_validate_empty(&rig);
}

static void packets_waiting_for_an_output_count(void **state)
{
    (void)state;
    start(HX_UGAL);
    detour.cost = HX_DETOUR_ONE;
    for (unsigned vc = 1; vc < HX_VCS; vc++)
        for (unsigned blocks = 1; blocks <= 3; blocks++)
            for (unsigned waiting = 1; waiting <= 3; waiting++)
                validate_waiting(vc, waiting, blocks);
}

/* Packets of its own VC count too, while it waits itself: its arrival shows the path. */
static void packets_waiting_on_its_own_vc_count(void **state)
{
    (void)state;
    for (unsigned waiting = 1; waiting <= 2; waiting++) {
        start(HX_UGAL);
        detour.cost = HX_DETOUR_ONE;
        for (unsigned port = 1; port < ROUTERS;
             port++) { /* all are full, and the others have a block more on another VC */
            rig_room(&rig, port, 0, 0);
            rig_room(&rig, port, 1, BLOCKS - (port == TO ? 0 : 1));
        }
        for (unsigned n = 0; n < waiting; n++)
            arrive(3, TO);
        assert_int_equal(rig_step(&rig), 0);
        arrive(0, TO);
        assert_int_equal(rig_step(&rig), 0);
        struct arrivals *a = &rig.hal.node.port[0].arrivals;
        assert_int_equal(arrivals_slot(a, 0, hx_lane(a->tail, 0))->dst_addr_lo == HX_NO_ADDRESS, waiting == 2);
        lab_free(NULL);
    }
}

static void below_the_threshold_packets_go_straight(void **state)
{
    (void)state;
    start(HX_UGAL);
    detour.threshold = HX_DETOUR_ONE / 4;
    queues(BLOCKS / 4 - 1, 0);
    assert_int_equal(chosen(), TO);
    queues(BLOCKS / 4, 0);
    assert_int_not_equal(chosen(), TO);
}

/* Three links instead of one: the detour's occupancy counts three times. */
static void longer_detours_cost_more(void **state)
{
    (void)state;
    start(HX_UGAL);
    memset(distances, 2, sizeof distances);
    for (unsigned addr_hi = 0; addr_hi < ROUTERS; addr_hi++)
        distances[addr_hi] = 1;
    detour.distance = distances;
    detour.cost = HX_DETOUR_ONE;
    queues(24, 8);
    assert_int_equal(chosen(), TO);
    queues(25, 8);
    assert_int_not_equal(chosen(), TO);
    distances[TO] = 2; /* if the direct path has two links: three halves */
    queues(12, 8);
    assert_int_equal(chosen(), TO);
    queues(13, 8);
    assert_int_not_equal(chosen(), TO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valiant_draws_every_other_router_alike),
        cmocka_unit_test(areas_of_both_ends_are_left_out),
        cmocka_unit_test(every_router_of_another_area_is_drawn),
        cmocka_unit_test(only_packets_of_its_hosts_to_other_routers_choose),
        cmocka_unit_test(unreachable_routers_are_passed_over),
        cmocka_unit_test(a_detour_goes_on_and_ends_where_it_leads_to),
        cmocka_unit_test(a_packet_that_waits_stays_on_its_detour),
        cmocka_unit_test(a_packet_on_an_impossible_detour_is_malformed),
        cmocka_unit_test(ugal_takes_the_cheaper_path),
        cmocka_unit_test(ugal_takes_the_cheapest_of_its_draws),
        cmocka_unit_test(all_vcs_of_a_link_count),
        cmocka_unit_test(packets_waiting_for_an_output_count),
        cmocka_unit_test(packets_waiting_on_its_own_vc_count),
        cmocka_unit_test(below_the_threshold_packets_go_straight),
        cmocka_unit_test(longer_detours_cost_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
