/* test_graph.c - graphs from files: other topologies survive the round trip; meshes, rings and random graphs are
 * free of deadlock on the VCs found; errors of a file are one line. */
#include "spec/spec.h"
#include "tests/support/support_fabric.h"
#include "tests/support/support_file.h"
#include "tests/support/support_random.h"
#include "topology/bounds.h"
#include "topology/graph_file.h"
#include "topology/updown.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Spec of the file `name` of these tests; with capitals. Valid until the next call. */
#define LIST "List"
#define YAML LIST ".yaml"
static const char *spec_of(const char *name)
{
    static char spec[FILE_PATH_BYTES + 8];
    snprintf(spec, sizeof spec, "Graph %s", file_path(name));
    return spec;
}

static void make_of_text(struct hx_fabric *f, const char *text)
{
    file_write_text(LIST, text);
    fabric_make(f, spec_of(LIST));
}

static void refused(const char *text, const char *says)
{
    file_write_text(LIST, text);
    fabric_refused(spec_of(LIST), says);
}

/* what: NULL for any. */
static void refused_at(const char *file, const char *text, const char *place, const char *what)
{
    struct hx_fabric f;
    struct hx_problem problem;
    char where[FILE_PATH_BYTES + 32];
    file_write_text(file, text);
    snprintf(where, sizeof where, "%s%s", file_path(file), place);
    assert_false(hx_fabric_make(&f, spec_of(file), 1, &problem));
    assert_string_equal(problem.where, where);
    if (what)
        assert_string_equal(problem.what, what);
}

/* Any fabric of routers as a file: hosts are h0, h1, routers r0, r1. */
static void write_fabric(const struct hx_fabric *f)
{
    FILE *out = file_create(LIST);
    for (uint32_t node = 0; node < f->nodes; node++) {
        for (unsigned port = 0; port < hx_fabric_ports(f, node); port++) {
            struct hx_end far = hx_fabric_far(f, node, port);
            if (far.node == HX_NOWHERE || far.node < node || (far.node == node && far.port < port))
                continue;
            if (hx_is_host(f, node))
                fprintf(out, "h%u,r%u\n", node, far.node - f->hosts);
            else
                fprintf(out, "r%u,r%u,,,%s\n", node - f->hosts, far.node - f->hosts,
                        hx_link_kinds[hx_fabric_link(f, node, port)->kind]);
        }
    }
    fclose(out);
}

/* A tree comes back with one VC and all its paths; other fabrics within `vcs`. */
static void other_topologies_survive_a_round_trip(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned vcs;
    } cases[] = {{"fat-tree hosts=64 radix=8", 1},
                 {"fat-tree hosts=60 radix=8 taper=3", 1},
                 {"mlfm h=4", 1},
                 {"oft k=4", 1},
                 {"bigraph m=2 n=8", 2},
                 {"fat-tree hosts=30", 1},
                 {"fat-tree hosts=24 radix=4 levels=3 taper=3", 1}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hx_fabric f;
        struct hx_fabric g;
        fabric_make(&f, cases[i].text);
        write_fabric(&f);
        fabric_make(&g, spec_of(LIST));
        struct fabric_findings was = fabric_validate(&f);
        struct fabric_findings is = fabric_validate(&g);
        assert_int_equal(is.missing, 0);
        assert_int_equal(is.diameter, was.diameter);
        assert_int_equal(is.distances, was.distances);
        assert_int_equal(g.vcs, cases[i].vcs);
        assert_int_equal(g.hosts, f.hosts);
        assert_int_equal(g.switches, f.switches);
        assert_int_equal(fabric_cables(&g, HX_AOC), fabric_cables(&f, HX_AOC));
        assert_int_equal(hx_fabric_distance(&g, 0, g.hosts - 1) > 0, 1);
        assert_int_equal(hx_fabric_distance(&g, 1, 1), 0);
        hx_fabric_free(&f);
        hx_fabric_free(&g);
    }
}

/* Grids of hosts that forward; each side is a ring or a line. */
static void write_grid(unsigned dimensions, unsigned side, bool ring)
{
    FILE *out = file_create(LIST);
    unsigned all = 1;
    for (unsigned i = 0; i < dimensions; i++)
        all *= side;
    for (unsigned node = 0; node < all; node++) {
        fprintf(out, "forward n%u\n", node);
        for (unsigned i = 0, step = 1; i < dimensions; i++, step *= side) {
            unsigned at = node / step % side;
            if (at + 1 < side)
                fprintf(out, "n%u,n%u\n", node, node + step);
            else if (ring)
                fprintf(out, "n%u,n%u\n", node, node - at * step);
        }
    }
    fclose(out);
}

static struct fabric_findings validate_grid(unsigned dimensions, unsigned side, bool ring, unsigned vcs)
{
    struct hx_fabric f;
    write_grid(dimensions, side, ring);
    fabric_make(&f, spec_of(LIST));
    struct fabric_findings found = fabric_validate(&f);
    assert_int_equal(f.vcs, vcs);
    assert_int_equal(f.host_links, dimensions * (ring ? 2U : 1U));
    assert_int_equal(f.switches, 0);
    assert_int_equal(found.diameter, 2 + dimensions * (ring ? side / 2 : side - 1));
    hx_fabric_free(&f);
    return found;
}

static void rings_and_grids(void **state)
{
    (void)state;
    validate_grid(1, 9, false, 1);
    assert_int_equal(validate_grid(1, 3, true, 1).missing, 0);
    assert_int_equal(validate_grid(1, 9, true, 2).missing, 0);
    assert_int_equal(validate_grid(1, 100, true, 2).missing, 0);
    assert_int_equal(validate_grid(3, 2, false, 2).missing, 0);
    validate_grid(2, 9, false, 4);
    validate_grid(2, 8, true, 4);
    validate_grid(3, 6, true, 4);
    validate_grid(6, 2, false, 4);
}

/* A cubic graph: a ring and chords, with a host on each. */
static bool validate_random(unsigned nodes, uint64_t *seed)
{
    struct hx_fabric f;
    struct hx_problem problem;
    FILE *out = file_create(LIST);
    unsigned *place = hx_allocate(nodes, sizeof *place);
    for (unsigned i = 0; i < nodes; i++)
        fprintf(out, "h%u,n%u\nn%u,n%u\n", i, i, i, (i + 1) % nodes);
    for (unsigned i = 0; i < nodes; i++) {
        unsigned j = seeded_below(seed, i + 1);
        place[i] = place[j];
        place[j] = i;
    }
    for (unsigned i = 0; i + 1 < nodes; i += 2)
        fprintf(out, "n%u,n%u\n", place[i], place[i + 1]);
    fclose(out);
    free(place);
    if (!hx_fabric_make(&f, spec_of(LIST), 1, &problem)) {
        assert_non_null(strstr(problem.what, "4 VCs do not suffice"));
        return false;
    }
    fabric_validate(&f);
    hx_fabric_free(&f);
    return true;
}

static void random_graphs(void **state)
{
    (void)state;
    uint64_t seed = seeded_by(7);
    for (unsigned nodes = 4; nodes <= 64; nodes += 6)
        assert_true(validate_random(nodes, &seed));
    for (unsigned nodes = 100; nodes <= 400; nodes += 100)
        validate_random(nodes, &seed);
}

static unsigned circle_in(const char *text, uint32_t *routers, unsigned most)
{
    struct hx_fabric f;
    fabric_make(&f, text);
    unsigned length = hx_updown_cycle(&f, f.updown, routers, most);
    for (unsigned i = 0; i < length && length <= most; i++)
        assert_int_not_equal(fabric_links_between(&f, f.hosts + routers[i], f.hosts + routers[(i + 1) % length]), 0);
    hx_fabric_free(&f);
    return length;
}

/* On one VC rings deadlock and lines do not; the refusal of a graph names a cycle. */
static void cycles_are_shown(void **state)
{
    (void)state;
    uint32_t routers[64];
    write_grid(1, 9, true);
    assert_int_equal(circle_in(spec_of(LIST), routers, 64), 9);
    for (unsigned i = 0; i < 9; i++) {
        unsigned step = (routers[1] + 9 - routers[0]) % 9;
        assert_int_equal(routers[i], (routers[0] + i * step) % 9);
    }
    write_grid(1, 9, false);
    assert_int_equal(circle_in(spec_of(LIST), routers, 64), 0);
    write_grid(2, 3, false);
    assert_true(circle_in(spec_of(LIST), routers, 64) >= 4);

    uint64_t seed = 3;
    assert_false(validate_random(1000, &seed));
    struct hx_fabric f;
    struct hx_problem problem;
    assert_false(hx_fabric_make(&f, spec_of(LIST), 1, &problem));
    assert_non_null(strstr(problem.what, ": links of n"));
    assert_non_null(strstr(problem.what, " ... form a dependency cycle"));
    assert_string_equal(problem.where, file_path(LIST));
}

static void lines_give_kinds_of_nodes(void **state)
{
    (void)state;
    struct hx_fabric f;
    make_of_text(&f, "# five nodes\n"
                     "\n"
                     "A,B,200,20,aoc  # a link\r\n"
                     "  B , C,,0\n"
                     "switch A\n"
                     "forward D\n"
                     "C,D\n"
                     "E\n"
                     "E,A,,,trace\n"
                     "host E");
    assert_int_equal(f.hosts, 2);
    assert_int_equal(f.nodes, 6);
    assert_int_equal(f.switches, 3);
    assert_int_equal(f.host_links, 1);
    assert_int_equal(fabric_cables(&f, HX_AOC), 1);
    assert_int_equal(fabric_cables(&f, HX_DAC), 2);
    assert_int_equal(fabric_cables(&f, HX_TRACE), 2); /* E's, and that of D to itself */
    uint32_t a = hx_fabric_far(&f, 1, HX_E).node;
    const struct hx_link_class *link = hx_fabric_link(&f, a, 0);
    assert_int_equal(a, f.hosts);
    assert_int_equal(link->gbps, 200);
    assert_int_equal(link->latency_ns, 20);
    link = hx_fabric_link(&f, a + 1, 1);
    assert_int_equal(link->gbps, 0);
    assert_int_equal(link->latency_ns, 0);
    assert_int_equal(hx_fabric_link(&f, a + 2, 1)->latency_ns, HX_LATENCY_OF_KIND);
    assert_int_equal(hx_fabric_distance(&f, 0, 1), 5);
    fabric_validate(&f);
    hx_fabric_free(&f);
}

static void parallel_links_are_all_used(void **state)
{
    (void)state;
    struct hx_fabric f;
    make_of_text(&f, "a,s\nb,t\ns,t\ns,t\nt,s\n");
    assert_int_equal(fabric_links_between(&f, f.hosts, f.hosts + 1), 3);
    assert_int_equal(fabric_validate(&f).missing, 0);
    hx_fabric_free(&f);
}

static void wrong_lines_are_named(void **state)
{
    (void)state;
    refused("a,b\nb,b\n", "a link from 'b' to itself");
    refused("a,b,1,2,aoc,4\n", "more than the 5 fields");
    refused("a,b,0\n", "0 is outside 1 .. 1000000");
    refused("a,b,,,fibre\n", "fibre");
    refused("a,\n", "'' is not a name: it is empty");
    refused("a b,c\n", "'a b' is not a name: it is more words than one");
    refused("hots a\n", "'hots' is none of switch, host, forward, and a link has a comma (did you mean 'host'?)");
    refused("host a\nswitch a\n", "'a' is already a host");
    refused("a,b,1\na,b,2\na,b,3\na,b,4\na,b,5\na,b,6\na,b,7\na,b,8\n", "more than 7 kinds of link");
    FILE *out = file_create(LIST);
    for (unsigned i = 0; i < 600; i++)
        fputc('a', out);
    fclose(out);
    fabric_refused(spec_of(LIST), "a line of more than");
}

/* A UTF-8 byte order mark is not part of the first name, in a list and in YAML, or of a column. */
static void a_byte_order_mark_is_no_name(void **state)
{
    (void)state;
    static const char *const texts[] = {"\xEF\xBB\xBF"
                                        "s,a\ns,b\n",
                                        "\xEF\xBB\xBFlinks:\n  - {a: s, b: a}\n  - {a: s, b: b}\n"};
    static const char *const files[] = {LIST, YAML};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct hx_fabric f;
        file_write_text(files[i], texts[i]);
        fabric_make(&f, spec_of(files[i]));
        assert_int_equal(f.nodes, 3);
        hx_fabric_free(&f);
    }
    refused_at(LIST,
               "\xEF\xBB\xBF"
               "a,b,0\n",
               ":1:5", NULL);
}

static void wrong_words_are_named_by_line_and_column(void **state)
{
    (void)state;
    static const struct {
        const char *text, *where;
    } each[] = {{"a,b\nb, b\n", ":2:4"},     {"a,b\n  a b,c\n", ":2:3"},       {"a,b,0\n", ":1:5"},
                {"a,b,1, 2x\n", ":1:8"},     {"a,b,,,fibre\n", ":1:7"},        {"a,b,1,2,aoc,4\n", ":1:1"},
                {"# a\n hots a\n", ":2:2"},  {"host a\nswitch a\n", ":2:1"},   {"switch a 100\n", ":1:10"},
                {"forward a 1x\n", ":1:11"}, {"forward a 100  1x\n", ":1:16"}, {"forward rack one 1 2\n", ":1:20"}};
    for (unsigned i = 0; i < sizeof each / sizeof *each; i++)
        refused_at(LIST, each[i].text, each[i].where, NULL);
}

static void omitted_values_stay(void **state)
{
    (void)state;
    struct hx_graph_file g;
    struct hx_problem problem;
    static const char text[] =
        "forward d 500 100\nforward d\nd\na,d\nforward e 500 100\nforward e 20\nforward f\nforward f 7\n";
    assert_true(hx_graph_read(&g, "list", text, sizeof text - 1, &problem));
    static const struct {
        const char *name;
        uint32_t delay_ns, gbps;
    } nodes[] = {{"d", 500, 100}, {"a", 0, 0}, {"e", 20, 100}, {"f", 7, 0}};
    assert_int_equal(g.nodes, sizeof nodes / sizeof *nodes);
    for (unsigned i = 0; i < g.nodes; i++) {
        assert_string_equal(g.node[i]->name, nodes[i].name);
        assert_int_equal(g.node[i]->delay_ns, nodes[i].delay_ns);
        assert_int_equal(g.node[i]->gbps, nodes[i].gbps);
    }
    hx_graph_free(&g);
}

/* ---- what hosts inject ---- */

static void near(double is, double expected)
{
    assert_true(is > expected - 1e-9 && is < expected + 1e-9);
}

/* A DGX-1: each of eight processors has two links of 400 Gb/s and two of 200. */
static void a_host_injects_at_the_rate_of_its_links(void **state)
{
    (void)state;
    struct hx_fabric f;
    FILE *out = file_create(LIST);
    for (unsigned i = 0; i < 8; i++)
        fprintf(out, "forward g%u\n", i);
    for (unsigned quad = 0; quad < 8; quad += 4)
        fprintf(out, "g%u,g%u,400\ng%u,g%u,400\ng%u,g%u,200\ng%u,g%u,200\ng%u,g%u,200\ng%u,g%u,200\n", quad, quad + 3,
                quad + 1, quad + 2, quad, quad + 1, quad, quad + 2, quad + 1, quad + 3, quad + 2, quad + 3);
    for (unsigned i = 0; i < 4; i++)
        fprintf(out, "g%u,g%u,400\n", i, i + 4);
    fclose(out);
    fabric_make(&f, spec_of(LIST));
    near(hx_fabric_injection(&f, 400), 3);
    near(hx_fabric_most_injection(&f, 400), 3);
    near(hx_fabric_injection(&f, 800), 1.5);
    for (uint32_t host = 0; host < f.hosts; host++) {
        near(hx_host_injection(&f, host, 400), 3);
        near(hx_class_gbps(hx_fabric_link(&f, host, HX_E), 100), 1200);
    }
    hx_fabric_free(&f);
}

/* Hosts of one switch: the slowest ends an all-to-all, and the injection of all is counted. */
static void different_hosts_are_each_counted(void **state)
{
    (void)state;
    struct hx_fabric f;
    make_of_text(&f, "a,s\nb,s,200\nc,s,200\n");
    near(hx_host_injection(&f, 0, 400), 1);
    near(hx_host_injection(&f, 1, 400), 0.5);
    near(hx_fabric_injection(&f, 400), 2.0 / 3);
    near(hx_fabric_most_injection(&f, 400), 1);
    near(hx_host_injection(&f, 0, 100), 1);
    near(hx_host_injection(&f, 1, 100), 2);
    near(hx_fabric_alltoall_bound(&f), 0.75); /* each 200 Gb/s, of 267 on average */
    hx_fabric_free(&f);
    make_of_text(&f, "forward a\na,s\na,s,800\nb,s,100\nc,s\n");
    near(hx_host_injection(&f, 0, 400), 3);
    near(hx_host_injection(&f, 1, 400), 0.25);
    near(hx_host_injection(&f, 2, 400), 1);
    near(hx_class_gbps(hx_fabric_link(&f, 0, HX_E), 400), 1200);
    hx_fabric_free(&f);
}

/* ---- YAML ---- */

static void the_same_as_a_list(void **state)
{
    (void)state;
    struct hx_fabric list;
    struct hx_fabric yaml;
    make_of_text(&list, "forward D\nswitch A\nA,B,200,20,aoc\nB,C,,0\nC,D\nA,E,,,trace\n");
    file_write_text(YAML, "nodes:\n"
                          "  - {name: D, is: forward}\n"
                          "  - {name: A, is: switch}\n"
                          "links:\n"
                          "  - {a: A, b: B, gbps: 200, ns: 20, kind: aoc}\n"
                          "  - {a: B, b: C, ns: 0}\n"
                          "  - {a: C, b: D}\n"
                          "  - {a: A, b: E, kind: trace}\n");
    fabric_make(&yaml, spec_of(YAML));
    assert_int_equal(yaml.nodes, list.nodes);
    assert_int_equal(yaml.ports, list.ports);
    assert_int_equal(yaml.link_classes, list.link_classes);
    for (uint32_t port = 0; port < list.ports; port++) {
        assert_int_equal(yaml.port[port].far.node, list.port[port].far.node);
        assert_int_equal(yaml.port[port].far.port, list.port[port].far.port);
        assert_int_equal(yaml.port[port].link_class, list.port[port].link_class);
    }
    for (unsigned i = 0; i < list.link_classes; i++) {
        assert_int_equal(yaml.link_class[i].gbps, list.link_class[i].gbps);
        assert_int_equal(yaml.link_class[i].latency_ns, list.link_class[i].latency_ns);
        assert_int_equal(yaml.link_class[i].kind, list.link_class[i].kind);
    }
    fabric_validate(&yaml);
    hx_fabric_free(&list);
    hx_fabric_free(&yaml);
}

static void wrong_yaml_is_named_by_line_and_column(void **state)
{
    (void)state;
    static const struct {
        const char *text, *where, *what;
    } each[] = {{"links:\n  - {a: A, b: A}\n", ":2:5", "a link from 'A' to itself"},
                {"links:\n  - {a: A}\n", ":2:5", "key 'b' is missing"},
                {"links:\n  - {a: A, b: B, gpbs: 3}\n", ":2:18", "unknown key 'gpbs' (did you mean 'gbps'?)"},
                {"links:\n  - {a: A, b: B, gbps: 0}\n", ":2:5", "0 is outside 1 .. 1000000"},
                {"nodes: []\n", ":1:1", "key 'links' is missing"},
                {"nodes: [{name: A, is: hots}]\nlinks: []\n", ":1:9",
                 "'hots' is none of switch, host, forward (did you mean 'host'?)"},
                {"links: {a: b}\n", ":1:8", "links: a list expected, found a mapping of keys"}};
    for (unsigned i = 0; i < sizeof each / sizeof *each; i++)
        refused_at(YAML, each[i].text, each[i].where, each[i].what);
}

static void impossible_graphs_are_refused(void **state)
{
    (void)state;
    refused("", "0 hosts: at least two nodes need a single link");
    refused("forward a\n", "1 hosts");
    refused("a,b\n", "no switch is between hosts 'a' and 'b'");
    refused("host a\na,s\na,t\nb,s\nc,t\n", "host 'a' has 2 links; one that forwards is written 'forward a'");
    refused("a,s\nb,s\nc,t\nd,t\n", "there is no path from 'a' to 'c'");
    refused("a,s\nb,s\nc\n", "there is no path from 'a' to 'c'");
    FILE *out = file_create(LIST);
    for (unsigned i = 0; i < 65; i++)
        fprintf(out, "h%u,hub\n", i);
    fclose(out);
    fabric_refused(spec_of(LIST), "'hub' has 65 ports, more than 64");
    out = file_create(LIST);
    for (unsigned i = 0; i < 64; i++)
        fprintf(out, "h%u,hub\n", i);
    fputs("forward hub\n", out);
    fclose(out);
    fabric_refused(spec_of(LIST), "'hub' has 65 ports, more than 64");
    fabric_refused("graph", "name a file: graph FILE");
    fabric_refused("graph a.csv b=1", "unknown key 'b'");
    fabric_refused("graph /nowhere/Such.csv", "cannot be read");
}

static void switches_may_be_far_apart(void **state)
{
    (void)state;
    struct hx_fabric f;
    FILE *out = file_create(LIST);
    for (unsigned i = 0; i < 300; i++)
        fprintf(out, "s%u,s%u\n", i, i + 1);
    fclose(out);
    fabric_make(&f, spec_of(LIST));
    assert_int_equal(fabric_validate(&f).diameter, 300);
    hx_fabric_free(&f);
}

static void the_example_is_a_cube(void **state)
{
    (void)state;
    struct hx_fabric f;
    fabric_make(&f, "graph examples/graph/cube.csv");
    struct fabric_findings found = fabric_validate(&f);
    assert_int_equal(f.hosts, 8);
    assert_int_equal(found.diameter, 5);
    assert_int_equal(found.missing, 0);
    assert_int_equal(f.vcs, 2);
    hx_fabric_free(&f);
}

/* All tools read it as an argument: it has a slash, but is not the file of a spec. */
static void a_graph_file_is_a_spec(void **state)
{
    (void)state;
    struct hx_spec loaded;
    struct hx_problem problem;
    file_write_text(LIST, "a,s\nb,s\n");
    assert_true(hx_spec_try_load(spec_of(LIST), NULL, &loaded, &problem));
    assert_int_equal(hx_spec_fabric(&loaded)->hosts, 2);
    hx_spec_free(&loaded);
    assert_true(hx_spec_try_load("graph examples/graph/cube.csv", NULL, &loaded, &problem));
    hx_spec_free(&loaded);
    assert_false(hx_spec_try_load("graph/cube.yaml", NULL, &loaded, &problem));
    assert_string_equal(problem.where, "graph/cube.yaml");
    assert_false(hx_spec_try_load("/nowhere/graph s.yaml", NULL, &loaded, &problem));
    assert_string_equal(problem.where, "/nowhere/graph s.yaml");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_topologies_survive_a_round_trip),
        cmocka_unit_test(rings_and_grids),
        cmocka_unit_test(random_graphs),
        cmocka_unit_test(cycles_are_shown),
        cmocka_unit_test(lines_give_kinds_of_nodes),
        cmocka_unit_test(parallel_links_are_all_used),
        cmocka_unit_test(wrong_lines_are_named),
        cmocka_unit_test(a_byte_order_mark_is_no_name),
        cmocka_unit_test(wrong_words_are_named_by_line_and_column),
        cmocka_unit_test(omitted_values_stay),
        cmocka_unit_test(a_host_injects_at_the_rate_of_its_links),
        cmocka_unit_test(different_hosts_are_each_counted),
        cmocka_unit_test(the_same_as_a_list),
        cmocka_unit_test(wrong_yaml_is_named_by_line_and_column),
        cmocka_unit_test(impossible_graphs_are_refused),
        cmocka_unit_test(switches_may_be_far_apart),
        cmocka_unit_test(the_example_is_a_cube),
        cmocka_unit_test(a_graph_file_is_a_spec),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
