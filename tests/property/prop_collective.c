/* prop_collective.c - collectives in a world where messages take any time and packets any order.
 *
 * Every packet's bytes are read when its message is handed over, and again when the packet arrives. A sender may
 * have to send it again until then, so both must be equal. Endpoints refuse at random, and take two messages a pair,
 * as the real one does. tests/support/support_collective.h checks the results. */
#include "hxmesh/endpoint.h"
#include "hxmesh/error.h"
#include "spec/collective_model.h"
#include "tests/support/support_collective.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_lab.h"
#include "tests/support/support_random.h"
#include "tests/support/support_shapes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_FLYING = 4096, MAX_PACKETS = 64 };

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
    unsigned refusals; /* percent */
    unsigned sloth;    /* percent of the players that are slow */
    uint64_t random, log, bytes, messages;
};

static struct world w;

static uint32_t packet_bytes(void)
{
    return (w.e.plan.chunk / 7 + 4) & ~3U;
}

static unsigned in_flight(const struct player *from, const struct player *to)
{
    unsigned n = 0;
    for (unsigned i = 0; i < w.flying; i++)
        n += w.letter[i].from == from && w.letter[i].to == to;
    return n;
}

static void log_send(const struct player *p, const struct hx_collective_send *s)
{
    const uint64_t words[] = {(uint64_t)(p - w.e.player), s->gx, s->gy, s->bytes, s->tag};
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
    *l = (struct letter){.from = p, .to = ensemble_player(&w.e, s->gx, s->gy), .send = *s};
    l->packets = s->bytes ? (s->bytes + packet_bytes() - 1) / packet_bytes() : 1;
    assert_true(l->packets <= MAX_PACKETS && s->bytes <= w.e.plan.chunk && s->bytes % 4 == 0);
    l->text = lab_memory((size_t)l->packets * packet_bytes());
    for (unsigned i = 0; i < l->packets && !w.e.plan.scheduled; i++)
        read_out(l, i, l->text + (size_t)i * packet_bytes());
    log_send(p, s);
    hx_collective_take(&p->c, s);
    w.bytes += s->bytes;
    w.messages++;
    p->sent_bytes += s->bytes;
}

static void drive(struct player *p)
{
    struct hx_collective_send s;
    for (uint32_t refused = 0; hx_collective_next(&p->c, refused, &s);) {
        assert_false(refused >> s.lane & 1);
        bool busy = in_flight(p, ensemble_player(&w.e, s.gx, s.gy)) >= HX_PEER_WINDOW;
        if (busy || seeded_below(&w.random, 100) < w.refusals)
            refused |= (uint32_t)1 << s.lane;
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

/* An acknowledgement of a message not in flight changes nothing: of one acknowledged earlier, not yet sent, or
 * invalid. Its tag is that of another one with some fields changed: phase (2 bits), edge (5), number. */
static void acknowledge_nothing(const struct letter *like)
{
    enum { NUMBERS = 25 };
    struct player *p = like->from;
    uint32_t tag = like->send.tag;
    bool tree = w.e.plan.algorithm == HX_BY_TREE; /* its lanes follow from less than all of a tag */
    if (!tree && seeded_below(&w.random, 2))
        tag = (tag & ~(3U << 30)) | seeded_below(&w.random, 4) << 30;
    if (!tree && seeded_below(&w.random, 2))
        tag = (tag & ~(31U << NUMBERS)) | seeded_below(&w.random, p->c.lanes) << NUMBERS;
    if (seeded_below(&w.random, 2))
        tag = tag >> NUMBERS << NUMBERS | seeded_below(&w.random, 12);
    for (unsigned i = 0; i < w.flying; i++)
        if (w.letter[i].from == p && w.letter[i].send.tag == tag)
            return;
    const struct hx_collective before = p->c;
    assert_int_equal(hx_collective_sent(&p->c, tag), HX_E_RANGE);
    assert_memory_equal(&before, &p->c, sizeof before);
}

/* The brief tag of a message that arrives, or is in flight, names it. */
static void assert_brief(int (*find)(const struct hx_collective *c, uint32_t brief, uint32_t *tag),
                         const struct hx_collective *c, uint32_t tag)
{
    uint32_t found;
    assert_int_equal(find(c, hx_collective_brief(tag), &found), HX_OK);
    assert_int_equal(found, tag);
}

static void something_happens(void)
{
    unsigned index = seeded_below(&w.random, w.flying);
    struct letter *l = &w.letter[index];
    bool slow = (unsigned)(l->to - w.e.player) * 100 < w.sloth * w.e.n;
    if (seeded_below(&w.random, 16) == 0)
        acknowledge_nothing(l);
    if (slow && seeded_below(&w.random, 16))
        return;
    if (l->placed < l->packets) {
        place_packet(l);
    } else if (!l->received) {
        struct player *from = l->from;
        unsigned at = (unsigned)(from - w.e.player);
        assert_brief(hx_collective_arriving, &l->to->c, l->send.tag);
        assert_int_equal(hx_collective_received(&l->to->c, w.e.gx[at % w.e.plan.columns], w.e.gy[at / w.e.plan.columns],
                                                l->send.tag),
                         HX_OK);
        l->received = true;
        drive(l->to);
    } else {
        struct player *from = l->from;
        uint32_t tag = l->send.tag;
        w.letter[index] = w.letter[--w.flying];
        assert_brief(hx_collective_leaving, &from->c, tag);
        assert_int_equal(hx_collective_sent(&from->c, tag), HX_OK);
        drive(from);
    }
}

/* Players begin one by one, while the first are running. Returns false if the program refuses. */
static bool play(const struct ensemble_plan *plan, uint64_t order)
{
    w.flying = 0;
    w.log = w.bytes = w.messages = 0;
    w.random = plan->seed * 77 + order;
    w.refusals = seeded_below(&w.random, 3) * 30;
    w.sloth = seeded_below(&w.random, 3) * 20;
    if (!ensemble_init(&w.e, plan))
        return false;
    unsigned begun = 0;
    for (bool busy = true; busy;) {
        if (begun < w.e.n && seeded_below(&w.random, 4) == 0)
            drive(&w.e.player[begun++]);
        if (w.flying)
            something_happens();
        for (unsigned i = 0; i < begun && (w.flying == 0 || seeded_below(&w.random, 50) == 0); i++)
            drive(&w.e.player[i]);
        busy = w.flying > 0 || begun < w.e.n;
        for (unsigned i = 0; !busy && w.refusals && i < w.e.n; i++)
            busy = hx_collective_next(&w.e.player[i].c, 0, &(struct hx_collective_send){0});
    }
    return true;
}

/* ---- properties ---- */

static const unsigned shapes[][2] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}, {1, 5}, {7, 1}, {3, 2}, {2, 4}, {3, 3},
                                     {4, 3}, {3, 5}, {4, 4}, {5, 4}, {6, 3}, {4, 8}, {5, 5}, {8, 6}};
enum { SHAPES = sizeof shapes / sizeof *shapes, KINDS = 4, ALGORITHMS = 4 };

static struct ensemble_plan plan_of(unsigned number)
{
    static const uint64_t elements[] = {0, 1, 3, 17, 64, 100, 257, 1000, 1536};
    const unsigned *shape = shapes[number % SHAPES];
    uint64_t seed = shapes_seed() + number;
    uint64_t random = seed;
    struct ensemble_plan plan = {.kind = (enum hx_collective_kind)(number / SHAPES % KINDS),
                                 .algorithm = (enum hx_collective_algorithm)(number / SHAPES / KINDS % ALGORITHMS),
                                 .columns = shape[0],
                                 .rows = shape[1],
                                 .elements = elements[seeded_below(&random, 9)],
                                 .chunk = 4 + seeded_below(&random, 300),
                                 .window = 1 + seeded_below(&random, 5),
                                 .grid_columns = shape[0] + seeded_below(&random, 4),
                                 .grid_rows = shape[1] + seeded_below(&random, 4),
                                 .whole = true,
                                 .seed = seed};
    if (seeded_below(&random, 5) == 0)
        plan.window = HX_COLLECTIVE_MAX_WINDOW;
    if (seeded_below(&random, 3) == 0)
        plan.chunk = 8192;
    return plan;
}

/* Whether two disjoint cycles are promised. */
static bool has_rings(const struct ensemble_plan *p)
{
    unsigned n = p->columns * p->rows;
    return n == 1 || (p->columns > 2 && p->rows > 2) || (n % 4 == 0 && p->columns > 1 && p->rows > 1);
}

static void sums_are_exact(void **state)
{
    (void)state;
    unsigned refused = 0;
    for (unsigned n = 0; n < effort(SHAPES * KINDS * ALGORITHMS * 3); n++) {
        const unsigned number = effort_case(n, SHAPES * KINDS * ALGORITHMS * 3);
        const struct ensemble_plan plan = plan_of(number);
        lab_seed = plan.seed;
        if (play(&plan, 0))
            ensemble_validate(&w.e);
        else
            refused += plan.algorithm == HX_BY_RINGS && !has_rings(&plan) ? 1 : 1000000;
        lab_free(NULL);
    }
    lab_seed = 0;
    assert_true(refused > 0 && refused < 1000000);
}

static void validate_same_pieces(const struct ensemble *a, const struct ensemble *b)
{
    for (unsigned i = 0; i < a->n; i++) {
        uint64_t offset, size;
        for (unsigned k = 0; hx_collective_piece(&a->player[i].c, k, &offset, &size); k++)
            assert_memory_equal((uint8_t *)a->player[i].vector + offset, (uint8_t *)b->player[i].vector + offset, size);
    }
}

/* The same bits for any order of events; and near the true sum. */
static void the_order_of_events_does_not_change_the_sums(void **state)
{
    (void)state;
    for (unsigned n = 0; n < effort(SHAPES * ALGORITHMS * 2); n++) {
        const unsigned number = effort_case(n, SHAPES * ALGORITHMS * 2);
        struct ensemble_plan plan = plan_of(number * KINDS);
        plan.kind = number % 3 ? HX_ALL_REDUCE : HX_REDUCE_SCATTER;
        plan.algorithm = (enum hx_collective_algorithm)(number / SHAPES % ALGORITHMS);
        plan.columns = shapes[number % SHAPES][0];
        plan.rows = shapes[number % SHAPES][1];
        plan.grid_columns = plan.columns;
        plan.grid_rows = plan.rows;
        plan.whole = false;
        lab_seed = plan.seed;
        if (!play(&plan, 0))
            continue;
        ensemble_validate(&w.e);
        const struct ensemble first = w.e;
        for (unsigned order = 1; order < 4; order++) {
            plan.window = order * 3;
            assert_true(play(&plan, order));
            ensemble_validate(&w.e);
            validate_same_pieces(&first, &w.e);
        }
        lab_free(NULL);
    }
    lab_seed = 0;
}

/* Without vectors the messages are the same. */
static void the_schedule_does_not_depend_on_the_data(void **state)
{
    (void)state;
    for (unsigned n = 0; n < effort(SHAPES * KINDS * ALGORITHMS); n++) {
        const unsigned number = effort_case(n, SHAPES * KINDS * ALGORITHMS);
        struct ensemble_plan plan = plan_of(number);
        lab_seed = plan.seed;
        if (!play(&plan, 0))
            continue;
        uint64_t log = w.log;
        plan.scheduled = true;
        assert_true(play(&plan, 0));
        ensemble_validate(&w.e);
        assert_true(w.log == log);
        lab_free(NULL);
    }
    lab_seed = 0;
}

/* Bytes equal the closed forms if all segments have one size. */
static void the_bytes_of_the_closed_forms(void **state)
{
    (void)state;
    for (unsigned n = 0; n < effort(SHAPES * KINDS * ALGORITHMS); n++) {
        const unsigned number = effort_case(n, SHAPES * KINDS * ALGORITHMS);
        struct ensemble_plan plan = plan_of(number);
        const unsigned players = plan.columns * plan.rows;
        lab_seed = plan.seed;
        plan.scheduled = true;
        plan.elements = (uint64_t)players * 4 * (1 + number % 3);
        const struct hx_collective_model m = {.kind = plan.kind,
                                              .algorithm = plan.algorithm,
                                              .columns = plan.columns,
                                              .rows = plan.rows,
                                              .bytes = (double)plan.elements * sizeof(float)};
        if (play(&plan, 0))
            assert_true(w.bytes == (uint64_t)(hx_model_bytes_sent(&m) + 0.5));
        lab_free(NULL);
    }
    lab_seed = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(sums_are_exact, lab_free),
        cmocka_unit_test_teardown(the_order_of_events_does_not_change_the_sums, lab_free),
        cmocka_unit_test_teardown(the_bytes_of_the_closed_forms, lab_free),
        cmocka_unit_test_teardown(the_schedule_does_not_depend_on_the_data, lab_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
