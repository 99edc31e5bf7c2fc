/* test_d_mod_k.c - one path for each destination of a fat tree: packets walk through the tables, and links are
 * counted. */
#include "tests/support/support_fabric.h"
#include "topology/bounds.h"
#include "topology/topology.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A fabric with the tables of all its routers. */
struct ordered {
    struct hx_fabric f;
    struct hx_route *route; /* by router */
    void **memory;
    uint32_t *load; /* by port of the fabric: walks that left by it */
};

static void order(struct ordered *o, const char *text)
{
    fabric_make(&o->f, text);
    uint32_t routers = o->f.nodes - o->f.hosts;
    o->route = calloc(routers, sizeof *o->route);
    o->memory = calloc(routers, sizeof *o->memory);
    o->load = calloc(o->f.ports, sizeof *o->load);
    assert_true(o->route && o->memory && o->load);
    if (!hx_fabric_has_d_mod_k(&o->f))
        fail_msg("%s: no D-mod-K", text);
    for (uint32_t i = 0; i < routers; i++) {
        o->memory[i] = malloc(hx_fabric_route_bytes(&o->f, o->f.hosts + i));
        assert_non_null(o->memory[i]);
        hx_fabric_route(&o->route[i], &o->f, o->f.hosts + i, (struct hx_blocked_boards){0}, UINT64_MAX, o->memory[i]);
        hx_fabric_order_d_mod_k(&o->f, o->f.hosts + i, o->memory[i]);
    }
}

static void forget(struct ordered *o)
{
    for (uint32_t i = 0; i < o->f.nodes - o->f.hosts; i++)
        free(o->memory[i]);
    free(o->memory);
    free(o->route);
    free(o->load);
    hx_fabric_free(&o->f);
}

/* Links of a packet's path between two hosts; each router must offer one port. */
static unsigned walk(struct ordered *o, uint32_t from, uint32_t to)
{
    unsigned links = 1;
    struct hx_end at = hx_fabric_far(&o->f, from, HX_E);
    while (!hx_is_host(&o->f, at.node)) {
        const struct hx_fabric_node *to_node = &o->f.node[to];
        uint64_t ports = hx_router_ports(&o->route[at.node - o->f.hosts], at.port, to_node->addr_hi, to_node->addr_lo);
        if (__builtin_popcountll(ports) != 1 || links > 6)
            fail_msg("from host %u to %u: node %u offers ports %llx", from, to, at.node, (unsigned long long)ports);
        unsigned port = (unsigned)__builtin_ctzll(ports);
        o->load[o->f.node[at.node].first_port + port]++;
        at = hx_fabric_far(&o->f, at.node, port);
        links++;
    }
    assert_int_equal(at.node, to);
    return links;
}

static const struct {
    const char *text;
    bool tapers;
} trees[] = {
    {"fat-tree hosts=32 radix=8", false},          {"fat-tree hosts=64 radix=16 down=8 up=8", false},
    {"fat-tree hosts=16 radix=8", false},          {"fat-tree hosts=48 radix=8 down=6 up=2", true},
    {"fat-tree hosts=1024 down=32 up=16", true},   {"fat-tree hosts=128 radix=8", false},
    {"fat-tree hosts=16 radix=4", false},          {"fat-tree hosts=54 radix=6", false},
    {"fat-tree hosts=64 radix=8 levels=3", false}, {"fat-tree hosts=96 radix=8 levels=3 down=6 up=2", true},
};
enum { TREES = sizeof trees / sizeof *trees };

static uint32_t fullest(const struct ordered *o)
{
    uint32_t most = 0;
    for (uint32_t port = 0; port < o->f.ports; port++)
        most = o->load[port] > most ? o->load[port] : most;
    return most;
}

static void hosts_of_a_shift_share_no_link(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TREES; i++) {
        struct ordered o;
        order(&o, trees[i].text);
        for (uint32_t shift = 1; !trees[i].tapers && shift < o.f.hosts; shift++) {
            memset(o.load, 0, o.f.ports * sizeof *o.load);
            for (uint32_t from = 0; from < o.f.hosts; from++)
                (void)walk(&o, from, (from + shift) % o.f.hosts);
            if (fullest(&o) != 1)
                fail_msg("%s, shift %u: %u hosts share a link", trees[i].text, shift, fullest(&o));
        }
        forget(&o);
    }
}

/* Each pair has a single path, which is minimal, and uniform traffic reaches the bound of the fullest link. */
static void all_to_all_takes_minimal_paths_and_reaches_the_bound(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TREES; i++) {
        struct ordered o;
        order(&o, trees[i].text);
        for (uint32_t from = 0; from < o.f.hosts; from++)
            for (uint32_t to = 0; to < o.f.hosts; to++)
                if (from != to)
                    assert_int_equal(walk(&o, from, to), hx_fabric_distance(&o.f, from, to));
        double share = (o.f.hosts - 1.0) / fullest(&o);
        double bound = o.f.topology->alltoall_bound(&o.f);
        if (share < 0.999 * bound)
            fail_msg("%s: %g of a bound of %g", trees[i].text, share, bound);
        forget(&o);
    }
}

static void other_fabrics_have_no_such_order(void **state)
{
    (void)state;
    static const char *const without[] = {"fat-tree hosts=1024 down=42 up=22",
                                          "fat-tree hosts=72 radix=8 levels=3", /* a pod that is not full */
                                          "fat-tree hosts=32 radix=8 routing=valiant",
                                          "fat-tree hosts=32 radix=8 fail=leaf0/5",
                                          "fat-tree hosts=4 radix=8", /* one leaf */
                                          "slim-fly q=3"};
    for (unsigned i = 0; i < sizeof without / sizeof *without; i++) {
        struct hx_fabric f;
        fabric_make(&f, without[i]);
        if (hx_fabric_has_d_mod_k(&f))
            fail_msg("%s has D-mod-K", without[i]);
        hx_fabric_free(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_of_a_shift_share_no_link),
        cmocka_unit_test(all_to_all_takes_minimal_paths_and_reaches_the_bound),
        cmocka_unit_test(other_fabrics_have_no_such_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
