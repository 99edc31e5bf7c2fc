/* test_circuits_network.c - loads of messages between servers: against an oracle that follows every path of a pair by
 * the tables, as a packet does, and against closed forms. */
#include "base/error.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_fabric.h"
#include "tests/support/support_file.h"
#include "tests/support/support_random.h"
#include "tools/circuits/network.h"
#include "topology/bounds.h"
#include "topology/tables.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CLOSE 1e-5 /* relative: shares have 24 bits */

static void make_of_file(struct hx_fabric *f, const char *name)
{
    char spec[FILE_PATH_BYTES + 8];
    snprintf(spec, sizeof spec, "graph %s", file_path(name));
    fabric_make(f, spec);
}

static void make_of_text(struct hx_fabric *f, const char *text)
{
    file_write_text("network.csv", text);
    make_of_file(f, "network.csv");
}

static bool is_close(double a, double b)
{
    return fabs(a - b) <= CLOSE * fmax(1, fabs(b));
}

static void assert_close(double a, double b)
{
    if (!is_close(a, b))
        fail_msg("%.9g, not %.9g", a, b);
}

/* Links of a message, mean over its bytes: of a pair, and of all pairs of different servers. */
static double links_of(const struct network_of_servers *n, const double *load)
{
    double links = 0;
    for (uint32_t link = 0; link < servers_links(n); link++)
        links += servers_rate(n, link) > 0 ? load[link] : 0;
    return links;
}

static double links_between(struct network_of_servers *n, uint32_t from, uint32_t to)
{
    double *load = hx_allocate(servers_links(n), sizeof *load);
    servers_add(n, load, from, to, 1);
    const double links = links_of(n, load);
    free(load);
    return links;
}

static double mean_links(struct network_of_servers *n)
{
    return links_of(n, servers_all(n)) / ((double)servers_count(n) * (servers_count(n) - 1));
}

/* ---- the oracle ---- */

struct oracle {
    struct hx_fabric f;
    struct hx_tables tables;
    double *load; /* [ports] */
};

static void oracle_open(struct oracle *o, const char *spec)
{
    fabric_make(&o->f, spec);
    hx_tables_make(&o->tables, &o->f);
    o->load = hx_allocate(o->f.ports, sizeof *o->load);
}

static void oracle_close(struct oracle *o)
{
    free(o->load);
    hx_tables_free(&o->tables);
    hx_fabric_free(&o->f);
}

/* Divides bytes that are at a node's input evenly over the next hops. */
static void follow(struct oracle *o, struct hx_end at, uint32_t to, double bytes)
{
    const struct hx_fabric *f = &o->f;
    if (at.node == to)
        return;
    uint64_t ports = hx_route_ports(&o->tables.route[at.node], at.port, f->node[to].addr_hi, f->node[to].addr_lo);
    const double part = bytes / __builtin_popcountll(ports);
    assert_true(ports != 0);
    for (; ports; ports &= ports - 1) {
        const unsigned port = (unsigned)__builtin_ctzll(ports);
        o->load[f->node[at.node].first_port + port] += part;
        follow(o, hx_fabric_far(f, at.node, port), to, part);
    }
}

static void send(struct oracle *o, uint32_t from, uint32_t to, double bytes)
{
    if (from != to)
        follow(o, (struct hx_end){.node = from, .port = HX_LOCAL}, to, bytes);
}

static void assert_same(struct oracle *o, const struct network_of_servers *n, const double *load)
{
    for (uint32_t link = 0; link < o->f.ports; link++)
        if (servers_rate(n, link) > 0)
            assert_close(load[link], o->load[link]);
    memset(o->load, 0, o->f.ports * sizeof *o->load);
}

/* ---- fabrics ---- */

static const char *const fabrics[] = {"2x2 Hx2Mesh",
                                      "torus 3x5",
                                      "fat-tree hosts=16 radix=8",
                                      "hyperx 3x3 p=2",
                                      "bigraph m=2",
                                      "kautz degree=2 length=3 p=1",
                                      "Ring(4)_FC(2)_Switch(2)",
                                      "dragonfly h=1",
                                      "random",
                                      "random",
                                      "random",
                                      "random"};
enum { FABRICS = sizeof fabrics / sizeof *fabrics };

/* Writes a random connected graph of servers that forward, some links double or slow. */
static void write_random(uint64_t *random)
{
    FILE *out = file_create("network.csv");
    const uint32_t servers = 5 + seeded_below(random, 12);
    for (uint32_t i = 0; i < servers; i++)
        fprintf(out, "forward s%u\n", i);
    for (uint32_t i = 1; i < servers; i++)
        fprintf(out, "s%u,s%u\n", i, seeded_below(random, i));
    for (uint32_t i = 0; i < 2 * servers; i++) {
        const uint32_t a = seeded_below(random, servers);
        fprintf(out, "s%u,s%u%s\n", a, (a + 1 + seeded_below(random, servers - 1)) % servers, i % 5 ? "" : ",100");
    }
    fclose(out);
}

/* Sets the spec of a fabric. */
static void name_fabric(char spec[FILE_PATH_BYTES + 8], unsigned number, uint64_t *random)
{
    if (strcmp(fabrics[number], "random") != 0) {
        snprintf(spec, FILE_PATH_BYTES + 8, "%s", fabrics[number]);
        return;
    }
    write_random(random);
    snprintf(spec, FILE_PATH_BYTES + 8, "graph %s", file_path("network.csv"));
}

static void compare(struct oracle *o, struct network_of_servers *n, uint64_t *random)
{
    const uint32_t servers = servers_count(n);
    double *load = hx_allocate(servers_links(n), sizeof *load);
    for (unsigned i = 0; i < 8; i++) {
        const uint32_t from = seeded_below(random, servers);
        const uint32_t to = seeded_below(random, servers);
        send(o, from, to, 1000 + i);
        servers_add(n, load, from, to, 1000 + i);
    }
    assert_same(o, n, load);
    free(load);
    const uint32_t root = seeded_below(random, servers);
    for (uint32_t to = 0; to < servers; to++)
        send(o, root, to, 1);
    assert_same(o, n, servers_scatter(n, root));
    for (uint32_t from = 0; from < servers; from++)
        send(o, from, root, 1);
    assert_same(o, n, servers_gather(n, root));
    for (uint32_t from = 0; from < servers; from++)
        for (uint32_t to = 0; to < servers; to++)
            send(o, from, to, 1);
    assert_same(o, n, servers_all(n));
    const uint32_t stride = 1 + seeded_below(random, servers - 1);
    for (uint32_t from = 0; from < servers; from++) {
        send(o, from, (from + stride) % servers, 1);
        send(o, (from + stride) % servers, from, 1);
    }
    assert_same(o, n, servers_ring(n, stride));
}

static void loads_are_those_of_all_paths(void **state)
{
    (void)state;
    uint64_t random = seeded_by(41);
    for (uint32_t i = 0; i < effort(2 * FABRICS); i++) {
        char spec[FILE_PATH_BYTES + 8];
        struct oracle o;
        struct hx_fabric f;
        name_fabric(spec, effort_case(i, 2 * FABRICS) % FABRICS, &random);
        oracle_open(&o, spec);
        fabric_make(&f, spec);
        struct network_of_servers *n = servers_network(&f, 400, 1000, 1);
        assert_int_equal(servers_count(n), o.f.hosts);
        compare(&o, n, &random);
        servers_free(n);
        oracle_close(&o);
    }
}

/* Minimal paths have as many links as the distance, without the traces of hosts that forward. */
static void links_carry_bytes_times_distance(void **state)
{
    (void)state;
    uint64_t random = seeded_by(7);
    for (uint32_t i = 0; i < effort(FABRICS); i++) {
        char spec[FILE_PATH_BYTES + 8];
        struct hx_fabric f, g;
        double all = 0;
        name_fabric(spec, i, &random);
        fabric_make(&f, spec);
        fabric_make(&g, spec);
        struct network_of_servers *n = servers_network(&f, 400, 1000, 1);
        const unsigned traces = hx_fabric_link(&g, 0, HX_E)->kind == HX_TRACE && !g.mesh.nodes ? 2 : 0;
        for (uint32_t from = 0; from < g.hosts; from++)
            for (uint32_t to = 0; to < g.hosts; to++) {
                if (from == to)
                    continue;
                const unsigned links = hx_fabric_distance(&g, from, to) - traces;
                assert_close(links_between(n, from, to), links);
                assert_close(servers_latency(n, from, to), links * 1e-6);
                all += links;
            }
        assert_close(mean_links(n), all / g.hosts / (g.hosts - 1.0));
        servers_free(n);
        hx_fabric_free(&g);
    }
}

/* ---- closed forms ---- */

static struct network_of_servers *network_of_text(const char *text, double gbps, unsigned planes)
{
    struct hx_fabric f;
    make_of_text(&f, text);
    return servers_network(&f, gbps, 1000, planes);
}

static double most_of(const struct network_of_servers *n, const double *load)
{
    double most = 0;
    for (uint32_t link = 0; link < servers_links(n); link++)
        most = servers_rate(n, link) > 0 ? fmax(most, load[link]) : most;
    return most;
}

/* A ring of nine: half of the messages go either way. */
static void a_ring_divides_a_scatter(void **state)
{
    (void)state;
    struct network_of_servers *n =
        network_of_text("forward a\nforward b\nforward c\nforward d\nforward e\nforward f\nforward g\nforward h\n"
                        "forward i\na,b\nb,c\nc,d\nd,e\ne,f\nf,g\ng,h\nh,i\ni,a\n",
                        80, 1);
    assert_close(most_of(n, servers_scatter(n, 3)), 4);
    assert_close(most_of(n, servers_gather(n, 3)), 4);
    assert_close(most_of(n, servers_all(n)), 4 + 3 + 2 + 1);
    assert_close(most_of(n, servers_ring(n, 1)), 1);
    assert_close(most_of(n, servers_ring(n, 2)), 2);
    assert_close(servers_seconds(n, servers_all(n)) * 1e10, 10);
    assert_close(mean_links(n), 2.5);
    assert_close(servers_farthest(n, 5) * 1e6, 4);
    assert_close(servers_step(n, 3) * 1e6, 3);
    assert_close(servers_carried(n, servers_scatter(n, 0)), 2 * (1 + 2 + 3 + 4));
    servers_free(n);
}

static void a_full_mesh_carries_each_byte_once(void **state)
{
    (void)state;
    FILE *out = file_create("network.csv");
    for (unsigned a = 0; a < 6; a++)
        fprintf(out, "forward s%u\n", a);
    for (unsigned a = 0; a < 6; a++)
        for (unsigned b = 0; b < a; b++)
            fprintf(out, "s%u,s%u\n", a, b);
    fclose(out);
    struct hx_fabric f;
    make_of_file(&f, "network.csv");
    struct network_of_servers *n = servers_network(&f, 400, 1000, 1);
    const double *all = servers_all(n);
    for (uint32_t link = 0; link < servers_links(n); link++)
        if (servers_rate(n, link) > 0)
            assert_close(all[link], 1);
    assert_close(mean_links(n), 1);
    assert_close(servers_carried(n, all), 6 * 5);
    servers_free(n);
}

/* No link of a tree without taper carries more than a host's. */
static void a_fat_tree_has_full_bisection(void **state)
{
    (void)state;
    struct hx_fabric f;
    fabric_make(&f, "fat-tree hosts=32 radix=8");
    struct network_of_servers *n = servers_network(&f, 400, 1000, 1);
    assert_close(most_of(n, servers_all(n)), 31);
    assert_close(servers_carried(n, servers_all(n)), 32 * 31);
    for (uint32_t stride = 1; stride < 32; stride++)
        assert_close(most_of(n, servers_ring(n, stride)), 2);
    servers_free(n);
}

static void an_ideal_switch_has_interfaces_alone(void **state)
{
    (void)state;
    struct network_of_servers *n = servers_ideal(10, 80, 1000);
    uint32_t from, to;
    assert_int_equal(servers_count(n), 10);
    assert_close(servers_seconds(n, servers_scatter(n, 4)) * 1e10, 9);
    assert_close(servers_seconds(n, servers_all(n)) * 1e10, 9);
    assert_close(servers_carried(n, servers_gather(n, 4)), 9);
    assert_close(mean_links(n), 2);
    assert_close(servers_latency(n, 1, 2) * 1e6, 2);
    assert_true(servers_latency(n, 1, 1) <= 0);
    assert_true(servers_ends(n, 3, &from, &to) && from == 3 && to == 10);
    assert_true(servers_ends(n, 13, &from, &to) && from == 10 && to == 3);
    servers_free(n);
}

/* ---- rates, delays, ends ---- */

static void links_and_servers_have_own_delays(void **state)
{
    (void)state;
    struct network_of_servers *n = network_of_text(
        "forward a 900\nforward b 500\nforward c\na,b,,100\nb,c,40,200\nc,d\nswitch d\nhost e\nd,e\n", 80, 1);
    assert_close(servers_latency(n, 0, 1) * 1e9, 100);
    assert_close(servers_latency(n, 1, 0) * 1e9, 100);
    assert_close(servers_latency(n, 0, 2) * 1e9, 100 + 500 + 200);
    assert_close(servers_latency(n, 0, 3) * 1e9, 100 + 500 + 200 + 1000 + 1000);
    assert_close(servers_latency(n, 3, 0) * 1e9, 100 + 500 + 200 + 1000 + 1000);
    servers_free(n);
}

static void a_step_of_a_ring_has_the_mean_latency(void **state)
{
    (void)state;
    struct network_of_servers *n =
        network_of_text("forward a\nforward b\nforward c\na,b,,100\nb,c,,200\nc,a,,600\n", 80, 1);
    assert_close(servers_step(n, 1) * 1e9, 300);
    assert_close(servers_farthest(n, 1) * 1e9, 200);
    assert_close(servers_farthest(n, 2) * 1e9, 600);
    servers_free(n);
}

/* What a server forwards is limited, not what it sends and receives. Planes share all. */
static void a_server_forwards_at_its_rate(void **state)
{
    (void)state;
    for (unsigned planes = 1; planes <= 2; planes++) {
        struct network_of_servers *n =
            network_of_text("forward a\nforward b 0 8\nforward c\na,b\nb,c,40\n", 80, planes);
        double *load = hx_allocate(servers_links(n), sizeof *load);
        servers_add(n, load, 0, 1, 10e9);
        assert_close(servers_seconds(n, load) * planes, 1);
        servers_add(n, load, 2, 1, 10e9);
        servers_add(n, load, 1, 2, 10e9);
        assert_close(servers_seconds(n, load) * planes, 2);
        servers_add(n, load, 0, 2, 2.5e9);
        servers_add(n, load, 2, 0, 0.5e9);
        assert_close(servers_seconds(n, load) * planes, 3);
        free(load);
        servers_free(n);
    }
}

static void ends_of_links_are_servers_and_switches(void **state)
{
    (void)state;
    struct network_of_servers *n =
        network_of_text("forward a\nforward b\nhost c\nswitch d\na,b,200\nb,d\nc,d\n", 80, 1);
    static const struct {
        uint32_t from, to;
        double rate;
    } links[] = {{0, 1, 25e9}, {1, 0, 25e9}, {1, 5, 10e9}, {5, 1, 10e9}, {2, 5, 10e9}, {5, 2, 10e9}};
    unsigned seen = 0, found = 0;
    for (uint32_t link = 0; link < servers_links(n); link++) {
        uint32_t from, to;
        if (!servers_ends(n, link, &from, &to))
            continue;
        found++;
        for (unsigned i = 0; i < sizeof links / sizeof *links; i++)
            if (links[i].from == from && links[i].to == to) {
                assert_close(servers_rate(n, link), links[i].rate);
                seen |= 1U << i;
            }
    }
    assert_int_equal(found, 6);
    assert_int_equal(seen, 63);
    servers_free(n);
}

/* What is computed beforehand is what the first call computes. */
static void a_warm_network_is_the_same(void **state)
{
    (void)state;
    const char *text = "forward a\nforward b\nforward c\nforward d\nforward e\na,b\nb,c\nc,d\nd,e\ne,a\na,c\n";
    struct network_of_servers *cold = network_of_text(text, 80, 1);
    struct network_of_servers *warm = network_of_text(text, 80, 1);
    servers_warm(warm, (const uint32_t[]){2}, 1);
    const size_t bytes = servers_links(cold) * sizeof(double);
    assert_memory_equal(servers_ring(warm, 2), servers_ring(cold, 2), bytes);
    assert_memory_equal(servers_all(warm), servers_all(cold), bytes);
    for (uint32_t server = 5; server--;) {
        assert_memory_equal(servers_gather(warm, server), servers_gather(cold, server), bytes);
        assert_memory_equal(servers_scatter(warm, server), servers_scatter(cold, server), bytes);
    }
    servers_free(cold);
    servers_free(warm);
    servers_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_are_those_of_all_paths),      cmocka_unit_test(links_carry_bytes_times_distance),
        cmocka_unit_test(a_ring_divides_a_scatter),          cmocka_unit_test(a_full_mesh_carries_each_byte_once),
        cmocka_unit_test(a_fat_tree_has_full_bisection),     cmocka_unit_test(an_ideal_switch_has_interfaces_alone),
        cmocka_unit_test(links_and_servers_have_own_delays), cmocka_unit_test(a_step_of_a_ring_has_the_mean_latency),
        cmocka_unit_test(a_server_forwards_at_its_rate),     cmocka_unit_test(ends_of_links_are_servers_and_switches),
        cmocka_unit_test(a_warm_network_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
