/* prop_collective.c - collectives in a world where messages take any time and packets any order.
 *
 * Every packet's bytes are read when its message is handed over, and again when the packet arrives. A sender may
 * have to send it again until then, so both must be equal. Endpoints refuse at random, and take two messages a pair,
 * as the real one does. tests/support/support_collective.h checks the results. */
#include "hxmesh/endpoint.h"
#include "hxmesh/error.h"
#include "tests/support/support_collective.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_lab.h"
#include "tests/support/support_random.h"
#include "tests/support/support_shapes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_FLYING = 16384, MAX_PACKETS = 64, MAX_PLAYERS = 100 };

/* ---- the world ---- */

struct letter {
    struct player *from, *to;
    struct hx_collective_send send;
    uint8_t *text; /* bytes at the handover */
    unsigned packets, placed;
    uint64_t here; /* packets, a bit each */
    bool received;
};

struct world {
    struct ensemble e;
    struct letter letter[MAX_FLYING];
    unsigned flying;
    unsigned begun;                               /* players that send; the others only receive */
    unsigned in_flight[MAX_PLAYERS][MAX_PLAYERS]; /* by sender and receiver */
    unsigned refusals;                            /* percent */
    unsigned sloth;                               /* percent of the players that are slow */
    uint64_t random, log, bytes, messages;
};

static struct world w;

static uint32_t packet_bytes(void)
{
    return (w.e.plan.config.chunk / 7 + 8) & ~7U;
}

static unsigned *in_flight(const struct player *from, const struct player *to)
{
    return &w.in_flight[from - w.e.player][to - w.e.player];
}

static void log_send(const struct player *p, const struct hx_collective_send *s)
{
    const uint64_t words[] = {(uint64_t)(p - w.e.player), s->to, s->bytes, s->tag};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        w.log = (w.log ^ words[i]) * 0x9E3779B97F4A7C15U + 1;
}

static void read_out(const struct letter *l, unsigned packet, uint8_t *to)
{
    uint32_t at = packet * packet_bytes();
    uint32_t rest = l->send.bytes - at;
    hx_collective_fill(&l->from->c, l->send.tag, at, to, rest < packet_bytes() ? rest : packet_bytes());
}

static void hand_over(struct player *p, const struct hx_collective_send *s)
{
    struct letter *l = &w.letter[w.flying++];
    assert_true(w.flying < MAX_FLYING);
    *l = (struct letter){.from = p, .to = &w.e.player[s->to], .send = *s};
    l->packets = s->bytes ? (s->bytes + packet_bytes() - 1) / packet_bytes() : 1;
    assert_true(l->packets <= MAX_PACKETS && s->bytes <= w.e.plan.config.chunk && s->bytes % w.e.element == 0);
    l->text = lab_memory((size_t)l->packets * packet_bytes());
    for (unsigned i = 0; i < l->packets && !w.e.plan.scheduled; i++)
        read_out(l, i, l->text + (size_t)i * packet_bytes());
    ++*in_flight(l->from, l->to);
    log_send(p, s);
    hx_collective_take(&p->c, s);
    w.bytes += s->bytes;
    w.messages++;
}

static void drive(struct player *p)
{
    struct hx_collective_send s;
    if (p >= w.e.player + w.begun)
        return;
    for (uint32_t refused = 0; hx_collective_next(&p->c, refused, &s);) {
        assert_false(refused >> s.queue & 1);
        bool busy = *in_flight(p, &w.e.player[s.to]) >= HX_PEER_WINDOW;
        if (busy || seeded_below(&w.random, 100) < w.refusals)
            refused |= (uint32_t)1 << s.queue;
        else
            hand_over(p, &s);
    }
}

/* ---- possible events ---- */

static void place_packet(struct letter *l)
{
    static uint8_t text[1U << 16];
    unsigned packet;
    do
        packet = seeded_below(&w.random, l->packets);
    while (l->here >> packet & 1);
    uint32_t at = packet * packet_bytes();
    uint32_t rest = l->send.bytes - at;
    uint32_t bytes = rest < packet_bytes() ? rest : packet_bytes();
    if (!w.e.plan.scheduled) {
        read_out(l, packet, text);
        assert_memory_equal(text, l->text + at, bytes);
    }
    assert_int_equal(hx_collective_place(&l->to->c, l->send.tag, at, l->text + at, bytes), HX_OK);
    l->here |= (uint64_t)1 << packet;
    l->placed++;
}

/* State of a player's collective, for a comparison. */
static uint64_t digest(const struct player *p)
{
    const uint64_t *state = (const uint64_t *)(const void *)p->c.phase;
    uint64_t sum = p->c.left;
    for (uint64_t i = 0; i < p->state_bytes / sizeof *state; i++)
        sum = (sum ^ state[i]) * 0x9E3779B97F4A7C15U;
    return sum;
}

/* An acknowledgement of a message not in flight changes nothing: of one acknowledged earlier, not yet sent, or of no
 * queue. */
static void acknowledge_nothing(const struct letter *like)
{
    struct player *p = like->from;
    const uint32_t near = like->send.tag + seeded_below(&w.random, 12) - 6;
    const uint32_t tag =
        seeded_below(&w.random, 2) ? near : like->send.tag ^ (uint32_t)1 << seeded_below(&w.random, 32);
    for (unsigned i = 0; i < w.flying; i++)
        if (w.letter[i].from == p && w.letter[i].send.tag == tag)
            return;
    const uint64_t before = digest(p);
    assert_int_equal(hx_collective_sent(&p->c, tag), HX_E_RANGE);
    assert_true(before == digest(p));
}

/* The brief tag of a message that arrives, or is in flight, names it. */
static void assert_brief(int (*find)(const struct hx_collective *c, uint32_t peer, uint32_t brief, uint32_t *tag),
                         const struct hx_collective *c, const struct hx_collective *peer, uint32_t tag)
{
    uint32_t found;
    struct hx_collective allowed = *c;
    hx_collective_use_brief(&allowed);
    assert_true(allowed.config.window >= HX_COLLECTIVE_BRIEF_WINDOW || allowed.config.window == c->config.window);
    if (allowed.config.window != c->config.window)
        return;
    assert_true(hx_collective_brief(peer, tag) < 1U << HX_COLLECTIVE_BRIEF_BITS);
    assert_int_equal(find(c, peer->config.position, hx_collective_brief(peer, tag), &found), HX_OK);
    assert_int_equal(found, tag);
}

static void something_happens(void)
{
    unsigned index = seeded_below(&w.random, w.flying);
    struct letter *l = &w.letter[index];
    bool slow = (unsigned)(l->to - w.e.player) * 100 < w.sloth * w.e.n;
    if (seeded_below(&w.random, 64) == 0)
        acknowledge_nothing(l);
    if (slow && seeded_below(&w.random, 16))
        return;
    if (l->placed < l->packets) {
        place_packet(l);
    } else if (!l->received) {
        assert_brief(hx_collective_arriving, &l->to->c, &l->from->c, l->send.tag);
        assert_int_equal(hx_collective_received(&l->to->c, l->from->config.position, l->send.tag), HX_OK);
        l->received = true;
        drive(l->to);
    } else {
        struct player *from = l->from;
        const struct letter gone = *l;
        w.letter[index] = w.letter[--w.flying];
        --*in_flight(from, gone.to);
        assert_brief(hx_collective_leaving, &from->c, &gone.to->c, gone.send.tag);
        assert_int_equal(hx_collective_sent(&from->c, gone.send.tag), HX_OK);
        drive(from);
    }
}

/* Whether a member has to hear of all others before it is done. */
static bool is_of_all(unsigned kind)
{
    return kind == HX_BARRIER || kind == HX_ALL_REDUCE || kind == HX_ALL_GATHER || kind == HX_COLLECTIVE_ALL_TO_ALL;
}

static void validate_that_none_is_early(void)
{
    if (w.e.n == 1 || w.begun >= w.e.n || !is_of_all(w.e.plan.config.kind))
        return;
    for (unsigned i = 0; i < w.e.n; i++)
        assert_false(hx_collective_done(&w.e.player[i].c));
}

/* Players begin one by one, while the first are running. Returns false if the program refuses. */
static bool play(const struct ensemble_plan *plan, uint64_t order)
{
    w.flying = w.begun = 0;
    memset(w.in_flight, 0, sizeof w.in_flight);
    w.log = w.bytes = w.messages = 0;
    w.random = plan->seed * 77 + order;
    w.refusals = seeded_below(&w.random, 3) * 30;
    w.sloth = seeded_below(&w.random, 3) * 20;
    if (!ensemble_init(&w.e, plan))
        return false;
    for (bool busy = true; busy;) {
        if (w.begun < w.e.n && seeded_below(&w.random, 4) == 0) {
            validate_that_none_is_early();
            w.begun++;
            drive(&w.e.player[w.begun - 1]);
        }
        if (w.flying)
            something_happens();
        for (unsigned i = 0; i < w.begun && (w.flying == 0 || seeded_below(&w.random, 50) == 0); i++)
            drive(&w.e.player[i]);
        busy = w.flying > 0 || w.begun < w.e.n;
        for (unsigned i = 0; !busy && w.refusals && i < w.e.n; i++)
            busy = hx_collective_next(&w.e.player[i].c, 0, &(struct hx_collective_send){0});
    }
    return true;
}

/* ---- properties ---- */

/* Groups: all sizes to 33, and larger ones. */
enum { SMALL_GROUPS = 33, GROUPS = SMALL_GROUPS + 2 };
enum { CASES = HX_COLLECTIVE_KINDS * HX_COLLECTIVE_ALGORITHMS };

static uint32_t size_of(unsigned group)
{
    static const uint32_t large[] = {64, 100};
    return group < SMALL_GROUPS ? group + 1 : large[group - SMALL_GROUPS];
}

static uint32_t greatest_divisor(uint32_t n)
{
    uint32_t best = 1;
    for (uint32_t i = 1; i * i <= n; i++)
        best = (n % i) ? best : i;
    return best;
}

static const uint8_t layer_algorithms[] = {HX_BY_RING, HX_BY_HALVING, HX_BY_BRUCK, HX_BY_DIRECT};

/* Divides the group into dimensions, as far as its number of ranks allows. */
static void divide(struct hx_collective_config *config, uint64_t *random)
{
    uint32_t rest = config->size;
    const unsigned dimensions = 1 + seeded_below(random, 4);
    config->dimensions = (uint8_t)dimensions;
    for (unsigned i = 0; i < dimensions; i++) {
        const uint32_t part = i + 1 == dimensions ? rest : greatest_divisor(rest);
        uint8_t by = layer_algorithms[seeded_below(random, 4)];
        bool power = (part & (part - 1)) == 0;
        config->dimension[i] = (struct hx_collective_dimension){part, by == HX_BY_HALVING && !power ? HX_BY_RING : by};
        rest = part ? rest / part : 1;
    }
}

static void shape(struct hx_collective_config *config, uint64_t *random)
{
    const uint32_t columns = greatest_divisor(config->size);
    bool grid = config->algorithm == HX_BY_RINGS || config->algorithm == HX_BY_TORUS || seeded_below(random, 2);
    if (config->algorithm == HX_BY_HIERARCHY || config->algorithm == HX_BY_SWING ||
        config->algorithm == HX_BY_SWING_DOUBLING) {
        divide(config, random);
        if (config->algorithm == HX_BY_HIERARCHY)
            config->stripes = (uint8_t)seeded_below(random, config->size > SMALL_GROUPS / 2 ? 4 : 9);
    } else if (grid) {
        bool turned = seeded_below(random, 2);
        config->dimensions = 2;
        config->dimension[turned].size = columns;
        config->dimension[!turned].size = config->size / columns;
    }
}

/* Elements: none, one, fewer than ranks, odd numbers. */
static uint64_t elements_of(const struct hx_collective_config *config, uint64_t *random)
{
    static const uint64_t elements[] = {0, 1, 3, 17, 64, 100, 257, 1000, 1536, 6000};
    if (config->kind == HX_BARRIER)
        return 0;
    if (config->kind == HX_COLLECTIVE_ALL_TO_ALL)
        return (uint64_t)config->size * seeded_below(random, 5);
    return elements[seeded_below(random, 10)];
}

static struct ensemble_plan plan_of(unsigned kind, unsigned algorithm, uint32_t size, unsigned number)
{
    uint64_t random = shapes_seed() + number;
    struct ensemble_plan plan = {.config = {.kind = (uint8_t)kind,
                                            .algorithm = (uint8_t)algorithm,
                                            .type = (uint8_t)(number % HX_COLLECTIVE_TYPES),
                                            .operation = (uint8_t)(number / 3 % HX_COLLECTIVE_OPERATIONS),
                                            .size = size,
                                            .root = seeded_below(&random, size),
                                            .chunk = 8 + seeded_below(&random, 300),
                                            .window = (uint8_t)(1 + seeded_below(&random, 5)),
                                            .planes = (uint8_t)seeded_below(&random, HX_MAX_PLANES + 1)},
                                 .whole = true,
                                 .pairs = kind == HX_COLLECTIVE_ALL_TO_ALL && seeded_below(&random, 2),
                                 .seed = shapes_seed() + number};
    if (seeded_below(&random, 5) == 0)
        plan.config.window = HX_COLLECTIVE_MAX_WINDOW;
    if (seeded_below(&random, 3) == 0)
        plan.config.chunk = 8192;
    shape(&plan.config, &random);
    plan.config.bytes =
        elements_of(&plan.config, &random) * hx_collective_element((enum hx_collective_type)plan.config.type);
    return plan;
}

static struct ensemble_plan numbered_plan(unsigned number)
{
    return plan_of(number % HX_COLLECTIVE_KINDS, number / HX_COLLECTIVE_KINDS % HX_COLLECTIVE_ALGORITHMS,
                   size_of(number / CASES % GROUPS), number);
}

/* Whether the header promises this algorithm for the kind and group. */
static bool is_promised(const struct hx_collective_config *c)
{
    static const char *const kinds[HX_COLLECTIVE_ALGORITHMS] = {
        /* broadcast, reduce-scatter, all-gather, all-reduce, reduce, gather, scatter, exchange, barrier */
        [HX_BY_TREE] = "bsgarGSB",     [HX_BY_RING] = "bsgaB",       [HX_BY_RINGS] = "bsgaB",
        [HX_BY_TORUS] = "bsgaB",       [HX_BY_DOUBLE_TREE] = "barB", [HX_BY_CHAIN] = "barB",
        [HX_BY_HALVING] = "sgaB",      [HX_BY_DOUBLING] = "aB",      [HX_BY_SWING] = "sgaB",
        [HX_BY_SWING_DOUBLING] = "aB", [HX_BY_BRUCK] = "sgaB",       [HX_BY_DIRECT] = "bsgarGSeB",
        [HX_BY_PAIRWISE] = "sgaeB",    [HX_BY_HIERARCHY] = "sgaB"};
    const uint32_t columns = c->dimensions ? c->dimension[0].size : c->size;
    const uint32_t rows = c->size / columns;
    bool powers = true;
    for (unsigned i = 0; i < c->dimensions; i++)
        powers = powers && (c->dimension[i].size & (c->dimension[i].size - 1)) == 0;
    if (!strchr(kinds[c->algorithm], "bsgarGSeB"[c->kind]))
        return false;
    switch (c->algorithm) {
    case HX_BY_RINGS:
        return c->size == 1 || (columns > 2 && rows > 2) || (c->size % 4 == 0 && columns > 1 && rows > 1);
    case HX_BY_HALVING:
        return c->kind == HX_ALL_REDUCE || c->kind == HX_BARRIER || (c->size & (c->size - 1)) == 0;
    case HX_BY_SWING:
    case HX_BY_SWING_DOUBLING:
        return powers;
    default:
        return true;
    }
}

/* Every kind, algorithm, type and number of ranks. */
static void results_are_exact(void **state)
{
    (void)state;
    for (unsigned n = 0; n < effort(CASES * GROUPS); n++) {
        const unsigned number = effort_case(n, CASES * GROUPS);
        const struct ensemble_plan plan = numbered_plan(number);
        lab_seed = plan.seed;
        bool played = play(&plan, 0);
        assert_int_equal(played, is_promised(&plan.config));
        if (played)
            ensemble_validate(&w.e);
        lab_free(NULL);
    }
    lab_seed = 0;
}

static void validate_same_pieces(const struct ensemble *a, const struct ensemble *b)
{
    for (unsigned i = 0; i < a->n; i++) {
        uint64_t offset, size;
        for (unsigned k = 0; hx_collective_piece(&a->player[i].c, k, &offset, &size); k++)
            assert_memory_equal(a->player[i].vector + offset, b->player[i].vector + offset, size);
    }
}

/* The same bits for any order of events; and near the true sum. */
static void the_order_of_events_does_not_change_the_sums(void **state)
{
    (void)state;
    static const uint8_t kinds[] = {HX_ALL_REDUCE, HX_REDUCE_SCATTER, HX_REDUCE};
    for (unsigned n = 0; n < effort(HX_COLLECTIVE_ALGORITHMS * GROUPS); n++) {
        const unsigned number = effort_case(n, HX_COLLECTIVE_ALGORITHMS * GROUPS);
        const unsigned kind = kinds[number % 3];
        struct ensemble_plan plan =
            plan_of(kind, number % HX_COLLECTIVE_ALGORITHMS, size_of(number / HX_COLLECTIVE_ALGORITHMS), number);
        const unsigned element = hx_collective_element((enum hx_collective_type)plan.config.type);
        plan.config.bytes = plan.config.bytes / element * sizeof(float);
        plan.config.type = HX_FLOAT32;
        plan.config.operation = HX_SUM;
        plan.whole = false;
        lab_seed = plan.seed;
        if (play(&plan, 0)) {
            ensemble_validate(&w.e);
            const struct ensemble first = w.e;
            for (unsigned order = 1; order < 3; order++) {
                plan.config.window = (uint8_t)(order * 5);
                assert_true(play(&plan, order));
                ensemble_validate(&w.e);
                validate_same_pieces(&first, &w.e);
            }
        }
        lab_free(NULL);
    }
    lab_seed = 0;
}

/* Without vectors the messages are the same. */
static void the_schedule_does_not_depend_on_the_data(void **state)
{
    (void)state;
    for (unsigned n = 0; n < effort(CASES * 4); n++) {
        const unsigned number = effort_case(n, CASES * 4) * 3;
        struct ensemble_plan plan = numbered_plan(number);
        lab_seed = plan.seed;
        if (play(&plan, 0)) {
            uint64_t log = w.log;
            plan.scheduled = true;
            assert_true(play(&plan, 0));
            ensemble_validate(&w.e);
            assert_true(w.log == log);
        }
        lab_free(NULL);
    }
    lab_seed = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(results_are_exact, lab_free),
        cmocka_unit_test_teardown(the_order_of_events_does_not_change_the_sums, lab_free),
        cmocka_unit_test_teardown(the_schedule_does_not_depend_on_the_data, lab_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
