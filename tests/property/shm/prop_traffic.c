/* prop_traffic.c - the patterns of traffic are what they claim, on many shapes, with jobs and failed boards, by seed.
 *
 * The test works out by itself who is alive, who is of whose job and who is whose neighbour. HX_SEED chooses other
 * jobs, failures and seeds of the traffic. */
#include "fabric-emu/live/fabric.h"
#include "fabric-emu/workload/traffic.h"
#include "tests/support/support_random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { COUNT = 3, MOST = 256 /* accelerators */ };

/* What a test runs on: a shape, perhaps cut into jobs, perhaps with failed boards. */
struct ground {
    struct fab_fabric f;
    unsigned n; /* accelerators */
    bool alive[MOST];
    unsigned job[MOST];
    uint64_t seed;
};

static const char *const shapes[] = {"1x1 Hx1Mesh",  "2x1 Hx1Mesh",  "1x1 Hx4Mesh", "3x3 Hx1Mesh", "4x4 Hx2Mesh",
                                     "3x2 H2x4Mesh", "5x3 H3x1Mesh", "2x2 Hx4Mesh", "7x1 H1x2Mesh"};
enum { SHAPES = sizeof shapes / sizeof *shapes, KINDS = 4 /* whole, failures, jobs, both */ };

static struct ground ground; /* open while the_test_runs */
static bool open;

/* ---- ground ---- */

static void close_ground(void)
{
    if (open)
        fab_destroy(&ground.f);
    open = false;
}

/* Boards fail, and belong to jobs 0 .. 2, at random. */
static void spoil(struct hx_spec *spec, bool failures, bool jobs, uint64_t *random)
{
    unsigned boards = hx_spec_boards(spec);
    if (failures)
        spec->failed = hx_allocate(boards, sizeof *spec->failed);
    if (jobs)
        spec->job = hx_allocate(boards, sizeof *spec->job);
    for (unsigned board = 0; board < boards; board++) {
        if (failures)
            spec->failed[board] = seeded_below(random, 4) == 0;
        if (jobs)
            spec->job[board] = (uint16_t)(seeded_below(random, 3) * 1000);
    }
}

static void open_ground(const char *shape, unsigned kind)
{
    close_ground();
    struct ground *g = &ground;
    *g = (struct ground){.seed = seeded_by(1) * 100 + kind};
    uint64_t random = g->seed;
    struct hx_spec spec;
    hx_spec_load(shape, NULL, &spec);
    spoil(&spec, kind & 1, kind & 2, &random);
    unsigned a = spec.a;
    unsigned b = spec.b;
    unsigned x = spec.x;
    g->n = spec.a * spec.b * spec.x * spec.y;
    assert_true(g->n <= MOST);
    for (unsigned rank = 0; rank < g->n; rank++) {
        unsigned board = rank / (a * x) / b * x + rank % (a * x) / a;
        g->alive[rank] = !spec.failed || !spec.failed[board];
        g->job[rank] = spec.job ? spec.job[board] : 0;
    }
    char name[64];
    (void)snprintf(name, sizeof name, "traffic-%ld", (long)getpid());
    fab_create(&g->f, &spec, &(struct fab_options){.workers = 1, .name = name});
    open = true;
}

/* Calls `test` on every shape, whole and spoilt. */
static void on_every_ground(void (*test)(const struct ground *g))
{
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        for (unsigned kind = 0; kind < KINDS; kind++) {
            open_ground(shapes[shape], kind);
            test(&ground);
        }
    }
    close_ground();
}

static int close_after_failure(void **state)
{
    (void)state;
    if (open)
        print_message("at %s, HX_SEED=%llu\n", ground.f.spec.fabric, (unsigned long long)seeded_by(1));
    close_ground();
    return 0;
}

static bool may_talk(const struct ground *g, unsigned from, unsigned to)
{
    return from != to && g->alive[from] && g->alive[to] && g->job[from] == g->job[to];
}

/* Others that one may talk to. */
static unsigned others(const struct ground *g, unsigned rank)
{
    unsigned sum = 0;
    for (unsigned to = 0; to < g->n; to++)
        sum += may_talk(g, rank, to);
    return sum;
}

static struct hx_settings settings_of(enum hx_pattern pattern, uint64_t seed)
{
    struct hx_settings s = hx_default_settings;
    s.pattern = pattern;
    s.count = COUNT;
    s.seed = seed;
    return s;
}

static struct traffic traffic_of(const struct ground *g, enum hx_pattern pattern, uint64_t seed, unsigned target)
{
    struct hx_settings s = settings_of(pattern, seed);
    struct hx_coordinate at = hx_address_of(g->f.g, target);
    s.target = (struct hx_coordinates){1, {{at.d0, at.d1}}};
    struct traffic t;
    traffic_init(&t, &g->f.spec, g->f.g, &s, NULL);
    return t;
}

/* ---- every pattern ---- */

static void stays_in_its_job(const struct ground *g)
{
    for (unsigned pattern = 0; pattern < HX_PATTERNS; pattern++) {
        struct traffic t = traffic_of(g, pattern, g->seed, g->n / 2);
        for (unsigned rank = 0; rank < g->n; rank++) {
            uint64_t messages = traffic_messages(&t, rank);
            assert_true(g->alive[rank] || messages == 0);
            assert_true(messages % COUNT == 0);
            for (uint64_t m = 0; m < messages; m++)
                assert_true(may_talk(g, rank, traffic_destination(&t, rank, m)));
        }
        traffic_free(&t);
    }
}

static void every_pattern_stays_in_its_job(void **state)
{
    (void)state;
    on_every_ground(stays_in_its_job);
}

static void lasts_for_a_duration(const struct ground *g)
{
    for (unsigned pattern = 0; pattern < HX_PATTERNS; pattern++) {
        struct traffic counted = traffic_of(g, pattern, g->seed, 0);
        struct hx_settings s = settings_of(pattern, g->seed);
        s.duration_ns = 1;
        struct traffic timed;
        traffic_init(&timed, &g->f.spec, g->f.g, &s, NULL);
        for (unsigned rank = 0; rank < g->n; rank++) {
            uint64_t messages = traffic_messages(&counted, rank);
            assert_true(traffic_messages(&timed, rank) == (messages ? UINT64_MAX : 0));
            for (uint64_t m = 0; m < messages; m++)
                assert_int_equal(traffic_destination(&timed, rank, m), traffic_destination(&counted, rank, m));
        }
        traffic_free(&timed);
        traffic_free(&counted);
    }
}

static void a_duration_has_no_end_of_messages(void **state)
{
    (void)state;
    on_every_ground(lasts_for_a_duration);
}

/* Destinations of the first messages of all, folded into one number. */
static uint64_t fingerprint(const struct ground *g, enum hx_pattern pattern, uint64_t seed)
{
    struct traffic t = traffic_of(g, pattern, seed, 0);
    uint64_t print = 0;
    for (unsigned rank = 0; rank < g->n; rank++) {
        for (uint64_t m = 0; m < traffic_messages(&t, rank); m++)
            print = (print ^ traffic_destination(&t, rank, m)) * UINT64_C(1099511628211);
    }
    traffic_free(&t);
    return print;
}

static void the_seed_decides(void **state)
{
    (void)state;
    open_ground("4x4 Hx2Mesh", 0);
    for (unsigned pattern = 0; pattern < HX_PATTERNS; pattern++) {
        bool is_random = pattern == HX_ALL_TO_ALL_RANDOM || pattern == HX_UNIFORM || pattern == HX_PERMUTATION ||
                         pattern == HX_BISECTION || pattern == HX_HOTSPOT || pattern == HX_WORST_CASE;
        uint64_t first = fingerprint(&ground, pattern, 1);
        assert_true(first == fingerprint(&ground, pattern, 1));
        for (uint64_t seed = 2; seed < 12; seed++)
            assert_true((fingerprint(&ground, pattern, seed) == first) == !is_random);
    }
    close_ground();
}

/* ---- all to all ---- */

/* Each of `times` rounds over all others: everyone once. */
static void is_everyone_once(const struct ground *g, const struct traffic *t, unsigned rank, unsigned times)
{
    unsigned expected = others(g, rank);
    assert_true(traffic_messages(t, rank) == (uint64_t)expected * COUNT);
    for (unsigned time = 0; time < times; time++) {
        bool seen[MOST] = {false};
        for (unsigned m = 0; m < expected; m++) {
            uint32_t to = traffic_destination(t, rank, (uint64_t)time * expected + m);
            assert_true(may_talk(g, rank, to));
            assert_false(seen[to]);
            seen[to] = true;
        }
    }
}

static void shifts_in_rounds(const struct ground *g)
{
    struct traffic t = traffic_of(g, HX_ALL_TO_ALL, g->seed, 0);
    for (unsigned rank = 0; rank < g->n; rank++) {
        if (g->alive[rank])
            is_everyone_once(g, &t, rank, COUNT);
    }
    /* In a round nobody is sent to twice: that is what makes the shift balanced. */
    for (unsigned round = 0; round < 2 * g->n; round++) {
        bool taken[MOST] = {false};
        for (unsigned rank = 0; rank < g->n; rank++) {
            if (others(g, rank) == 0)
                continue;
            uint32_t to = traffic_destination(&t, rank, round);
            assert_false(taken[to]);
            taken[to] = true;
        }
    }
    traffic_free(&t);
}

static void all_to_all_shifts(void **state)
{
    (void)state;
    on_every_ground(shifts_in_rounds);
}

static void visits_in_random_order(const struct ground *g)
{
    struct traffic t = traffic_of(g, HX_ALL_TO_ALL_RANDOM, g->seed, 0);
    for (unsigned rank = 0; rank < g->n; rank++) {
        if (g->alive[rank])
            is_everyone_once(g, &t, rank, COUNT);
    }
    traffic_free(&t);
}

/* How often two sources, or two times of one, are at the same step from their own place. */
static unsigned alike(const struct traffic *t, unsigned n, unsigned rank, unsigned other, unsigned time)
{
    unsigned same = 0;
    for (unsigned m = 0; m < n - 1; m++) {
        unsigned from = t->place[rank];
        unsigned from_other = t->place[other];
        unsigned step = (t->place[traffic_destination(t, rank, m)] + n - from) % n;
        unsigned step_other =
            (t->place[traffic_destination(t, other, (uint64_t)time * (n - 1) + m)] + n - from_other) % n;
        same += step == step_other;
    }
    return same;
}

static void all_to_all_in_an_order_of_its_own(void **state)
{
    (void)state;
    on_every_ground(visits_in_random_order);
    open_ground("4x4 Hx2Mesh", 0);
    struct traffic t = traffic_of(&ground, HX_ALL_TO_ALL_RANDOM, ground.seed, 0);
    for (unsigned rank = 0; rank + 1 < ground.n; rank++) {
        assert_true(alike(&t, ground.n, rank, rank + 1, 0) < ground.n / 4);
        assert_true(alike(&t, ground.n, rank, rank, 1) < ground.n / 4);
    }
    traffic_free(&t);
    close_ground();
}

/* ---- uniform ---- */

static void uniform_leaves_nobody_out(void **state)
{
    (void)state;
    enum { DRAWS = 400 };
    open_ground("3x2 Hx2Mesh", 0);
    struct traffic t = traffic_of(&ground, HX_UNIFORM, ground.seed, 0);
    unsigned hits[MOST] = {0};
    for (unsigned rank = 0; rank < ground.n; rank++) {
        unsigned own[MOST] = {0};
        for (uint64_t m = 0; m < (uint64_t)DRAWS * (ground.n - 1); m++) {
            uint32_t to = traffic_destination(&t, rank, m);
            own[to]++;
            hits[to]++;
        }
        for (unsigned to = 0; to < ground.n; to++) /* mean 400, standard deviation below 20 */
            assert_true(to == rank ? own[to] == 0 : own[to] > DRAWS - 120 && own[to] < DRAWS + 120);
    }
    for (unsigned to = 0; to < ground.n; to++) /* mean 9200, standard deviation below 96 */
        assert_true(hits[to] > 23 * DRAWS - 600 && hits[to] < 23 * DRAWS + 600);
    traffic_free(&t);
    close_ground();
}

/* ---- partners ---- */

static void is_one_to_one(const struct ground *g)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct traffic t = traffic_of(g, HX_PERMUTATION, seed, 0);
        bool taken[MOST] = {false};
        for (unsigned rank = 0; rank < g->n; rank++) {
            bool sends = g->alive[rank] && others(g, rank);
            assert_true(traffic_messages(&t, rank) == (sends ? COUNT : 0));
            if (!sends)
                continue;
            uint32_t to = traffic_destination(&t, rank, 0);
            assert_int_not_equal(to, rank);
            assert_false(taken[to]);
            taken[to] = true;
            for (uint64_t m = 1; m < 10; m++)
                assert_int_equal(traffic_destination(&t, rank, m), to);
        }
        traffic_free(&t);
    }
}

static void permutation_is_one_to_one_without_fixed_points(void **state)
{
    (void)state;
    on_every_ground(is_one_to_one);
}

/* How many of its job lie west of it, or in its column north of it. */
static unsigned westerners(const struct ground *g, unsigned rank)
{
    unsigned columns = g->f.spec.a * g->f.spec.x;
    unsigned sum = 0;
    for (unsigned other = 0; other < g->n; other++) {
        bool west = other % columns < rank % columns || (other % columns == rank % columns && other < rank);
        sum += west && may_talk(g, rank, other);
    }
    return sum;
}

static void pairs_the_halves(const struct ground *g)
{
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct traffic t = traffic_of(g, HX_BISECTION, seed, 0);
        for (unsigned rank = 0; rank < g->n; rank++) {
            unsigned members = others(g, rank) + 1;
            unsigned at = westerners(g, rank);
            bool west = at < members / 2;
            bool east = at >= members - members / 2;
            bool sends = g->alive[rank] && (west || east);
            assert_true(traffic_messages(&t, rank) == (sends ? COUNT : 0));
            if (!sends)
                continue;
            uint32_t to = traffic_destination(&t, rank, 0);
            unsigned partner_at = westerners(g, to);
            assert_true(west ? partner_at >= members - members / 2 : partner_at < members / 2);
            assert_int_equal(traffic_destination(&t, to, 0), rank);
            assert_int_equal(traffic_destination(&t, rank, 7), to);
        }
        traffic_free(&t);
    }
}

static void bisection_pairs_the_halves(void **state)
{
    (void)state;
    on_every_ground(pairs_the_halves);
}

/* ---- neighbours, incast ---- */

static void is_the_torus(const struct ground *g)
{
    struct traffic t = traffic_of(g, HX_NEIGHBOUR, g->seed, 0);
    unsigned columns = g->f.spec.a * g->f.spec.x;
    unsigned rows = g->n / columns;
    for (unsigned rank = 0; rank < g->n; rank++) {
        unsigned row = rank / columns;
        unsigned column = rank % columns;
        const unsigned torus[4] = {row * columns + (column + 1) % columns,
                                   row * columns + (column + columns - 1) % columns,
                                   (row + 1) % rows * columns + column, (row + rows - 1) % rows * columns + column};
        int due[MOST] = {0};
        unsigned sum = 0;
        for (unsigned i = 0; i < 4; i++) {
            due[torus[i]] += may_talk(g, rank, torus[i]);
            sum += may_talk(g, rank, torus[i]);
        }
        assert_true(traffic_messages(&t, rank) == (uint64_t)sum * COUNT);
        for (unsigned time = 0; time < COUNT; time++) {
            int left[MOST];
            memcpy(left, due, sizeof left);
            for (unsigned m = 0; m < sum; m++)
                assert_true(left[traffic_destination(&t, rank, time * sum + m)]-- > 0);
        }
    }
    traffic_free(&t);
}

static void neighbours_are_those_of_the_torus(void **state)
{
    (void)state;
    on_every_ground(is_the_torus);
}

static void all_meet_at_one(const struct ground *g)
{
    for (unsigned target = 0; target < g->n; target++) {
        struct traffic t = traffic_of(g, HX_INCAST, g->seed, target);
        for (unsigned rank = 0; rank < g->n; rank++) {
            bool sends = may_talk(g, rank, target);
            assert_true(traffic_messages(&t, rank) == (sends ? COUNT : 0));
            if (sends)
                assert_int_equal(traffic_destination(&t, rank, target), target);
        }
        traffic_free(&t);
    }
}

static void incast_meets_at_one(void **state)
{
    (void)state;
    on_every_ground(all_meet_at_one);
}

/* ---- on the grid of a job ---- */

/* The columns and rows in which a job has boards, alive or not, as the test finds them. */
struct sides {
    unsigned columns, rows;
    unsigned gx[MOST], gy[MOST];
};

static struct sides sides_of(const struct ground *g, unsigned job)
{
    struct sides s = {0};
    unsigned columns = g->f.spec.a * g->f.spec.x;
    bool has_column[MOST] = {false};
    bool has_row[MOST] = {false};
    for (unsigned rank = 0; rank < g->n; rank++) {
        has_column[rank % columns] |= g->job[rank] == job;
        has_row[rank / columns] |= g->job[rank] == job;
    }
    for (unsigned i = 0; i < MOST; i++) {
        if (has_column[i])
            s.gx[s.columns++] = i;
        if (has_row[i])
            s.gy[s.rows++] = i;
    }
    return s;
}

static unsigned index_of(const unsigned *list, unsigned what)
{
    unsigned i = 0;
    while (list[i] != what)
        i++;
    return i;
}

/* Bits of the numbers below n, which is a power of two; 0: it is none. */
static unsigned bits_of(unsigned n)
{
    unsigned bits = 0;
    while (1U << bits < n)
        bits++;
    return 1U << bits == n ? bits : 0;
}

/* Where (column, row) sends, as the book says it, place by place. */
static void place_to(unsigned pattern, const struct sides *s, unsigned column, unsigned row, unsigned to[2])
{
    unsigned number = row * s->columns + column;
    unsigned goes = number;
    to[0] = (column + (s->columns + 1) / 2 - 1) % s->columns;
    to[1] = (row + (s->rows + 1) / 2 - 1) % s->rows;
    if (pattern == HX_TORNADO)
        return;
    if (pattern == HX_TRANSPOSE) {
        /* The element's place in the transposed matrix: count the elements before it, column by column. */
        goes = 0;
        for (unsigned c = 0; c < s->columns; c++)
            for (unsigned r = 0; r < s->rows; r++)
                goes += c < column || (c == column && r < row);
    } else {
        unsigned bits = bits_of(s->columns * s->rows);
        for (unsigned bit = 0; bit < bits; bit++)
            goes = (goes & ~(1U << bit)) | (number >> (bits - 1 - bit) & 1U) << bit;
    }
    to[0] = goes % s->columns;
    to[1] = goes / s->columns;
}

static void is_as_the_book_says(const struct ground *g)
{
    unsigned columns = g->f.spec.a * g->f.spec.x;
    for (unsigned pattern = HX_TORNADO; pattern <= HX_BIT_REVERSE; pattern++) {
        struct traffic t = traffic_of(g, pattern, g->seed, 0);
        bool taken[MOST] = {false};
        for (unsigned rank = 0; rank < g->n; rank++) {
            struct sides s = sides_of(g, g->job[rank]);
            unsigned to[2];
            place_to(pattern, &s, index_of(s.gx, rank % columns), index_of(s.gy, rank / columns), to);
            unsigned partner = s.gy[to[1]] * columns + s.gx[to[0]];
            bool sends = may_talk(g, rank, partner);
            assert_true(traffic_messages(&t, rank) == (sends ? COUNT : 0));
            if (!sends)
                continue;
            assert_int_equal(traffic_destination(&t, rank, 1), partner);
            assert_false(taken[partner]); /* a permutation */
            taken[partner] = true;
        }
        traffic_free(&t);
    }
}

static void the_patterns_of_the_book(void **state)
{
    (void)state;
    on_every_ground(is_as_the_book_says);
}

static void a_square_is_transposed(void **state)
{
    (void)state;
    open_ground("4x4 Hx2Mesh", 0);
    struct traffic t = traffic_of(&ground, HX_TRANSPOSE, 1, 0);
    for (unsigned gy = 0; gy < 8; gy++)
        for (unsigned gx = 0; gx < 8; gx++)
            if (gx != gy)
                assert_int_equal(traffic_destination(&t, gy * 8 + gx, 0), gx * 8 + gy);
    traffic_free(&t);
    close_ground();
}

static void what_has_no_sense_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *fabric;
        unsigned pattern;
        const char *what; /* NULL: good */
    } cases[] = {
        {"3x3 Hx1Mesh", HX_BIT_REVERSE,
         "bit-reverse needs a power of two of accelerators, 4 or more, and 3x3 Hx1Mesh is a grid of 3 x 3 (permutation "
         "or "
         "uniform go on any)"},
        {"1x1 Hx2Mesh", HX_TORNADO,
         "tornado goes nowhere on sides below 3, and 1x1 Hx2Mesh is a grid of 2 x 2 (permutation or uniform go on "
         "any)"},
        {"4x1 Hx1Mesh", HX_TRANSPOSE,
         "transpose goes nowhere in a single line, and 4x1 Hx1Mesh is a grid of 4 x 1 (permutation or uniform go on "
         "any)"},
        {"4x2 Hx2Mesh", HX_BIT_REVERSE, NULL},
        {"3x3 Hx1Mesh", HX_TORNADO, NULL},
        {"3x2 Hx1Mesh", HX_TRANSPOSE, NULL},
        {"3x3 Hx1Mesh", HX_UNIFORM, NULL},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hx_spec spec;
        hx_spec_load(cases[i].fabric, NULL, &spec);
        const struct hx_fabric *g = hx_spec_fabric(&spec);
        const struct hx_settings s = settings_of(cases[i].pattern, 1);
        struct hx_problem problem;
        assert_true(traffic_check(&spec, g, &s, &problem) == !cases[i].what);
        if (cases[i].what)
            assert_string_equal(problem.what, cases[i].what);
        hx_spec_free(&spec);
    }
}

/* ---- hotspots ---- */

enum { DRAWN = 4000 };

/* A share of what may go to a target goes there, to each alike; the rest goes to anybody. */
static void two_are_hot(const struct ground *g)
{
    struct hx_settings s = settings_of(HX_HOTSPOT, g->seed);
    struct hx_coordinate last = hx_address_of(g->f.g, g->n - 1);
    s.target = (struct hx_coordinates){2, {{0, 0}, {last.d0, last.d1}}};
    s.hotspot = 0.4;
    s.count = DRAWN;
    struct traffic t;
    traffic_init(&t, &g->f.spec, g->f.g, &s, NULL);
    for (unsigned rank = 0; rank < g->n; rank += g->n / 4 + 1) {
        unsigned n = others(g, rank);
        unsigned mine = g->n == 1 ? 0 : may_talk(g, rank, 0) + may_talk(g, rank, g->n - 1);
        unsigned met[MOST] = {0};
        for (unsigned m = 0; n && m < DRAWN; m++)
            met[traffic_destination(&t, rank, m)]++;
        for (unsigned to = 0; n && to < g->n; to++) {
            if (!may_talk(g, rank, to))
                continue;
            double hot = mine ? 0.4 : 0;
            double expected = (1 - hot) / n + (to == 0 || to == g->n - 1 ? hot / mine : 0);
            double spread = 5 * sqrt(expected * (1 - expected) / DRAWN);
            assert_true(fabs((double)met[to] / DRAWN - expected) <= spread + 1e-9);
        }
    }
    traffic_free(&t);
}

static void hotspots_have_their_share(void **state)
{
    (void)state;
    on_every_ground(two_are_hot);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_teardown(function, close_after_failure)
    const struct CMUnitTest tests[] = {
        TEST(every_pattern_stays_in_its_job),
        TEST(a_duration_has_no_end_of_messages),
        TEST(the_seed_decides),
        TEST(all_to_all_shifts),
        TEST(all_to_all_in_an_order_of_its_own),
        TEST(uniform_leaves_nobody_out),
        TEST(permutation_is_one_to_one_without_fixed_points),
        TEST(bisection_pairs_the_halves),
        TEST(neighbours_are_those_of_the_torus),
        TEST(incast_meets_at_one),
        TEST(the_patterns_of_the_book),
        TEST(a_square_is_transposed),
        TEST(what_has_no_sense_is_refused),
        TEST(hotspots_have_their_share),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
