/* test_collective_methods.c - the algorithms of collectives against their definitions: partners, trees, amounts,
 * steps. */
#include "collective_parts.h"
#include "hxmesh/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct hx_collective_config config_of(enum hx_collective_kind kind, enum hx_collective_algorithm algorithm,
                                             uint32_t size)
{
    return (struct hx_collective_config){.kind = (uint8_t)kind,
                                         .algorithm = (uint8_t)algorithm,
                                         .bytes = kind == HX_BARRIER ? 0 : (uint64_t)size * 48 * 4,
                                         .chunk = 1 << 20,
                                         .window = 2,
                                         .size = size};
}

static unsigned log2_up(uint32_t n)
{
    unsigned k = 0;
    while ((uint64_t)1 << k < n)
        k++;
    return k;
}

/* ---- swing ---- */

enum { MOST = 1024, WORDS = MOST / 64 };

static struct {
    struct hx_collective_config config;
    uint64_t reached[MOST][WORDS], before[MOST][WORDS]; /* members with a value in a member's sum, a bit each */
} swing;

static unsigned bits_in(const uint64_t *words)
{
    unsigned count = 0;
    for (unsigned i = 0; i < WORDS; i++)
        count += (unsigned)__builtin_popcountll(words[i]);
    return count;
}

/* r(level) = 1 - 2 + 4 - ... */
static int64_t distance_of(unsigned level)
{
    int64_t distance = 0, power = 1;
    for (unsigned i = 0; i <= level; i++, power *= -2)
        distance += power;
    return distance;
}

/* Dimension and level of a step: the dimensions in turn from the first on, without those that have no more levels. */
static unsigned dimension_of(unsigned first, unsigned step, unsigned *level)
{
    const unsigned all = swing.config.dimensions;
    unsigned done[HX_COLLECTIVE_DIMENSIONS] = {0};
    for (unsigned at = first;; at = (at + 1) % all) {
        if (done[at] == log2_up(swing.config.dimension[at].size))
            continue;
        *level = done[at]++;
        if (step-- == 0)
            return at;
    }
}

static uint32_t partner_of(uint32_t position, unsigned stripe, unsigned step)
{
    unsigned level;
    const unsigned dimension = dimension_of(stripe / 2, step, &level);
    uint32_t stride = 1;
    for (unsigned i = 0; i < dimension; i++)
        stride *= swing.config.dimension[i].size;
    const int64_t n = swing.config.dimension[dimension].size;
    const int64_t place = position / stride % n;
    const int64_t towards = (place % 2 == 0) == (stripe % 2 == 0) ? distance_of(level) : -distance_of(level);
    const int64_t other = ((place + towards) % n + n) % n;
    return (uint32_t)(position + (other - place) * stride);
}

static struct hx_step step_of(uint32_t position, unsigned stripe, unsigned step)
{
    struct hx_collective_phase phase;
    struct hx_step s;
    swing.config.position = position;
    hx_plan_phase(&swing.config, stripe, 0, &phase);
    hx_method_of(&phase)->step(&swing.config, &phase, step, &s);
    return s;
}

/* Both ends agree on what goes, and the kept part of the range halves. */
static void validate_shares(uint32_t position, unsigned stripe, unsigned step, const struct hx_step *s)
{
    const uint32_t half = swing.config.size >> (step + 1);
    const struct hx_step other = step_of(s->to, stripe, step);
    assert_true(other.to == position && other.in.first == s->out.first && s->in.first == other.out.first);
    assert_true(s->in.count == half && s->out.count == half);
    assert_int_equal(s->in.first % half, 0);
    assert_int_equal(s->in.first ^ s->out.first, half);
    if (step) {
        const struct hx_step before = step_of(position, stripe, step - 1);
        assert_in_range(s->in.first, before.in.first, before.in.first + half);
        assert_in_range(s->out.first, before.in.first, before.in.first + half);
    }
}

static void validate_swing_step(unsigned stripe, unsigned step)
{
    memcpy(swing.before, swing.reached, sizeof swing.reached);
    for (uint32_t i = 0; i < swing.config.size; i++) {
        const struct hx_step s = step_of(i, stripe, step);
        assert_int_equal(s.to, partner_of(i, stripe, step));
        assert_int_equal(s.from, s.to);
        if (swing.config.algorithm == HX_BY_SWING)
            validate_shares(i, stripe, step, &s);
        for (unsigned word = 0; word < WORDS; word++)
            swing.reached[i][word] |= swing.before[s.to][word];
        assert_int_equal(bits_in(swing.reached[i]), 2U << step); /* no value twice */
    }
}

static void validate_swing(unsigned a, unsigned b, unsigned c, unsigned algorithm)
{
    const uint32_t size[] = {1U << a, 1U << b, 1U << c};
    swing.config = config_of(HX_REDUCE_SCATTER, algorithm, 1U << (a + b + c));
    swing.config.kind = algorithm == HX_BY_SWING ? HX_REDUCE_SCATTER : HX_ALL_REDUCE;
    swing.config.dimensions = c ? 3 : b ? 2 : 1;
    for (unsigned i = 0; i < 3; i++)
        swing.config.dimension[i].size = size[i];
    assert_int_equal(hx_collective_check(&swing.config), HX_OK);
    assert_int_equal(hx_collective_stripes(&swing.config), 2 * swing.config.dimensions);
    for (unsigned stripe = 0; stripe < 2U * swing.config.dimensions; stripe++) {
        memset(swing.reached, 0, sizeof swing.reached);
        for (uint32_t i = 0; i < swing.config.size; i++)
            swing.reached[i][i / 64] = (uint64_t)1 << i % 64;
        assert_int_equal(hx_collective_steps(&swing.config, stripe, 0), a + b + c);
        for (unsigned step = 0; step < a + b + c; step++)
            validate_swing_step(stripe, step);
    }
}

/* De Sensi et al., NSDI'24, on all tori of 2 to 256 ranks, and some of 1,024. */
static void swing_is_that_of_the_paper(void **state)
{
    (void)state;
    for (unsigned algorithm = HX_BY_SWING; algorithm <= HX_BY_SWING_DOUBLING; algorithm++) {
        for (unsigned a = 1; a <= 8; a++)
            for (unsigned b = 0; a + b <= 8; b++)
                for (unsigned c = 0; a + b + c <= 8 && (b || !c); c++)
                    validate_swing(a, b, c, algorithm);
        validate_swing(10, 0, 0, algorithm);
        validate_swing(5, 5, 0, algorithm);
    }
}

/* ---- trees ---- */

static struct {
    uint32_t parent[2048];
    unsigned children[2048];
} tree;

/* Reads the tree of a stripe's broadcast from each member's moves. */
static void read_tree(struct hx_collective_config *config, unsigned stripe)
{
    memset(&tree, 0, sizeof tree);
    for (config->position = 0; config->position < config->size; config->position++) {
        tree.parent[config->position] = UINT32_MAX;
        for (uint32_t step = 0; step < hx_collective_steps(config, stripe, 0); step++) {
            struct hx_collective_move move;
            hx_collective_move(config, stripe, 0, step, &move);
            tree.children[config->position] += move.to != UINT32_MAX;
            if (move.from == UINT32_MAX)
                continue;
            assert_int_equal(tree.parent[config->position], UINT32_MAX);
            tree.parent[config->position] = move.from;
        }
    }
}

static unsigned depth_of(const struct hx_collective_config *config, uint32_t position)
{
    unsigned depth = 0;
    for (; position != config->root; position = tree.parent[position]) {
        assert_true(depth++ < config->size);
        assert_true(tree.parent[position] < config->size);
    }
    return depth;
}

static void validate_two_trees(uint32_t n, uint32_t root)
{
    static uint8_t inner[2048];
    struct hx_collective_config config = config_of(HX_BROADCAST, HX_BY_DOUBLE_TREE, n);
    config.root = root;
    memset(inner, 0, sizeof inner);
    for (unsigned stripe = 0; stripe < 2; stripe++) {
        read_tree(&config, stripe);
        assert_int_equal(tree.parent[root], UINT32_MAX);
        for (uint32_t i = 0; i < n; i++) {
            assert_in_range(tree.children[i], 0, i == root ? 1 : 2);
            assert_in_range(depth_of(&config, i), i != root, log2_up(n) + 1);
            inner[i] = (uint8_t)(inner[i] + (tree.children[i] > 0));
        }
    }
    for (uint32_t i = 0; i < n; i++)
        assert_in_range(inner[i], 0, i == root ? 2 : 1);
}

/* Sanders, Speck, Traeff 2009: an inner node of one tree is a leaf of the other. */
static void two_trees_share_no_inner_node(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 130; n++)
        validate_two_trees(n, n * 7 % n);
    for (uint32_t n = 1; n <= 70; n++)
        validate_two_trees(n, n / 3);
    validate_two_trees(1023, 5);
    validate_two_trees(1024, 1023);
    validate_two_trees(1025, 0);
}

/* Rank v's parent is v without its lowest bit. */
static void a_binomial_tree(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 100; n++) {
        struct hx_collective_config config = config_of(HX_BROADCAST, HX_BY_TREE, n);
        config.root = n / 2;
        read_tree(&config, 0);
        for (uint32_t v = 1; v < n; v++)
            assert_int_equal(tree.parent[(v + config.root) % n], ((v & (v - 1)) + config.root) % n);
    }
}

/* ---- amounts and steps ---- */

struct amount {
    uint64_t sent, received;
    uint32_t steps; /* of the longest stripe */
};

static struct amount amount_of(const struct hx_collective_config *config)
{
    struct amount a = {0, 0, 0};
    for (unsigned stripe = 0; stripe < hx_collective_stripes(config); stripe++) {
        uint32_t all = 0;
        for (unsigned phase = 0; phase < hx_collective_phases(config); phase++) {
            const uint32_t steps = hx_collective_steps(config, stripe, phase);
            for (uint32_t step = 0; step < steps; step++) {
                struct hx_collective_move move;
                hx_collective_move(config, stripe, phase, step, &move);
                a.sent += move.sent;
                a.received += move.received;
            }
            all += steps;
        }
        a.steps = all > a.steps ? all : a.steps;
    }
    return a;
}

/* A reduce-scatter or all-gather of n members sends n - 1 segments, an all-reduce twice that. */
static void validate_amount(struct hx_collective_config config, uint32_t steps)
{
    const uint64_t segments = config.size - 1;
    for (unsigned kind = HX_REDUCE_SCATTER; kind <= HX_ALL_REDUCE; kind++) {
        const unsigned times = kind == HX_ALL_REDUCE ? 2 : 1;
        config.kind = (uint8_t)kind;
        for (config.position = 0; config.position < config.size; config.position += 1 + config.size / 3) {
            const struct amount a = amount_of(&config);
            assert_int_equal(a.sent, times * segments * (config.bytes / config.size));
            assert_int_equal(a.received, a.sent);
            assert_int_equal(a.steps, times * steps);
        }
    }
}

static void members_send_no_more_than_they_must(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 130; n++) {
        validate_amount(config_of(HX_ALL_REDUCE, HX_BY_RING, n), n - 1);
        validate_amount(config_of(HX_ALL_REDUCE, HX_BY_DIRECT, n), n - 1);
        validate_amount(config_of(HX_ALL_REDUCE, HX_BY_PAIRWISE, n), n - 1);
        validate_amount(config_of(HX_ALL_REDUCE, HX_BY_BRUCK, n), log2_up(n));
        if ((n & (n - 1)) == 0) {
            validate_amount(config_of(HX_ALL_REDUCE, HX_BY_HALVING, n), log2_up(n));
            validate_amount(config_of(HX_ALL_REDUCE, HX_BY_SWING, n), log2_up(n));
        }
    }
}

static void hierarchies_send_no_more_than_they_must(void **state)
{
    (void)state;
    static const uint8_t by[] = {HX_BY_RING, HX_BY_HALVING, HX_BY_BRUCK, HX_BY_DIRECT};
    for (unsigned i = 0; i < 4; i++) {
        struct hx_collective_config config = config_of(HX_ALL_REDUCE, HX_BY_HIERARCHY, 3 * 8 * 5);
        bool steps_by_log = by[i] == HX_BY_HALVING || by[i] == HX_BY_BRUCK;
        config.dimensions = 3;
        config.dimension[0] = (struct hx_collective_dimension){3, HX_BY_RING};
        config.dimension[1] = (struct hx_collective_dimension){8, by[i]};
        config.dimension[2] = (struct hx_collective_dimension){5, HX_BY_BRUCK};
        config.stripes = 8;
        validate_amount(config, 2 + (steps_by_log ? 3 : 7) + 3);
    }
    struct hx_collective_config torus = config_of(HX_ALL_REDUCE, HX_BY_TORUS, 4 * 6);
    torus.dimensions = 2;
    torus.dimension[0].size = 4;
    torus.dimension[1].size = 6;
    validate_amount(torus, 3 + 5);
}

/* Whole vectors: log2(n) steps; other numbers of members fold first. */
static void doubling_has_fewest_steps(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= 65; n++) {
        const unsigned levels = log2_up(n + 1) - 1; /* rounded down */
        bool power = (n & (n - 1)) == 0;
        struct hx_collective_config config = config_of(HX_ALL_REDUCE, HX_BY_DOUBLING, n);
        config.position = n - 1;
        const struct amount a = amount_of(&config);
        assert_int_equal(a.steps, levels + (power ? 0 : 2));
        if (power)
            assert_int_equal(a.sent, levels * config.bytes);
        config.algorithm = HX_BY_HALVING;
        assert_int_equal(amount_of(&config).steps, 2 * levels + (power ? 0 : 2));
    }
}

/* The circulant graph of any number of members: widths halve, rounded up. */
static void bruck_goes_as_far_as_the_widths_say(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= 300; n++) {
        struct hx_collective_config config = config_of(HX_REDUCE_SCATTER, HX_BY_BRUCK, n);
        config.position = n / 3;
        uint32_t wide = n;
        for (uint32_t step = 0; step < hx_collective_steps(&config, 0, 0); step++) {
            struct hx_collective_move move;
            const uint32_t next = wide - wide / 2;
            hx_collective_move(&config, 0, 0, step, &move);
            assert_int_equal(move.to, (config.position + next) % n);
            assert_int_equal(move.from, (config.position + n - next) % n);
            assert_int_equal(move.sent, (uint64_t)(wide - next) * 48 * 4);
            wide = next;
        }
        assert_int_equal(wide, 1);
    }
}

/* The four stripes of two rings are two cycles, each in both directions: a stripe's next member is the one before of
 * its partner, and the four next ones differ. */
static void two_rings_are_walked_in_both_directions(void **state)
{
    (void)state;
    struct hx_collective_config config = config_of(HX_ALL_REDUCE, HX_BY_RINGS, 16);
    config.dimensions = 2;
    config.dimension[0].size = config.dimension[1].size = 4;
    for (config.position = 0; config.position < 16; config.position++) {
        struct hx_collective_move move[4];
        for (unsigned stripe = 0; stripe < 4; stripe++)
            hx_collective_move(&config, stripe, 0, 0, &move[stripe]);
        for (unsigned stripe = 0; stripe < 4; stripe++) {
            assert_int_equal(move[stripe].to, move[stripe ^ 1].from);
            for (unsigned other = 0; other < stripe; other++)
                assert_int_not_equal(move[stripe].to, move[other].to);
        }
    }
}

/* Powers of two exchange with one member a step, others send and receive around. */
static void pairwise_has_one_peer_a_step(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= 33; n++) {
        struct hx_collective_config config = config_of(HX_COLLECTIVE_ALL_TO_ALL, HX_BY_PAIRWISE, n);
        config.position = n / 2;
        for (uint32_t step = 0; step + 1 < n; step++) {
            struct hx_collective_move move;
            hx_collective_move(&config, 0, 0, step, &move);
            if ((n & (n - 1)) == 0)
                assert_true(move.to == (config.position ^ (step + 1)) && move.from == move.to);
            else
                assert_true(move.to == (config.position + step + 1) % n &&
                            move.from == (config.position + n - step - 1) % n);
            assert_int_equal(move.waits, step > 0);
        }
    }
}

/* As an algorithm, and as the second dimension of a hierarchy. */
static void streams_of_rings_go_opposite_ways(void **state)
{
    (void)state;
    for (uint32_t n = 3; n <= 9; n++) {
        struct hx_collective_config ring = config_of(HX_ALL_REDUCE, HX_BY_RING, n);
        struct hx_collective_config rings = config_of(HX_ALL_REDUCE, HX_BY_HIERARCHY, n * n);
        rings.dimensions = 2;
        rings.dimension[0] = rings.dimension[1] = (struct hx_collective_dimension){n, HX_BY_RING};
        ring.position = 1;
        rings.position = n + 1;
        for (unsigned i = 0; i < 2; i++) {
            struct hx_collective_config *config = i ? &rings : &ring;
            unsigned ways[2] = {0};
            config->stripes = i ? 8 : 2;
            assert_int_equal(hx_collective_check(config), HX_OK);
            for (unsigned stripe = 0; stripe < hx_collective_stripes(config); stripe++) {
                struct hx_collective_move move;
                hx_collective_move(config, stripe, 0, 0, &move);
                assert_int_equal(move.to + move.from, 2 * config->position);
                ways[move.to > move.from]++;
            }
            assert_true(ways[0] == ways[1] && ways[0] > 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(swing_is_that_of_the_paper),
        cmocka_unit_test(two_trees_share_no_inner_node),
        cmocka_unit_test(a_binomial_tree),
        cmocka_unit_test(members_send_no_more_than_they_must),
        cmocka_unit_test(hierarchies_send_no_more_than_they_must),
        cmocka_unit_test(doubling_has_fewest_steps),
        cmocka_unit_test(bruck_goes_as_far_as_the_widths_say),
        cmocka_unit_test(two_rings_are_walked_in_both_directions),
        cmocka_unit_test(pairwise_has_one_peer_a_step),
        cmocka_unit_test(streams_of_rings_go_opposite_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
