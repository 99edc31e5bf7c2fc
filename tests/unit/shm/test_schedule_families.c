/* test_schedule_families.c - groups of a schedule that do the same collective and have no rank in common. */
#include "base/options/runs.h"
#include "schedule/formats.h"
#include "tests/support/support_file.h"
#include "workload/schedule_families.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { RANKS = 16, SIDE = 4, MOST_GROUPS = 64 };

static const char text[] = "ranks: 16\n"
                           "groups: {row: {size: 4}, column: {stride: 4}}\n"
                           "program:\n"
                           "  - do:\n"
                           "      - {collective: all-reduce, group: row, bytes: 64KiB}\n"
                           "      - {collective: all-reduce, group: column, bytes: 64KiB}\n"
                           "      - {collective: all-reduce, group: row, bytes: 4KiB, ranks: 0..3}\n";

static void families_are_all_rows_or_all_columns(void **state)
{
    (void)state;
    const struct schedule_read_options options = {.ranks = 0};
    struct schedule_notes notes;
    struct hx_problem problem;
    struct schedule_families f;
    struct schedule *s = schedule_read(file_write_text("families.schedule.yaml", text), &options, &notes, &problem);
    assert_non_null(s);
    schedule_families_open(&f, s);
    for (uint32_t i = 0; i < schedule_count(s, 0); i++) {
        const struct schedule_operation *o = schedule_at(s, 0, i);
        uint32_t groups[MOST_GROUPS];
        uint8_t seen[RANKS] = {0};
        if (o->kind != SCHEDULE_COLLECTIVE)
            continue;
        const uint32_t count = schedule_families_find(&f, o, groups);
        assert_int_equal(groups[0], o->peer);
        assert_int_equal(count, o->amount == 4096 ? 1 : SIDE);
        for (uint32_t n = 0; n < count * SIDE; n++)
            assert_int_equal(seen[schedule_group(s, groups[n / SIDE])[n % SIDE]]++, 0);
        assert_int_equal(schedule_families_algorithm(&f, o), 0);
        schedule_families_set(&f, o, groups, count, HX_ALGORITHM_TREE);
        assert_int_equal(schedule_families_algorithm(&f, o), HX_ALGORITHM_TREE);
    }
    schedule_families_close(&f);
    schedule_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(families_are_all_rows_or_all_columns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
