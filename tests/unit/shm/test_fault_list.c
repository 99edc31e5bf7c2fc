/* test_fault_list.c - faults of a running fabric in its supervisor: the list of the latest, notices to captures, and
 * what a new line leaves to be done. */
#include "fabric-emu/live/faults.h"
#include "tests/support/shm/support_shm.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

enum { MANY = 4000, BEGUN = 3000, UNTOLD_FROM = 1000, UNTOLD_UNTIL = 1010, MOST_ENTRY_BYTES = 300 };

/* Fault i is at i milliseconds. */
static struct support s;
static struct faults faults;

static int open_faults(void **state)
{
    (void)state;
    struct hx_problem problem;
    struct hx_faults schedule = {.count = 0};
    char line[64];
    support_open(&s, &(struct support_plan){"1x1 Hx2Mesh", .workers = 1, .planes = 1, .message = 1, .count = 1});
    for (unsigned i = 0; i < MANY; i++) {
        (void)snprintf(line, sizeof line, "a0,0/E loss=1%% at %ums for 1ms", i);
        assert_true(hx_faults_add(&schedule, line, NULL, s.f.g, &problem));
    }
    faults_open(&faults, &s.f);
    assert_true(faults_schedule(&faults, &schedule, &problem));
    hx_faults_free(&schedule);
    return 0;
}

static int close_faults(void **state)
{
    (void)state;
    faults_close(&faults);
    support_close(&s);
    return 0;
}

static unsigned of(const json_t *list, const char *key)
{
    return (unsigned)json_integer_value(json_object_get(list, key));
}

/* The list when BEGUN faults have begun; the caller frees it. */
static json_t *list_within(size_t room, size_t *bytes)
{
    char *text = faults_text(&faults, (BEGUN - 1) * UINT64_C(1000000), room);
    *bytes = strlen(text);
    json_t *list = json_loads(text, 0, NULL);
    free(text);
    assert_non_null(list);
    return list;
}

static void the_latest_faults_are_listed_as_far_as_they_fit(void **state)
{
    (void)state;
    static const size_t rooms[] = {128, 1000, 65536};
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        size_t bytes;
        json_t *list = list_within(rooms[i], &bytes);
        const json_t *shown = json_object_get(list, "faults");
        unsigned count = (unsigned)json_array_size(shown);
        assert_true(bytes < rooms[i] && bytes + 128 + MOST_ENTRY_BYTES >= rooms[i]);
        assert_int_equal(count + of(list, "left_out"), BEGUN);
        assert_int_equal(of(list, "to_come"), MANY - BEGUN);
        for (unsigned at = 0; at < count; at++)
            assert_int_equal(of(json_array_get(shown, at), "at_ns"), (BEGUN - count + at) * 1000000U);
        json_decref(list);
    }
}

static void all_begun_faults_are_listed_if_they_fit(void **state)
{
    (void)state;
    size_t bytes;
    json_t *list = list_within((size_t)BEGUN * MOST_ENTRY_BYTES, &bytes);
    assert_int_equal(json_array_size(json_object_get(list, "faults")), BEGUN);
    assert_int_equal(of(list, "left_out"), 0);
    json_decref(list);
}

/* Numbers increase without gaps, even where memory ran out. */
static void captures_can_read_all_begun_faults(void **state)
{
    (void)state;
    struct rlimit limit;
    struct fault_entry entry;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    const struct rlimit full = {sizeof entry * UNTOLD_FROM + 1, limit.rlim_max};
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &full), 0);
    faults_validate(&faults, (UNTOLD_UNTIL - 1) * UINT64_C(1000000), false);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    faults_validate(&faults, (BEGUN - 1) * UINT64_C(1000000), false);
    int log = fault_log_open(s.f.control);
    assert_true(log >= 0);
    uint64_t begun = atomic_load(&s.f.control->faults.begun);
    assert_int_equal(begun, BEGUN - (UNTOLD_UNTIL - UNTOLD_FROM));
    for (uint64_t number = 0; number < begun; number++) {
        uint64_t i = number < UNTOLD_FROM ? number : number + UNTOLD_UNTIL - UNTOLD_FROM;
        assert_true(fault_log_read(log, number, &entry));
        assert_int_equal(entry.at_ns, i * 1000000);
        assert_int_equal(entry.over_ns, (i + 1) * 1000000);
        assert_string_equal(entry.line, faults.schedule.fault[i].text);
    }
    assert_false(fault_log_read(log, begun, &entry));
    (void)close(log);
}

static void an_earlier_end_is_noted(void **state)
{
    (void)state;
    struct hx_problem problem;
    struct fault_entry entry;
    assert_true(faults_add(&faults, "a0,0/S down", 0, &problem));
    faults_validate(&faults, 1, false);
    assert_true(fault_log_read(faults.log, 1, &entry));
    assert_int_equal(entry.over_ns, UINT64_MAX);
    assert_true(faults_add(&faults, "a0,0 up", 500, &problem));
    assert_true(fault_log_read(faults.log, 1, &entry));
    assert_int_equal(entry.over_ns, 500);
}

static void no_signal(void *of, unsigned worker, int number)
{
    (void)of;
    fail_msg("worker %u gets signal %d", worker, number);
}

/* No line is done yet, so those at 0 are still due. */
static void a_line_before_the_start_leaves_the_lines_of_the_start(void **state)
{
    (void)state;
    struct hx_problem problem;
    uint32_t near = fab_first_port(&s.f, 0, 0) + HX_E;
    assert_true(faults_add(&faults, "a0,0/S down", 0, &problem));
    assert_true(faults_advance(&faults, 0, no_signal, NULL));
    assert_true(fab_condition(&s.f, near).loss > 0);
    assert_true(fab_link_is_shut(&s.f, fab_first_port(&s.f, 0, 0) + HX_S));
    assert_false(fab_link_is_shut(&s.f, near));
    /* A line that is done is not done again. */
    fab_set_condition(&s.f, near, &(struct shm_condition){.down = 1});
    assert_true(faults_add(&faults, "a0,0/N down at 1s", 0, &problem));
    (void)faults_advance(&faults, 0, no_signal, NULL);
    assert_true(fab_link_is_shut(&s.f, near));
}

/* A request may arrive in the nanosecond of the last change. */
static void a_line_at_the_time_of_the_last_change_is_done_next(void **state)
{
    (void)state;
    struct hx_problem problem;
    assert_true(faults_advance(&faults, 0, no_signal, NULL));
    assert_true(faults_add(&faults, "a0,0/S down", 0, &problem));
    assert_true(faults_due(&faults) <= 1);
    assert_true(faults_advance(&faults, 1, no_signal, NULL));
    assert_true(fab_link_is_shut(&s.f, fab_first_port(&s.f, 0, 0) + HX_S));
}

/* As a worker does when it routes by the present conditions. */
static void follow(uint64_t ns)
{
    s.f.area[0].conditions_ns = ns;
    atomic_store(&s.f.area[0].conditions_seen, atomic_load(&s.f.control->conditions));
}

/* Entries of a list that is asked for; the caller frees it. */
static json_t *list_at(uint64_t now_ns)
{
    char *text = faults_text(&faults, now_ns, 65536);
    json_t *list = json_loads(text, 0, NULL);
    free(text);
    return list;
}

/* A planned change is in a list of its own, costs nothing, and is complete when all workers follow it. */
static void a_closed_link_is_a_change_that_workers_follow(void **state)
{
    (void)state;
    struct hx_problem problem;
    struct fault_entry entry;
    const uint32_t near = fab_first_port(&s.f, 0, 0) + HX_S;
    follow(1);
    assert_true(faults_add(&faults, "a0,0/S closed for 100ns", 10, &problem));
    faults_validate(&faults, 20, false);
    faults_note_followed(&faults); /* it has begun, and is not carried out */
    assert_int_equal(atomic_load(&s.f.control->faults.settled), 1);
    assert_true(faults_advance(&faults, 20, no_signal, NULL));
    const struct shm_condition c = fab_condition(&s.f, near);
    assert_true(c.closed && !c.down && fab_link_is_shut(&s.f, near));
    s.f.faulted[near].lost = 3; /* by another fault */
    faults_note_followed(&faults);
    faults_validate(&faults, 30, false);
    json_t *list = list_at(30);
    const json_t *change = json_array_get(json_object_get(list, "changes"), 0);
    assert_int_equal(json_array_size(json_object_get(list, "faults")), 1);
    assert_string_equal(json_string_value(json_object_get(change, "change")), "a0,0/S closed for 100ns");
    assert_true(json_is_null(json_object_get(change, "followed_after_ns")) && !json_object_get(change, "lost"));
    json_decref(list);
    assert_int_equal(hx_metrics_get(&s.f.metrics.head->faults.planned), 1);
    assert_int_equal(atomic_load(&s.f.control->faults.settled), 1);
    follow(25);
    faults_note_followed(&faults);
    assert_int_equal(atomic_load(&s.f.control->faults.settled), 2);
    assert_true(fault_log_read(faults.log, 1, &entry));
    assert_true(entry.planned && entry.at_ns == 10 && entry.followed_ns == 25 && entry.over_ns == 110);
    assert_true(faults_advance(&faults, 110, no_signal, NULL));
    assert_false(fab_link_is_shut(&s.f, near));
    list = list_at(120);
    change = json_array_get(json_object_get(list, "changes"), 0);
    assert_int_equal(of(change, "followed_after_ns"), 15);
    assert_true(json_is_true(json_object_get(change, "over")));
    json_decref(list);
    assert_int_equal(hx_metrics_get(&s.f.metrics.head->faults.planned), 0);
}

/* It needs no path around it more than a link that is down. */
static void a_closed_link_warns_like_one_that_is_down(void **state)
{
    (void)state;
    struct support torus;
    struct faults of_torus;
    struct hx_problem problem;
    support_open(&torus, &(struct support_plan){"torus 2x2", .workers = 1, .planes = 1, .message = 1, .count = 1});
    faults_open(&of_torus, &torus.f);
    assert_true(faults_add(&of_torus, "a0,0/E closed", 0, &problem));
    assert_non_null(strstr(problem.what, "no switch of this fabric reroutes around it"));
    faults_close(&of_torus);
    support_close(&torus);
}

int main(void)
{
#define WITH_FAULTS(test) cmocka_unit_test_setup_teardown(test, open_faults, close_faults)
    const struct CMUnitTest tests[] = {
        WITH_FAULTS(the_latest_faults_are_listed_as_far_as_they_fit),
        WITH_FAULTS(all_begun_faults_are_listed_if_they_fit),
        WITH_FAULTS(captures_can_read_all_begun_faults),
        WITH_FAULTS(an_earlier_end_is_noted),
        WITH_FAULTS(a_line_before_the_start_leaves_the_lines_of_the_start),
        WITH_FAULTS(a_line_at_the_time_of_the_last_change_is_done_next),
        WITH_FAULTS(a_closed_link_is_a_change_that_workers_follow),
        cmocka_unit_test(a_closed_link_warns_like_one_that_is_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
