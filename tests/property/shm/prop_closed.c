/* prop_closed.c - links close and open as planned while packets flow: nothing is lost on them, and every message
 * arrives. Workers follow one after another, and some are killed meanwhile.
 *
 * Independent of routing, a closed link carries no new packet once all workers follow, and what it carried arrives. */
#include "fabric-emu/live/recover.h"
#include "tests/support/shm/support_shm.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_file.h"
#include "tests/support/support_random.h"
#include "topology/updown.h"
#include "workload/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    RUNS = 12,
    CHANGES = 30,
    MOST_SWEEPS = 12,      /* between two steps of a change */
    MOST_CLOSED = 8,       /* links at a time */
    PLENTY = 100000,       /* messages to each destination: more than any run needs */
    TIMEOUT_NS = 300000000 /* more than an endpoint's timeout */
};

/* Circulants: each of 12 servers forwards, with links to the servers 1, 2 and 5 further. */
static const char *circulant(void)
{
    char text[12 * 3 * 16] = "";
    size_t used = 0;
    static const unsigned strides[] = {1, 2, 5};
    for (unsigned i = 0; i < 12; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "forward s%u\n", i);
        for (unsigned j = 0; j < 3; j++)
            used += (size_t)snprintf(text + used, sizeof text - used, "s%u,s%u\n", i, (i + strides[j]) % 12);
    }
    return file_write_text("circulant.csv", text);
}

/* Small buffers, so that packets wait in switches for a port that closes. */
static const struct support_plan plans[] = {
    {"graph", .workers = 2, .planes = 1, .credits = 32, .pattern = HX_ALL_TO_ALL_RANDOM, .message = 33000,
     .reroutes = true},
    {"graph", .workers = 3, .planes = 2, .credits = 64, .pattern = HX_UNIFORM, .message = 9000, .reroutes = true},
    {"torus 3x4", .workers = 2, .planes = 1, .credits = 256, .pattern = HX_ALL_TO_ALL, .message = 40000,
     .reroutes = true},
};
enum { PLANS = sizeof plans / sizeof *plans };

/* ---- one run ---- */

struct closed_link {
    uint32_t node;
    unsigned plane, port;
};

struct run {
    const struct support_plan *plan;
    uint64_t seed, drawn;
    struct support s;
    struct worker worker[SHM_MAX_WORKERS];
    bool runs[SHM_MAX_WORKERS];
    struct closed_link closed[MOST_CLOSED];
    unsigned count; /* closed links */
    unsigned kills;
};

static uint32_t draw(struct run *r, uint32_t below)
{
    return random_below(random_of(r->seed, 78, r->drawn++), below);
}

static struct run the_run; /* a failed test leaves it open for close_after_failure() */

static void start(struct run *r, unsigned worker)
{
    support_start(&r->s, &r->worker[worker], worker);
    r->runs[worker] = true;
}

static struct run *open_run(const struct support_plan *plan, uint64_t seed)
{
    struct support_plan seeded = *plan;
    char spec[FILE_PATH_BYTES + 8];
    seeded.seed = seed;
    seeded.count = PLENTY;
    (void)snprintf(spec, sizeof spec, "graph %s", circulant());
    if (strcmp(plan->spec, "graph") == 0)
        seeded.spec = spec;
    the_run = (struct run){.plan = plan, .seed = seed};
    support_open(&the_run.s, &seeded);
    for (unsigned w = 0; w < the_run.s.f.workers; w++)
        start(&the_run, w);
    return &the_run;
}

static int close_run(void **state)
{
    (void)state;
    struct run *r = &the_run;
    for (unsigned w = 0; r->plan && w < r->s.f.workers; w++) {
        if (r->runs[w])
            support_forget(&r->worker[w]);
    }
    if (r->plan)
        support_close(&r->s);
    r->plan = NULL;
    return 0;
}

static unsigned sweep(struct run *r, bool may_begin)
{
    unsigned work = 0;
    for (unsigned w = 0; w < r->s.f.workers; w++)
        work += r->runs[w] ? support_sweep(&r->s, &r->worker[w], may_begin) : 0;
    r->s.now += 1000;
    return work;
}

static void sweep_some(struct run *r)
{
    for (unsigned n = draw(r, MOST_SWEEPS); n; n--)
        (void)sweep(r, true);
}

/* ---- what holds at any time ---- */

static void validate(struct run *r, const char *when)
{
    struct support_audit a = support_audit(&r->s);
    const struct support_ledger *l = r->s.ledger;
    if (a.missing || a.doubled || a.foreign)
        fail_msg("%s, seed %llu, %s: of %llu buffers %llu missing, %llu doubled, %llu entries of none", r->plan->spec,
                 (unsigned long long)r->seed, when, (unsigned long long)a.buffers, (unsigned long long)a.missing,
                 (unsigned long long)a.doubled, (unsigned long long)a.foreign);
    if (l->never_received || l->incomplete || l->mixed || l->wrong || l->failed)
        fail_msg("%s, seed %llu, %s: messages acknowledged but not received %llu, received in part %llu, packets "
                 "mixed %llu, wrong %llu, messages given up %llu",
                 r->plan->spec, (unsigned long long)r->seed, when, (unsigned long long)l->never_received,
                 (unsigned long long)l->incomplete, (unsigned long long)l->mixed, (unsigned long long)l->wrong,
                 (unsigned long long)l->failed);
    for (uint32_t number = 0; number < fab_ports(&r->s.f); number++)
        assert_int_equal(r->s.f.faulted[number].lost, 0);
    for (unsigned w = 0; w < r->s.f.workers; w++)
        assert_true(!r->runs[w] || r->worker[w].faulties == 0); /* a closed link has no stage */
}

/* ---- closing links ---- */

/* Whether all hosts have a path in a plane on the fabric's VCs, with the closed links and one more (NULL: these
 * alone). */
static bool stay_joined(const struct run *r, unsigned plane, const struct closed_link *more)
{
    const struct hx_fabric *g = r->s.f.g;
    uint64_t *down = calloc(g->nodes, sizeof *down);
    struct hx_fabric rerouted = {.updown = NULL};
    bool all = true;
    for (unsigned i = 0; i < r->count + (more != NULL); i++) {
        const struct closed_link *l = i < r->count ? &r->closed[i] : more;
        if (l->plane == plane)
            down[l->node] |= (uint64_t)1 << l->port;
    }
    assert_true(hx_updown_reroute(&rerouted, g, down));
    for (size_t i = 0; i < (size_t)rerouted.updown->routers * rerouted.updown->digits; i++)
        all = all && (rerouted.updown->ports[i] || rerouted.updown->distance[i] == 0);
    free(rerouted.updown);
    free(down);
    return all;
}

static void set(struct run *r, const struct closed_link *l, bool closed)
{
    support_set_condition(&r->s, l->plane, l->node, l->port, &(struct shm_condition){.closed = closed});
}

static void close_one(struct run *r)
{
    const struct hx_fabric *g = r->s.f.g;
    struct closed_link l = {.plane = draw(r, g->planes), .node = g->hosts + draw(r, g->nodes - g->hosts)};
    l.port = draw(r, hx_fabric_ports(g, l.node));
    struct hx_end far = hx_fabric_far(g, l.node, l.port);
    if (r->count == MOST_CLOSED || far.node == HX_NOWHERE || far.node < g->hosts || !stay_joined(r, l.plane, &l))
        return;
    for (unsigned i = 0; i < r->count; i++) {
        const struct closed_link *other = &r->closed[i];
        bool same = other->node == l.node && other->port == l.port;
        if (other->plane == l.plane && (same || (other->node == far.node && other->port == far.port)))
            return;
    }
    r->closed[r->count++] = l;
    set(r, &l, true);
}

/* A link that opens may make shorter paths that turn too often, so this is checked, too. */
static void open_one(struct run *r)
{
    if (!r->count)
        return;
    unsigned at = draw(r, r->count);
    struct closed_link l = r->closed[at];
    r->closed[at] = r->closed[--r->count];
    if (stay_joined(r, l.plane, NULL))
        set(r, &l, false);
    else
        r->closed[r->count++] = l;
}

/* Workers follow in any order, with sweeps in between. */
static void follow(struct run *r)
{
    unsigned first = draw(r, r->s.f.workers);
    for (unsigned i = 0; i < r->s.f.workers; i++) {
        unsigned w = (first + i) % r->s.f.workers;
        sweep_some(r);
        if (r->runs[w])
            support_notice(&r->worker[w]);
    }
}

static struct shm_link *link_of(const struct run *r, unsigned i, bool back)
{
    const struct closed_link *l = &r->closed[i];
    struct hx_end far = hx_fabric_far(r->s.f.g, l->node, l->port);
    return back ? fab_link(&r->s.f, l->plane, far.node, far.port) : fab_link(&r->s.f, l->plane, l->node, l->port);
}

/* All workers follow: closed links take no packet. */
static void require_shut(struct run *r)
{
    uint64_t heads[MOST_CLOSED][2] = {{0}};
    for (unsigned i = 0; i < r->count; i++)
        for (unsigned back = 0; back < 2; back++)
            heads[i][back] = link_of(r, i, back)->heads;
    sweep_some(r);
    for (unsigned i = 0; i < r->count; i++)
        for (unsigned back = 0; back < 2; back++)
            assert_int_equal(link_of(r, i, back)->heads, heads[i][back]);
}

static void kill_one(struct run *r)
{
    unsigned w = draw(r, r->s.f.workers);
    r->kills++;
    for (unsigned step = draw(r, support_steps(&r->worker[w])); step; step--)
        (void)support_step(&r->s, &r->worker[w], step, true);
    support_forget(&r->worker[w]);
    r->runs[w] = false;
    support_take_down(&r->s, w);
    (void)recover_worker(&r->s.f, w);
    if (draw(r, 2))
        follow(r);
    (void)recover_worker(&r->s.f, w);
    validate(r, "after a kill");
    support_bring_back(&r->s, w);
    start(r, w);
    follow(r);
}

/* ---- the end ---- */

static uint64_t dropped(const struct run *r, bool of_paths)
{
    uint64_t sum = 0;
    for (unsigned w = 0; w < r->s.f.workers; w++)
        for (unsigned reason = 0; reason < HX_DROP_COUNT; reason++)
            sum += of_paths == (reason == HX_DROP_NO_ROUTE || reason == HX_DROP_UNREACHABLE)
                       ? r->s.f.area[w].drops[reason]
                       : 0;
    return sum;
}

/* No message begins, links stay closed, and all that began arrives. */
static void finish(struct run *r)
{
    bool done = false;
    for (unsigned sweeps = 0, idle = 0; !done && sweeps < 200000; sweeps++) {
        idle = sweep(r, false) ? 0 : idle + 1;
        if (idle == FAB_SENDS) {
            r->s.now += TIMEOUT_NS;
            idle = 0;
        }
        done = true;
        for (unsigned w = 0; w < r->s.f.workers; w++)
            done = done && support_is_done(&r->worker[w], false);
    }
    while (sweep(r, false)) {
    }
    validate(r, "at the end");
    if (!done || support_unreceived(&r->s) || support_audit(&r->s).in_links)
        fail_msg("%s, seed %llu: %s, %llu messages never arrived, %llu buffers in links at the end", r->plan->spec,
                 (unsigned long long)r->seed, done ? "done" : "NOT done", (unsigned long long)support_unreceived(&r->s),
                 (unsigned long long)support_audit(&r->s).in_links);
}

static void change(struct run *r)
{
    for (unsigned n = 1 + draw(r, 4); n; n--) {
        if (draw(r, 3))
            close_one(r);
        else
            open_one(r);
    }
    follow(r);
    require_shut(r);
    validate(r, "after a change");
}

/* ---- tests ---- */

/* Packets that wait for a port that closes take another one, so nothing is sent again: a router drops a packet only if
 * its path is left without a VC. */
static void nothing_is_lost_while_links_close_and_open(void **state)
{
    (void)state;
    uint64_t packets = 0;
    uint64_t repeated = 0;
    for (unsigned i = 0; i < effort(RUNS); i++) {
        struct run *r = open_run(&plans[(seeded_by(1) + i) % PLANS], seeded_by(1) * 1000 + i);
        for (unsigned n = 0; n < CHANGES; n++)
            change(r);
        finish(r);
        uint64_t of_run = 0;
        for (uint32_t rank = 0; rank < r->s.f.g->hosts; rank++) {
            packets += r->s.f.accelerator[rank].stats.packets_sent;
            of_run += r->s.f.accelerator[rank].stats.packets_repeated;
        }
        assert_int_equal(dropped(r, false), 0);
        assert_true(of_run <= dropped(r, true));
        repeated += of_run;
        (void)close_run(NULL);
    }
    assert_true(packets > 1000);
    assert_true(repeated < packets / 10);
}

static void a_restarted_worker_finds_links_closed(void **state)
{
    (void)state;
    for (unsigned i = 0; i < effort(RUNS); i++) {
        struct run *r = open_run(&plans[(seeded_by(1) + i) % PLANS], seeded_by(1) * 1000 + 500 + i);
        for (unsigned n = 0; n < CHANGES; n++) {
            change(r);
            if (draw(r, 4) == 0)
                kill_one(r);
            require_shut(r);
        }
        assert_true(r->kills > 0);
        finish(r);
        (void)close_run(NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(nothing_is_lost_while_links_close_and_open, close_run),
        cmocka_unit_test_teardown(a_restarted_worker_finds_links_closed, close_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
