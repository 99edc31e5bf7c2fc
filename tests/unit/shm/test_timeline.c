/* test_timeline.c - timelines of schedules on an ideal network: trace events do not overlap in a thread, arrows lead
 * from sends to receives, pictures stay small and say what they leave out. */
#include "base/svg.h"
#include "fabric-emu/report/timeline.h"
#include "fabric-emu/report/timeline_tracks.h"
#include "schedule/build.h"
#include "schedule/choices.h"
#include "schedule/estimate.h"
#include "tests/support/support_file.h"
#include "tests/support/support_random.h"

#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { US = 1000000 };
#define HALF_NS 0.0005

/* A schedule that was carried out. */
struct run {
    struct schedule_plan plan;
    struct schedule_job job;
};

/* most: entries that are kept. */
static void carry_out(struct run *r, struct schedule_builder *b, uint64_t most, const struct executor_costs *costs)
{
    struct hx_problem problem;
    struct schedule_job *job = &r->job;
    static const struct hx_spec spec = {.name = "4x4 Hx2Mesh"};
    static const struct traffic traffic = {.spec = &spec};
    *r = (struct run){.plan = {.traffic = &traffic, .job = &r->job, .jobs = 1}};
    job->path = "a <schedule>";
    job->schedule = job->own = schedule_build(b, job->path, &problem);
    assert_non_null(job->schedule);
    schedule_groups_make(&job->groups, job->schedule);
    job->choices = schedule_choices_make(job->schedule, schedule_fill_plain, NULL, &problem);
    assert_non_null(job->choices);
    job->executor = (struct executor_plan){.schedule = job->schedule,
                                           .costs = *costs,
                                           .window = EXECUTOR_WINDOW,
                                           .choose = schedule_choose,
                                           .of = job->choices,
                                           .groups = &job->groups};
    assert_true(schedule_results_make(&job->results, &job->executor, most, job->path, &problem));
    assert_true(schedule_estimate(&job->executor, &(struct estimate_network){.latency_ps = US / 2, .byte_ps = 20}));
}

static void end_run(struct run *r)
{
    schedule_choices_free(r->job.choices);
    schedule_groups_free(&r->job.groups);
    schedule_close(r->job.own);
    schedule_results_free(&r->job.results);
}

static json_t *events_of(const struct run *r)
{
    json_error_t error;
    timeline_events(&r->plan, file_begin_text());
    char *text = file_end_text();
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!document)
        fail_msg("line %d: %s", error.line, error.text);
    free(text);
    return document;
}

/* ---- checks of events ---- */

static const char *text_at(const json_t *event, const char *key)
{
    const char *text = json_string_value(json_object_get(event, key));
    return text ? text : "";
}

static double number_at(const json_t *event, const char *key)
{
    return json_number_value(json_object_get(event, key));
}

static bool is_phase(const json_t *event, char phase)
{
    return text_at(event, "ph")[0] == phase;
}

static double argument(const json_t *event, const char *key)
{
    return number_at(json_object_get(event, "args"), key);
}

/* By process, thread, begin, then the longest first. */
static int by_place(const void *a, const void *b)
{
    const json_t *one = *(json_t *const *)a;
    const json_t *other = *(json_t *const *)b;
    static const char *const keys[] = {"pid", "tid", "ts"};
    for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++) {
        double difference = number_at(one, keys[i]) - number_at(other, keys[i]);
        if (fabs(difference) > 1e-9)
            return difference < 0 ? -1 : 1;
    }
    double longer = number_at(one, "dur") - number_at(other, "dur");
    return longer > 0 ? -1 : longer < 0;
}

static void assert_apart(const json_t *events, size_t expected)
{
    json_t **all = hx_allocate(json_array_size(events) + 1, sizeof(json_t *));
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(events); i++) {
        json_t *event = json_array_get(events, i);
        if (is_phase(event, 'X'))
            all[count++] = event;
    }
    assert_true(count == expected);
    qsort((void *)all, count, sizeof(json_t *), by_place);
    double end = 0;
    for (size_t i = 0; i < count; i++) {
        bool first = i == 0 || fabs(number_at(all[i], "tid") - number_at(all[i - 1], "tid")) > 0.5;
        double begin = number_at(all[i], "ts");
        bool instant = number_at(all[i], "dur") < HALF_NS && !first && begin - number_at(all[i - 1], "ts") < HALF_NS;
        /* An operation without duration may stand at the begin of the one before. */
        if (!first && begin < end - HALF_NS && !instant)
            fail_msg("events %zu of %zu overlap", i, count);
        end = first ? 0 : end;
        end = fmax(end, begin + number_at(all[i], "dur"));
    }
    free((void *)all);
}

/* The operation of the last event before event number i: arrows follow theirs. */
static const json_t *operation_before(const json_t *events, size_t i)
{
    while (!is_phase(json_array_get(events, i), 'X'))
        i--;
    return json_array_get(events, i);
}

static unsigned count_ends(const json_t *events, char phase, double id)
{
    unsigned count = 0;
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        count += is_phase(event, phase) && fabs(number_at(event, "id") - id) < 0.5;
    }
    return count;
}

/* Checks all arrows; returns their number. */
static unsigned count_arrows(const json_t *events)
{
    unsigned arrows = 0;
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *head = json_array_get(events, i);
        if (!is_phase(head, 'f'))
            continue;
        assert_int_equal(count_ends(events, 'f', number_at(head, "id")), 1);
        assert_int_equal(count_ends(events, 's', number_at(head, "id")), 1);
        size_t n = 0;
        while (!is_phase(json_array_get(events, n), 's') ||
               fabs(number_at(json_array_get(events, n), "id") - number_at(head, "id")) > 0.5)
            n++;
        const json_t *send = operation_before(events, n);
        const json_t *receive = operation_before(events, i);
        assert_string_equal(text_at(send, "cat"), "send");
        assert_string_equal(text_at(receive, "cat"), "receive");
        assert_true(number_at(json_array_get(events, n), "ts") <= number_at(head, "ts"));
        assert_true(argument(send, "peer") == argument(receive, "rank"));
        assert_true(argument(receive, "peer") == argument(send, "rank"));
        assert_true(argument(receive, "bytes") >= argument(send, "bytes"));
        assert_true(number_at(json_array_get(events, n), "tid") == number_at(send, "tid"));
        assert_true(number_at(head, "tid") == number_at(receive, "tid"));
        arrows++;
    }
    return arrows;
}

/* ---- by hand ---- */

static void operations_one_after_another_have_one_thread(void **state)
{
    (void)state;
    struct run r;
    struct schedule_builder *b = schedule_builder_new(2);
    (void)schedule_repeat(b, 0, 3);
    uint32_t send = schedule_send(b, 0, 1, 1000, 7);
    uint32_t answer = schedule_receive(b, 0, 1, 1000, 7);
    schedule_after(b, 0, answer, send);
    schedule_repeat_end(b, 0);
    (void)schedule_repeat(b, 1, 3);
    uint32_t request = schedule_receive(b, 1, SCHEDULE_ANY, 1000, SCHEDULE_ANY);
    uint32_t compute = schedule_compute(b, 1, 1234567, 0);
    schedule_after(b, 1, compute, request);
    send = schedule_send(b, 1, 0, 1000, 7);
    schedule_after(b, 1, send, compute);
    schedule_repeat_end(b, 1);
    carry_out(&r, b, 100, &executor_costs_default);
    assert_true(schedule_plan_operations(&r.plan) == 1 + 3 * 2 + 1 + 3 * 3);
    assert_int_equal(atomic_load(&r.job.executor.result[0].ended) + atomic_load(&r.job.executor.result[1].ended), 17);
    json_t *document = events_of(&r);
    const json_t *events = json_object_get(document, "traceEvents");
    assert_apart(events, 3 * 3 + 3 * 4); /* with an event for each iteration */
    assert_int_equal(count_arrows(events), 6);
    unsigned threads = 0;
    for (size_t i = 0; i < json_array_size(events); i++)
        threads += strcmp(text_at(json_array_get(events, i), "name"), "thread_name") == 0;
    assert_int_equal(threads, 4); /* each rank and its iterations */
    json_decref(document);
    end_run(&r);
}

static void each_iteration_has_a_send_of_its_own(void **state)
{
    (void)state;
    struct run r;
    struct schedule_builder *b = schedule_builder_new(2);
    (void)schedule_repeat(b, 0, 4); /* all sends begin before the first arrives */
    (void)schedule_send(b, 0, 1, 1, 0);
    schedule_repeat_end(b, 0);
    (void)schedule_repeat(b, 1, 4);
    (void)schedule_receive(b, 1, 0, 1, 0);
    schedule_repeat_end(b, 1);
    carry_out(&r, b, 100, &executor_costs_default);
    json_t *document = events_of(&r);
    assert_int_equal(count_arrows(json_object_get(document, "traceEvents")), 4);
    json_decref(document);
    end_run(&r);
}

/* ---- at random ---- */

/* Ranks that compute on several streams, exchange messages around a ring and have collectives; not all in order. */
static struct schedule_builder *draw(uint64_t *seed, uint32_t ranks, unsigned steps)
{
    struct schedule_builder *b = schedule_builder_new(ranks);
    uint32_t *member = hx_allocate(ranks, sizeof *member);
    for (uint32_t rank = 0; rank < ranks; rank++)
        member[rank] = rank;
    uint32_t group = schedule_add_group(b, member, ranks);
    free(member);
    for (unsigned step = 0; step < steps; step++) {
        unsigned what = seeded_below(seed, 4);
        uint32_t distance = 1 + seeded_below(seed, ranks - 1);
        uint64_t bytes = seeded_below(seed, 5000);
        for (uint32_t rank = 0; rank < ranks; rank++) {
            uint32_t first = schedule_builder_count(b, rank);
            uint32_t last = first;
            if (what < 2)
                (void)schedule_compute(b, rank, seeded_below(seed, 3 * US), what);
            if (what == 2) {
                (void)schedule_send(b, rank, (rank + distance) % ranks, bytes, step);
                last = schedule_receive(b, rank, (rank + ranks - distance) % ranks, bytes, step);
            }
            if (what == 3)
                (void)schedule_collect(b, rank, HX_ALL_REDUCE, group, bytes, 0);
            for (uint32_t i = first; i <= last && first > 0; i++)
                schedule_after(b, rank, i, seeded_below(seed, 3) ? first - 1 : seeded_below(seed, first));
        }
    }
    return b;
}

static void events_never_overlap(void **state)
{
    (void)state;
    uint64_t seed = seeded_by(1);
    for (unsigned n = 0; n < 60; n++) {
        struct run r;
        const struct executor_costs costs = {.overhead_ps = n % 3 * 100500,
                                             .overhead_byte_ps = 0.3 * (n % 2),
                                             .eager = n % 4 ? UINT64_MAX : 1000,
                                             .compute_scale = 1};
        uint64_t most = n % 5 ? UINT64_MAX : 40;
        carry_out(&r, draw(&seed, 2 + seeded_below(&seed, 6), 1 + seeded_below(&seed, 30)), most, &costs);
        const struct timeline_counts c = timeline_count(&r.plan);
        json_t *document = events_of(&r);
        const json_t *events = json_object_get(document, "traceEvents");
        const json_t *about = json_object_get(document, "otherData");
        assert_apart(events, c.kept);
        (void)count_arrows(events);
        assert_true(number_at(about, "events") == (double)c.ended);
        assert_true(number_at(about, "events_left_out") == (double)(c.ended - c.kept));
        json_decref(document);
        end_run(&r);
    }
}

/* ---- tracks ---- */

static int by_end(const void *a, const void *b)
{
    const uint64_t *one = a;
    const uint64_t *other = b;
    return one[1] > other[1] ? -1 : one[1] < other[1];
}

/* Intervals in progress at a time, other than its begin or end. */
static unsigned most_at_once(uint64_t (*at)[2], unsigned count)
{
    unsigned most = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned here = 0;
        for (unsigned n = 0; n < count; n++)
            here += at[n][0] < at[i][1] && at[n][1] >= at[i][1];
        most = here > most ? here : most;
    }
    return most;
}

static void lanes_are_as_few_as_possible(void **state)
{
    (void)state;
    enum { MOST = 60 };
    uint64_t seed = seeded_by(2);
    struct timeline_tracks l = {.tracks = 0};
    for (unsigned n = 0; n < 300; n++) {
        uint64_t at[MOST][2];
        uint64_t from[MOST];
        unsigned count = 1 + seeded_below(&seed, MOST);
        for (unsigned i = 0; i < count; i++) {
            at[i][0] = seeded_below(&seed, 200);
            at[i][1] = at[i][0] + 1 + seeded_below(&seed, 40);
        }
        qsort(at, count, sizeof *at, by_end);
        memset(from, 0xff, sizeof from);
        timeline_tracks_clear(&l);
        for (unsigned i = 0; i < count; i++) {
            uint32_t track = timeline_tracks_take(&l, at[i][0], at[i][1]);
            assert_true(track < l.tracks && at[i][1] <= from[track]);
            for (uint32_t lower = 0; lower < track; lower++)
                assert_true(at[i][1] > from[lower]);
            from[track] = at[i][0];
        }
        assert_int_equal(l.tracks, most_at_once(at, count));
    }
    timeline_tracks_free(&l);
}

/* ---- pictures ---- */

static unsigned occurrences(const char *text, const char *word)
{
    unsigned count = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        count++;
    return count;
}

static char *picture_of(const struct run *r)
{
    timeline_picture(&r->plan, file_begin_text());
    return file_end_text();
}

static void a_picture_shows_each_rank(void **state)
{
    (void)state;
    struct run r;
    struct schedule_builder *b = schedule_builder_new(3);
    for (uint32_t rank = 0; rank < 3; rank++) {
        uint32_t before = schedule_compute(b, rank, 5 * US, 0);
        schedule_after(b, rank, schedule_compute(b, rank, 5 * US, 0), before);
    }
    carry_out(&r, b, 10, &executor_costs_default);
    char *text = picture_of(&r);
    assert_int_equal(occurrences(text, "<rect"), 1 + 4 + 3 * 2); /* the page, the legend, operations */
    assert_non_null(strstr(text, ">rank 2</text>"));
    assert_non_null(strstr(text, ">time (us)</text>"));
    assert_non_null(strstr(text, "a &lt;schedule&gt; on 4x4 Hx2Mesh, until 10 us"));
    assert_null(strstr(text, "are shown"));
    assert_null(strstr(text, "left out"));
    assert_null(strstr(text, "as one"));
    free(text);
    end_run(&r);
}

/* Rank 0 receives for six purposes and for none: five of them have colours of their own. */
static void communication_has_the_colour_of_its_purpose(void **state)
{
    (void)state;
    static const char *const purpose[] = {"tensor", "data", "<c>", "d", "e", "f", ""};
    enum { PURPOSES = sizeof purpose / sizeof *purpose };
    struct run r;
    struct schedule_builder *b = schedule_builder_new(2);
    uint32_t last = schedule_compute(b, 0, 5 * US, 0);
    assert_true(schedule_set_purpose(b, 0, last, "data"));
    for (unsigned i = 0; i < PURPOSES; i++) {
        uint32_t receive = schedule_receive(b, 0, 1, 100000, i);
        schedule_after(b, 0, receive, last);
        (void)schedule_set_purpose(b, 0, receive, purpose[i]);
        last = receive;
        uint32_t late = schedule_compute(b, 1, 5 * US, 0); /* so that rank 0 waits for each */
        schedule_after(b, 1, schedule_send(b, 1, 0, 100000, i), late);
    }
    carry_out(&r, b, 100, &executor_costs_default);
    char *text = picture_of(&r);
    assert_non_null(strstr(text, ">computing</text>"));
    assert_non_null(strstr(text, ">tensor</text>"));
    assert_non_null(strstr(text, ">&lt;c&gt;</text>"));
    assert_null(strstr(text, ">f</text>"));
    assert_null(strstr(text, ">receive</text>"));
    for (unsigned colour = 1; colour < SVG_COLOURS - 1; colour++) /* the legend, and one receive */
        assert_int_equal(occurrences(text, svg_colours[colour]), 2);
    assert_int_equal(occurrences(text, svg_colours[SVG_COLOURS - 1]), 2 + PURPOSES - 5 + PURPOSES); /* the axis,
                                                                                                     * sends */
    free(text);
    json_t *document = events_of(&r);
    const json_t *events = json_object_get(document, "traceEvents");
    unsigned found = 0;
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *arguments = json_object_get(json_array_get(events, i), "args");
        found += strcmp(text_at(arguments, "purpose"), "data") == 0;
    }
    assert_int_equal(found, 2);
    json_decref(document);
    end_run(&r);
}

static void a_large_picture_says_what_it_leaves_out(void **state)
{
    (void)state;
    enum { RANKS = 70, ITERATIONS = 3000 };
    struct run r;
    struct schedule_builder *b = schedule_builder_new(RANKS);
    for (uint32_t rank = 0; rank < RANKS; rank++) { /* each second is idle, so that no two operations touch */
        (void)schedule_repeat(b, rank, ITERATIONS);
        uint32_t idle = schedule_compute(b, rank, 90 * US, 1);
        schedule_after(b, rank, schedule_compute(b, rank, 10 * US, 0), idle);
        schedule_repeat_end(b, rank);
    }
    carry_out(&r, b, 140000, &executor_costs_default);
    char *text = picture_of(&r);
    assert_true(occurrences(text, "<rect") < 20000 + 10);
    assert_int_equal(occurrences(text, ">rank "), 64);
    assert_non_null(strstr(text, "64 of 70 ranks are shown."));
    assert_non_null(strstr(text, "The last 140000 of 630000 operations"));
    free(text);
    end_run(&r);
}

static void nothing_at_all_is_a_timeline(void **state)
{
    (void)state;
    struct run r;
    struct schedule_builder *b = schedule_builder_new(1);
    (void)schedule_compute(b, 0, 1, 0);
    carry_out(&r, b, 0, &executor_costs_default);
    char *text = picture_of(&r);
    assert_non_null(strstr(text, "The last 0 of 1 operations"));
    free(text);
    json_t *document = events_of(&r);
    assert_apart(json_object_get(document, "traceEvents"), 0);
    json_decref(document);
    end_run(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_one_after_another_have_one_thread),
        cmocka_unit_test(each_iteration_has_a_send_of_its_own),
        cmocka_unit_test(events_never_overlap),
        cmocka_unit_test(lanes_are_as_few_as_possible),
        cmocka_unit_test(a_picture_shows_each_rank),
        cmocka_unit_test(communication_has_the_colour_of_its_purpose),
        cmocka_unit_test(a_large_picture_says_what_it_leaves_out),
        cmocka_unit_test(nothing_at_all_is_a_timeline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
