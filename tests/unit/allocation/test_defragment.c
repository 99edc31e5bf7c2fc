/* test_defragment.c - moves that make room: no overlap with other jobs or failed boards, no unnecessary move, and
 * fewer moved boards than with a new placement of all jobs. */
#include "allocation/defragment.h"
#include "tests/support/support_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SIDE = 12, MOST = 40 };
static const struct hx_placement_rules rules = {.transpose = true, .aspect = 8, .search = 2000};

/* Jobs on a grid with failed boards. */
struct ground {
    struct hx_boards boards;
    bool failed[SIDE * SIDE];
    struct hx_placement standing[MOST];
    unsigned jobs;
};

static unsigned boards_of(const struct hx_placement *p)
{
    return p->shape.rows * p->shape.columns;
}

/* Fills the grid and removes every other job, so that free boards are scattered. */
static void fragment(struct ground *g, uint64_t *random)
{
    *g = (struct ground){.jobs = 0};
    hx_boards_make(&g->boards, SIDE, SIDE);
    for (unsigned i = 0; i < SIDE * SIDE; i++) {
        g->failed[i] = seeded_below(random, 30) == 0;
        if (g->failed[i])
            hx_board_take(&g->boards, i % SIDE, i / SIDE);
    }
    struct hx_placement all[2 * MOST];
    unsigned placed = 0;
    for (unsigned i = 0; i < 2 * MOST; i++) {
        if (!hx_place(&all[placed], &g->boards, hx_shape_of(1 + seeded_below(random, 6)), &rules))
            continue;
        hx_placement_take(&all[placed], &g->boards);
        placed++;
    }
    for (unsigned i = 0; i < placed; i++) {
        if (i % 2 || g->jobs == MOST) {
            hx_placement_give_back(&all[i], &g->boards);
            hx_placement_free(&all[i]);
        } else {
            g->standing[g->jobs++] = all[i];
        }
    }
}

static void free_ground(struct ground *g)
{
    for (unsigned i = 0; i < g->jobs; i++)
        hx_placement_free(&g->standing[i]);
    hx_boards_free(&g->boards);
}

static void claim(bool *taken, const struct ground *g, const struct hx_placement *p)
{
    for (unsigned r = 0; r < p->shape.rows; r++) {
        for (unsigned c = 0; c < p->shape.columns; c++) {
            unsigned board = p->row[r] * SIDE + p->column[c];
            assert_false(taken[board] || g->failed[board]);
            taken[board] = true;
        }
    }
}

/* Checks the moves; returns the number of moved boards. */
static unsigned validate(const struct ground *g, const struct hx_placement *room, const struct hx_placement *move)
{
    bool taken[SIDE * SIDE] = {false};
    unsigned moved = 0;
    claim(taken, g, room);
    for (unsigned i = 0; i < g->jobs; i++) {
        bool moves = move[i].shape.rows != 0;
        claim(taken, g, moves ? &move[i] : &g->standing[i]);
        if (moves)
            assert_int_equal(boards_of(&move[i]), boards_of(&g->standing[i]));
        moved += moves ? boards_of(&move[i]) : 0;
    }
    return moved;
}

static void room_is_made(void **state)
{
    (void)state;
    uint64_t random = seeded_by(21);
    unsigned made = 0, hard = 0;
    for (unsigned run = 0; run < 200; run++) {
        struct ground g;
        struct hx_placement room, move[MOST];
        fragment(&g, &random);
        unsigned standing = SIDE * SIDE - g.boards.free, free_before = g.boards.free;
        unsigned side = 4 + seeded_below(&random, 5);
        bool fits = hx_place(&room, &g.boards, (struct hx_shape){side, side}, &rules);
        if (fits)
            hx_placement_free(&room);
        bool found = hx_make_room(&room, move, g.standing, g.jobs, &g.boards, (struct hx_shape){side, side}, &rules);
        assert_int_equal(g.boards.free, free_before);
        assert_true(found || !fits);
        assert_true(!found || side * side <= free_before);
        if (found) {
            unsigned moved = validate(&g, &room, move);
            assert_int_equal(boards_of(&room), side * side);
            assert_true(!fits || moved == 0);
            assert_true(moved < standing);
            made += !fits;
            hx_placement_free(&room);
            for (unsigned i = 0; i < g.jobs; i++)
                hx_placement_free(&move[i]);
        }
        hard += !fits && side * side <= free_before;
        free_ground(&g);
    }
    assert_true(hard > 20 && made * 10 > hard * 9);
}

/* Boards of a row need not be adjacent: no job moves for two that are not. */
static void no_job_moves_without_need(void **state)
{
    (void)state;
    struct hx_boards b;
    uint32_t row[1] = {0}, column[2] = {1, 3};
    const struct hx_placement_rules line = {.aspect = 1};
    struct hx_placement standing[2] = {{{1, 1}, row, &column[0]}, {{1, 1}, row, &column[1]}}, room, move[2];
    hx_boards_make(&b, 4, 1);
    hx_placement_take(&standing[0], &b);
    hx_placement_take(&standing[1], &b);
    hx_board_take(&b, 0, 0); /* of another, which cannot move */
    assert_true(hx_make_room(&room, move, standing, 2, &b, (struct hx_shape){1, 1}, &line));
    assert_int_equal(move[0].shape.rows + move[1].shape.rows, 0);
    assert_int_equal(room.column[0], 2);
    hx_placement_free(&room);
    assert_false(hx_make_room(&room, move, standing, 2, &b, (struct hx_shape){1, 2}, &line));
    hx_board_give_back(&b, 0, 0);
    assert_true(hx_make_room(&room, move, standing, 2, &b, (struct hx_shape){1, 2}, &line));
    assert_int_equal(move[0].shape.rows + move[1].shape.rows, 0); /* any two columns of a row will do */
    hx_placement_free(&room);
    hx_boards_free(&b);
}

/* Of three boards one moves, of two both: columns 0, 1, 4 of row 0 become 0, 1, 2; columns 2, 3 of row 1 would
 * become 3, 4. */
static void boards_that_stay_do_not_count(void **state)
{
    (void)state;
    uint32_t row[2] = {0, 1}, three[3] = {0, 1, 4}, two[2] = {2, 3};
    const struct hx_placement_rules line = {.aspect = 1};
    struct hx_placement standing[2] = {{{1, 3}, &row[0], three}, {{1, 2}, &row[1], two}}, room, move[2];
    struct hx_boards b;
    hx_boards_make(&b, 5, 2);
    hx_placement_take(&standing[0], &b);
    hx_placement_take(&standing[1], &b);
    hx_board_take(&b, 3, 0); /* of others, which cannot move */
    hx_board_take(&b, 0, 1);
    hx_board_take(&b, 1, 1);
    assert_true(hx_make_room(&room, move, standing, 2, &b, (struct hx_shape){2, 1}, &line));
    assert_int_equal(room.column[0], 4);
    assert_int_equal(move[1].shape.rows, 0);
    assert_int_equal(move[0].column[2], 2);
    assert_int_equal(hx_boards_moved(&standing[0], &move[0]), 1);
    assert_int_equal(hx_boards_moved(&standing[1], &move[1]), 0);
    hx_placement_free(&room);
    hx_placement_free(&move[0]);
    hx_boards_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(room_is_made),
        cmocka_unit_test(no_job_moves_without_need),
        cmocka_unit_test(boards_that_stay_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
