/* prop_collective_fabric.c - collectives over a fabric of the firmware, with frames on wires that lose some. */
#include "hxmesh/error.h"
#include "tests/support/loopback/support_loopback.h"
#include "tests/support/support_collective.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_lab.h"
#include "tests/support/support_random.h"
#include "tests/support/support_shapes.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { LONG = 400000 /* turns */ };

static const struct fabric_plan fabrics[] = {
    {.a = 2, .b = 2, .x = 2, .y = 2, .planes = 1, .radix = 64, .taper = 1}, /* 2x2 Hx2Mesh */
    {.a = 2, .b = 3, .x = 3, .y = 2, .planes = 1, .radix = 64, .taper = 1}, /* 3x2 H2x3Mesh */
    {.a = 1, .b = 1, .x = 4, .y = 2, .planes = 2, .radix = 64, .taper = 1}, /* 4x2 Hx1Mesh */
    {.a = 3, .b = 1, .x = 1, .y = 3, .planes = 1, .radix = 64, .taper = 1}, /* 1x3 H3x1Mesh */
};
enum { FABRICS = sizeof fabrics / sizeof *fabrics, CASES = HX_COLLECTIVE_KINDS * HX_COLLECTIVE_ALGORITHMS };
enum { MOST_HOSTS = 64 };

static struct fabric fabric;
static struct ensemble ensemble;
static unsigned host_of[MOST_HOSTS], position_of[MOST_HOSTS]; /* of a position, of a host */

/* ---- joining endpoint and program ---- */

static void fill(void *of, const struct hx_send *s, uint32_t packet, uint8_t *to, unsigned bytes)
{
    const struct player *p = of;
    hx_collective_fill(&p->c, s->tag, (uint64_t)packet * HX_MAX_PAYLOAD, to, bytes);
}

static void place(void *of, const struct hx_header *h, const uint8_t *payload)
{
    struct player *p = of;
    assert_int_equal(hx_collective_place(&p->c, h->tag, (uint64_t)h->offset * HX_MAX_PAYLOAD, payload, h->length),
                     HX_OK);
}

static void event(void *of, const struct hx_event *e)
{
    struct player *p = of;
    assert_int_not_equal(e->type, HX_EVENT_FAILED);
    if (e->type == HX_EVENT_SENT)
        assert_int_equal(hx_collective_sent(&p->c, e->tag), HX_OK);
    else
        assert_int_equal(hx_collective_received(&p->c, position_of[e->addr_lo * fabric.g.columns + e->addr_hi], e->tag),
                         HX_OK);
}

static struct fabric_end *end_of(uint32_t position)
{
    return &fabric.end[host_of[position]];
}

static void drive(struct player *p)
{
    struct hx_collective_send s;
    for (uint32_t refused = 0; hx_collective_next(&p->c, refused, &s);) {
        const unsigned to = host_of[s.to];
        if (hx_endpoint_send(&end_of(p->config.position)->ep, to % fabric.g.columns, to / fabric.g.columns, s.bytes,
                             s.tag, 0) == HX_OK)
            hx_collective_take(&p->c, &s);
        else
            refused |= (uint32_t)1 << s.queue;
    }
}

static bool all_done(void)
{
    for (unsigned i = 0; i < ensemble.n; i++) {
        if (!hx_collective_done(&ensemble.player[i].c))
            return false;
    }
    return true;
}

/* Positions on hosts in any order. */
static void map_positions(uint64_t seed)
{
    const unsigned hosts = fabric.g.accelerators;
    assert_true(hosts <= MOST_HOSTS);
    for (unsigned i = 0; i < hosts; i++) {
        const unsigned other = seeded_below(&seed, i + 1);
        host_of[i] = host_of[other];
        host_of[other] = i;
    }
    for (unsigned i = 0; i < hosts; i++)
        position_of[host_of[i]] = i;
}

/* Returns false if the program refuses the group. */
static bool run(const struct fabric_plan *plan, const struct ensemble_plan *job)
{
    fabric_init(&fabric, plan, 1);
    map_positions(job->seed);
    if (!ensemble_init(&ensemble, job))
        return false;
    for (unsigned i = 0; i < ensemble.n; i++) {
        struct player *p = &ensemble.player[i];
        end_of(i)->hal.user = (struct hal_user){fill, place, event, p};
    }
    for (unsigned turn = 0; !all_done() || !fabric_idle(&fabric); turn++) {
        assert_true(turn < LONG);
        for (unsigned i = 0; i < ensemble.n; i++)
            drive(&ensemble.player[i]);
        fabric_step(&fabric);
    }
    ensemble_validate(&ensemble);
    fabric_validate_empty(&fabric);
    return true;
}

/* ---- properties ---- */

static struct fabric_plan fabric_of(unsigned number)
{
    struct fabric_plan plan = fabrics[number % FABRICS];
    plan.seed = shapes_seed() + number;
    plan.blocks = LOOPBACK_MAX_BLOCKS;
    plan.timeout_ns = 10 * 1000 * 1000;
    plan.retries = 255;
    return plan;
}

/* A group of a random number of hosts, in rows and columns, with a vector of `most` elements at most. */
static struct ensemble_plan job_of(unsigned number, bool whole_fabric, uint32_t most)
{
    const struct fabric_plan *f = &fabrics[number % FABRICS];
    uint64_t random = shapes_seed() + number;
    const unsigned columns = whole_fabric ? f->a * f->x : 1 + seeded_below(&random, f->a * f->x);
    const unsigned rows = whole_fabric ? f->b * f->y : 1 + seeded_below(&random, f->b * f->y);
    const unsigned kind = number / FABRICS % HX_COLLECTIVE_KINDS;
    struct ensemble_plan plan = {.config = {.kind = (uint8_t)kind,
                                            .algorithm = (uint8_t)(number / FABRICS / HX_COLLECTIVE_KINDS),
                                            .type = (uint8_t)(number % HX_COLLECTIVE_TYPES),
                                            .size = columns * rows,
                                            .root = seeded_below(&random, columns * rows),
                                            .chunk = 2048U << seeded_below(&random, 5),
                                            .window = 2,
                                            .dimensions = 2,
                                            .dimension = {{columns, HX_BY_RING}, {rows, HX_BY_BRUCK}}},
                                 .whole = true,
                                 .pairs = kind == HX_COLLECTIVE_ALL_TO_ALL && seeded_below(&random, 2),
                                 .seed = random};
    uint64_t elements = seeded_below(&random, most + 1);
    elements -= kind == HX_COLLECTIVE_ALL_TO_ALL ? elements % plan.config.size : 0;
    if (kind != HX_BARRIER)
        plan.config.bytes = elements * hx_collective_element((enum hx_collective_type)plan.config.type);
    return plan;
}

static void sums_are_exact(void **state)
{
    (void)state;
    unsigned played = 0;
    const unsigned jobs = effort(2 * CASES);
    for (unsigned n = 0; n < jobs; n++) {
        const unsigned number = effort_case(n, CASES) * FABRICS + (n + n / CASES) % FABRICS;
        lab_seed = shapes_seed() + number;
        const struct fabric_plan plan = fabric_of(number);
        const struct ensemble_plan job = job_of(number, number % 2, 5000);
        played += run(&plan, &job);
        for (enum hx_drop reason = 0; reason < HX_DROP_COUNT; reason++)
            assert_int_equal(fabric_drops(&fabric, reason), 0);
        lab_free(NULL);
    }
    lab_seed = 0;
    assert_true(played >= jobs / 3);
}

/* Frames are lost, so data and acknowledgements are late, repeated and reordered. */
static void frames_may_be_lost(void **state)
{
    (void)state;
    uint64_t repeated = 0;
    const unsigned jobs = effort(CASES);
    for (unsigned n = 0; n < jobs; n++) {
        const unsigned number = effort_case(n, CASES) * FABRICS + n % FABRICS;
        lab_seed = shapes_seed() + number;
        struct fabric_plan plan = fabric_of(number);
        plan.faults = (struct loopback_faults){.lose_data = 20, .lose_credit = 50};
        plan.timeout_ns = 30 * 1000;
        plan.check = true;
        const struct ensemble_plan job = job_of(number, true, 3000);
        if (run(&plan, &job)) {
            for (unsigned rank = 0; rank < fabric.g.accelerators; rank++)
                repeated += fabric.end[rank].ep.stats.packets_repeated;
        }
        lab_free(NULL);
    }
    lab_seed = 0;
    assert_true(jobs < 10 || repeated > 5 * jobs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(sums_are_exact, lab_free),
        cmocka_unit_test_teardown(frames_may_be_lost, lab_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
