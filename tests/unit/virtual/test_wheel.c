/* test_wheel.c - the timing wheel gives each simulated node in the windows of its events, near or far. */
#include "hal/virtual/wheel.h"
#include "workload/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define WIDTH UINT64_C(81280)

static bool has(const uint64_t *set, uint32_t sim_node)
{
    return set[sim_node / 64] >> sim_node % 64 & 1;
}

static void empty(void **state)
{
    (void)state;
    struct virtual_wheel w;
    virtual_wheel_open(&w, 70, WIDTH);
    assert_true(virtual_wheel_next(&w) == VIRTUAL_NO_WINDOW);
    const uint64_t *set = virtual_wheel_turn(&w, 0);
    assert_true(set[0] == 0 && set[1] == 0);
    virtual_wheel_done(&w);
    assert_true(virtual_wheel_next(&w) == VIRTUAL_NO_WINDOW);
}

/* Both ends of a window, and the next one. */
static void ends_of_a_window(void **state)
{
    (void)state;
    struct virtual_wheel w;
    virtual_wheel_open(&w, 70, WIDTH);
    virtual_wheel_add(&w, 69, 5 * WIDTH);
    virtual_wheel_add(&w, 0, 6 * WIDTH - 1);
    virtual_wheel_add(&w, 1, 6 * WIDTH);
    assert_true(virtual_wheel_next(&w) == 5);
    const uint64_t *set = virtual_wheel_turn(&w, 5);
    assert_true(has(set, 69) && has(set, 0) && !has(set, 1));
    virtual_wheel_done(&w);
    assert_true(virtual_wheel_next(&w) == 6);
    set = virtual_wheel_turn(&w, 6);
    assert_true(has(set, 1) && !has(set, 69));
    virtual_wheel_done(&w);
    assert_true(virtual_wheel_next(&w) == VIRTUAL_NO_WINDOW);
}

/* Window of a time while `current` is visited. */
static uint64_t window_of(uint64_t width, uint64_t current, uint64_t time)
{
    struct virtual_wheel w;
    virtual_wheel_open(&w, 1, width);
    (void)virtual_wheel_turn(&w, current);
    virtual_wheel_done(&w);
    virtual_wheel_add(&w, 0, time);
    return virtual_wheel_next(&w);
}

/* Both ends of all windows within the buckets, at any possible width. */
static void windows_of_any_width(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < 2000; round++) {
        uint64_t width = VIRTUAL_WINDOW_MOST - random_of(round, 0, 0) % VIRTUAL_WINDOW_MOST;
        width = round == 0 ? VIRTUAL_WINDOW_MOST : round == 1 ? 1 : width >> round % 24;
        uint64_t current = random_below(random_of(round, 1, 0), 1000000);
        uint64_t ahead = random_below(random_of(round, 2, 0), VIRTUAL_BUCKETS);
        width += width == 0;
        assert_true(window_of(width, current, (current + ahead) * width) == current + ahead);
        assert_true(window_of(width, current, (current + ahead + 1) * width - 1) == current + ahead);
    }
}

/* Links may be so long that a window would exceed the bound. */
static void window_lengths_are_bounded(void **state)
{
    (void)state;
    struct virtual_wheel w;
    virtual_wheel_open(&w, 1, 3 * VIRTUAL_WINDOW_MOST);
    virtual_wheel_add(&w, 0, 2 * VIRTUAL_WINDOW_MOST);
    assert_true(virtual_wheel_next(&w) == 2);
}

/* In the current window: it appears in the same set. */
static void events_in_the_current_window(void **state)
{
    (void)state;
    struct virtual_wheel w;
    virtual_wheel_open(&w, 10, WIDTH);
    virtual_wheel_add(&w, 3, 100);
    const uint64_t *set = virtual_wheel_turn(&w, 0);
    virtual_wheel_add(&w, 4, WIDTH - 1);
    assert_true(set[0] == (1U << 3 | 1U << 4));
}

/* Once and many times around the buckets, and farther than they reach. */
static void windows_far_ahead(void **state)
{
    (void)state;
    static const uint64_t windows[] = {VIRTUAL_BUCKETS - 1, VIRTUAL_BUCKETS, VIRTUAL_BUCKETS + 1, 1000, 3075000};
    for (unsigned i = 0; i < sizeof windows / sizeof *windows; i++) {
        struct virtual_wheel w;
        virtual_wheel_open(&w, 10, WIDTH);
        virtual_wheel_add(&w, 7, windows[i] * WIDTH + 5);
        assert_true(virtual_wheel_next(&w) == windows[i]);
        assert_true(virtual_wheel_turn(&w, windows[i])[0] == 1U << 7); /* and no other node is visited */
        virtual_wheel_done(&w);
        assert_true(virtual_wheel_next(&w) == VIRTUAL_NO_WINDOW);
    }
}

/* The first node of a bucket's next word is not taken for one of the next bucket. */
static void as_many_words_as_nodes_need(void **state)
{
    (void)state;
    struct virtual_wheel w;
    virtual_wheel_open(&w, 65, WIDTH);
    virtual_wheel_add(&w, 64, 0);
    const uint64_t *set = virtual_wheel_turn(&w, 0);
    assert_true(set[0] == 0 && set[1] == 1);
    virtual_wheel_done(&w);
    assert_true(virtual_wheel_turn(&w, 1)[0] == 0);
}

/* A turn with a single simulated node. */
static void expect_alone(struct virtual_wheel *w, uint64_t window, uint32_t sim_node)
{
    assert_true(virtual_wheel_next(w) == window);
    assert_true(virtual_wheel_turn(w, window)[0] == (uint64_t)1 << sim_node);
    virtual_wheel_done(w);
}

/* A bucket is reused after a turn of the wheel, and far nodes are taken in one by one. */
static void no_node_is_visited_without_need(void **state)
{
    (void)state;
    struct virtual_wheel w;
    virtual_wheel_open(&w, 10, WIDTH);
    virtual_wheel_add(&w, 1, 5 * WIDTH);
    expect_alone(&w, 5, 1);
    virtual_wheel_add(&w, 2, (5 + VIRTUAL_BUCKETS) * WIDTH);
    expect_alone(&w, 5 + VIRTUAL_BUCKETS, 2);
    virtual_wheel_add(&w, 7, 1000 * WIDTH);
    virtual_wheel_add(&w, 3, 1010 * WIDTH);
    expect_alone(&w, 1000, 7);
    expect_alone(&w, 1010, 3);
    virtual_wheel_add(&w, 4, 3000 * WIDTH);
    expect_alone(&w, 3000, 4);
}

/* ---- against a list of all that is to be done ---- */

enum { SIM_NODES = 150, NOTES = 4, TURNS = 20000 };
static uint64_t due[SIM_NODES][NOTES]; /* times; 0: none */

static uint64_t earliest_window(void)
{
    uint64_t first = VIRTUAL_NO_WINDOW;
    for (unsigned n = 0; n < SIM_NODES * NOTES; n++) {
        uint64_t time = due[n / NOTES][n % NOTES];
        first = time && time / WIDTH < first ? time / WIDTH : first;
    }
    return first;
}

/* Near, a little farther, or beyond the buckets. */
static uint64_t some_time(uint64_t from, uint64_t random)
{
    static const uint64_t reach[] = {2, 2, 30, 200, 5000};
    return from + 1 + (random >> 8) % (reach[random % 5] * WIDTH);
}

static void note_some(struct virtual_wheel *w, uint64_t from, uint64_t random)
{
    uint32_t sim_node = random_below(random, SIM_NODES);
    for (unsigned n = 0; n < NOTES; n++) {
        if (due[sim_node][n] == 0) {
            due[sim_node][n] = some_time(from, split_mix(random));
            virtual_wheel_add(w, sim_node, due[sim_node][n]);
            return;
        }
    }
}

/* As a simulated node does: takes what is due in the window, and re-enters the wheel at the earliest remaining time. */
static unsigned visit(struct virtual_wheel *w, uint32_t sim_node)
{
    unsigned done = 0;
    uint64_t soonest = UINT64_MAX;
    for (unsigned n = 0; n < NOTES; n++) {
        uint64_t *time = &due[sim_node][n];
        if (*time && *time / WIDTH == w->current) {
            *time = 0;
            done++;
        }
        soonest = *time && *time < soonest ? *time : soonest;
    }
    if (soonest != UINT64_MAX)
        virtual_wheel_add(w, sim_node, soonest);
    return done;
}

static void no_node_is_forgotten(void **state)
{
    (void)state;
    struct virtual_wheel w;
    memset(due, 0, sizeof due);
    virtual_wheel_open(&w, SIM_NODES, WIDTH);
    for (unsigned n = 0; n < 40; n++)
        note_some(&w, 0, random_of(1, n, 0));
    for (uint64_t turn = 0; turn < TURNS; turn++) {
        uint64_t next = virtual_wheel_next(&w);
        assert_true(next <= earliest_window() && next != VIRTUAL_NO_WINDOW);
        const uint64_t *set = virtual_wheel_turn(&w, next);
        unsigned done = 0;
        for (uint32_t sim_node = 0; sim_node < SIM_NODES; sim_node++)
            done += has(set, sim_node) ? visit(&w, sim_node) : 0;
        assert_true(earliest_window() > next);
        for (unsigned n = 0; n < done; n++)
            note_some(&w, (next + 1) * WIDTH, random_of(2, turn, n));
        virtual_wheel_done(&w);
        assert_true(virtual_wheel_next(&w) > next);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty),
        cmocka_unit_test(ends_of_a_window),
        cmocka_unit_test(windows_of_any_width),
        cmocka_unit_test(window_lengths_are_bounded),
        cmocka_unit_test(events_in_the_current_window),
        cmocka_unit_test(windows_far_ahead),
        cmocka_unit_test(as_many_words_as_nodes_need),
        cmocka_unit_test(no_node_is_visited_without_need),
        cmocka_unit_test(no_node_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
