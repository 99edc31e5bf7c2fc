/* support_shapes.c - named and random fabrics (support_shapes.h). */
#include "tests/support/support_shapes.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_random.h"

#include <stdio.h>
#include <stdlib.h>

enum { DRAWS = 2 /* per kind and board */, BOARDS = 5 };

uint64_t shapes_seed(void)
{
    return seeded_by(20240);
}

static const struct graph_shape named[] = {
    {1, 1, 1, 1, 64, 1},  {4, 4, 1, 1, 64, 1}, {9, 8, 1, 1, 64, 1}, {2, 2, 4, 4, 64, 1},  {2, 4, 3, 2, 64, 1},
    {4, 4, 2, 2, 64, 1},  {1, 1, 5, 3, 64, 1}, {7, 1, 2, 1, 64, 1}, {1, 1, 40, 1, 64, 1}, {2, 1, 36, 1, 64, 2},
    {1, 1, 1, 20, 10, 1}, {3, 2, 4, 2, 4, 1},  {1, 2, 6, 5, 6, 1},  {5, 1, 5, 1, 6, 1},   {4, 3, 6, 3, 5, 2},
    {8, 1, 3, 1, 3, 2},   {6, 2, 6, 1, 7, 1},  {1, 1, 5, 5, 5, 1},  {3, 3, 6, 6, 8, 3}};

static void validate_one(struct graph_shape s, void (*validate)(struct graph_shape, const char *))
{
    char what[128];
    snprintf(what, sizeof what, "%dx%d H%dx%dMesh radix %d taper %d (HX_SEED=%llu)", s.x, s.y, s.a, s.b, s.radix,
             s.taper, (unsigned long long)shapes_seed());
    validate(s, what);
}

/* Draws until the switches can join the lines, and if `trees`, until some line needs several. */
static struct graph_shape draw(uint64_t *random, int a, int b, bool trees)
{
    for (;;) {
        struct graph_shape s = {.a = a,
                                .b = b,
                                .x = 1 + (int)seeded_below(random, 6),
                                .y = 1 + (int)seeded_below(random, 6),
                                .radix = trees ? 3 + (int)seeded_below(random, 8) : 64,
                                .taper = trees ? 1 + (int)seeded_below(random, 3) : 1};
        struct graph_tree row;
        struct graph_tree column;
        if (graph_tree_of(2 * s.x, s.radix, s.taper, &row) && graph_tree_of(2 * s.y, s.radix, s.taper, &column) &&
            (!trees || row.spines || column.spines))
            return s;
    }
}

void shapes_for_each(void (*validate)(struct graph_shape shape, const char *what))
{
    enum { NAMED = sizeof named / sizeof *named, SHAPES = NAMED + BOARDS * BOARDS * 2 * DRAWS };
    struct graph_shape shape[SHAPES];
    uint64_t random = shapes_seed();
    unsigned count = 0;
    for (; count < NAMED; count++)
        shape[count] = named[count];
    for (int a = 1; a <= BOARDS; a++)
        for (int b = 1; b <= BOARDS; b++)
            for (int round = 0; round < 2 * DRAWS; round++)
                shape[count++] = draw(&random, a, b, round % 2);
    for (unsigned n = 0; n < effort(SHAPES); n++)
        validate_one(shape[effort_case(n, SHAPES)], validate);
}
