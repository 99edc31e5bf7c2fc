/* test_circuits.c - a plan of circuits (spec/circuits/circuits.h): its lines, its errors, and the state of each link at
 * any time, against a reading of the plan that follows its text word by word. */
#include "base/split_mix.h"
#include "spec/circuits/circuits.h"
#include "tests/support/support_file.h"
#include "topology/topology.h"
#include "topology/updown.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_TEXT = 32768 };
static const char plan_name[] = "plan.txt";

/* ---- texts and files ---- */

static struct hx_fabric fabric_of(const char *graph)
{
    struct hx_fabric f;
    struct hx_problem problem;
    char spec[HX_SPEC_BYTES];
    (void)snprintf(spec, sizeof spec, "graph %s", file_write_text("graph.csv", graph));
    if (!hx_fabric_make(&f, spec, 1, &problem))
        fail_msg("%s: %s", problem.where, problem.what);
    return f;
}

static bool read_plan(struct hx_faults *faults, const char *plan, const struct hx_fabric *f, struct hx_problem *problem)
{
    *faults = (struct hx_faults){.count = 0};
    return hx_circuits_read(faults, file_write_text(plan_name, plan), f, problem);
}

/* A square with both diagonals; router ports: 0 its host, then in the order of the file. */
static const char square[] = "forward a\nforward b\nforward c\nforward d\na,b\nb,c\nc,d\nd,a\na,c\nb,d\n";

/* ---- lines ---- */

static void gives(const char *graph, const char *plan, const char *const *lines, size_t count)
{
    struct hx_fabric f = fabric_of(graph);
    struct hx_faults faults;
    struct hx_problem problem;
    if (!read_plan(&faults, plan, &f, &problem))
        fail_msg("%s: %s", problem.where, problem.what);
    assert_int_equal(faults.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(faults.fault[i].kind, HX_FAULT_CLOSED);
        assert_string_equal(faults.fault[i].text, lines[i]);
    }
    hx_faults_free(&faults);
    hx_fabric_free(&f);
}
#define GIVES(graph, plan, ...)                                                                                        \
    gives(graph, plan, (const char *const[]){__VA_ARGS__},                                                             \
          sizeof(const char *const[]){__VA_ARGS__} / sizeof(const char *))

static void a_circuit_is_closed_while_it_is_not_there(void **state)
{
    (void)state;
    GIVES(square, "dark 10us\nat 0: a-c\nat 1ms: b-d\n", "switch1/3 closed at 0 for 1010us", "switch0/3 closed at 1ms");
    GIVES(square, "# ports that look ahead\nat 0: a-c # one\n\nat 1ms: b-d,a-c\nat 2ms:\n",
          "switch1/3 closed at 0 for 1ms", "switch0/3 closed at 2ms", "switch1/3 closed at 2ms");
    /* released before it opens */
    GIVES(square, "dark 3us\nat 0: \nat 1us: c-a\nat 2us:\n", "switch0/3 closed at 0 for 4us",
          "switch0/3 closed at 2us");
    /* b-d opens while a-c changes again; a circuit that stays is not dark */
    GIVES(square, "dark 3us\nat 0: a-c\nat 1us: b-d\nat 2us: b-d, a-c\n", "switch1/3 closed at 0 for 4us",
          "switch0/3 closed at 1us for 4us");
    gives(square, "interfaces 1\nat 0: a-c, b-d\n", NULL, 0);
}

static void two_places_may_have_several_circuits(void **state)
{
    (void)state;
    static const char twice[] = "forward a\nforward b\nforward c\na,b\na,b\nb,c\nc,a\n";
    GIVES(twice, "at 0: a-b\nat 1us: a-b, b-a\n", "switch0/2 closed at 0 for 1us");
    GIVES(twice, "at 0: a-b, a-b\nat 1us: a-b\nat 2us:\n", "switch0/2 closed at 1us", "switch0/1 closed at 2us");
}

static void names_may_have_hyphens_and_be_those_of_places(void **state)
{
    (void)state;
    static const char graph[] = "forward a\nforward a-b\nforward c\nforward b-c\na,a-b\na-b,c\nc,b-c\nb-c,a\n";
    GIVES(graph, "at 0: a-a-b, a - b-c\nat 1us: a-a-b\n", "switch0/2 closed at 1us");
    GIVES(square, "at 0: switch0-switch2, b-switch3\nat 1us: a-c\n", "switch1/3 closed at 1us");
    /* a name of the file comes before a place's */
    GIVES("forward switch1\nforward x\nforward y\nswitch1,x\nx,y\ny,switch1\n", "at 0: switch1-x\nat 1us:\n",
          "switch0/1 closed at 1us");
    struct hx_fabric tree;
    struct hx_faults faults;
    struct hx_problem problem;
    assert_true(hx_fabric_make(&tree, "torus 4x4 fail=a0,0", 2, &problem));
    assert_true(read_plan(&faults, "at 0: router1,1-router2,1, router1,1-router1,2\nat 1us: router1,1-router1,2\n",
                          &tree, &problem));
    assert_int_equal(faults.count, 1);
    assert_int_equal(faults.fault[0].target.plane, HX_EVERY_PLANE);
    assert_int_equal(faults.fault[0].at_ns, 1000);
    hx_faults_free(&faults);
    hx_fabric_free(&tree);
}

/* ---- errors ---- */

static void refused(const char *graph, const char *plan, const char *place, const char *why)
{
    struct hx_fabric f = fabric_of(graph);
    struct hx_faults faults;
    struct hx_problem problem = {.what = ""};
    assert_false(read_plan(&faults, plan, &f, &problem));
    const char *plan_path = file_path(plan_name);
    size_t path = strlen(plan_path);
    if (strncmp(problem.where, plan_path, path) != 0 || strcmp(problem.where + path, place) != 0 ||
        !strstr(problem.what, why) || problem.exit_code != HX_EXIT_CONFIG)
        fail_msg("'%s': %s: %s", plan, problem.where, problem.what);
    assert_int_equal(faults.count, 0);
    hx_fabric_free(&f);
}

static void a_bad_plan_is_refused_with_its_place(void **state)
{
    (void)state;
    static const char path[] = "forward a\nforward b\nforward c\na,b\nb,c\n";
    refused(square, "", "", "no line says 'at 0:'");
    refused(square, "dark 1us\n", "", "no line says 'at 0:'");
    refused(square, "at 0: a-c\nto 1us: a-c\n", ":2:1", "'to' is none of dark, interfaces, at");
    refused(square, "at 0 a-c\n", ":1:4", "a colon is missing");
    refused(square, "at soon: a-c\n", ":1:4", "at: ");
    refused(square, "at 1us: a-c\n", ":1:4", "the first time is 0");
    refused(square, "at 0: a-c\nat 2us: b-d\nat 2us: a-c\n", ":3:4", "not later than the time of the line above");
    refused(square, "at 0: a-c\nat 31d: b-d\n", ":2:4", "at: ");
    refused(square, "dark 30m\nat 0: a-c\nat 719.8h: b-d\n", ":3:4", "open after more than 30 days");
    refused(square, "dark soon\nat 0: a-c\n", ":1:6", "dark: ");
    refused(square, "dark 721h\nat 0: a-c\n", ":1:6", "dark: ");
    refused(square, "dark 1us\ndark 1us\nat 0: a-c\n", ":2:1", "is said twice");
    refused(square, "at 0: a-c\ndark 1us\n", ":2:1", "above the first time");
    refused(square, "interfaces 0\nat 0: a-c\n", ":1:12", "interfaces: ");
    refused(square, "interfaces 1\nat 0: a-c\nat 1us: b-d, a-b\n", ":3:14", "'b' has more circuits");
    refused(square, "at 0: a-c, e-c\n", ":1:12", "'e' is no name of this fabric");
    refused(square, "at 0: a-swtch2\n", ":1:7", "did you mean 'switch2'");
    refused(square, "at 0: a-c, a\n", ":1:12", "'a' is not a circuit");
    refused(square, "at 0: a-c,, b-d\n", ":1:11", "'' is not a circuit");
    refused(square, "at 0: a-c b-d\n", ":1:7", "is no name of this fabric");
    refused(square, "at 0: a-a\n", ":1:7", "joins a place to itself");
    refused(square, "at 0: a-c, c-a\n", ":1:12", "c-a is said 2 times, and the fabric has 1 link");
    refused(path, "at 0: a-c\n", ":1:7", "has no link between 'a' and 'c'");
    refused(path, "at 0: a-b, b-c\nat 2us: a-b\n", ":2", "from this time on no path joins 'a' and 'c'");
    refused(square, "dark 1us\nat 0: a-b, b-c, c-d\nat 2us: d-a, a-c, b-d\n", ":3", "while circuits are dark");
    refused("forward a\nforward a-b\nforward c\nforward b-c\na,b-c\na-b,c\nc,b-c\nb-c,a\n", "at 0: a-b-c\n", ":1:7",
            "is two circuits");
}

static void a_hamming_mesh_has_no_circuits(void **state)
{
    (void)state;
    struct hx_fabric f;
    struct hx_faults faults;
    struct hx_problem problem;
    assert_true(hx_fabric_make(&f, "2x2 Hx2Mesh", 1, &problem));
    assert_false(read_plan(&faults, "at 0: a0,0-a1,0\n", &f, &problem));
    assert_non_null(strstr(problem.what, "not of a HammingMesh"));
    hx_fabric_free(&f);
}

/* ---- random plans ---- */

enum { SERVERS = 7, MOST_EDGES = SERVERS * (SERVERS - 1) / 2, LINES = 6 };

struct drawn {
    unsigned edges;
    struct {
        unsigned a, b;
        bool named;
    } edge[MOST_EDGES];
    unsigned lines;
    uint64_t at_ns[LINES];
    bool has[LINES][MOST_EDGES];
    uint64_t dark_ns;
};

static unsigned draw(uint64_t *random, unsigned below)
{
    return (unsigned)(split_mix_next(random) % below);
}

/* A line of servers, always there unless `loose`, and chords. */
static void draw_plan(struct drawn *p, uint64_t *random, bool loose)
{
    *p = (struct drawn){.lines = 1 + draw(random, LINES), .dark_ns = draw(random, 3) * (1 + draw(random, 40))};
    for (unsigned a = 0; a < SERVERS; a++)
        for (unsigned b = a + 1; b < SERVERS; b++)
            if (b == a + 1 || draw(random, 2)) {
                p->edge[p->edges].a = a;
                p->edge[p->edges++].b = b;
            }
    for (unsigned line = 0; line < p->lines; line++) {
        p->at_ns[line] = line ? p->at_ns[line - 1] + 1 + draw(random, 50) : 0;
        for (unsigned e = 0; e < p->edges; e++) {
            bool ring = p->edge[e].b == p->edge[e].a + 1;
            p->has[line][e] = (loose || !ring) && draw(random, ring ? 8 : 2);
            p->edge[e].named = p->edge[e].named || p->has[line][e];
        }
    }
}

static void write_graph(char *text, const struct drawn *p)
{
    text[0] = '\0';
    for (unsigned i = 0; i < SERVERS; i++)
        file_add_text(text, MOST_TEXT, "forward s%u\n", i);
    for (unsigned e = 0; e < p->edges; e++)
        file_add_text(text, MOST_TEXT, "s%u,s%u\n", p->edge[e].a, p->edge[e].b);
}

static void write_plan(char *text, const struct drawn *p)
{
    text[0] = '\0';
    file_add_text(text, MOST_TEXT, "dark %lluns\n", (unsigned long long)p->dark_ns);
    for (unsigned line = 0; line < p->lines; line++) {
        file_add_text(text, MOST_TEXT, "at %lluns:", (unsigned long long)p->at_ns[line]);
        const char *before = " ";
        for (unsigned e = 0; e < p->edges; e++)
            if (p->has[line][e]) {
                file_add_text(text, MOST_TEXT, "%ss%u-s%u", before, p->edge[e].a, p->edge[e].b);
                before = ", ";
            }
        file_add_text(text, MOST_TEXT, "\n");
    }
}

/* Whether a link carries packets at a time: no line names it, or the line of that time has it, and it has opened since
 * the first of the lines in a row that have it. */
static bool carries(const struct drawn *p, unsigned e, uint64_t ns)
{
    unsigned line = p->lines - 1;
    if (!p->edge[e].named)
        return true;
    while (p->at_ns[line] > ns)
        line--;
    if (!p->has[line][e])
        return false;
    while (line && p->has[line - 1][e])
        line--;
    return line == 0 || ns >= p->at_ns[line] + p->dark_ns;
}

static bool joined(const struct drawn *p, uint64_t ns)
{
    unsigned reached = 1;
    for (unsigned round = 0; round < SERVERS; round++)
        for (unsigned e = 0; e < p->edges; e++)
            if (carries(p, e, ns) && (reached >> p->edge[e].a & 1 || reached >> p->edge[e].b & 1))
                reached |= 1U << p->edge[e].a | 1U << p->edge[e].b;
    return reached == (1U << SERVERS) - 1;
}

static bool always_joined(const struct drawn *p)
{
    bool all = true;
    for (uint64_t ns = 0; ns <= p->at_ns[p->lines - 1] + p->dark_ns; ns++)
        all = all && joined(p, ns);
    return all;
}

/* The port of the first end: links of a router are numbered in the order of the file, behind its host's. */
static unsigned port_of(const struct drawn *p, unsigned e)
{
    unsigned port = 1;
    for (unsigned before = 0; before < e; before++)
        port += p->edge[before].a == p->edge[e].a || p->edge[before].b == p->edge[e].a;
    return port;
}

static void require_states(const struct drawn *p, const struct hx_faults *faults, const struct hx_fabric *f)
{
    for (unsigned e = 0; e < p->edges; e++) {
        size_t count;
        uint32_t node = f->hosts + p->edge[e].a;
        struct hx_link_change *change = hx_faults_of_link(faults, f, 0, node, port_of(p, e), &count);
        for (uint64_t ns = 0; ns <= p->at_ns[p->lines - 1] + p->dark_ns + 2; ns++) {
            bool closed = false;
            for (size_t i = 0; i < count && change[i].at_ns <= ns; i++)
                closed = change[i].state.closed;
            assert_int_equal(closed, !carries(p, e, ns));
        }
        free(change);
    }
}

static void phases_of_a_plan_equal_its_text(void **state)
{
    (void)state;
    unsigned refusals = 0;
    enum { PLANS = 300 };
    for (uint64_t seed = 0; seed < PLANS; seed++) {
        struct drawn p;
        char graph[MOST_TEXT];
        char plan[MOST_TEXT];
        uint64_t random = seed;
        struct hx_faults faults;
        struct hx_problem problem;
        draw_plan(&p, &random, seed % 2);
        write_graph(graph, &p);
        write_plan(plan, &p);
        struct hx_fabric f = fabric_of(graph);
        bool good = read_plan(&faults, plan, &f, &problem);
        if (good != always_joined(&p))
            fail_msg("seed %llu: %s%s: %s", (unsigned long long)seed, plan, good ? "read" : problem.where,
                     problem.what);
        if (good)
            require_states(&p, &faults, &f);
        refusals += !good;
        hx_faults_free(&faults);
        hx_fabric_free(&f);
    }
    assert_in_range(refusals, PLANS / 10, PLANS / 2);
}

/* ---- orders of routers ---- */

/* A line of servers needs one order; each state is a line in another sequence. */
static void an_order_is_found_that_serves_all_states(void **state)
{
    (void)state;
    struct hx_fabric f = fabric_of(square);
    struct hx_faults faults;
    struct hx_problem problem;
    assert_true(
        read_plan(&faults, "at 0: a-b, b-c, c-d\nat 1us: a-c, c-b, b-d\nat 2us: d-a, a-c, b-d\n", &f, &problem));
    assert_true(hx_circuits_order(&f, &faults, &problem));
    assert_int_equal(f.vcs, HX_VCS);
    hx_faults_free(&faults);
    assert_true(hx_faults_add(&faults, "switch1 closed at 3us for 2us", NULL, &f, &problem));
    assert_false(hx_circuits_order(&f, &faults, &problem));
    assert_non_null(strstr(problem.what, "from 3us on, no path joins 'b' and 'a'"));
    hx_faults_free(&faults);
    hx_fabric_free(&f);
}

/* A path of n servers in this sequence. */
static void add_path(char *plan, char *graph, const unsigned *server, unsigned n, unsigned at)
{
    file_add_text(plan, MOST_TEXT, "at %uus:", at);
    for (unsigned i = 0; i + 1 < n; i++) {
        unsigned a = server[i] < server[i + 1] ? server[i] : server[i + 1];
        unsigned b = server[i] + server[i + 1] - a;
        char line[32];
        file_add_text(plan, MOST_TEXT, "%ss%u-s%u", i ? ", " : " ", a, b);
        (void)snprintf(line, sizeof line, "\ns%u,s%u\n", a, b);
        if (!strstr(graph, line))
            file_add_text(graph, MOST_TEXT, "%s", line + 1);
    }
    file_add_text(plan, MOST_TEXT, "\n");
}

static void shuffle(unsigned *server, unsigned n, uint64_t *random)
{
    for (unsigned left = n; left > 1; left--) {
        unsigned other = draw(random, left);
        unsigned last = server[left - 1];
        server[left - 1] = server[other];
        server[other] = last;
    }
}

/* The order of all circuits together does not serve a path of some of them. That of the path serves both. */
static void another_order_is_taken_if_that_of_all_circuits_fails(void **state)
{
    (void)state;
    enum { N = 24 };
    unsigned others = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        char graph[MOST_TEXT] = "";
        char path[MOST_TEXT] = "";
        char plan[MOST_TEXT] = "";
        unsigned server[N];
        uint64_t random = seed;
        for (unsigned i = 0; i < N; i++) {
            server[i] = i;
            file_add_text(graph, MOST_TEXT, "forward s%u\n", i);
        }
        for (unsigned i = 0; i < 3; i++) {
            shuffle(server, N, &random);
            add_path(path, graph, server, N, 1);
        }
        char *circuits = strchr(strchr(path, '\n') + 1, '\n') + 1; /* of the last path */
        for (char *link = strstr(graph, "\ns"); link[1]; link = strchr(link + 1, '\n')) {
            const char *comma = strchr(link, ',');
            file_add_text(plan, MOST_TEXT, "%s%.*s-%.*s", *plan ? ", " : "at 0: ", (int)(comma - link - 1), link + 1,
                          (int)strcspn(comma + 1, "\n"), comma + 1);
        }
        file_add_text(plan, MOST_TEXT, "\n%s", circuits);
        struct hx_fabric f = fabric_of(graph);
        struct hx_faults faults;
        struct hx_problem problem = {.what = ""};
        if (!read_plan(&faults, plan, &f, &problem))
            fail_msg("%s: %s", problem.where, problem.what);
        uint32_t before[N];
        memcpy(before, f.updown->rank, sizeof before);
        if (!hx_circuits_order(&f, &faults, &problem))
            fail_msg("seed %u: %s", (unsigned)seed, problem.what);
        others += memcmp(before, f.updown->rank, sizeof before) != 0;
        hx_faults_free(&faults);
        hx_fabric_free(&f);
    }
    assert_true(others > 5);
}

/* On a path of 12 servers each turn from down to up takes a VC. An order by the numbers turns once on it; a sequence
 * that jumps to and fro turns at each second server, more often than there are VCs. */
static void a_sequence_that_no_order_serves_is_refused_by_pair_and_time(void **state)
{
    (void)state;
    enum { N = 24 };
    char graph[MOST_TEXT] = "";
    char plan[MOST_TEXT] = "";
    unsigned server[N];
    uint64_t random = 5;
    for (unsigned i = 0; i < N; i++) {
        server[i] = i;
        file_add_text(graph, MOST_TEXT, "forward s%u\n", i);
    }
    for (unsigned at = 0; at < 40; at++) {
        add_path(plan, graph, server, N, at);
        shuffle(server, N, &random);
    }
    struct hx_fabric f = fabric_of(graph);
    struct hx_faults faults;
    struct hx_problem problem = {.what = ""};
    if (!read_plan(&faults, plan, &f, &problem))
        fail_msg("%s: %s", problem.where, problem.what);
    struct hx_updown *before = f.updown;
    assert_false(hx_circuits_order(&f, &faults, &problem));
    assert_ptr_equal(f.updown, before);
    assert_non_null(strstr(problem.what, "4 VCs do not suffice for a path between 's"));
    hx_faults_free(&faults);
    hx_fabric_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_circuit_is_closed_while_it_is_not_there),
        cmocka_unit_test(two_places_may_have_several_circuits),
        cmocka_unit_test(names_may_have_hyphens_and_be_those_of_places),
        cmocka_unit_test(a_bad_plan_is_refused_with_its_place),
        cmocka_unit_test(a_hamming_mesh_has_no_circuits),
        cmocka_unit_test(phases_of_a_plan_equal_its_text),
        cmocka_unit_test(an_order_is_found_that_serves_all_states),
        cmocka_unit_test(another_order_is_taken_if_that_of_all_circuits_fails),
        cmocka_unit_test(a_sequence_that_no_order_serves_is_refused_by_pair_and_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
