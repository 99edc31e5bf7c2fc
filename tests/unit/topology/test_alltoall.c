/* test_alltoall.c - the all-to-all bound, against an oracle that lists every path of every pair of hosts.
 *
 * The oracle follows the tables as a packet does, and knows no states, attachment routers or order. It sends packet
 * after packet over its cheapest path; each makes its links dearer (Garg and Koenemann, "Faster and Simpler
 * Algorithms for Multicommodity Flow and Other Fractional Packing Problems", FOCS 1998). The flow that it sent is
 * feasible, and its prices give an upper bound. */
/* sanitizers: check-all */
#include "tests/support/support_fabric.h"
#include "tests/support/support_file.h"
#include "topology/bounds.h"
#include "topology/tables.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST_LINKS = 16, MOST_ROUNDS = 5000 };
#define STEP  0.02
#define CLOSE 1.01

struct path {
    uint32_t pair; /* of hosts, counted through */
    unsigned links;
    uint32_t link[MOST_LINKS]; /* ports of the fabric */
};

struct oracle {
    const struct hx_fabric *f;
    struct hx_tables tables;
    struct path *path;
    size_t paths, room;
    struct path at; /* current path */
    double *load, *price;
    double sent, least; /* load of the fullest link, and the lower bound of any split */
};

static double rate_of(const struct hx_fabric *f, uint32_t port)
{
    return hx_class_gbps(&f->link_class[f->port[port].link_class], HX_LINK_GBPS) / HX_LINK_GBPS;
}

static void follow(struct oracle *o, struct hx_end at, uint32_t to)
{
    const struct hx_fabric *f = o->f;
    if (at.node == to) {
        if (o->paths == o->room) {
            o->room = o->room ? 2 * o->room : 1024;
            o->path = realloc(o->path, o->room * sizeof *o->path);
            assert_non_null(o->path);
        }
        o->path[o->paths++] = o->at;
        return;
    }
    assert_true(o->at.links < MOST_LINKS);
    uint64_t ports = hx_route_ports(&o->tables.route[at.node], at.port, f->node[to].addr_hi, f->node[to].addr_lo);
    for (; ports; ports &= ports - 1) {
        unsigned port = (unsigned)__builtin_ctzll(ports);
        o->at.link[o->at.links++] = f->node[at.node].first_port + port;
        follow(o, hx_fabric_far(f, at.node, port), to);
        o->at.links--;
    }
}

static double price_of(const struct oracle *o, const struct path *w)
{
    double price = 0;
    for (unsigned i = 0; i < w->links; i++)
        price += o->price[w->link[i]];
    return price;
}

/* Cheapest path of a pair, from `first` on; *next: first path of the next pair. */
static const struct path *cheapest(const struct oracle *o, size_t first, size_t *next)
{
    size_t best = first;
    double least = price_of(o, &o->path[first]);
    for (*next = first + 1; *next < o->paths && o->path[*next].pair == o->path[first].pair; ++*next) {
        double price = price_of(o, &o->path[*next]);
        best = price < least ? *next : best;
        least = fmin(least, price);
    }
    return &o->path[best];
}

static void send_round(struct oracle *o)
{
    for (size_t next = 0; next < o->paths;) {
        const struct path *w = cheapest(o, next, &next);
        for (unsigned i = 0; i < w->links; i++) {
            o->load[w->link[i]]++;
            o->price[w->link[i]] *= 1 + STEP / (o->f->hosts * rate_of(o->f, w->link[i]));
        }
    }
}

static void validate_round(struct oracle *o, unsigned rounds)
{
    double all = 0;
    double prices = 0;
    double most = 0;
    for (size_t next = 0; next < o->paths;)
        all += price_of(o, cheapest(o, next, &next));
    for (uint32_t port = 0; port < o->f->ports; port++) {
        prices += o->price[port] * rate_of(o->f, port);
        most = fmax(most, o->load[port] / rate_of(o->f, port) / rounds);
    }
    o->least = fmax(o->least, all / prices);
    o->sent = fmin(o->sent, most);
}

static void ask(struct oracle *o, const struct hx_fabric *f)
{
    *o = (struct oracle){.f = f, .sent = INFINITY};
    hx_tables_make(&o->tables, f);
    for (uint32_t pair = 0; pair < f->hosts * f->hosts; pair++) {
        o->at = (struct path){.pair = pair};
        if (pair / f->hosts != pair % f->hosts)
            follow(o, (struct hx_end){pair / f->hosts, HX_LOCAL}, pair % f->hosts);
    }
    o->load = hx_allocate(f->ports, sizeof *o->load);
    o->price = hx_allocate(f->ports, sizeof *o->price);
    for (uint32_t port = 0; port < f->ports; port++)
        o->price[port] = f->port[port].far.node == HX_NOWHERE ? 0 : 1 / rate_of(f, port);
    unsigned rounds = 0;
    while (o->sent > CLOSE * o->least && rounds < MOST_ROUNDS) {
        send_round(o);
        validate_round(o, ++rounds);
    }
    assert_true(rounds < MOST_ROUNDS);
    hx_tables_free(&o->tables);
    free(o->path);
    free(o->load);
    free(o->price);
}

static void validate(const char *text)
{
    struct hx_fabric f;
    struct oracle o;
    fabric_make(&f, text);
    ask(&o, &f);
    double of_load = (f.hosts - 1) / hx_fabric_injection(&f, HX_LINK_GBPS);
    double bound = hx_fabric_alltoall_bound(&f);
    if (bound < fmin(1, of_load / o.sent) - 1e-6 || bound > 1.002 * of_load / o.least)
        fail_msg("%s: %.4f is not within %.4f .. %.4f", text, bound, of_load / o.sent, of_load / o.least);
    hx_fabric_free(&f);
}

static void is_the_best_split(void **state)
{
    static const char *const fabrics[] = {"dragonfly a=4 p=3 h=3 groups=4",
                                          "dragonfly a=2 p=3 h=3 groups=4",
                                          "dragonfly a=4 p=4 h=4 groups=5",
                                          "dragonfly a=3 p=2 h=1 groups=3",
                                          "dragonfly a=2 p=2 h=2 groups=3",
                                          "kautz degree=3 length=2 p=3",
                                          "slim-fly q=3 p=3",
                                          "fat-tree hosts=24 down=6 up=3 radix=16",
                                          "fat-tree hosts=24 down=6 up=3 radix=16 fail=spine0/0",
                                          "fat-tree hosts=30 radix=8 taper=2",
                                          "fat-tree hosts=16 radix=4",
                                          "fat-tree hosts=14 radix=4",
                                          "fat-tree hosts=20 down=3 up=5 radix=8",
                                          "mlfm h=3",
                                          "mlfm h=3 p=4",
                                          "oft k=3",
                                          "bigraph m=3 n=4",
                                          "bigraph m=6 n=4",
                                          "hyperx 3x4 p=3",
                                          "hyperx 3x2 p=3",
                                          "Ring(4)_FC(3)_Switch(2) gbps=200,100,50",
                                          "Ring(5)_Switch(3) gbps=400,25",
                                          "torus 4x5",
                                          "torus 3x2x3",
                                          "mesh 3x2x3",
                                          "mesh 3x4",
                                          "torus 4x4 fail=router1,1/1",
                                          "1x1 Hx2Mesh",
                                          "2x2 Hx2Mesh",
                                          "1x1 Hx4Mesh",
                                          "3x2 H2x3Mesh",
                                          "2x1 Hx5Mesh",
                                          "fat-tree hosts=12 radix=8 taper=2"};
    (void)state;
    for (unsigned i = 0; i < sizeof fabrics / sizeof *fabrics; i++)
        validate(fabrics[i]);
}

/* The switches of a grid, each with a host: equal shares at each switch would give 0.553. Also links of two rates. */
static void is_the_best_split_in_graphs(void **state)
{
    enum { WIDE = 6, HIGH = 4 };
    (void)state;
    for (unsigned rates = 1; rates <= 2; rates++) {
        char spec[FILE_PATH_BYTES + 8];
        FILE *out = file_create("grid");
        for (unsigned i = 0; i < WIDE * HIGH; i++) {
            fprintf(out, "h%u,s%u\n", i, i);
            if (i % WIDE < WIDE - 1)
                fprintf(out, "s%u,s%u,%u\n", i, i + 1, rates * 400);
            if (i + WIDE < WIDE * HIGH)
                fprintf(out, "s%u,s%u,400\n", i, i + WIDE);
        }
        fclose(out);
        snprintf(spec, sizeof spec, "graph %s", file_path("grid"));
        validate(spec);
    }
}

static void is_known_for_some(void **state)
{
    static const struct {
        const char *text;
        double bound;
    } cases[] = {{"dragonfly a=4 p=3 h=3 groups=4", 1},
                 {"dragonfly a=4 p=4 h=4 groups=5", 79.0 / 80},
                 {"dragonfly a=2 p=3 h=3 groups=4", 23.0 / 36},
                 {"dragonfly a=16 p=8 h=8 groups=8", 1}};
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hx_fabric f;
        fabric_make(&f, cases[i].text);
        double bound = hx_fabric_alltoall_bound(&f);
        if (fabs(bound - cases[i].bound) > 1e-6)
            fail_msg("%s: %.4f, not %.4f", cases[i].text, bound, cases[i].bound);
        hx_fabric_free(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_the_best_split),
        cmocka_unit_test(is_the_best_split_in_graphs),
        cmocka_unit_test(is_known_for_some),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
