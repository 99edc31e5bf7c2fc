/* test_collective.c - the collective program at its bounds: configurations, messages, events. */
#include "hxmesh/collective.h"
#include "hxmesh/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct hx_collective_config config_of(enum hx_collective_kind kind, enum hx_collective_algorithm algorithm)
{
    return (struct hx_collective_config){.kind = (uint8_t)kind,
                                         .algorithm = (uint8_t)algorithm,
                                         .bytes = 4096,
                                         .chunk = 64,
                                         .window = 2,
                                         .columns = 4,
                                         .rows = 4};
}

/* ---- configurations ---- */

static void refuses_what_is_out_of_range(void **state)
{
    (void)state;
    const struct hx_collective_config good = config_of(HX_ALL_REDUCE, HX_BY_TORUS);
    assert_int_equal(hx_collective_check(&good), HX_OK);
    struct hx_collective_config bad[14];
    for (unsigned i = 0; i < 14; i++)
        bad[i] = good;
    bad[0].bytes = 4095;
    bad[1].bytes = ((uint64_t)1 << 42) + 4;
    bad[2].chunk = 3;
    bad[3].columns = 0;
    bad[4].rows = 0;
    bad[5].column = 4;
    bad[6].row = 4;
    bad[7].root_column = 4;
    bad[8].root_row = 4;
    bad[9].kind = 4;
    bad[10].algorithm = 4;
    bad[11].window = 0;
    bad[12].window = 33;
    bad[13].columns = bad[13].rows = 1025;
    for (unsigned i = 0; i < 14; i++) {
        struct hx_collective c;
        assert_int_equal(hx_collective_check(&bad[i]), HX_E_RANGE);
        assert_int_equal(hx_collective_init(&c, &bad[i], NULL, NULL), HX_E_RANGE);
    }
}

static void refuses_two_rings_where_there_are_none(void **state)
{
    (void)state;
    static const uint16_t shapes[][3] = {{1, 1, 1}, {1, 2, 0}, {6, 1, 0}, {2, 3, 0}, {5, 2, 0}, {2, 2, 1}, {3, 4, 1}};
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct hx_collective_config config = config_of(HX_ALL_REDUCE, HX_BY_RINGS);
        config.columns = shapes[i][0];
        config.rows = shapes[i][1];
        assert_int_equal(hx_collective_check(&config), shapes[i][2] ? HX_OK : HX_E_RANGE);
    }
}

/* A tag numbers 2^25 messages of a phase. */
static void refuses_more_messages_than_a_tag_can_number(void **state)
{
    (void)state;
    for (unsigned kind = HX_BROADCAST; kind <= HX_ALL_REDUCE; kind++) {
        for (unsigned algorithm = HX_BY_TREE; algorithm <= HX_BY_TORUS; algorithm++) {
            struct hx_collective_config config = config_of(kind, algorithm);
            struct hx_collective c;
            config.bytes = (uint64_t)1 << 36;
            config.chunk = 64;
            assert_int_equal(hx_collective_init(&c, &config, NULL, NULL), HX_E_RANGE);
            config.chunk = 64 * 1024;
            assert_int_equal(hx_collective_init(&c, &config, NULL, NULL), HX_OK);
        }
    }
}

/* In a ring of four each stream carries half of the vector, in segments of a quarter of that. Only the largest
 * segment may need one more message. */
static void messages_are_as_few_as_bytes_need(void **state)
{
    (void)state;
    struct hx_collective_config config = config_of(HX_ALL_REDUCE, HX_BY_RING);
    config.rows = 1;
    for (unsigned more = 0; more < 2; more++) {
        struct hx_collective c;
        config.bytes = 4096 + more * 8;
        assert_int_equal(hx_collective_init(&c, &config, NULL, NULL), HX_OK);
        for (unsigned stream = 0; stream < 2; stream++)
            assert_int_equal(c.part[stream][0].messages, (512 / 64 + more) * 2 * 3);
    }
}

static void state_is_small(void **state)
{
    (void)state;
    assert_true(sizeof(struct hx_collective) <= 2048);
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
    config.column = 1;
    assert_int_equal(hx_collective_staging(&config), 0);
    config.kind = HX_BROADCAST;
    assert_int_equal(hx_collective_staging(&config), 0);
}

static void proposed_chunks_are_whole_packets_within_bounds(void **state)
{
    (void)state;
    for (unsigned shift = 2; shift < 40; shift++) {
        for (unsigned algorithm = HX_BY_TREE; algorithm <= HX_BY_TORUS; algorithm++) {
            for (unsigned planes = 1; planes <= 4; planes++) {
                struct hx_collective_config config = config_of(shift % 4, algorithm);
                config.bytes = (uint64_t)1 << shift;
                uint32_t chunk = hx_collective_chunk(&config, planes);
                assert_int_equal(chunk % 8192, 0);
                assert_in_range(chunk, 16384 * planes, 65536 * planes);
            }
        }
    }
}

/* ---- messages ---- */

static struct hx_collective begun(enum hx_collective_kind kind, enum hx_collective_algorithm algorithm)
{
    const struct hx_collective_config config = config_of(kind, algorithm);
    struct hx_collective c;
    assert_int_equal(hx_collective_init(&c, &config, NULL, NULL), HX_OK);
    return c;
}

/* Two messages of a lane, and a third once the older has arrived. */
static void offers_each_lane_up_to_its_window(void **state)
{
    (void)state;
    struct hx_collective_config config = config_of(HX_ALL_REDUCE, HX_BY_RINGS);
    struct hx_collective c;
    struct hx_collective_send s;
    uint32_t tag[4][2];
    unsigned taken[4] = {0};
    config.chunk = 16;
    assert_int_equal(hx_collective_init(&c, &config, NULL, NULL), HX_OK);
    while (hx_collective_next(&c, 0, &s)) {
        assert_true(s.lane < 4 && taken[s.lane] < 2);
        tag[s.lane][taken[s.lane]++] = s.tag;
        hx_collective_take(&c, &s);
    }
    for (unsigned lane = 0; lane < 4; lane++)
        assert_int_equal(taken[lane], 2);
    assert_int_equal(hx_collective_sent(&c, tag[2][1]), HX_OK);
    assert_false(hx_collective_next(&c, 0, &s));
    assert_int_equal(hx_collective_sent(&c, tag[2][0]), HX_OK);
    assert_true(hx_collective_next(&c, 0, &s));
    assert_int_equal(s.lane, 2);
}

/* No lane goes twice before the others have gone. */
static void offers_lanes_in_turn(void **state)
{
    (void)state;
    struct hx_collective_config config = config_of(HX_ALL_GATHER, HX_BY_TORUS);
    struct hx_collective c;
    struct hx_collective_send s;
    config.chunk = 16;
    assert_int_equal(hx_collective_init(&c, &config, NULL, NULL), HX_OK);
    for (unsigned n = 0; n < 8; n++) {
        assert_true(hx_collective_next(&c, 0, &s));
        assert_int_equal(s.lane, n % 4);
        hx_collective_take(&c, &s);
    }
}

static void refused_messages_are_offered_again(void **state)
{
    (void)state;
    const struct hx_collective c = begun(HX_BROADCAST, HX_BY_TREE);
    struct hx_collective_send first, other, again;
    assert_true(hx_collective_next(&c, 0, &first));
    assert_true(hx_collective_next(&c, (uint32_t)1 << first.lane, &other));
    assert_int_not_equal(first.lane, other.lane);
    assert_false(hx_collective_next(&c, UINT32_MAX, &other));
    assert_true(hx_collective_next(&c, 0, &again));
    assert_int_equal(again.tag, first.tag);
}

/* The player at (0, 0) of two accelerators; *tag: of the first message from its partner. */
static struct hx_collective pair(float *vector, uint32_t *tag)
{
    struct hx_collective_config config = config_of(HX_ALL_REDUCE, HX_BY_RING);
    struct hx_collective c, other;
    struct hx_collective_send s;
    config.columns = 2;
    config.rows = 1;
    config.column = 1;
    assert_int_equal(hx_collective_init(&other, &config, NULL, NULL), HX_OK);
    assert_true(hx_collective_next(&other, 0, &s));
    assert_int_equal(s.gx, 0);
    *tag = s.tag;
    config.column = 0;
    assert_int_equal(hx_collective_init(&c, &config, vector, NULL), HX_OK);
    return c;
}

static void events_without_a_message_change_nothing(void **state)
{
    (void)state;
    uint32_t tag;
    struct hx_collective c = pair(NULL, &tag);
    const struct hx_collective before = c;
    assert_int_equal(hx_collective_sent(&c, tag), HX_E_RANGE);
    assert_int_equal(hx_collective_received(&c, 0, 0, tag), HX_E_RANGE);
    assert_int_equal(hx_collective_received(&c, 1, 1, tag), HX_E_RANGE);
    for (unsigned bit = 25; bit < 32; bit++) {
        if (bit != 25) /* the other direction's message is due too */
            assert_int_equal(hx_collective_received(&c, 1, 0, tag ^ (uint32_t)1 << bit), HX_E_RANGE);
        assert_int_equal(hx_collective_sent(&c, tag ^ (uint32_t)1 << bit), HX_E_RANGE);
    }
    assert_int_equal(hx_collective_received(&c, 1, 0, tag + 1000), HX_E_RANGE);
    assert_memory_equal(&before, &c, sizeof c);
    assert_int_equal(hx_collective_received(&c, 1, 0, tag), HX_OK);
    assert_int_equal(hx_collective_received(&c, 1, 0, tag), HX_E_RANGE);
}

/* ---- acknowledgements ---- */

/* Four players on a two by two torus, and the messages of each in flight, not yet acknowledged. */
enum { SIDE = 2, PLAYERS = SIDE * SIDE, MOST_IN_FLIGHT = 16, EDGES = 32, NUMBERS = 12 };
static struct {
    struct hx_collective c[PLAYERS];
    uint32_t tag[PLAYERS][MOST_IN_FLIGHT];
    unsigned in_flight[PLAYERS];
} game;

static bool is_in_flight(unsigned player, uint32_t tag)
{
    for (unsigned i = 0; i < game.in_flight[player]; i++) {
        if (game.tag[player][i] == tag)
            return true;
    }
    return false;
}

static void play_on(unsigned player)
{
    struct hx_collective_send s;
    while (hx_collective_next(&game.c[player], 0, &s)) {
        assert_true(game.in_flight[player] < MOST_IN_FLIGHT);
        game.tag[player][game.in_flight[player]++] = s.tag;
        hx_collective_take(&game.c[player], &s);
        struct hx_collective *to = &game.c[s.gy * SIDE + s.gx];
        assert_int_equal(hx_collective_received(to, player % SIDE, player / SIDE, s.tag), HX_OK);
    }
}

/* Tries all tags, with numbers somewhat beyond those in use: only those in flight are accepted. The memory behind
 * the player looks like more of its table, so a read beyond would be accepted. */
static void validate_all_tags(unsigned player)
{
    struct {
        struct hx_collective c;
        struct hx_collective_part beyond[EDGES][HX_COLLECTIVE_PHASES];
    } copy;
    for (unsigned i = 0; i < EDGES * HX_COLLECTIVE_PHASES; i++)
        copy.beyond[i / HX_COLLECTIVE_PHASES][i % HX_COLLECTIVE_PHASES] = game.c[player].part[0][0];
    for (uint32_t phase_and_edge = 0; phase_and_edge < 4 * EDGES; phase_and_edge++) {
        for (uint32_t number = 0; number < NUMBERS; number++) {
            copy.c = game.c[player];
            uint32_t tag = phase_and_edge << 25 | number;
            bool due = is_in_flight(player, tag);
            assert_int_equal(hx_collective_sent(&copy.c, tag), due ? HX_OK : HX_E_RANGE);
            assert_int_equal(copy.c.left, game.c[player].left - due);
        }
    }
}

/* Messages are numbered across the phases of a lane: the number behind the last of a phase is not the first of the
 * next. */
static void only_messages_in_flight_are_acknowledged(void **state)
{
    (void)state;
    struct hx_collective_config config = config_of(HX_ALL_REDUCE, HX_BY_TORUS);
    config.columns = config.rows = SIDE;
    config.bytes = 1024;
    memset(&game, 0, sizeof game);
    for (unsigned player = 0; player < PLAYERS; player++) {
        config.column = (uint16_t)(player % SIDE);
        config.row = (uint16_t)(player / SIDE);
        assert_int_equal(hx_collective_init(&game.c[player], &config, NULL, NULL), HX_OK);
    }
    for (bool busy = true; busy;) {
        busy = false;
        for (unsigned player = 0; player < PLAYERS; player++) {
            play_on(player);
            validate_all_tags(player);
        }
        for (unsigned player = 0; player < PLAYERS; player++) {
            if (game.in_flight[player] == 0)
                continue;
            busy = true; /* the latest first: the others are in flight when its lane goes on */
            assert_int_equal(hx_collective_sent(&game.c[player], game.tag[player][--game.in_flight[player]]), HX_OK);
        }
    }
    for (unsigned player = 0; player < PLAYERS; player++)
        assert_true(hx_collective_done(&game.c[player]));
}

/* ---- broadcasts ---- */

/* Four accelerators a ring, 16 messages of 64 bytes a stream on the torus, 32 a stream on its one ring. */
static struct hx_collective_config broadcast_config(enum hx_collective_algorithm algorithm)
{
    struct hx_collective_config config = config_of(HX_BROADCAST, algorithm);
    config.column = 1;
    config.row = 0; /* on the root's row, not in its column */
    return config;
}

/* Level of a stream that reaches this accelerator: on the torus streams 0 and 1 take the root's row first, 2 and 3
 * its column. */
static unsigned level_of(enum hx_collective_algorithm algorithm, unsigned stream)
{
    return algorithm == HX_BY_TORUS && stream >= 2;
}

static void validate_broadcast_tags(enum hx_collective_algorithm algorithm, unsigned streams, unsigned messages)
{
    const struct hx_collective_config config = broadcast_config(algorithm);
    struct hx_collective c;
    assert_int_equal(hx_collective_init(&c, &config, NULL, NULL), HX_OK);
    const struct hx_collective before = c;
    for (unsigned edge = 0; edge < 32; edge++) {
        for (unsigned phase = 0; phase < 4; phase++) {
            uint32_t tag = phase << 30 | edge << 25;
            bool due = edge < streams && phase == level_of(algorithm, edge);
            assert_int_equal(hx_collective_place(&c, tag, 0, NULL, 0), due ? HX_OK : HX_E_RANGE);
            assert_int_equal(hx_collective_place(&c, tag | (messages - 1), 0, NULL, 0), due ? HX_OK : HX_E_RANGE);
            assert_int_equal(hx_collective_place(&c, tag | messages, 0, NULL, 0), HX_E_RANGE);
            assert_int_equal(hx_collective_received(&c, 2, 2, tag), HX_E_RANGE);
            assert_int_equal(hx_collective_sent(&c, tag), HX_E_RANGE);
        }
    }
    assert_memory_equal(&before, &c, sizeof c);
}

static void broadcast_tags_out_of_range_change_nothing(void **state)
{
    (void)state;
    validate_broadcast_tags(HX_BY_TORUS, 4, 16);
    validate_broadcast_tags(HX_BY_RING, 2, 32);
    validate_broadcast_tags(HX_BY_RINGS, 4, 16);
}

/* The root has sent one message on each of its lanes: only those can be acknowledged. */
static void validate_broadcast_acknowledgements(enum hx_collective_algorithm algorithm, unsigned streams,
                                                unsigned levels)
{
    struct hx_collective_config config = broadcast_config(algorithm);
    config.column = 0;
    struct hx_collective c;
    struct hx_collective_send s;
    assert_int_equal(hx_collective_init(&c, &config, NULL, NULL), HX_OK);
    for (unsigned n = 0; n < streams * levels; n++) {
        assert_true(hx_collective_next(&c, 0, &s));
        hx_collective_take(&c, &s);
    }
    for (unsigned edge = 0; edge < 32; edge++) {
        for (unsigned phase = 0; phase < 4; phase++) {
            struct hx_collective copy = c;
            bool sent = edge < streams && phase < levels;
            assert_int_equal(hx_collective_sent(&copy, phase << 30 | edge << 25), sent ? HX_OK : HX_E_RANGE);
            assert_int_equal(hx_collective_sent(&copy, phase << 30 | edge << 25 | 1), HX_E_RANGE);
            assert_int_equal(copy.left, c.left - sent);
        }
    }
}

static void only_sent_broadcasts_are_acknowledged(void **state)
{
    (void)state;
    validate_broadcast_acknowledgements(HX_BY_TORUS, 4, 2);
    validate_broadcast_acknowledgements(HX_BY_RING, 2, 1);
    validate_broadcast_acknowledgements(HX_BY_RINGS, 4, 1);
}

/* ---- trees ---- */

/* Number of phases and edges with a message due first at this accelerator of a tree of 16. */
static void validate_tree_tags(unsigned column, unsigned row, unsigned due)
{
    struct hx_collective_config config = config_of(HX_ALL_REDUCE, HX_BY_TREE);
    struct hx_collective c;
    config.column = (uint16_t)column;
    config.row = (uint16_t)row;
    assert_int_equal(hx_collective_init(&c, &config, NULL, NULL), HX_OK);
    unsigned taken = 0;
    for (uint32_t place = 0; place < 4 * 32; place++)
        taken += hx_collective_place(&c, place << 25, 0, NULL, 0) == HX_OK;
    assert_int_equal(taken, due);
}

static void only_children_and_the_parent_are_accepted(void **state)
{
    (void)state;
    validate_tree_tags(0, 0, 4); /* the root's children */
    validate_tree_tags(3, 3, 1); /* a leaf's parent */
    validate_tree_tags(0, 1, 3); /* two children and a parent */
}

/* The four streams are two cycles, each in both directions. A stream's next accelerator is the previous one of its
 * partner, and the four next ones are the four neighbours. */
static void two_rings_are_walked_in_both_directions(void **state)
{
    (void)state;
    const struct hx_collective_config config = broadcast_config(HX_BY_RINGS);
    struct hx_collective c;
    assert_int_equal(hx_collective_init(&c, &config, NULL, NULL), HX_OK);
    for (unsigned stream = 0; stream < 4; stream++) {
        const struct hx_collective_part *part = &c.part[stream][0];
        const struct hx_collective_part *partner = &c.part[stream ^ 1][0];
        assert_int_equal(part->to_gx, partner->from_gx);
        assert_int_equal(part->to_gy, partner->from_gy);
        for (unsigned other = 0; other < stream; other++)
            assert_false(part->to_gx == c.part[other][0].to_gx && part->to_gy == c.part[other][0].to_gy);
    }
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
    assert_int_equal(hx_collective_place(&c, tag | 3U << 30, 0, payload, 4), HX_E_RANGE);
    assert_int_equal(hx_collective_place(&c, tag, 0, payload, 64), HX_OK);
    assert_int_equal(hx_collective_received(&c, 1, 0, tag), HX_OK);
    assert_int_equal(hx_collective_place(&c, tag, 0, payload, 64), HX_E_RANGE);
    for (unsigned i = 0; i < 1024; i++)
        assert_true(vector[i] == (float)i);
}

static void one_accelerator_is_done_at_once(void **state)
{
    (void)state;
    for (unsigned kind = HX_BROADCAST; kind <= HX_ALL_REDUCE; kind++) {
        for (unsigned algorithm = HX_BY_TREE; algorithm <= HX_BY_TORUS; algorithm++) {
            struct hx_collective_config config = config_of(kind, algorithm);
            struct hx_collective c;
            struct hx_collective_send s;
            config.columns = config.rows = 1;
            assert_int_equal(hx_collective_init(&c, &config, NULL, NULL), HX_OK);
            assert_true(hx_collective_done(&c));
            assert_false(hx_collective_next(&c, 0, &s));
        }
    }
}

/* A size of the paper's large cluster; each accelerator has its own program. */
static void sixteen_thousand_accelerators(void **state)
{
    (void)state;
    for (unsigned kind = HX_BROADCAST; kind <= HX_ALL_REDUCE; kind++) {
        for (unsigned algorithm = HX_BY_TREE; algorithm <= HX_BY_TORUS; algorithm++) {
            struct hx_collective_config config = config_of(kind, algorithm);
            config.columns = config.rows = 128;
            config.bytes = (uint64_t)1 << 32;
            config.chunk = hx_collective_chunk(&config, 1);
            unsigned begin = 0;
            for (unsigned rank = 0; rank < 128 * 128; rank++) {
                struct hx_collective c;
                struct hx_collective_send s;
                config.column = (uint16_t)(rank % 128);
                config.row = (uint16_t)(rank / 128);
                assert_int_equal(hx_collective_init(&c, &config, NULL, NULL), HX_OK);
                begin += hx_collective_next(&c, 0, &s);
            }
            unsigned leaves = 8192;
            bool leaves_first = algorithm == HX_BY_TREE;
            assert_int_equal(begin, kind == HX_BROADCAST ? 1 : leaves_first ? leaves : 128 * 128);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_what_is_out_of_range),
        cmocka_unit_test(broadcast_tags_out_of_range_change_nothing),
        cmocka_unit_test(only_sent_broadcasts_are_acknowledged),
        cmocka_unit_test(only_children_and_the_parent_are_accepted),
        cmocka_unit_test(two_rings_are_walked_in_both_directions),
        cmocka_unit_test(refuses_two_rings_where_there_are_none),
        cmocka_unit_test(refuses_more_messages_than_a_tag_can_number),
        cmocka_unit_test(messages_are_as_few_as_bytes_need),
        cmocka_unit_test(state_is_small),
        cmocka_unit_test(staging_holds_the_most_that_arrives_early),
        cmocka_unit_test(proposed_chunks_are_whole_packets_within_bounds),
        cmocka_unit_test(offers_each_lane_up_to_its_window),
        cmocka_unit_test(offers_lanes_in_turn),
        cmocka_unit_test(refused_messages_are_offered_again),
        cmocka_unit_test(events_without_a_message_change_nothing),
        cmocka_unit_test(only_messages_in_flight_are_acknowledged),
        cmocka_unit_test(payload_outside_a_message_is_not_placed),
        cmocka_unit_test(one_accelerator_is_done_at_once),
        cmocka_unit_test(sixteen_thousand_accelerators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
