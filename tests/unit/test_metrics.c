/* test_metrics.c - counters of a running fabric for a reader: valid ones are read, impossible ones refused before
 * use; also rates, and their page at any size. */
#include "base/arena.h"
#include "spec/spec.h"
#include "tools/top/draw.h"
#include "topology/hamming_mesh.h"
#include "topology/metrics.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { WORKERS = 2, LINK_RATE = 1000000, SECOND = 1000000000 };

struct fake {
    struct hx_fabric g;
    struct hx_metrics m;
    uint8_t *base;
    size_t bytes;
};

static void fill(struct fake *f, uint8_t *base, unsigned clock)
{
    f->base = base;
    (void)hx_metrics_place(&f->m, &f->g, WORKERS, base, 0);
    hx_metrics_describe(&f->m, &f->g, WORKERS, clock);
    for (uint32_t node = 0; node < f->g.nodes; node++)
        f->m.owner[node] = node % WORKERS;
    f->m.head->link_rate = LINK_RATE;
    (void)snprintf(f->m.head->name, sizeof f->m.head->name, "3x2 H2x4Mesh");
    (void)snprintf(f->m.head->fabric, sizeof f->m.head->fabric, "3x2 H2x4Mesh");
    f->m.head->started_ns = hx_metrics_now();
    f->m.head->life = HX_LIFE_READY;
}

static void measure(struct fake *f, unsigned planes)
{
    struct hx_geometry mesh;
    assert_int_equal(hx_geometry_init(&mesh, 2, 4, 3, 2, planes, 64, 1), 0);
    hx_fabric_of_mesh(&f->g, &mesh);
    f->bytes = hx_metrics_place(&f->m, &f->g, WORKERS, NULL, 0);
}

static void make(struct fake *f)
{
    measure(f, 2);
    uint8_t *base = aligned_alloc(64, f->bytes);
    assert_non_null(base);
    memset(base, 0, f->bytes);
    fill(f, base, HX_CLOCK_WALL);
}

static bool is_good(const struct fake *f, size_t bytes)
{
    struct hx_metrics_head head;
    struct hx_metrics m;
    struct hx_fabric g;
    struct hx_problem problem;
    bool good = hx_metrics_check(f->base, bytes, &head, &m, &g, &problem);
    if (good)
        hx_fabric_free(&g);
    assert_true(good || (problem.exit_code == HX_EXIT_ENVIRONMENT && problem.what[0]));
    return good;
}

/* ---- impossible content ---- */

static void sizes_and_words_are_checked(void **state)
{
    (void)state;
    struct fake f;
    make(&f);
    assert_true(is_good(&f, f.bytes));
    /* Cut off anywhere; the padding of the last piece may be missing. */
    for (size_t bytes = 0; bytes + 64 < f.bytes; bytes += 7)
        assert_false(is_good(&f, bytes));
    memset(f.m.head->name, 'x', sizeof f.m.head->name);
    assert_false(is_good(&f, f.bytes));
    f.m.head->name[63] = 0;
    memset(f.m.head->traffic, 'x', sizeof f.m.head->traffic);
    assert_false(is_good(&f, f.bytes));
    free(f.base);
    hx_fabric_free(&f.g);
}

/* Each number of the head, changed to any other. */
static void every_count_and_offset_is_checked(void **state)
{
    (void)state;
    struct fake f;
    make(&f);
    static const uint64_t wrong[] = {0, 65, 1000, UINT32_MAX, UINT64_MAX, UINT64_MAX - 63, (uint64_t)1 << 63};
    static const struct {
        size_t at, bytes;
    } field[] = {
#define FIELD(name) {offsetof(struct hx_metrics_head, name), sizeof f.m.head->name}
        FIELD(magic),     FIELD(version), FIELD(head_bytes),     FIELD(a),       FIELD(b),
        FIELD(x),         FIELD(y),       FIELD(planes),

        FIELD(nodes),     FIELD(links),   FIELD(drops),          FIELD(workers), FIELD(accelerators),
        FIELD(worker_at), FIELD(link_at), FIELD(accelerator_at), FIELD(owner_at)
#undef FIELD
    };
    for (size_t i = 0; i < sizeof field / sizeof *field; i++) {
        uint8_t *at = f.base + field[i].at;
        uint64_t before = 0;
        memcpy(&before, at, field[i].bytes);
        for (size_t n = 0; n < sizeof wrong / sizeof *wrong; n++) {
            if (wrong[n] == before)
                continue;
            memcpy(at, &wrong[n], field[i].bytes);
            assert_false(is_good(&f, f.bytes));
        }
        memcpy(at, &before, field[i].bytes);
        assert_true(is_good(&f, f.bytes));
    }
    free(f.base);
    hx_fabric_free(&f.g);
}

/* ---- a fabric of this process, as another one sees it ---- */

static struct shm_arena arena;
static char name[64];

static void announce(struct fake *f, unsigned clock)
{
    measure(f, 2);
    (void)snprintf(name, sizeof name, "metrics-%ld", (long)getpid());
    assert_int_equal(shm_arena_create(&arena, name, f->bytes), 0);
    fill(f, arena.base, clock);
}

/* A fabric and its observer. */
static void open_top(struct fake *f, struct top *t, unsigned clock)
{
    struct hx_problem problem;
    announce(f, clock);
    assert_true(top_open(t, name, &problem));
}

static void close_top(struct fake *f, struct top *t)
{
    top_close(t);
    shm_arena_close(&arena, true);
    hx_fabric_free(&f->g);
}

static void publish(struct fake *f, unsigned worker, uint64_t at_ns, uint64_t simulated_ps, uint64_t packets)
{
    struct hx_metrics_worker *w = &f->m.worker[worker];
    hx_metrics_begin(w);
    for (uint32_t node = 0, link = 0; node < f->g.nodes; link += hx_fabric_ports(&f->g, node), node++) {
        if (f->m.owner[node] != worker)
            continue;
        for (unsigned port = 0; port < hx_fabric_ports(&f->g, node); port++) {
            hx_metrics_set(&f->m.link[link + port].packets, packets);
            hx_metrics_set(&f->m.link[link + port].bytes, 100 * packets);
        }
        if (node < f->g.hosts)
            hx_metrics_set_accelerator(
                &f->m.accelerator[node],
                &(struct hx_endpoint_stats){.packets_delivered = packets, .bytes_delivered = 10 * packets});
    }
    hx_metrics_set(&w->simulated_ps, simulated_ps);
    hx_metrics_end(w, at_ns, at_ns / 2, packets, 0, (const uint64_t[HX_DROP_COUNT]){0},
                   (const uint64_t[HX_STALL_COUNT]){0});
}

static void near(double value, double expected)
{
    if (value < expected * 0.999 || value > expected * 1.001)
        fail_msg("%g is not %g", value, expected);
}

static void rates_are_those_of_each_worker(void **state)
{
    (void)state;
    struct fake f;
    struct top t;
    open_top(&f, &t, HX_CLOCK_WALL);
    uint64_t start = f.m.head->started_ns;
    publish(&f, 0, start + SECOND, 0, 500);
    publish(&f, 1, start + 2 * (uint64_t)SECOND, 0, 500);
    top_read(&t);
    near(t.packets[0], 500); /* since the start */
    near(t.packets[5], 250); /* of the next accelerator, which is the other worker's */
    near(top_load(&t, 0), 1);
    near(top_load(&t, 5), 0.5);
    publish(&f, 0, start + 3 * (uint64_t)SECOND, 0, 700);
    top_read(&t);
    near(t.packets[0], 100);
    near(t.packets[5], 250); /* no update of that worker */
    near(t.moved[0], 500);   /* five ports of plane 0 */
    near(t.worker[0].wall_hops, 100);
    near(t.worker[0].busy, 0.5);
    near(t.rate.bytes, 24 * (1000.0 + 2500));
    assert_true(t.sum.packets_delivered == 24 * (700 + 500));
    struct top_link link[3];
    assert_int_equal(top_links(&t, TOP_BY_RATE, TOP_ALL_PLANES, link, 3), 3);
    near(t.packets[link[0].number], 250);
    assert_int_equal(top_links(&t, TOP_BY_PACKETS, 0, link, 3), 3);
    assert_true(t.now.link[link[0].number].packets == 700);
    assert_string_equal(top_phase(&t), "starting");
    assert_false(top_has_ended(&t));
    f.m.head->life = HX_LIFE_ENDED;
    top_read(&t);
    assert_string_equal(top_phase(&t), "ended");
    close_top(&f, &t);
}

static void rates_are_per_simulated_time(void **state)
{
    (void)state;
    struct fake f;
    struct top t;
    open_top(&f, &t, HX_CLOCK_VIRTUAL);
    publish(&f, 0, f.m.head->started_ns + SECOND, UINT64_C(1000000000), 5); /* a millisecond */
    top_read(&t);
    near(t.packets[0], 5000);
    near(top_load(&t, 0), 0.5);
    near(t.worker[0].wall_hops, 5);
    near(t.simulated_seconds, 0.001);
    /* Killed while it wrote: the content is read all the same. */
    hx_metrics_begin(&f.m.worker[1]);
    hx_metrics_set(&f.m.worker[1].hops, 77);
    top_read(&t);
    assert_true(t.sum.hops == 82);
    uint64_t odd = hx_metrics_get(&f.m.worker[1].sequence);
    hx_metrics_begin(&f.m.worker[1]);
    assert_true(odd % 2 == 1 && hx_metrics_get(&f.m.worker[1].sequence) == odd);
    close_top(&f, &t);
}

/* A reading of a running fabric is later than the last publication, at which an ended run's time ends. */
static void time_does_not_go_back_at_the_end(void **state)
{
    (void)state;
    struct fake f;
    struct top t;
    open_top(&f, &t, HX_CLOCK_WALL);
    f.m.head->started_ns -= 10 * (uint64_t)SECOND;
    publish(&f, 0, f.m.head->started_ns + SECOND, 0, 5);
    publish(&f, 1, f.m.head->started_ns + SECOND, 0, 5);
    top_read(&t);
    double running = t.wall_seconds;
    assert_true(running >= 10);
    f.m.head->life = HX_LIFE_ENDED;
    top_read(&t);
    assert_true(t.ended && t.wall_seconds >= running);
    /* A publication later than all readings moves it on. */
    publish(&f, 0, f.m.head->started_ns + 3600 * (uint64_t)SECOND, 0, 9);
    top_read(&t);
    near(t.wall_seconds, 3600);
    close_top(&f, &t);
}

static void page_says(const struct top *t, const char *part);

static void operations_of_schedules_are_shown(void **state)
{
    (void)state;
    struct fake f;
    struct top t;
    struct hx_problem problem;
    announce(&f, HX_CLOCK_VIRTUAL);
    f.m.head->goal_operations = 400;
    f.m.head->goal_messages = 7; /* of other jobs */
    assert_true(top_open(&t, name, &problem));
    for (unsigned w = 0; w < WORKERS; w++) {
        hx_metrics_set_operations(&f.m.worker[w], 90 + w, 5);
        publish(&f, w, f.m.head->started_ns + SECOND, 1000, 1);
    }
    top_read(&t);
    near(top_done(&t), 181.0 / 400);
    page_says(&t, "\nschedule  181 of 400 operations ended, 10 in progress");
    json_t *line = top_json(&t, 1, 1);
    json_t *expected = json_pack("{s:i, s:i, s:i}", "all", 400, "ended", 181, "open", 10);
    assert_true(json_equal(json_object_get(line, "operations"), expected));
    json_decref(expected);
    json_decref(line);
    t.head.goal_operations = 0;
    line = top_json(&t, 1, 1);
    assert_true(json_is_null(json_object_get(line, "operations")));
    json_decref(line);
    close_top(&f, &t);
}

/* The page of 24 x 80; the caller frees it. */
static char *page_of(const struct top *t)
{
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    struct canvas c;
    assert_non_null(out);
    canvas_new(&c, 24, 80);
    top_draw(&c, t, &(struct top_view){.plane = TOP_ALL_PLANES});
    canvas_write(&c, out);
    canvas_free(&c);
    (void)fclose(out);
    return text;
}

static void page_says(const struct top *t, const char *part)
{
    char *text = page_of(t);
    if (!strstr(text, part))
        fail_msg("'%s' is not on the page:\n%s", part, text);
    free(text);
}

/* Current faults, the latest first; during a write, the earlier ones. */
static void current_faults_are_shown(void **state)
{
    (void)state;
    struct fake f;
    struct top t;
    open_top(&f, &t, HX_CLOCK_WALL);
    struct hx_metrics_faults *faults = &f.m.head->faults;
    top_read(&t);
    char *text = page_of(&t);
    assert_null(strstr(text, "faults"));
    free(text);
    hx_metrics_begin_faults(faults);
    hx_metrics_add_fault(faults, 1500000000, "a0,1/E down");
    hx_metrics_add_fault(faults, 200000000, "all loss=1%");
    hx_metrics_end_faults(faults, 0);
    top_read(&t);
    page_says(&t, "\nfaults    a0,1/E down (since 1.5 s); all loss=1% (since 200 ms)");
    hx_metrics_begin_faults(faults);
    hx_metrics_add_fault(faults, 7, "plane1 down");
    top_read(&t);
    page_says(&t, "a0,1/E down (since 1.5 s)");
    for (unsigned i = 0; i < HX_METRICS_FAULTS; i++)
        hx_metrics_add_fault(faults, 8, "a0,0/E down");
    hx_metrics_end_faults(faults, 3);
    memset((void *)faults->fault[1].line, 27, sizeof faults->fault[1].line); /* no text, and without an end */
    top_read(&t);
    page_says(&t, "\nfaults    plane1 down (since 7 ns); ?????");
    page_says(&t, "\nplanned   links are closed, by 3 lines of a plan");
    json_t *line = top_json(&t, 1, 1);
    assert_int_equal(json_integer_value(json_object_get(line, "changes_holding")), 3);
    assert_int_equal(json_integer_value(json_object_get(line, "faults_holding")), HX_METRICS_FAULTS + 1);
    const json_t *list = json_object_get(line, "faults");
    assert_int_equal(json_array_size(list), HX_METRICS_FAULTS);
    assert_string_equal(json_string_value(json_object_get(json_array_get(list, 2), "fault")), "a0,0/E down");
    assert_int_equal(json_integer_value(json_object_get(json_array_get(list, 2), "since_ns")), 8);
    json_decref(line);
    close_top(&f, &t);
}

static void the_page_fits_any_size(void **state)
{
    (void)state;
    struct fake f;
    struct top t;
    open_top(&f, &t, HX_CLOCK_WALL);
    publish(&f, 0, f.m.head->started_ns + SECOND, 0, 5000);
    top_read(&t);
    for (unsigned rows = 0; rows < 40; rows++) {
        for (unsigned columns = 0; columns < 100; columns += 1 + columns / 8) {
            struct canvas c;
            canvas_new(&c, rows, columns);
            top_draw(&c, &t, &(struct top_view){.plane = rows % 2 ? 1 : TOP_ALL_PLANES, .help = rows == 7});
            canvas_free(&c);
        }
    }
    char *text = page_of(&t);
    assert_non_null(strstr(text, "hottest links"));
    assert_non_null(strstr(text, "packets/s sent by each accelerator"));
    assert_non_null(strstr(text, "drops     none"));
    unsigned lines = 0;
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    assert_int_equal(lines, 24);
    free(text);
    close_top(&f, &t);
}

static void refused(int exit_code, const char *what)
{
    struct top t;
    struct hx_problem problem;
    assert_false(top_open(&t, name, &problem));
    assert_int_equal(problem.exit_code, exit_code);
    assert_string_equal(problem.where, name);
    if (!strstr(problem.what, what))
        fail_msg("'%s' does not say '%s'", problem.what, what);
}

static void other_files_are_refused(void **state)
{
    (void)state;
    struct fake f;
    announce(&f, HX_CLOCK_WALL);
    f.m.head->life = HX_LIFE_OPENING;
    refused(HX_EXIT_ENVIRONMENT, "only just starting");
    f.m.head->life = HX_LIFE_READY;
    f.m.head->magic++;
    refused(HX_EXIT_ENVIRONMENT, "another version");
    f.m.head->magic--;
    f.m.head->link_at += 64;
    f.m.head->owner_at = f.bytes;
    refused(HX_EXIT_ENVIRONMENT, "is invalid");
    shm_arena_close(&arena, true);
    hx_fabric_free(&f.g);
    refused(HX_EXIT_ENVIRONMENT, "no fabric of this name is running");
    assert_int_equal(shm_arena_create(&arena, name, 100), 0);
    memset(arena.base, 1, 100);
    refused(HX_EXIT_ENVIRONMENT, "too short");
    shm_arena_close(&arena, true);
    hx_fabric_free(&f.g);
}

/* A file that is cut short under a reader is the end, not a crash. */
static void a_truncated_file_ends_the_view(void **state)
{
    (void)state;
    struct fake f;
    struct top t;
    open_top(&f, &t, HX_CLOCK_WALL);
    publish(&f, 0, f.m.head->started_ns + SECOND, 0, 5);
    top_read(&t);
    assert_int_equal(ftruncate(arena.fd, 64), 0);
    assert_true(top_has_ended(&t));
    top_read(&t);
    assert_string_equal(top_phase(&t), "ended");
    assert_true(t.sum.hops == 5);
    close_top(&f, &t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_and_words_are_checked),    cmocka_unit_test(every_count_and_offset_is_checked),
        cmocka_unit_test(rates_are_those_of_each_worker), cmocka_unit_test(rates_are_per_simulated_time),
        cmocka_unit_test(the_page_fits_any_size),         cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(a_truncated_file_ends_the_view), cmocka_unit_test(time_does_not_go_back_at_the_end),
        cmocka_unit_test(current_faults_are_shown),       cmocka_unit_test(operations_of_schedules_are_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
