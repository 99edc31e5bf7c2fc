/* test_collective_brief.c - brief tags of collectives name the message with the window full and in any order
 * (hx_collective_brief). */
#include "hxmesh/collective.h"
#include "hxmesh/error.h"
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
        w->letter[w->flying++] = (struct letter){from, (unsigned)send.gy * SIDE + send.gx, send.tag, false};
        hx_collective_take(&w->c[from], &send);
    }
    w->most = w->flying > w->most ? w->flying : w->most;
}

/* A message arrives, or its acknowledgement; both know only its brief tag. */
static void step(struct world *w)
{
    unsigned index = seeded_below(&w->random, w->flying);
    struct letter *l = &w->letter[index];
    const struct letter it = *l;
    uint32_t tag;
    int found = it.received ? hx_collective_leaving(&w->c[it.from], hx_collective_brief(it.tag), &tag)
                            : hx_collective_arriving(&w->c[it.to], hx_collective_brief(it.tag), &tag);
    assert_int_equal(found, HX_OK);
    assert_int_equal(tag, it.tag);
    assert_true(hx_collective_brief(tag) < 1U << HX_COLLECTIVE_BRIEF_BITS);
    if (it.received) {
        *l = w->letter[--w->flying];
        assert_int_equal(hx_collective_sent(&w->c[it.from], tag), HX_OK);
        send_all(w, it.from);
    } else {
        l->received = true;
        assert_int_equal(hx_collective_received(&w->c[it.to], it.from % SIDE, it.from / SIDE, tag), HX_OK);
        send_all(w, it.to);
    }
}

static void run(struct world *w, unsigned kind, unsigned algorithm)
{
    w->flying = w->most = 0;
    w->random = 1 + kind * 7 + algorithm;
    for (unsigned i = 0; i < MEMBERS; i++) {
        const struct hx_collective_config config = {.kind = (uint8_t)kind,
                                                    .algorithm = (uint8_t)algorithm,
                                                    .bytes = 16384,
                                                    .chunk = 16,
                                                    .window = HX_COLLECTIVE_MAX_WINDOW,
                                                    .columns = SIDE,
                                                    .rows = SIDE,
                                                    .column = (uint16_t)(i % SIDE),
                                                    .row = (uint16_t)(i / SIDE)};
        assert_int_equal(hx_collective_init(&w->c[i], &config, NULL, NULL), HX_OK);
    }
    for (unsigned i = 0; i < MEMBERS; i++)
        send_all(w, i);
    while (w->flying)
        step(w);
    for (unsigned i = 0; i < MEMBERS; i++)
        assert_true(hx_collective_done(&w->c[i]));
    assert_true(w->most >= HX_COLLECTIVE_MAX_WINDOW);
}

static void brief_tags_name_messages_of_every_kind(void **state)
{
    (void)state;
    struct world *w = calloc(1, sizeof *w);
    for (unsigned kind = HX_BROADCAST; kind <= HX_ALL_REDUCE; kind++) {
        for (unsigned algorithm = HX_BY_TREE; algorithm <= HX_BY_TORUS; algorithm++)
            run(w, kind, algorithm);
    }
    free(w);
}

/* A stream that the collective does not have is refused. */
static void unknown_streams_are_refused(void **state)
{
    (void)state;
    const struct hx_collective_config config = {
        .kind = HX_ALL_REDUCE, .algorithm = HX_BY_RING, .bytes = 64, .chunk = 16, .window = 1, .columns = 4, .rows = 1};
    struct hx_collective c;
    uint32_t tag;
    assert_int_equal(hx_collective_init(&c, &config, NULL, NULL), HX_OK);
    uint32_t brief = (1U << HX_COLLECTIVE_BRIEF_BITS) - 1;
    assert_int_equal(hx_collective_arriving(&c, brief, &tag), HX_E_RANGE);
    assert_int_equal(hx_collective_leaving(&c, brief, &tag), HX_E_RANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(brief_tags_name_messages_of_every_kind),
        cmocka_unit_test(unknown_streams_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
