/* prop_graph_times.c - under the virtual clock no message is faster than the closed form of its path, and alone it
 * takes exactly that, in graphs with random rates and latencies of links.
 *
 * Graphs are trees, so each message has one path. The oracle knows only the prose of hal/virtual/timing.h. HX_SEED
 * chooses other graphs; a failure names the seed of its run. */
#include "tests/support/support_effort.h"
#include "tests/support/support_file.h"
#include "tests/support/support_seed.h"
#include "tests/support/virtual/support_virtual.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RUNS = 60, MOST_SWITCHES = 6, MOST_HOSTS = 8, MOST_NODES = MOST_SWITCHES + MOST_HOSTS, MOST_PATH = 12 };
#define PACKET UINT64_C(8192)

/* ---- random trees ---- */

struct link {
    unsigned a, b; /* nodes */
    uint64_t gbps, ns;
};

/* Nodes 0 .. hosts-1 are hosts. A host that forwards is a switch with a host in it. */
struct tree {
    unsigned hosts, nodes, links;
    bool forwards[MOST_HOSTS];
    struct link link[MOST_NODES];
    char spec[FILE_PATH_BYTES + 8];
};

/* A fabric has up to seven kinds of links: here three of cables, and those between forwarding hosts and their switches.
 * */
enum { KINDS = 3, MOST_FORWARDING = 4 };

static void draw_kinds(struct link kind[KINDS], uint64_t *state)
{
    static const uint64_t rates[] = {10, 25, 40, 100, 200, 400, 400, 700, 800, 1600};
    for (unsigned i = 0; i < KINDS; i++)
        kind[i] = (struct link){.gbps = rates[seeded_below(state, sizeof rates / sizeof *rates)],
                                .ns = seeded_below(state, 100)};
}

static void add_link(struct tree *t, struct link kind, unsigned a, unsigned b)
{
    t->link[t->links++] = (struct link){a, b, kind.gbps, kind.ns};
}

/* Each node has one link to an earlier switch, or host that forwards. */
static void draw_tree(struct tree *t, uint64_t *state)
{
    unsigned switches = 1 + seeded_below(state, MOST_SWITCHES);
    *t = (struct tree){.hosts = 2 + seeded_below(state, MOST_HOSTS - 1)};
    t->nodes = t->hosts + switches;
    unsigned inner[MOST_NODES] = {t->hosts};
    unsigned inners = 1;
    unsigned forwarding = 0;
    struct link kind[KINDS];
    draw_kinds(kind, state);
    for (unsigned s = 1; s < switches; s++) {
        add_link(t, kind[seeded_below(state, KINDS)], t->hosts + s, inner[seeded_below(state, inners)]);
        inner[inners++] = t->hosts + s;
    }
    for (unsigned host = 0; host < t->hosts; host++) {
        add_link(t, kind[seeded_below(state, KINDS)], host, inner[seeded_below(state, inners)]);
        t->forwards[host] = forwarding < MOST_FORWARDING && seeded_below(state, 3) == 0;
        forwarding += t->forwards[host];
        if (t->forwards[host])
            inner[inners++] = host;
    }
}

static const char *name_of(const struct tree *t, unsigned node)
{
    static char names[2][16];
    static unsigned turn;
    char *name = names[turn ^= 1];
    (void)snprintf(name, 16, "%c%u", node < t->hosts ? 'h' : 's', node);
    return name;
}

static void write_tree(struct tree *t)
{
    char text[2048] = "";
    for (unsigned host = 0; host < t->hosts; host++)
        file_add_text(text, sizeof text, "%s %s\n", t->forwards[host] ? "forward" : "host", name_of(t, host));
    for (unsigned s = t->hosts; s < t->nodes; s++)
        file_add_text(text, sizeof text, "switch %s\n", name_of(t, s));
    for (unsigned i = 0; i < t->links; i++)
        file_add_text(text, sizeof text, "%s,%s,%llu,%llu\n", name_of(t, t->link[i].a), name_of(t, t->link[i].b),
                      (unsigned long long)t->link[i].gbps, (unsigned long long)t->link[i].ns);
    (void)snprintf(t->spec, sizeof t->spec, "graph %s", file_write_text("tree.csv", text));
}

/* ---- the oracle ---- */

enum { LINK = 400, CROSSBAR = 800, BUFFER = 40000 /* ps: an input's, and an output's */, TRACE = 1000 /* ps */ };

struct hop {
    uint64_t gbps, latency; /* Gb/s, ps */
};

/* ps; no rate, no time */
static uint64_t blocks_at(uint64_t blocks, uint64_t gbps)
{
    return gbps ? blocks * 256 * 8 * 1000 / gbps : 0;
}

static uint64_t later_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* All links of a host, Gb/s. */
static uint64_t injection(const struct tree *t, unsigned host)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < t->links; i++)
        sum += t->link[i].a == host || t->link[i].b == host ? t->link[i].gbps : 0;
    return sum;
}

/* Rate between an endpoint and its switch: four links, or all links of the host that has the most. */
static uint64_t inner_rate(const struct tree *t)
{
    uint64_t most = 4 * LINK;
    for (unsigned host = 0; host < t->hosts; host++)
        most = later_of(most, (injection(t, host) + LINK - 1) / LINK * LINK);
    return most;
}

/* Links from `at` to `to` that do not go back to `from`. Returns their number; 0: none. */
static unsigned search(const struct tree *t, unsigned at, unsigned from, unsigned to, struct hop *hop)
{
    for (unsigned i = 0; i < t->links; i++) {
        const struct link *l = &t->link[i];
        if (l->a != at && l->b != at)
            continue;
        unsigned next = l->a == at ? l->b : l->a;
        if (next == from)
            continue;
        *hop = (struct hop){l->gbps, l->ns * 1000};
        unsigned behind = next == to ? 1 : search(t, next, at, to, hop + 1) + 1;
        if (next == to || behind > 1)
            return behind;
    }
    return 0;
}

/* A forwarding host and its switch: as fast as all links of the fastest such host. */
static struct hop inside(const struct tree *t)
{
    struct hop hop = {0, TRACE};
    for (unsigned host = 0; host < t->hosts; host++)
        hop.gbps = t->forwards[host] ? later_of(hop.gbps, injection(t, host)) : hop.gbps;
    return hop;
}

static unsigned path_of(const struct tree *t, unsigned from, unsigned to, struct hop hop[MOST_PATH])
{
    unsigned n = 0;
    if (t->forwards[from])
        hop[n++] = inside(t);
    n += search(t, from, UINT32_MAX, to, hop + n);
    if (t->forwards[to])
        hop[n++] = inside(t);
    return n;
}

/* One direction of a link, or an endpoint's port, and the input behind it. */
struct stage {
    uint64_t free;          /* of the link */
    uint64_t crossbar_free; /* of the input's port */
};

/* Time at which the last byte of a message is delivered, alone in the fabric. */
static uint64_t alone(const struct tree *t, unsigned from, unsigned to, uint64_t bytes)
{
    struct hop hop[MOST_PATH];
    struct stage stage[MOST_PATH + 1] = {{0}};
    const unsigned hops = path_of(t, from, to, hop);
    const uint64_t inner = inner_rate(t);
    double injected = 0;
    uint64_t end = 0;
    for (uint64_t at = 0; at < bytes; at += PACKET) {
        const uint64_t blocks = ((bytes - at < PACKET ? bytes - at : PACKET) + 255) / 256;
        uint64_t rate = inner; /* of the link before */
        uint64_t ready = (uint64_t)injected + blocks_at(1, inner) + BUFFER;
        injected += (double)(blocks * 256 * 8 * 1000) / (double)injection(t, from);
        for (unsigned i = 0; i < hops; i++) {
            const uint64_t takes = blocks_at(blocks, hop[i].gbps);
            const uint64_t came = ready + blocks_at(blocks, rate) - blocks_at(1, rate);
            const uint64_t port = later_of(rate, i == 0 ? CROSSBAR * inner / LINK : CROSSBAR);
            const uint64_t gone = later_of(came, later_of(ready, stage[i].crossbar_free) + blocks_at(blocks, port));
            const uint64_t start = later_of(later_of(ready, stage[i].crossbar_free) + BUFFER, stage[i].free);
            stage[i].free = later_of(start + takes, gone + BUFFER);
            stage[i].crossbar_free = later_of(ready, stage[i].crossbar_free) + blocks_at(blocks, port);
            ready = stage[i].free - takes + blocks_at(1, hop[i].gbps) + hop[i].latency + BUFFER;
            rate = hop[i].gbps;
        }
        struct stage *last = &stage[hops];
        const uint64_t start = later_of(ready + BUFFER, last->free);
        last->free = start + blocks_at(blocks, inner);
        end = later_of(end, later_of(last->free, ready + blocks_at(blocks, rate) - blocks_at(1, rate) + BUFFER));
    }
    return end;
}

/* ---- runs ---- */

static void run(struct support_virtual *s, struct support_virtual_plan *plan, const struct tree *t,
                const struct support_flow *flow, unsigned flows, uint64_t bytes)
{
    *plan = (struct support_virtual_plan){
        .spec = t->spec, .settings = {.message = bytes, .given = HX_GIVEN_MESSAGE}, .flow = flow, .flows = flows};
    support_virtual_open(s, plan);
    assert_true(support_virtual_run(s));
    assert_true(support_virtual_whole(s));
}

static uint64_t draw_bytes(uint64_t *state)
{
    return 1 + (uint64_t)seeded_below(state, 12) * PACKET / (1 + seeded_below(state, 3)) + seeded_below(state, PACKET);
}

/* Rates that are no whole picoseconds a block round down: at an injection, and from an endpoint's port on. */
static uint64_t rounding(uint64_t bytes)
{
    return 4 + bytes / PACKET;
}

static void each_tree(void (*visit)(const struct tree *t, uint64_t *random))
{
    uint64_t first = seeded_by(1);
    for (seeded_run = first; seeded_run < first + effort(RUNS); seeded_run++) {
        uint64_t random = seeded_run;
        struct tree t;
        draw_tree(&t, &random);
        write_tree(&t);
        visit(&t, &random);
    }
    seeded_run = 0;
}

static void send_one(const struct tree *t, uint64_t *random)
{
    struct support_virtual s;
    struct support_virtual_plan plan;
    struct support_flow flow = {.from = seeded_below(random, t->hosts)};
    flow.to = (flow.from + 1 + seeded_below(random, t->hosts - 1)) % t->hosts;
    uint64_t bytes = draw_bytes(random);
    run(&s, &plan, t, &flow, 1, bytes);
    uint64_t form = alone(t, flow.from, flow.to, bytes);
    assert_in_range(support_virtual_end(&s), form - rounding(bytes), form + rounding(bytes));
    support_virtual_close(&s);
}

static void a_message_alone_equals_it(void **state)
{
    (void)state;
    each_tree(send_one);
}

/* The first half of the hosts sends to the other, all at once. What a receiver has last is its message's end. */
static void send_many(const struct tree *t, uint64_t *random)
{
    struct support_virtual s;
    struct support_virtual_plan plan;
    struct support_flow flow[MOST_HOSTS] = {{0}};
    unsigned flows = t->hosts / 2;
    for (unsigned i = 0; i < flows; i++)
        flow[i] = (struct support_flow){i, t->hosts - 1 - i};
    uint64_t bytes = draw_bytes(random);
    run(&s, &plan, t, flow, flows, bytes);
    for (unsigned i = 0; i < flows; i++)
        assert_true(s.m.receiver[flow[i].to].last + rounding(bytes) >= alone(t, flow[i].from, flow[i].to, bytes));
    support_virtual_close(&s);
}

static void no_message_is_faster(void **state)
{
    (void)state;
    each_tree(send_many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(a_message_alone_equals_it, seeded_report),
                                       cmocka_unit_test_teardown(no_message_is_faster, seeded_report)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
