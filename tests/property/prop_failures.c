/* prop_failures.c - any one link and any two links of a fabric fail, on shapes of every topology. Hosts that links
 * still join have a path in the tables, others are reported, no packet is lost in between, and there is no dependency
 * cycle.
 *
 * This file searches the connected hosts itself. A HammingMesh, with nodes that know only their own links, is tested in
 * prop_given_back.c. Some sets of failures may be refused for want of virtual channels: they are counted and
 * printed. */
#include "tests/support/support_effort.h"
#include "tests/support/support_fabric.h"
#include "topology/name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct link {
    uint32_t node;
    uint16_t port;
    uint32_t far;
};

/* The links of a fabric. */
struct links {
    struct hx_fabric f; /* for its nodes' names; some link of it has failed */
    struct link *link;
    unsigned count;
    uint32_t *part; /* per node: representative of its connected part */
};

static bool has_link(const struct links *l, uint32_t node, unsigned port)
{
    for (unsigned i = 0; i < l->count; i++)
        if (l->link[i].node == node && l->link[i].port == port)
            return true;
    return false;
}

/* Adds the links of l->f that are not in the list. */
static void add_links(struct links *l)
{
    for (uint32_t node = 0; node < l->f.nodes; node++) {
        for (unsigned port = 0; port < hx_fabric_ports(&l->f, node); port++) {
            struct hx_end far = hx_fabric_far(&l->f, node, port);
            if (far.node == HX_NOWHERE || far.node < node || (far.node == node && far.port <= port) ||
                has_link(l, node, port))
                continue;
            l->link = realloc(l->link, (l->count + 1) * sizeof *l->link);
            assert_non_null(l->link);
            l->link[l->count++] = (struct link){node, (uint16_t)port, far.node};
        }
    }
}

/* A fabric with failures may have other nodes than an intact one: hosts that forward become routers. So the links
 * are those of the fabric without its first host, and those without its last. */
static void find_links(struct links *l, const char *spec)
{
    char text[HX_SPEC_BYTES];
    char name[HX_NAME_BYTES] = "a0,0";
    *l = (struct links){.count = 0};
    for (unsigned last = 0; last < 2; last++) {
        (void)snprintf(text, sizeof text, "%s fail=%s", spec, name);
        if (last)
            hx_fabric_free(&l->f);
        fabric_make(&l->f, text);
        add_links(l);
        (void)hx_place_name(name, &l->f, l->f.hosts - 1);
    }
    l->part = calloc(l->f.nodes, sizeof *l->part);
    assert_non_null(l->part);
}

static void free_links(struct links *l)
{
    hx_fabric_free(&l->f);
    free(l->link);
    free(l->part);
}

static uint32_t part_of(const struct links *l, uint32_t node)
{
    while (l->part[node] != node)
        node = l->part[node];
    return node;
}

/* Joins nodes by all links but two. */
static void join(struct links *l, unsigned first, unsigned second)
{
    for (uint32_t node = 0; node < l->f.nodes; node++)
        l->part[node] = node;
    for (unsigned i = 0; i < l->count; i++) {
        if (i == first || i == second)
            continue;
        l->part[part_of(l, l->link[i].far)] = part_of(l, l->link[i].node);
    }
}

/* Whether a host has a link left; without one it is not in use. */
static bool takes_part(const struct links *l, uint32_t host)
{
    for (uint32_t node = 0; node < l->f.nodes; node++)
        if (node != host && part_of(l, node) == part_of(l, host))
            return true;
    return false;
}

static struct fabric_findings expected(struct links *l, unsigned first, unsigned second)
{
    struct fabric_findings e = {.pairs = 0};
    join(l, first, second);
    for (uint32_t from = 0; from < l->f.hosts; from++) {
        for (uint32_t to = 0; takes_part(l, from) && to < l->f.hosts; to++) {
            if (from == to || !takes_part(l, to))
                continue;
            e.pairs++;
            e.cut_off += part_of(l, from) != part_of(l, to);
        }
    }
    return e;
}

/* "SPEC fail=leaf0/3+leaf1/2" */
static void name_failure(char text[HX_SPEC_BYTES], const struct links *l, const char *spec, unsigned first,
                         unsigned second)
{
    const unsigned both[2] = {first, second};
    int used = snprintf(text, HX_SPEC_BYTES, "%s fail=", spec);
    for (unsigned i = 0; i < (first == second ? 1U : 2U); i++) {
        char name[HX_NAME_BYTES];
        const struct link at = l->link[both[i]];
        (void)hx_port_name(name, &l->f, 0, at.node, at.port); /* "leaf0/p0/3" */
        const char *plane = strstr(name, "/p0");
        assert_non_null(plane);
        used += snprintf(text + used, HX_SPEC_BYTES - (size_t)used, "%s%.*s%s", i ? "+" : "", (int)(plane - name), name,
                         plane + 3);
    }
}

/* Returns whether the failure was accepted; it may be refused for one reason only. */
static bool validate_failure(struct links *l, const char *spec, unsigned first, unsigned second)
{
    char text[HX_SPEC_BYTES];
    struct hx_fabric f;
    struct hx_problem problem;
    name_failure(text, l, spec, first, second);
    if (!hx_fabric_make(&f, text, 1, &problem)) {
        if (!strstr(problem.what, "do not suffice for minimal paths around"))
            fail_msg("%s: %s", text, problem.what);
        return false;
    }
    const struct fabric_findings found = fabric_find(&f, 1);
    const struct fabric_findings e = expected(l, first, second);
    hx_fabric_free(&f);
    if (found.wrong_ends | found.lost | found.detours | found.high_vcs | found.cycles)
        fail_msg("%s: %llu wrong ends, %llu lost, %llu detours, %llu paths on too high a VC, %llu in cycles", text,
                 (unsigned long long)found.wrong_ends, (unsigned long long)found.lost,
                 (unsigned long long)found.detours, (unsigned long long)found.high_vcs,
                 (unsigned long long)found.cycles);
    if (found.pairs != e.pairs || found.cut_off != e.cut_off)
        fail_msg("%s: %llu of %llu pairs are cut off, not %llu of %llu", text, (unsigned long long)found.cut_off,
                 (unsigned long long)found.pairs, (unsigned long long)e.cut_off, (unsigned long long)e.pairs);
    return true;
}

static void validate_all(const char *spec)
{
    struct links l;
    unsigned sets = 0, refused = 0;
    find_links(&l, spec);
    const unsigned step = l.count > 0 ? l.count / effort(l.count) : 1;
    for (unsigned first = 0; first < l.count; first++) {
        for (unsigned second = first; second < l.count; second += step, sets++)
            refused += !validate_failure(&l, spec, first, second);
    }
    print_message("%s: %u links, %u sets, %u refused\n", spec, l.count, sets, refused);
    assert_true(l.count > 1 && 10 * refused <= sets);
    free_links(&l);
}

static void connected_hosts_have_a_path(void **state)
{
    (void)state;
    static const char *const each[] = {"fat-tree hosts=16 radix=8",
                                       "fat-tree hosts=16 radix=4 levels=3",
                                       "torus 3x3",
                                       "torus 3x2x2",
                                       "torus 4x4 board=2x2",
                                       "mesh 4x3",
                                       "hyperx 3x3 p=1",
                                       "dragonfly a=3 p=1 h=1",
                                       "slim-fly q=3 p=1",
                                       "kautz degree=2 length=2 p=1",
                                       "mlfm h=2",
                                       "oft k=3",
                                       "bigraph m=2 n=4",
                                       "Ring(3)_FC(2)_Switch(2)",
                                       "graph examples/graph/cube.csv"};
    for (unsigned i = 0; i < sizeof each / sizeof *each; i++)
        validate_all(each[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(connected_hosts_have_a_path)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
