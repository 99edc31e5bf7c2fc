/* test_collective.c - the collective program at its bounds: configurations, messages, events. */
#include "collective_parts.h"
#include "hxmesh/collective.h"
#include "hxmesh/error.h"
#include "tests/support/support_lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* A group of 16, on a grid of 4 x 4. */
static struct hx_collective_config config_of(enum hx_collective_kind kind, enum hx_collective_algorithm algorithm)
{
    return (struct hx_collective_config){.kind = (uint8_t)kind,
                                         .algorithm = (uint8_t)algorithm,
                                         .bytes = kind == HX_BARRIER ? 0 : 4096,
                                         .chunk = 64,
                                         .window = 2,
                                         .size = 16,
                                         .dimensions = 2,
                                         .dimension = {{4, HX_BY_RING}, {4, HX_BY_RING}}};
}

static struct hx_collective_config line_of(enum hx_collective_kind kind, enum hx_collective_algorithm algorithm,
                                           uint32_t size)
{
    struct hx_collective_config config = config_of(kind, algorithm);
    config.size = size;
    config.dimensions = 0;
    return config;
}

static struct hx_collective begin(const struct hx_collective_config *config, void *vector, void *staging)
{
    struct hx_collective c;
    assert_int_equal(hx_collective_check(config), HX_OK);
    void *state = lab_memory(hx_collective_state(config));
    assert_int_equal(hx_collective_init(&c, config, state, vector, staging), HX_OK);
    return c;
}

/* ---- configurations ---- */

static void validate_check(struct hx_collective_config config, int expected)
{
    struct hx_collective c;
    assert_int_equal(hx_collective_check(&config), expected);
    if (expected != HX_OK)
        assert_int_equal(hx_collective_init(&c, &config, NULL, NULL, NULL), HX_E_RANGE);
}

/* A good config, and the same with one field changed. */
#define REFUSES(good, field, value)                                                                                    \
    do {                                                                                                               \
        struct hx_collective_config bad_ = (good);                                                                     \
        validate_check(bad_, HX_OK);                                                                                   \
        bad_.field = (value);                                                                                          \
        validate_check(bad_, HX_E_RANGE);                                                                              \
    } while (0)
#define ACCEPTS(good, field, value)                                                                                    \
    do {                                                                                                               \
        struct hx_collective_config bound_ = (good);                                                                   \
        bound_.field = (value);                                                                                        \
        validate_check(bound_, HX_OK);                                                                                 \
    } while (0)

static void refuses_what_is_out_of_range(void **state)
{
    (void)state;
    const struct hx_collective_config grid = config_of(HX_ALL_REDUCE, HX_BY_TORUS);
    const struct hx_collective_config layers = config_of(HX_ALL_REDUCE, HX_BY_HIERARCHY);
    struct hx_collective_config large = grid;
    large.chunk = 1 << 24;
    ACCEPTS(large, bytes, (uint64_t)1 << 42);
    REFUSES(large, bytes, ((uint64_t)1 << 42) + 4);
    REFUSES(grid, bytes, 4095);
    ACCEPTS(grid, chunk, 4);
    REFUSES(grid, chunk, 3);
    ACCEPTS(grid, position, 15);
    REFUSES(grid, position, 16);
    ACCEPTS(grid, root, 15);
    REFUSES(grid, root, 16);
    REFUSES(grid, kind, HX_COLLECTIVE_KINDS);
    REFUSES(grid, algorithm, HX_COLLECTIVE_ALGORITHMS);
    REFUSES(grid, type, HX_COLLECTIVE_TYPES);
    REFUSES(grid, operation, HX_COLLECTIVE_OPERATIONS);
    REFUSES(grid, window, 0);
    ACCEPTS(grid, window, 32);
    REFUSES(grid, window, 33);
    ACCEPTS(layers, stripes, 32);
    REFUSES(layers, stripes, 33);
    REFUSES(config_of(HX_BARRIER, HX_BY_TREE), bytes, 4);
}

static void refuses_groups_that_do_not_exist(void **state)
{
    (void)state;
    const struct hx_collective_config grid = config_of(HX_ALL_REDUCE, HX_BY_TORUS);
    const struct hx_collective_config line = line_of(HX_ALL_REDUCE, HX_BY_TREE, 16);
    struct hx_collective_config deep = config_of(HX_ALL_REDUCE, HX_BY_HIERARCHY);
    REFUSES(line, size, 0);
    ACCEPTS(line, size, HX_COLLECTIVE_MOST_RANKS);
    REFUSES(line, size, HX_COLLECTIVE_MOST_RANKS + 1);
    REFUSES(grid, dimension[0].size, 3);
    REFUSES(grid, dimension[1].size, 8);
    REFUSES(grid, dimension[1].size, 0);
    for (unsigned i = 2; i < HX_COLLECTIVE_DIMENSIONS; i++)
        deep.dimension[i] = (struct hx_collective_dimension){1, HX_BY_RING};
    ACCEPTS(deep, dimensions, HX_COLLECTIVE_DIMENSIONS);
    REFUSES(deep, dimensions, HX_COLLECTIVE_DIMENSIONS + 1);
    /* products that are 16 modulo 2^32 and 2^64 */
    deep.dimensions = 4;
    deep.dimension[0].size = 16;
    deep.dimension[1].size = deep.dimension[2].size = 1U << 31;
    deep.dimension[3].size = 4;
    validate_check(deep, HX_E_RANGE);
    deep.dimension[0].size = 0x80000001U;
    deep.dimension[1].size = 16;
    deep.dimension[2].size = deep.dimension[3].size = 1;
    validate_check(deep, HX_E_RANGE);
}

static void refuses_groups_that_an_algorithm_does_not_have(void **state)
{
    (void)state;
    struct hx_collective_config cube = config_of(HX_ALL_REDUCE, HX_BY_TORUS);
    cube.dimension[2] = (struct hx_collective_dimension){1, HX_BY_RING};
    REFUSES(cube, dimensions, 3);
    cube.algorithm = HX_BY_RINGS;
    REFUSES(cube, dimensions, 3);
    const struct hx_collective_config layers = config_of(HX_ALL_REDUCE, HX_BY_HIERARCHY);
    for (unsigned by = 0; by < 256; by++) {
        bool known = by == HX_BY_RING || by == HX_BY_HALVING || by == HX_BY_BRUCK || by == HX_BY_DIRECT;
        struct hx_collective_config config = layers;
        config.dimension[1].algorithm = (uint8_t)by;
        validate_check(config, known ? HX_OK : HX_E_RANGE);
    }
    struct hx_collective_config three = layers;
    three.size = 12;
    three.dimension[1].size = 3;
    REFUSES(three, dimension[1].algorithm, HX_BY_HALVING);
    ACCEPTS(three, dimension[0].algorithm, HX_BY_HALVING);
    three.dimension[0].size = 12;
    three.dimension[1].size = 1;
    for (unsigned by = HX_BY_SWING; by <= HX_BY_SWING_DOUBLING; by++)
        REFUSES(config_of(HX_ALL_REDUCE, by), size, 12);
    three.algorithm = HX_BY_SWING;
    validate_check(three, HX_E_RANGE);
    ACCEPTS(line_of(HX_ALL_REDUCE, HX_BY_HALVING, 16), size, 12);
    REFUSES(line_of(HX_REDUCE_SCATTER, HX_BY_HALVING, 16), size, 12);
}

static void refuses_two_rings_where_there_are_none(void **state)
{
    (void)state;
    static const uint16_t shapes[][3] = {{1, 1, 1}, {1, 2, 0}, {6, 1, 0}, {2, 3, 0}, {5, 2, 0}, {2, 2, 1}, {3, 4, 1}};
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct hx_collective_config config = config_of(HX_ALL_REDUCE, HX_BY_RINGS);
        config.dimension[0].size = shapes[i][0];
        config.dimension[1].size = shapes[i][1];
        config.size = (uint32_t)shapes[i][0] * shapes[i][1];
        validate_check(config, shapes[i][2] ? HX_OK : HX_E_RANGE);
    }
}

/* ---- tags ---- */

static bool has_kind(const struct hx_collective_config *config)
{
    struct hx_collective_config small = *config;
    small.bytes = 0;
    return hx_collective_check(&small) == HX_OK;
}

static void refuses_more_messages_than_a_tag_can_number(void **state)
{
    (void)state;
    for (unsigned kind = HX_BROADCAST; kind < HX_BARRIER; kind++) {
        for (unsigned algorithm = 0; algorithm < HX_COLLECTIVE_ALGORITHMS; algorithm++) {
            struct hx_collective_config config = config_of(kind, algorithm);
            if (!has_kind(&config))
                continue;
            config.bytes = (uint64_t)1 << 42;
            validate_check(config, HX_E_RANGE);
            config.chunk = 1 << 24;
            validate_check(config, HX_OK);
        }
    }
}

/* Messages of one queue are numbered with 32 bits; their number has to fit too. */
static void counts_messages_with_32_bits(void **state)
{
    (void)state;
    const uint64_t all = (uint64_t)1 << 32;
    struct hx_collective_config chain = line_of(HX_BROADCAST, HX_BY_CHAIN, 2);
    chain.type = HX_INT8;
    chain.chunk = 1;
    chain.bytes = all - 2;
    REFUSES(chain, bytes, all - 1);
    REFUSES(chain, bytes, all);
    /* a queue of 2 (n - 1) steps */
    struct hx_collective_config ring = line_of(HX_ALL_REDUCE, HX_BY_HIERARCHY, 3);
    ring.type = HX_INT8;
    ring.chunk = ring.stripes = 1;
    ring.bytes = 3 * (all / 4 - 1);
    REFUSES(ring, bytes, 3 * (all / 4));
    ring = line_of(HX_REDUCE_SCATTER, HX_BY_HIERARCHY, 2);
    ring.type = HX_INT8;
    ring.chunk = ring.stripes = 1;
    ring.bytes = 2 * (all - 2);
    REFUSES(ring, bytes, 8 * all);
    /* two queues leave 31 bits */
    struct hx_collective_config two = line_of(HX_ALL_REDUCE, HX_BY_RING, 2);
    two.type = HX_INT8;
    two.chunk = 1;
    two.bytes = all;
    REFUSES(two, bytes, all + 4);
}

static void each_message_has_a_tag_of_its_own(void **state)
{
    (void)state;
    for (unsigned algorithm = 0; algorithm < HX_COLLECTIVE_ALGORITHMS; algorithm++) {
        const struct hx_collective_config config = config_of(HX_ALL_REDUCE, algorithm);
        const struct hx_collective c = begin(&config, NULL, NULL);
        struct hx_message m;
        uint32_t queues = 0;
        for (uint32_t phase = 0; phase < 1U << c.phase_bits; phase++) {
            for (uint32_t queue = 0; queue < 1U << c.queue_bits; queue++) {
                bool exists = phase < (uint32_t)c.stripes * c.phases && queue < hx_queues_of(&c.phase[phase]);
                assert_int_equal(hx_tag_find(&c, hx_tag_of(&c, phase, queue, 3), &m), exists);
                if (!exists)
                    continue;
                assert_ptr_equal(m.queue, &c.queue[queues++]);
                assert_int_equal(m.number, 3);
            }
        }
        assert_int_equal(queues, c.queues);
    }
}

/* In a ring of four each stripe carries half of the vector, in segments of a quarter of that. Only the largest
 * segment may need one more message. */
static void messages_are_as_few_as_bytes_need(void **state)
{
    (void)state;
    struct hx_collective_config config = line_of(HX_ALL_REDUCE, HX_BY_RING, 4);
    for (unsigned more = 0; more < 2; more++) {
        config.bytes = 4096 + more * 8;
        const struct hx_collective c = begin(&config, NULL, NULL);
        const unsigned stripes = 2, steps = 6, directions = 2;
        assert_int_equal(c.left, (512 / 64 + more) * steps * stripes * directions);
    }
}

/* ---- memory ---- */

/* A struct of 1,264 bytes held these four. */
static void state_is_small(void **state)
{
    (void)state;
    for (unsigned algorithm = HX_BY_TREE; algorithm <= HX_BY_TORUS; algorithm++) {
        for (uint32_t side = 4; side <= 256; side *= 4) {
            struct hx_collective_config config = config_of(HX_ALL_REDUCE, algorithm);
            config.size = side * side;
            config.dimension[0].size = config.dimension[1].size = side;
            assert_in_range(hx_collective_state(&config) + sizeof(struct hx_collective), 1, 1264 * 11 / 10);
        }
    }
}

static void staging_holds_the_most_that_arrives_early(void **state)
{
    (void)state;
    struct hx_collective_config config = config_of(HX_ALL_REDUCE, HX_BY_TORUS);
    assert_int_equal(hx_collective_staging(&config), 4096 / 4);
    config.kind = HX_ALL_GATHER;
    assert_int_equal(hx_collective_staging(&config), 0);
    config = config_of(HX_ALL_REDUCE, HX_BY_RINGS);
    assert_int_equal(hx_collective_staging(&config), 0);
    config = config_of(HX_REDUCE_SCATTER, HX_BY_TREE);
    assert_int_equal(hx_collective_staging(&config), 3 * 4096); /* the root has four children */
    config.position = 1;
    assert_int_equal(hx_collective_staging(&config), 0);
    config.kind = HX_BROADCAST;
    assert_int_equal(hx_collective_staging(&config), 0);
    config = config_of(HX_ALL_REDUCE, HX_BY_DOUBLING);
    assert_int_equal(hx_collective_staging(&config), 4 * 4096); /* a vector a step */
    config = config_of(HX_COLLECTIVE_ALL_TO_ALL, HX_BY_DIRECT);
    assert_int_equal(hx_collective_staging(&config), 4096);
}

static void proposed_chunks_are_whole_packets_within_bounds(void **state)
{
    (void)state;
    for (unsigned shift = 2; shift < 40; shift++) {
        for (unsigned algorithm = 0; algorithm < HX_COLLECTIVE_ALGORITHMS; algorithm++) {
            for (unsigned planes = 1; planes <= 4; planes++) {
                struct hx_collective_config config = config_of(HX_ALL_REDUCE, algorithm);
                config.bytes = (uint64_t)1 << shift;
                uint32_t chunk = hx_collective_chunk(&config, planes);
                assert_int_equal(chunk % 8192, 0);
                bool one_peer = algorithm == HX_BY_HALVING || algorithm == HX_BY_DOUBLING || algorithm == HX_BY_BRUCK ||
                                algorithm == HX_BY_HIERARCHY;
                assert_in_range(chunk, 16384 * planes, (one_peer ? 131072 : 65536) * planes);
            }
        }
    }
}

/* Nothing is read beyond a message: an empty one has no bytes. */
static void a_message_has_no_bytes_beyond_it(void **state)
{
    (void)state;
    struct hx_collective_config config = config_of(HX_ALL_REDUCE, HX_BY_RING);
    struct hx_collective_send s;
    uint8_t read[8] = {0};
    config.bytes = 0;
    const struct hx_collective c = begin(&config, read, read);
    assert_true(hx_collective_next(&c, 0, &s));
    assert_int_equal(s.bytes, 0);
    read[0] = 7;
    hx_collective_fill(&c, s.tag, 0, read, 4);
    assert_int_equal(read[0], 7);
}

/* Messages of a chunk of several packets are whole packets but for the last of a range. */
static void large_messages_are_whole_packets(void **state)
{
    (void)state;
    for (unsigned type = 0; type < HX_COLLECTIVE_TYPES; type++) {
        struct hx_collective_config config = line_of(HX_BROADCAST, HX_BY_CHAIN, 2);
        struct hx_collective_send s;
        config.type = (uint8_t)type;
        config.bytes = 100000;
        config.chunk = 30000;
        config.window = 32;
        struct hx_collective c = begin(&config, NULL, NULL);
        uint64_t bytes = 0;
        while (hx_collective_next(&c, 0, &s)) {
            assert_true(s.bytes % 8192 == 0 || bytes + s.bytes == 100000);
            assert_in_range(s.bytes, 1, 30000);
            bytes += s.bytes;
            hx_collective_take(&c, &s);
        }
        assert_int_equal(bytes, 100000);
    }
}

/* ---- messages ---- */

/* Two messages of a queue, and a third when the older has arrived. */
static void offers_each_queue_up_to_its_window(void **state)
{
    (void)state;
    struct hx_collective_config config = config_of(HX_ALL_REDUCE, HX_BY_RINGS);
    struct hx_collective_send s;
    uint32_t tag[4][2];
    unsigned taken[4] = {0};
    config.chunk = 16;
    struct hx_collective c = begin(&config, NULL, NULL);
    while (hx_collective_next(&c, 0, &s)) {
        assert_true(s.queue < 4 && taken[s.queue] < 2);
        tag[s.queue][taken[s.queue]++] = s.tag;
        hx_collective_take(&c, &s);
    }
    for (unsigned queue = 0; queue < 4; queue++)
        assert_int_equal(taken[queue], 2);
    assert_int_equal(hx_collective_sent(&c, tag[2][1]), HX_OK);
    assert_false(hx_collective_next(&c, 0, &s));
    assert_int_equal(hx_collective_sent(&c, tag[2][0]), HX_OK);
    assert_true(hx_collective_next(&c, 0, &s));
    assert_int_equal(s.queue, 2);
}

/* No stripe goes twice before the others have gone. */
static void offers_streams_in_turn(void **state)
{
    (void)state;
    struct hx_collective_config config = config_of(HX_ALL_GATHER, HX_BY_TORUS);
    struct hx_collective_send s;
    config.chunk = 16;
    struct hx_collective c = begin(&config, NULL, NULL);
    for (unsigned n = 0; n < 8; n++) {
        assert_true(hx_collective_next(&c, 0, &s));
        assert_int_equal(s.queue, n % 4);
        hx_collective_take(&c, &s);
    }
}

/* A direct one goes on to the next peer before it sends a second message to the first one. */
static void offers_peers_in_turn(void **state)
{
    (void)state;
    const struct hx_collective_config config = config_of(HX_REDUCE_SCATTER, HX_BY_DIRECT);
    struct hx_collective c = begin(&config, NULL, NULL);
    struct hx_collective_send s;
    for (unsigned n = 0; n < 30; n++) {
        assert_true(hx_collective_next(&c, 0, &s));
        assert_int_equal(s.to, n % 15 + 1);
        hx_collective_take(&c, &s);
    }
    assert_false(hx_collective_next(&c, 0, &s));
}

static void refused_messages_are_offered_again(void **state)
{
    (void)state;
    const struct hx_collective_config config = config_of(HX_BROADCAST, HX_BY_TREE);
    const struct hx_collective c = begin(&config, NULL, NULL);
    struct hx_collective_send first, other, again;
    assert_true(hx_collective_next(&c, 0, &first));
    assert_true(hx_collective_next(&c, (uint32_t)1 << first.queue, &other));
    assert_int_not_equal(first.queue, other.queue);
    assert_int_not_equal(first.to, other.to);
    assert_false(hx_collective_next(&c, UINT32_MAX, &other));
    assert_true(hx_collective_next(&c, 0, &again));
    assert_int_equal(again.tag, first.tag);
}

/* Position 0 of two ranks; *tag: of the first message from its partner. */
static struct hx_collective pair(float *vector, uint32_t *tag)
{
    struct hx_collective_config config = line_of(HX_ALL_REDUCE, HX_BY_RING, 2);
    struct hx_collective_send s;
    config.position = 1;
    const struct hx_collective other = begin(&config, NULL, NULL);
    assert_true(hx_collective_next(&other, 0, &s));
    assert_int_equal(s.to, 0);
    *tag = s.tag;
    config.position = 0;
    return begin(&config, vector, NULL);
}

static void events_without_a_message_change_nothing(void **state)
{
    (void)state;
    uint32_t tag;
    struct hx_collective c = pair(NULL, &tag);
    const uint64_t bytes = hx_collective_state(&c.config);
    uint8_t before[1024];
    assert_true(bytes <= sizeof before);
    memcpy(before, c.phase, bytes);
    const struct hx_collective same = c;
    assert_int_equal(hx_collective_sent(&c, tag), HX_E_RANGE);
    assert_int_equal(hx_collective_received(&c, 0, tag), HX_E_RANGE);
    assert_int_equal(hx_collective_received(&c, 2, tag), HX_E_RANGE);
    assert_int_equal(hx_collective_received(&c, HX_NO_PEER, tag), HX_E_RANGE);
    assert_int_equal(hx_collective_received(&c, 1, tag + 1000), HX_E_RANGE);
    for (unsigned bit = 8; bit < 32; bit++) {
        if (bit != 31) /* the other direction's message is due too */
            assert_int_equal(hx_collective_received(&c, 1, tag ^ (uint32_t)1 << bit), HX_E_RANGE);
        assert_int_equal(hx_collective_sent(&c, tag ^ (uint32_t)1 << bit), HX_E_RANGE);
    }
    assert_memory_equal(&same, &c, sizeof c);
    assert_memory_equal(before, c.phase, bytes);
    assert_int_equal(hx_collective_received(&c, 1, tag), HX_OK);
    assert_int_equal(hx_collective_received(&c, 1, tag), HX_E_RANGE);
    assert_int_equal(c.left, same.left - 1);
}

static void payload_outside_a_message_is_not_placed(void **state)
{
    (void)state;
    static float vector[1024];
    static const uint8_t payload[128];
    uint32_t tag;
    struct hx_collective c = pair(vector, &tag);
    for (unsigned i = 0; i < 1024; i++)
        vector[i] = (float)i;
    assert_int_equal(hx_collective_place(&c, tag, 0, payload, 68), HX_E_RANGE);
    assert_int_equal(hx_collective_place(&c, tag, 64, payload, 4), HX_E_RANGE);
    assert_int_equal(hx_collective_place(&c, tag, UINT64_MAX - 3, payload, 4), HX_E_RANGE);
    assert_int_equal(hx_collective_place(&c, tag, 2, payload, 4), HX_E_RANGE);
    assert_int_equal(hx_collective_place(&c, tag, 0, payload, 6), HX_E_RANGE);
    assert_int_equal(hx_collective_place(&c, tag | 1U << 30, 0, payload, 4), HX_E_RANGE);
    assert_int_equal(hx_collective_place(&c, tag, 64, payload, 0), HX_OK);
    assert_int_equal(hx_collective_place(&c, tag, 0, payload, 64), HX_OK);
    assert_int_equal(hx_collective_received(&c, 1, tag), HX_OK);
    assert_int_equal(hx_collective_place(&c, tag, 0, payload, 64), HX_E_RANGE);
    for (unsigned i = 0; i < 1024; i++)
        assert_true(vector[i] == (float)i);
}

/* A leaf of a tree receives nothing from below, and the root nothing from above. */
static void only_children_and_the_parent_are_accepted(void **state)
{
    (void)state;
    static const unsigned due[][2] = {{0, 4}, {15, 1}, {4, 3}}; /* position; children and parent */
    for (unsigned i = 0; i < 3; i++) {
        struct hx_collective_config config = config_of(HX_ALL_REDUCE, HX_BY_TREE);
        unsigned taken = 0;
        config.position = due[i][0];
        struct hx_collective c = begin(&config, NULL, NULL);
        for (uint32_t queue = 0; queue < 1U << c.queue_bits; queue++)
            taken += hx_collective_place(&c, hx_tag_of(&c, 0, queue, 0), 0, NULL, 0) == HX_OK;
        assert_int_equal(taken, due[i][1]);
    }
}

static void one_rank_is_done_at_once(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < HX_COLLECTIVE_KINDS; kind++) {
        for (unsigned algorithm = 0; algorithm < HX_COLLECTIVE_ALGORITHMS; algorithm++) {
            struct hx_collective_config config = line_of(kind, algorithm, 1);
            struct hx_collective_send s;
            uint32_t tag;
            if (!has_kind(&config))
                continue;
            const struct hx_collective c = begin(&config, NULL, NULL);
            assert_true(hx_collective_done(&c));
            assert_false(hx_collective_next(&c, 0, &s));
            assert_int_equal(hx_collective_arriving(&c, 0, 0, &tag), HX_E_RANGE);
        }
    }
}

/* A size of the paper's large cluster. */
static void sixteen_thousand_ranks(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < HX_COLLECTIVE_KINDS; kind++) {
        for (unsigned algorithm = 0; algorithm < HX_COLLECTIVE_ALGORITHMS; algorithm++) {
            struct hx_collective_config config = config_of(kind, algorithm);
            if (!has_kind(&config))
                continue;
            config.dimension[0].size = config.dimension[1].size = 128;
            config.size = 128 * 128;
            config.bytes = kind == HX_BARRIER ? 0 : (uint64_t)1 << 32;
            config.chunk = hx_collective_chunk(&config, 1);
            for (config.position = 0; config.position < config.size; config.position += 8191) {
                const struct hx_collective c = begin(&config, NULL, NULL);
                assert_true(c.left > 0 && hx_collective_peers(&config) > 0);
                assert_true(hx_collective_peers(&config) < config.size);
            }
            lab_free(NULL);
        }
    }
}

/* ---- exchange with a size for each pair ---- */

static void refuses_tables_that_are_not_of_segments(void **state)
{
    (void)state;
    const uint64_t out[] = {0, 10, 10, 64}, in[] = {0, 7, 7, 61}; /* the own segment, 2, has 54 elements in both */
    const uint64_t descending[] = {0, 11, 10, 64}, beyond[] = {0, 10, 11, 65}, larger[] = {0, 7, 7, 62};
    const uint64_t huge[] = {0, 1, ((uint64_t)1 << 40) + 1, ((uint64_t)1 << 40) + 55};
    struct hx_collective_config config = line_of(HX_COLLECTIVE_ALL_TO_ALL, HX_BY_DIRECT, 3);
    config.bytes = 64 * 4;
    config.position = 2;
    validate_check(config, HX_E_RANGE); /* 64 elements are no multiple of 3 */
    config.outgoing = out;
    config.incoming = in;
    REFUSES(config, outgoing, NULL);
    REFUSES(config, incoming, NULL);
    REFUSES(config, outgoing, descending);
    REFUSES(config, incoming, descending);
    REFUSES(config, outgoing, beyond);
    REFUSES(config, incoming, larger);
    REFUSES(config, incoming, huge);
    assert_int_equal(hx_collective_staging(&config), 61 * 4);
}

/* ---- a play in which every message arrives at once ---- */

enum { MOST_PLAYERS = 16, MOST_IN_FLIGHT = 4096, MOST_STEPS = 64, MOST_PARTS = 32 };

struct tally {
    uint64_t sent, received;
};

static struct {
    unsigned n;
    struct hx_collective c[MOST_PLAYERS];
    uint32_t tag[MOST_PLAYERS][MOST_IN_FLIGHT];
    unsigned in_flight[MOST_PLAYERS];
    struct tally tally[MOST_PLAYERS][MOST_PARTS][MOST_STEPS];
} game;

static struct tally *tally_of(unsigned player, const struct hx_message *m)
{
    const unsigned phase = (unsigned)(m->phase - game.c[player].phase);
    assert_true(phase < MOST_PARTS && m->step < MOST_STEPS);
    return &game.tally[player][phase][m->step];
}

static void game_begin(struct hx_collective_config config)
{
    memset(&game, 0, sizeof game);
    game.n = config.size;
    for (config.position = 0; config.position < game.n; config.position++)
        game.c[config.position] = begin(&config, NULL, NULL);
}

static void deliver(unsigned from, const struct hx_collective_send *s)
{
    struct hx_message m;
    assert_true(hx_tag_find(&game.c[from], s->tag, &m));
    tally_of(from, &m)->sent += s->bytes;
    assert_true(hx_tag_find(&game.c[s->to], s->tag, &m));
    tally_of(s->to, &m)->received += s->bytes;
    assert_int_equal(hx_collective_received(&game.c[s->to], from, s->tag), HX_OK);
}

static void play_on(unsigned player)
{
    struct hx_collective_send s;
    while (hx_collective_next(&game.c[player], 0, &s)) {
        assert_true(game.in_flight[player] < MOST_IN_FLIGHT);
        game.tag[player][game.in_flight[player]++] = s.tag;
        hx_collective_take(&game.c[player], &s);
        deliver(player, &s);
    }
}

/* Acknowledges the latest message first: the others are in flight when its queue goes on. */
static void play_to_the_end(void (*between)(unsigned player))
{
    for (bool busy = true; busy;) {
        busy = false;
        for (unsigned player = 0; player < game.n; player++) {
            play_on(player);
            if (between)
                between(player);
        }
        for (unsigned player = 0; player < game.n; player++) {
            if (game.in_flight[player] == 0)
                continue;
            busy = true;
            assert_int_equal(hx_collective_sent(&game.c[player], game.tag[player][--game.in_flight[player]]), HX_OK);
        }
    }
    for (unsigned player = 0; player < game.n; player++)
        assert_true(hx_collective_done(&game.c[player]));
}

static bool is_in_flight(unsigned player, uint32_t tag)
{
    for (unsigned i = 0; i < game.in_flight[player]; i++) {
        if (game.tag[player][i] == tag)
            return true;
    }
    return false;
}

/* Tries tags of all queues, with numbers somewhat beyond those in use. */
static void validate_all_tags(unsigned player)
{
    static uint8_t saved[4096];
    const struct hx_collective *c = &game.c[player];
    const uint64_t bytes = hx_collective_state(&c->config);
    assert_true(bytes <= sizeof saved);
    memcpy(saved, c->phase, bytes);
    for (uint32_t queue = 0; queue < 1U << (c->phase_bits + c->queue_bits); queue++) {
        for (uint32_t number = 0; number < 20; number++) {
            struct hx_collective copy = *c;
            const uint32_t tag = hx_tag_of(c, 0, queue, number); /* parts too: their bits are above */
            bool due = is_in_flight(player, tag);
            assert_int_equal(hx_collective_sent(&copy, tag), due ? HX_OK : HX_E_RANGE);
            assert_int_equal(copy.left, c->left - due);
            if (!due)
                assert_memory_equal(saved, c->phase, bytes);
            memcpy(c->phase, saved, bytes);
        }
    }
}

static void only_messages_in_flight_are_acknowledged(void **state)
{
    (void)state;
    static const uint8_t by[] = {HX_BY_TREE, HX_BY_TORUS, HX_BY_RINGS, HX_BY_HALVING, HX_BY_DIRECT, HX_BY_DOUBLE_TREE};
    for (unsigned i = 0; i < sizeof by; i++) {
        struct hx_collective_config config = config_of(HX_ALL_REDUCE, by[i]);
        config.size = 4;
        config.dimension[0].size = config.dimension[1].size = 2;
        config.bytes = 1024;
        game_begin(config);
        play_to_the_end(validate_all_tags);
    }
}

/* ---- estimates ---- */

static void validate_moves(unsigned player)
{
    const struct hx_collective *c = &game.c[player];
    const unsigned phases = hx_collective_phases(&c->config);
    assert_int_equal(c->phases, phases);
    for (unsigned phase = 0; phase < hx_collective_stripes(&c->config) * phases; phase++) {
        const uint32_t steps = hx_collective_steps(&c->config, phase / phases, phase % phases);
        assert_int_equal(steps, c->phase[phase].steps);
        for (uint32_t step = 0; step < steps; step++) {
            struct hx_collective_move move;
            const struct tally *done = &game.tally[player][phase][step];
            hx_collective_move(&c->config, phase / phases, phase % phases, step, &move);
            assert_int_equal(move.sent, done->sent);
            assert_int_equal(move.received, done->received);
            assert_true(move.to != UINT32_MAX || move.sent == 0);
            assert_true(move.from != UINT32_MAX || move.received == 0);
            assert_true(move.to == UINT32_MAX || (move.to < game.n && move.to != player));
            assert_false(move.waits && move.forwards);
        }
    }
}

/* What is sent in a step is what its peer receives in it. */
static void estimates_agree_with_what_is_sent(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < HX_COLLECTIVE_KINDS; kind++) {
        for (unsigned algorithm = 0; algorithm < HX_COLLECTIVE_ALGORITHMS; algorithm++) {
            struct hx_collective_config config = config_of(kind, algorithm);
            config.root = 5;
            if (!has_kind(&config))
                continue;
            config.bytes += kind == HX_BARRIER ? 0 : 64;
            game_begin(config);
            play_to_the_end(NULL);
            for (unsigned player = 0; player < game.n; player++)
                validate_moves(player);
            lab_free(NULL);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_what_is_out_of_range),
        cmocka_unit_test(refuses_groups_that_do_not_exist),
        cmocka_unit_test(refuses_groups_that_an_algorithm_does_not_have),
        cmocka_unit_test(refuses_two_rings_where_there_are_none),
        cmocka_unit_test(refuses_more_messages_than_a_tag_can_number),
        cmocka_unit_test(counts_messages_with_32_bits),
        cmocka_unit_test(refuses_tables_that_are_not_of_segments),
        cmocka_unit_test_teardown(each_message_has_a_tag_of_its_own, lab_free),
        cmocka_unit_test_teardown(messages_are_as_few_as_bytes_need, lab_free),
        cmocka_unit_test(state_is_small),
        cmocka_unit_test(staging_holds_the_most_that_arrives_early),
        cmocka_unit_test(proposed_chunks_are_whole_packets_within_bounds),
        cmocka_unit_test_teardown(a_message_has_no_bytes_beyond_it, lab_free),
        cmocka_unit_test_teardown(large_messages_are_whole_packets, lab_free),
        cmocka_unit_test_teardown(offers_each_queue_up_to_its_window, lab_free),
        cmocka_unit_test_teardown(offers_streams_in_turn, lab_free),
        cmocka_unit_test_teardown(offers_peers_in_turn, lab_free),
        cmocka_unit_test_teardown(refused_messages_are_offered_again, lab_free),
        cmocka_unit_test_teardown(events_without_a_message_change_nothing, lab_free),
        cmocka_unit_test_teardown(payload_outside_a_message_is_not_placed, lab_free),
        cmocka_unit_test_teardown(only_children_and_the_parent_are_accepted, lab_free),
        cmocka_unit_test_teardown(one_rank_is_done_at_once, lab_free),
        cmocka_unit_test_teardown(sixteen_thousand_ranks, lab_free),
        cmocka_unit_test_teardown(only_messages_in_flight_are_acknowledged, lab_free),
        cmocka_unit_test_teardown(estimates_agree_with_what_is_sent, lab_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
