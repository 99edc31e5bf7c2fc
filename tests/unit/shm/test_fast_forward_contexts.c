/* test_fast_forward_contexts.c - whether two collectives had the same begins, and the same beside them
 * (workload/fast_forward_contexts.c). */
#include "workload/fast_forward_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SIZE = 3, NS = 1000, DURATION = 100 * NS, SLACK = 5 * NS };

/* A flight of three members that began at a time, and took 100 ns. */
struct one {
    struct shape shape;
    struct kind kind;
    uint64_t begin[SIZE];
    struct neighbour neighbour[4];
    struct flight flight;
};

static void make(struct one *o, uint64_t last)
{
    *o = (struct one){.shape = {.size = SIZE, .duration = DURATION}};
    o->kind.shape = &o->shape;
    for (uint32_t i = 0; i < SIZE; i++)
        o->begin[i] = last - i * NS;
    o->flight = (struct flight){.kind = &o->kind,
                                .begin = o->begin,
                                .first = last - (SIZE - 1) * NS,
                                .last = last,
                                .done = true,
                                .last_end = last + DURATION,
                                .neighbour = o->neighbour};
}

/* Adds a neighbour, in the order of ids; times are relative to the last begin. */
static void add(struct one *o, uint64_t id, int64_t from, int64_t until)
{
    const uint64_t last = o->flight.last;
    o->neighbour[o->flight.neighbours++] = (struct neighbour){
        .id = id, .first = last + (uint64_t)from, .last = last + (uint64_t)from, .end = last + (uint64_t)until};
}

static uint64_t apart(const struct one *a, const struct one *b, uint64_t until)
{
    return contexts_apart(&a->flight, &b->flight, until, SLACK, true);
}

static void flights_at_other_times_are_alike(void **state)
{
    struct one a, b;
    (void)state;
    make(&a, 1000 * NS);
    make(&b, 7000 * NS);
    add(&a, 5, 10 * NS, 60 * NS);
    add(&b, 5, 10 * NS, 60 * NS);
    assert_int_equal(apart(&a, &b, DURATION), 0);
}

static void what_differs_is_the_most_of_begins_and_neighbours(void **state)
{
    struct one a, b;
    (void)state;
    make(&a, 1000 * NS);
    make(&b, 7000 * NS);
    a.begin[2] += NS / 2;
    assert_int_equal(apart(&a, &b, DURATION), NS / 2);
    assert_int_equal(contexts_begins_apart(&a.flight, &b.flight), NS / 2);
    add(&a, 5, 10 * NS, 60 * NS);
    add(&b, 5, 11 * NS, 63 * NS);
    assert_int_equal(apart(&a, &b, DURATION), 3 * NS);
    assert_int_equal(apart(&a, &b, 30 * NS), NS); /* ends come later: they are not compared */
    b.neighbour[0].end += 3 * NS;
    assert_int_equal(apart(&a, &b, DURATION), NOT_YET);
    b.neighbour[0].end -= 3 * NS;
    a.begin[1] -= 6 * NS;
    assert_int_equal(apart(&a, &b, DURATION), NOT_YET);
    assert_int_not_equal(contexts_apart(&a.flight, &b.flight, DURATION, SLACK, false), NOT_YET);
}

static void a_neighbour_that_one_of_them_lacks_matters_by_how_long_it_was_there(void **state)
{
    struct one a, b;
    (void)state;
    make(&a, 1000 * NS);
    make(&b, 7000 * NS);
    add(&b, 5, -50 * NS, 0);       /* before */
    add(&b, 6, 98 * NS, 200 * NS); /* at the end */
    assert_int_equal(apart(&a, &b, DURATION), 2 * NS);
    add(&b, 7, 50 * NS, 54 * NS); /* brief, but together too much */
    assert_int_equal(apart(&a, &b, DURATION), NOT_YET);
    assert_int_equal(apart(&a, &b, 51 * NS), NS); /* not yet */
    add(&a, 8, 20 * NS, 24 * NS);                 /* as much on the other side */
    assert_int_equal(apart(&a, &b, DURATION), 2 * NS);
    a.neighbour[0].end += 30 * NS;
    assert_int_equal(apart(&a, &b, DURATION), NOT_YET);
}

static void the_next_event_beside_a_flight_is_found(void **state)
{
    struct one a;
    (void)state;
    make(&a, 1000 * NS);
    assert_int_equal(contexts_next(&a.flight, 0), NOT_YET);
    add(&a, 5, 10 * NS, 60 * NS);
    add(&a, 6, -20 * NS, 40 * NS);
    assert_int_equal(contexts_next(&a.flight, 0), 10 * NS);
    assert_int_equal(contexts_next(&a.flight, 10 * NS), 40 * NS);
    assert_int_equal(contexts_next(&a.flight, 40 * NS), 60 * NS);
    assert_int_equal(contexts_next(&a.flight, 60 * NS), NOT_YET);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flights_at_other_times_are_alike),
        cmocka_unit_test(what_differs_is_the_most_of_begins_and_neighbours),
        cmocka_unit_test(a_neighbour_that_one_of_them_lacks_matters_by_how_long_it_was_there),
        cmocka_unit_test(the_next_event_beside_a_flight_is_found),
    };
    return cmocka_run_group_tests_name("workload/fast_forward_contexts", tests, NULL, NULL);
}
