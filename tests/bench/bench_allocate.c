/* bench_allocate.c - time to place one job on 1,000 x 1,000 boards, half of them taken at random, by the greedy rule
 * and by all rules. */
#include "allocation/placement.h"
#include "measure.h"
#include "tests/support/support_random.h"

#include <stdio.h>

enum { ACROSS = 1000 };
#define JOBS 201U

static void take_half(struct hx_boards *b, uint64_t *random)
{
    for (unsigned board = 0; board < ACROSS * ACROSS; board++)
        if (seeded_below(random, 2))
            hx_board_take(b, board % ACROSS, board / ACROSS);
}

static void measure_rules(json_t *results, const char *key, const char *what, const struct hx_placement_rules *rules)
{
    uint64_t random = 1;
    double us[JOBS];
    unsigned placed = 0;
    struct hx_boards b;
    hx_boards_make(&b, ACROSS, ACROSS);
    take_half(&b, &random);
    for (unsigned i = 0; i < JOBS; i++) {
        struct hx_placement p;
        struct hx_shape shape = hx_shape_of(1 + seeded_below(&random, 200));
        uint64_t start = measure_thread_ns();
        placed += hx_place(&p, &b, shape, rules);
        us[i] = (double)(measure_thread_ns() - start) / 1e3;
        hx_placement_free(&p);
    }
    struct measured m = measure_summary(us, JOBS);
    measure_print(what, m, "us a job");
    printf("  %u of %u placed\n", placed, JOBS);
    (void)json_object_set_new(results, key, measure_json(m));
    hx_boards_free(&b);
}

int main(int argc, char **argv)
{
    const struct hx_placement_rules greedy = {.aspect = 1};
    const struct hx_placement_rules all = {.transpose = true, .aspect = 8, .search = 20000};
    json_t *results = json_object();
    printf("placing jobs of up to 200 boards on 1,000 x 1,000, half of them taken (median of %u, spread)\n", JOBS);
    measure_rules(results, "allocate_greedy_us", "greedy", &greedy);
    measure_rules(results, "allocate_all_us", "shapes and search too", &all);
    measure_finish(results, argc, argv);
    return 0;
}
