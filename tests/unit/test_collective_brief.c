/* test_collective_brief.c - brief tags of collectives name the message with the window full and in any order
 * (hx_collective_brief). */
#include "hxmesh/collective.h"
#include "hxmesh/error.h"
#include "tests/support/support_lab.h"
#include "tests/support/support_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SIDE = 4, MEMBERS = SIDE * SIDE, MOST_FLYING = 1 << 15 };

struct letter {
    unsigned from, to;
    uint32_t tag;
    bool received;
};

struct world {
    struct hx_collective c[MEMBERS];
    struct letter letter[MOST_FLYING];
    unsigned flying, most;
    uint64_t random;
};

static void send_all(struct world *w, unsigned from)
{
    struct hx_collective_send send;
    while (hx_collective_next(&w->c[from], 0, &send)) {
        assert_true(w->flying < MOST_FLYING);
        w->letter[w->flying++] = (struct letter){from, send.to, send.tag, false};
        hx_collective_take(&w->c[from], &send);
    }
    w->most = w->flying > w->most ? w->flying : w->most;
}

/* Two messages in flight to, or due from, one member have different brief tags. */
static void validate_that_it_is_the_only_one(const struct world *w, const struct letter *it, uint32_t brief)
{
    unsigned others = 0;
    for (unsigned i = 0; i < w->flying; i++) {
        const struct letter *l = &w->letter[i];
        if (l->from == it->from && l->to == it->to && (it->received || !l->received) && l->tag != it->tag)
            others += hx_collective_brief(&w->c[l->from], l->tag) == brief;
    }
    assert_int_equal(others, 0);
}

/* A message arrives, or its acknowledgement; both know only its brief tag. */
static void step(struct world *w)
{
    unsigned index = seeded_below(&w->random, w->flying);
    struct letter *l = &w->letter[index];
    const struct letter it = *l;
    const uint32_t brief = hx_collective_brief(&w->c[it.from], it.tag);
    uint32_t tag;
    int found = it.received ? hx_collective_leaving(&w->c[it.from], it.to, brief, &tag)
                            : hx_collective_arriving(&w->c[it.to], it.from, brief, &tag);
    assert_int_equal(found, HX_OK);
    assert_int_equal(tag, it.tag);
    assert_true(brief < 1U << HX_COLLECTIVE_BRIEF_BITS);
    if (seeded_below(&w->random, 8) == 0)
        validate_that_it_is_the_only_one(w, &it, brief);
    if (it.received) {
        *l = w->letter[--w->flying];
        assert_int_equal(hx_collective_sent(&w->c[it.from], tag), HX_OK);
        send_all(w, it.from);
    } else {
        l->received = true;
        assert_int_equal(hx_collective_received(&w->c[it.to], it.from, tag), HX_OK);
        send_all(w, it.to);
    }
}

static struct hx_collective_config config_of(unsigned kind, unsigned algorithm)
{
    return (struct hx_collective_config){.kind = (uint8_t)kind,
                                         .algorithm = (uint8_t)algorithm,
                                         .bytes = kind == HX_BARRIER ? 0 : 8192,
                                         .chunk = 16,
                                         .window = HX_COLLECTIVE_BRIEF_WINDOW,
                                         .size = MEMBERS,
                                         .root = 6,
                                         .dimensions = 2,
                                         .dimension = {{SIDE, HX_BY_BRUCK}, {SIDE, HX_BY_DIRECT}}};
}

static void run(struct world *w, unsigned kind, unsigned algorithm)
{
    struct hx_collective_config config = config_of(kind, algorithm);
    w->flying = w->most = 0;
    w->random = 1 + kind * 7 + algorithm;
    if (hx_collective_check(&config) != HX_OK)
        return;
    for (config.position = 0; config.position < MEMBERS; config.position++)
        assert_int_equal(
            hx_collective_init(&w->c[config.position], &config, lab_memory(hx_collective_state(&config)), NULL, NULL),
            HX_OK);
    for (unsigned i = 0; i < MEMBERS; i++)
        send_all(w, i);
    while (w->flying)
        step(w);
    for (unsigned i = 0; i < MEMBERS; i++)
        assert_true(hx_collective_done(&w->c[i]));
    assert_true(kind == HX_BARRIER || w->most >= HX_COLLECTIVE_BRIEF_WINDOW);
    lab_free(NULL);
}

static void brief_tags_name_messages_of_every_kind(void **state)
{
    (void)state;
    struct world *w = calloc(1, sizeof *w);
    for (unsigned kind = 0; kind < HX_COLLECTIVE_KINDS; kind++) {
        for (unsigned algorithm = 0; algorithm < HX_COLLECTIVE_ALGORITHMS; algorithm++)
            run(w, kind, algorithm);
    }
    free(w);
}

/* The collective with the most steps: 32 stripes, each over six dimensions of nine ranks. */
static void brief_tags_fit_their_bits(void **state)
{
    (void)state;
    struct hx_collective_config config = config_of(HX_ALL_REDUCE, HX_BY_HIERARCHY);
    struct hx_collective c;
    uint32_t tag;
    config.size = 1;
    config.root = 0;
    config.stripes = HX_COLLECTIVE_STRIPES;
    config.dimensions = HX_COLLECTIVE_DIMENSIONS;
    for (unsigned i = 0; i < HX_COLLECTIVE_DIMENSIONS; i++) {
        config.dimension[i] = (struct hx_collective_dimension){9, HX_BY_BRUCK};
        config.size *= 9;
    }
    assert_int_equal(hx_collective_init(&c, &config, lab_memory(hx_collective_state(&config)), NULL, NULL), HX_OK);
    assert_int_equal(c.queues, 32 * 6 * 4 * 2);
    uint32_t found = 0;
    for (uint32_t high = 0; high < 1U << (c.phase_bits + c.queue_bits); high++) {
        const uint32_t full = high << (32U - c.phase_bits - c.queue_bits);
        const uint32_t brief = hx_collective_brief(&c, full);
        assert_true(brief < 1U << HX_COLLECTIVE_BRIEF_BITS);
        assert_int_equal(hx_collective_arriving(&c, 0, brief, &tag), HX_OK);
        found += tag == full;
    }
    assert_int_equal(found, c.queues);
}

/* A step that the collective does not have, or not with this peer, is refused. */
static void unknown_steps_are_refused(void **state)
{
    (void)state;
    struct hx_collective_config config = config_of(HX_ALL_REDUCE, HX_BY_RING);
    struct hx_collective c;
    uint32_t tag;
    assert_int_equal(hx_collective_init(&c, &config, lab_memory(hx_collective_state(&config)), NULL, NULL), HX_OK);
    const uint32_t brief = (1U << HX_COLLECTIVE_BRIEF_BITS) - 1;
    assert_int_equal(hx_collective_arriving(&c, 1, brief, &tag), HX_E_RANGE);
    assert_int_equal(hx_collective_leaving(&c, 1, brief, &tag), HX_E_RANGE);
    config = config_of(HX_SCATTER, HX_BY_DIRECT);
    config.position = 2;
    assert_int_equal(hx_collective_init(&c, &config, lab_memory(hx_collective_state(&config)), NULL, NULL), HX_OK);
    for (uint32_t peer = 0; peer < 2 * MEMBERS; peer++) {
        const int from_root = peer == config.root ? HX_OK : HX_E_RANGE;
        assert_int_equal(hx_collective_arriving(&c, peer, 0, &tag), from_root);
        assert_int_equal(hx_collective_leaving(&c, peer, 0, &tag), HX_E_RANGE);
        assert_int_equal(hx_collective_arriving(&c, peer, 1 << 2, &tag), HX_E_RANGE); /* of a second half */
    }
    assert_int_equal(hx_collective_arriving(&c, UINT32_MAX, 0, &tag), HX_E_RANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(brief_tags_name_messages_of_every_kind, lab_free),
        cmocka_unit_test_teardown(brief_tags_fit_their_bits, lab_free),
        cmocka_unit_test_teardown(unknown_steps_are_refused, lab_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
