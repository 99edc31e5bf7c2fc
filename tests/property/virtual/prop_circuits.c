/* prop_circuits.c - circuits that change under traffic lose nothing: in random graphs of hosts that forward, under
 * random plans, each packet arrives once, no link carries a packet that an output took while it was closed, and the
 * result is the same for any number of workers.
 *
 * HX_SEED chooses other runs; a failure names the seed of its run. */
#include "fabric-emu/virtual/faults.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_file.h"
#include "tests/support/support_random.h"
#include "tests/support/virtual/support_virtual.h"
#include "workload/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { RUNS = 24, MOST_SERVERS = 16, TIMES = 12, MOST_TEXT = 1 << 16 };
static uint64_t seed_of_run;

static unsigned below(unsigned what, unsigned n)
{
    return random_below(random_of(seed_of_run, what, 0), n);
}

/* ---- a run ---- */

struct lab {
    char plan[FILE_PATH_BYTES], spec[HX_SPEC_BYTES];
    unsigned servers;
    struct hx_timing timing;
    struct hx_settings settings;
    struct hx_fault_settings faults;
};

static void write_lab(struct lab *lab, const char *graph, const char *plan)
{
    (void)snprintf(lab->spec, sizeof lab->spec, "graph %s", file_write_text("graph.csv", graph));
    (void)snprintf(lab->plan, sizeof lab->plan, "%s", file_write_text("plan.txt", plan));
    lab->faults.circuits = lab->plan;
    lab->faults.given = HX_GIVEN_CIRCUITS;
}

/* A ring that is always there, and chords of which each time of the plan has about half. Links differ in their rates
 * and latencies. */
static void draw_lab(struct lab *lab)
{
    static char graph[MOST_TEXT];
    static char plan[MOST_TEXT];
    static const unsigned darks[] = {0, 1, 1000, 10000};
    char chord[256][32];
    unsigned chords = 0;
    unsigned what = 100;
    *lab = (struct lab){.servers = 8 + below(1, MOST_SERVERS - 7), .faults = HX_FAULT_DEFAULTS};
    graph[0] = plan[0] = '\0';
    for (unsigned a = 0; a < lab->servers; a++)
        file_add_text(graph, MOST_TEXT, "forward s%u%s\ns%u,s%u,200,500\n", a, below(2, 2) ? "" : " 100 0", a,
                      (a + 1) % lab->servers);
    for (unsigned a = 0; a < lab->servers; a++)
        for (unsigned b = a + 2; b < lab->servers; b++)
            if (chords < 256 && below(what++, lab->servers) < 3 && (a || b + 1 < lab->servers)) {
                file_add_text(graph, MOST_TEXT, "s%u,s%u,%u,%u\n", a, b, below(3, 2) ? 200 : 100,
                              below(4, 2) ? 1000 : 100);
                (void)snprintf(chord[chords++], sizeof chord[0], "s%u-s%u", a, b);
            }
    file_add_text(plan, MOST_TEXT, "dark %uns\n", darks[below(5, 4)]);
    for (unsigned time = 0, at = 0; time < TIMES; time++, at += 1000 + below(what++, 12000)) {
        const char *before = " ";
        file_add_text(plan, MOST_TEXT, "at %uns:", below(6, 2) ? at : at / 100 * 100);
        for (unsigned i = 0; i < chords; i++)
            if (below(what++, 2)) {
                file_add_text(plan, MOST_TEXT, "%s%s", before, chord[i]);
                before = ", ";
            }
        file_add_text(plan, MOST_TEXT, "\n");
    }
    lab->settings = (struct hx_settings){.pattern = below(7, 2) ? HX_ALL_TO_ALL : HX_PERMUTATION,
                                         .message = 8192 * (1 + (uint64_t)below(8, 8)),
                                         .count = 1 + below(9, 4),
                                         .seed = seed_of_run,
                                         .given = HX_GIVEN_PATTERN | HX_GIVEN_MESSAGE | HX_GIVEN_COUNT | HX_GIVEN_SEED};
    write_lab(lab, graph, plan);
}

/* ---- no packet on a closed link ---- */

/* Packets that each output had sent when its link closed, in this worker. */
static uint64_t *sent_at_closing;
static unsigned (*take_changes)(void *of, struct virtual_sim_node *e);

/* Whether the link closes (1) or opens (0) at this time, by the schedule; -1: neither. */
static int change_now(const struct virtual_worker *w, const struct virtual_tx *tx)
{
    const struct virtual_fault *f = &w->faults->of[tx->fault];
    bool before = false;
    for (size_t i = 0; tx->fault && i < f->changes && f->change[i].at_ns * 1000 <= w->now; i++) {
        bool closed = f->change[i].state.closed;
        if (f->change[i].at_ns * 1000 == w->now && closed != before)
            return closed;
        before = closed;
    }
    return -1;
}

static unsigned require_quiet(void *of, struct virtual_sim_node *e)
{
    for (unsigned plane = 0; plane < e->planes; plane++) {
        const struct hal_switch *h = &e->node[plane].hal;
        for (unsigned port = 0; port < h->ports; port++) {
            const struct virtual_tx *tx = &h->tx[port];
            int change = change_now(e->worker, tx);
            if (change == 1)
                sent_at_closing[tx->link] = tx->sum.packets;
            if (change == 0 && tx->sum.packets != sent_at_closing[tx->link]) {
                (void)fprintf(stderr, "link %u carried a packet while it was closed\n", tx->link);
                _exit(HX_EXIT_FAILED);
            }
        }
    }
    return take_changes(of, e);
}

static void watch_links(struct worker *w)
{
    sent_at_closing = hx_allocate((size_t)w->m->layout.links * w->m->g->planes, sizeof *sent_at_closing);
    take_changes = w->v.fault_is_due;
    w->v.fault_is_due = require_quiet;
}

/* ---- runs ---- */

struct outcome_of_run {
    uint64_t end, hops, delivered, rerouted, changes, window;
    uint64_t turned_back; /* packets that had too many turns */
    uint64_t packets[MOST_SERVERS];
};

static void take_circuits(struct outcome_of_run *o, const struct model *m)
{
    struct result r = {.outcome.virtual_ps = o->end};
    faults_gather(&r, m);
    for (size_t i = 0; i < r.faults; i++)
        assert_true(r.fault[i].planned && r.fault[i].hits == 0 && r.fault[i].cost.lost == 0);
    o->rerouted = r.circuits.rerouted;
    o->changes = r.circuits.changes;
    free(r.fault);
}

/* Whether each packet arrived once. A packet may be sent again only if routes changed so often in flight that its turns
 * need more VCs than there are. */
static bool is_whole(const struct support_virtual *s, struct outcome_of_run *o)
{
    uint64_t drops[HX_DROP_COUNT] = {0};
    uint64_t repeated = 0;
    uint64_t sent = 0;
    bool complete = true;
    *o = (struct outcome_of_run){.end = support_virtual_end(s)};
    for (unsigned w = 0; w < s->m.workers; w++) {
        const struct model_area *area = &s->m.area[w];
        complete = complete && area->complete && area->buffers_used == 0 && !area->stuck;
        o->hops += s->m.progress[w].hops;
        for (unsigned reason = 0; reason < HX_DROP_COUNT; reason++)
            drops[reason] += area->drops[reason];
    }
    for (uint32_t rank = 0; rank < s->g->hosts; rank++) {
        const struct hx_endpoint_stats *sum = &s->m.sum[rank].stats;
        complete = complete && sum->messages_failed == 0;
        o->packets[rank] = sum->packets_delivered;
        o->delivered += sum->packets_delivered;
        sent += sum->packets_sent;
        repeated += sum->packets_repeated;
    }
    o->turned_back = drops[HX_DROP_NO_ROUTE];
    drops[HX_DROP_NO_ROUTE] = 0;
    for (unsigned reason = 0; reason < HX_DROP_COUNT; reason++)
        complete = complete && drops[reason] == 0;
    return complete && sent == o->delivered && repeated <= o->turned_back;
}

static void run_lab(const struct lab *lab, unsigned workers, struct outcome_of_run *o)
{
    struct support_virtual_plan plan = {
        .spec = lab->spec, .timing = lab->timing, .workers = workers, .faults = &lab->faults, .change = watch_links};
    plan.settings = lab->settings;
    struct support_virtual s;
    support_virtual_open(&s, &plan);
    s.m.check_steps = true;
    s.m.watchdog = 100000000;
    *o = (struct outcome_of_run){.end = 0};
    bool good = support_virtual_run(&s) && is_whole(&s, o);
    take_circuits(o, &s.m);
    o->window = s.m.timing.window;
    if (!good)
        fail_msg("HX_SEED=%llu, %u servers, %u workers: %s", (unsigned long long)seed_of_run, lab->servers, workers,
                 s.said);
    support_virtual_close(&s);
}

static void changes_lose_nothing_and_are_the_same_for_any_workers(void **state)
{
    (void)state;
    uint64_t first = seeded_by(1);
    uint64_t rerouted = 0;
    uint64_t changes = 0;
    uint64_t delivered = 0;
    uint64_t turned_back = 0;
    for (seed_of_run = first; seed_of_run < first + effort(RUNS); seed_of_run++) {
        struct lab lab;
        struct outcome_of_run one;
        struct outcome_of_run two;
        draw_lab(&lab);
        run_lab(&lab, 1, &one);
        run_lab(&lab, 2, &two);
        assert_memory_equal(&one, &two, sizeof one);
        rerouted += one.rerouted;
        changes += one.changes;
        delivered += one.delivered;
        turned_back += one.turned_back;
    }
    assert_true(rerouted > 0 && changes > effort(RUNS));
    assert_true(turned_back <= delivered / 1000);
}

/* Workers meet at the end of each window. The times of the plan are a nanosecond before such a bound, at it, and behind
 * it; circuits are dark for no time, a nanosecond, or a window. */
static void changes_at_the_bounds_of_windows_are_the_same_for_any_workers(void **state)
{
    (void)state;
    enum { BOUND_NS = 82, SERVERS = 8, CHANGES = 60 };
    static const unsigned darks[] = {0, 1, BOUND_NS};
    static char graph[MOST_TEXT];
    static char plan[MOST_TEXT];
    graph[0] = '\0';
    for (unsigned a = 0; a < SERVERS; a++)
        file_add_text(graph, MOST_TEXT, "forward s%u\ns%u,s%u,512,1\n", a, a, (a + 1) % SERVERS);
    file_add_text(graph, MOST_TEXT, "s0,s4,512,1\ns1,s5,512,1\ns2,s6,512,1\ns3,s7,512,1\n");
    for (seed_of_run = 1; seed_of_run <= 3; seed_of_run++) {
        struct lab lab = {.servers = SERVERS,
                          .faults = HX_FAULT_DEFAULTS,
                          .settings = {.message = 262144, .given = HX_GIVEN_MESSAGE},
                          .timing = {.link = 1024, .crossbar = 2048, .given = HX_GIVEN_LINK | HX_GIVEN_CROSSBAR}};
        struct outcome_of_run one;
        struct outcome_of_run two;
        plan[0] = '\0';
        file_add_text(plan, MOST_TEXT, "dark %uns\nat 0: s0-s4, s1-s5\n", darks[seed_of_run - 1]);
        for (unsigned i = 1; i <= CHANGES; i++)
            file_add_text(plan, MOST_TEXT, "at %uns: %s\n", 4 * i * BOUND_NS + i % 3 - 1,
                          i % 2 ? "s2-s6, s3-s7" : "s0-s4, s1-s5");
        write_lab(&lab, graph, plan);
        run_lab(&lab, 1, &one);
        run_lab(&lab, 2, &two);
        assert_int_equal(one.window, BOUND_NS * 1000);
        assert_memory_equal(&one, &two, sizeof one);
        assert_true(one.changes > CHANGES && one.rerouted > CHANGES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_lose_nothing_and_are_the_same_for_any_workers),
        cmocka_unit_test(changes_at_the_bounds_of_windows_are_the_same_for_any_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
