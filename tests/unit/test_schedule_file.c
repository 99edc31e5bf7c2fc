/* test_schedule_file.c - a built schedule has what was added, the file of one opens with the same bytes, and what is
 * wrong with either is refused in one line (schedule/build.h, schedule/structure.h, schedule/schedule.h). */
#include "schedule/build.h"
#include "schedule/layout.h"
#include "tests/support/support_file.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct schedule *built(struct schedule_builder *b)
{
    struct hx_problem problem;
    struct schedule *s = schedule_build(b, "x", &problem);
    if (!s)
        fail_msg("%s", problem.what);
    return s;
}

static void is_refused(struct schedule_builder *b, const char *what)
{
    struct hx_problem problem = {.exit_code = 0};
    assert_null(schedule_build(b, "x", &problem));
    assert_int_equal(problem.exit_code, HX_EXIT_CONFIG);
    assert_string_equal(problem.where, "x");
    assert_string_equal(problem.what, what);
}

/* ---- what was added ---- */

static void operations_keep_their_order_and_fields(void **state)
{
    (void)state;
    struct schedule_builder *b = schedule_builder_new(3);
    const uint32_t pair[] = {2, 0};
    assert_int_equal(schedule_builder_ranks(b), 3);
    assert_int_equal(schedule_compute(b, 2, SCHEDULE_MOST_TIME, 255), 0); /* ranks in any order */
    assert_int_equal(schedule_send(b, 0, 2, SCHEDULE_MOST_BYTES, 7), 0);
    assert_int_equal(schedule_receive(b, 0, SCHEDULE_ANY, 3, SCHEDULE_ANY), 1);
    assert_int_equal(schedule_collect(b, 2, HX_GATHER, schedule_add_group(b, pair, 2), 40, 1), 1);
    schedule_builder_at(b, 2, 1)->algorithm = 2;
    assert_int_equal(schedule_builder_count(b, 2), 2);
    struct schedule *s = built(b);
    assert_int_equal(schedule_ranks(s), 3);
    assert_int_equal(schedule_count(s, 0), 2);
    assert_int_equal(schedule_count(s, 1), 0);
    assert_int_equal(schedule_count(s, 2), 2);
    const struct schedule_operation *o = schedule_at(s, 0, 0);
    assert_true(o->kind == SCHEDULE_SEND && o->peer == 2 && o->amount == SCHEDULE_MOST_BYTES && o->tag == 7);
    o = schedule_at(s, 0, 1);
    assert_true(o->kind == SCHEDULE_RECEIVE && o->peer == SCHEDULE_ANY && o->amount == 3 && o->tag == SCHEDULE_ANY);
    o = schedule_at(s, 2, 0);
    assert_true(o->kind == SCHEDULE_COMPUTE && o->amount == SCHEDULE_MOST_TIME && o->stream == 255);
    o = schedule_at(s, 2, 1);
    assert_true(o->kind == SCHEDULE_COLLECTIVE && o->collective == HX_GATHER && o->peer == 0 && o->tag == 1);
    assert_true(o->amount == 40 && o->algorithm == 2);
    assert_int_equal(schedule_group_size(s, 0), 2);
    assert_memory_equal(schedule_group(s, 0), pair, sizeof pair);
    schedule_close(s);
}

static void has_followers(const struct schedule *s, uint32_t number, const uint32_t *expected, uint32_t count)
{
    const uint32_t *list;
    assert_int_equal(schedule_followers(s, 0, number, &list), count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(list[i], expected[i]);
}

static void a_dependency_counts_once(void **state)
{
    (void)state;
    struct schedule_builder *b = schedule_builder_new(1);
    for (uint32_t i = 0; i < 4; i++)
        (void)schedule_compute(b, 0, i, 0);
    schedule_after(b, 0, 0, 3); /* also on a later one */
    schedule_after_start(b, 0, 1, 0);
    schedule_after(b, 0, 2, 0);
    schedule_after(b, 0, 2, 0);
    schedule_after_start(b, 0, 2, 1);
    schedule_after(b, 0, 2, 1); /* the end includes the start */
    schedule_after_start(b, 0, 2, 1);
    struct schedule *s = built(b);
    has_followers(s, 0, (const uint32_t[]){1 << 1 | SCHEDULE_AFTER_START, 2 << 1}, 2);
    has_followers(s, 1, (const uint32_t[]){2 << 1}, 1);
    has_followers(s, 2, NULL, 0);
    has_followers(s, 3, (const uint32_t[]){0 << 1}, 1);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(schedule_at(s, 0, i)->waits, i < 3 ? (i == 2 ? 2 : 1) : 0);
    assert_int_equal(s->head->followers, 4);
    schedule_close(s);
}

static void equal_names_share_their_text(void **state)
{
    (void)state;
    struct schedule_builder *b = schedule_builder_new(2);
    for (uint32_t rank = 0; rank < 2; rank++) {
        for (unsigned i = 0; i < 3; i++)
            (void)schedule_compute(b, rank, 1, 0);
        schedule_set_name(b, rank, 0, "forward");
        schedule_set_name(b, rank, 1, "");
    }
    schedule_set_name(b, 1, 2, "forward 2");
    struct schedule *s = built(b);
    assert_string_equal(schedule_name(s, schedule_at(s, 0, 0)), "forward");
    assert_int_equal(schedule_at(s, 0, 0)->name, schedule_at(s, 1, 0)->name);
    assert_int_equal(schedule_at(s, 0, 1)->name, SCHEDULE_NO_NAME);
    assert_string_equal(schedule_name(s, schedule_at(s, 0, 2)), "");
    assert_string_equal(schedule_name(s, schedule_at(s, 1, 2)), "forward 2");
    assert_int_equal(s->head->names, sizeof "" + sizeof "forward" + sizeof "forward 2");
    schedule_close(s);
}

static void equal_groups_are_one(void **state)
{
    (void)state;
    struct schedule_builder *b = schedule_builder_new(3);
    const uint32_t lists[] = {0, 1, 2, 1, 0};
    uint32_t all = schedule_add_group(b, lists, 3);
    uint32_t begin = schedule_add_group(b, lists, 2);
    assert_int_not_equal(begin, all);
    assert_int_not_equal(schedule_add_group(b, lists + 3, 2), begin); /* another order */
    assert_int_equal(schedule_add_group(b, (const uint32_t[]){0, 1, 2}, 3), all);
    assert_int_equal(schedule_add_group(b, (const uint32_t[]){0, 1}, 2), begin);
    struct schedule *s = built(b);
    assert_int_equal(s->head->groups, 3);
    assert_int_equal(s->head->members, 7);
    assert_int_equal(schedule_group_size(s, all), 3);
    assert_memory_equal(schedule_group(s, begin), lists, 2 * sizeof *lists);
    schedule_close(s);
}

static void bodies_have_their_operations(void **state)
{
    (void)state;
    struct schedule_builder *b = schedule_builder_new(1);
    (void)schedule_repeat(b, 0, UINT64_C(1) << 58);
    (void)schedule_compute(b, 0, 1, 0);
    (void)schedule_repeat(b, 0, 2);
    schedule_repeat_end(b, 0); /* empty, at the end of the outer body */
    schedule_repeat_end(b, 0);
    (void)schedule_compute(b, 0, 1, 0);
    schedule_after(b, 0, 2, 1);
    schedule_after(b, 0, 3, 0);
    struct schedule *s = built(b);
    assert_int_equal(schedule_at(s, 0, 0)->peer, 2);
    assert_true(schedule_at(s, 0, 0)->amount == UINT64_C(1) << 58);
    assert_int_equal(schedule_at(s, 0, 2)->peer, 0);
    assert_int_equal(schedule_next(s, 0, 0), 3);
    assert_int_equal(schedule_next(s, 0, 1), 2);
    assert_int_equal(schedule_next(s, 0, 2), 3);
    schedule_close(s);
}

/* ---- what a builder refuses ---- */

/* A rank of so many operations with names a, b, ... */
static struct schedule_builder *operations(uint32_t count)
{
    struct schedule_builder *b = schedule_builder_new(2);
    for (uint32_t i = 0; i < count; i++) {
        (void)schedule_compute(b, 1, 1, 0);
        schedule_set_name(b, 1, i, (const char[]){(char)('a' + (int)i), '\0'});
    }
    return b;
}

static void circles_are_named(void **state)
{
    (void)state;
    struct schedule_builder *b = schedule_builder_new(1);
    (void)schedule_send(b, 0, 0, 1, 0);
    schedule_after_start(b, 0, 0, 0);
    is_refused(b, "rank 0: send 0 waits for itself");
    b = operations(3);
    schedule_after(b, 1, 1, 2);
    schedule_after_start(b, 1, 2, 1);
    is_refused(b, "rank 1: 'c' and 'b' wait for each other");
    b = operations(5);
    for (uint32_t i = 0; i < 4; i++) /* d for c for b for a for d; e is behind the circle */
        schedule_after(b, 1, (i + 1) % 4, i);
    schedule_after(b, 1, 4, 3);
    is_refused(b, "rank 1: operations wait for each other in a circle: 'd' for 'c', this one for 'b', and so on");
}

static void long_names_and_control_characters_make_one_line(void **state)
{
    (void)state;
#define TEN "??????????"
    char name[300];
    struct schedule_builder *b = schedule_builder_new(1);
    memset(name, '\n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    (void)schedule_compute(b, 0, 1, 0);
    schedule_set_name(b, 0, 0, name);
    schedule_after(b, 0, 0, 0);
    is_refused(b, "rank 0: '" TEN TEN TEN TEN "' waits for itself");
#undef TEN
}

static void dependencies_across_a_block_are_refused(void **state)
{
    (void)state;
    for (unsigned way = 0; way < 3; way++) {
        static const struct {
            uint32_t later, earlier;
            const char *what;
        } cases[] = {
            {1, 0,
             "rank 0: compute 1 waits for repeat 0, but only one of them is in a repeated block (let it wait for the "
             "repeat itself)"},
            {3, 2,
             "rank 0: compute 3 waits for compute 2, but only one of them is in a repeated block (let it wait for the "
             "repeat itself)"},
            {5, 1,
             "rank 0: compute 5 waits for compute 1, but only one of them is in a repeated block (let it wait for the "
             "repeat itself)"},
        };
        struct schedule_builder *b = schedule_builder_new(1);
        (void)schedule_repeat(b, 0, 2);
        (void)schedule_compute(b, 0, 1, 0);
        (void)schedule_compute(b, 0, 1, 0);
        schedule_repeat_end(b, 0);
        (void)schedule_compute(b, 0, 1, 0);
        (void)schedule_repeat(b, 0, 2);
        (void)schedule_compute(b, 0, 1, 0);
        schedule_repeat_end(b, 0);
        schedule_after(b, 0, cases[way].later, cases[way].earlier);
        is_refused(b, cases[way].what);
    }
}

/* A rank with so many repeats inside one another, and an operation inside. */
static struct schedule_builder *nested(unsigned depth, uint64_t times)
{
    struct schedule_builder *b = schedule_builder_new(1);
    for (unsigned i = 0; i < depth; i++)
        (void)schedule_repeat(b, 0, times);
    (void)schedule_compute(b, 0, 1, 0);
    for (unsigned i = 0; i < depth; i++)
        schedule_repeat_end(b, 0);
    return b;
}

static void repeats_are_bounded(void **state)
{
    (void)state;
    schedule_close(built(nested(SCHEDULE_MOST_NESTED, 1)));
    is_refused(nested(SCHEDULE_MOST_NESTED + 1, 1), "rank 0 has more than 64 repeated blocks inside one another");
    schedule_close(built(nested(1, SCHEDULE_MOST_EXECUTED - 1)));
    is_refused(nested(1, SCHEDULE_MOST_EXECUTED), "rank 0 carries out more than 2^60 operations with its repeats");
    is_refused(nested(20, SCHEDULE_MOST_EXECUTED), "rank 0 carries out more than 2^60 operations with its repeats");
    is_refused(nested(60, 2), "rank 0 carries out more than 2^60 operations with its repeats");
}

static void groups_of_others_are_refused(void **state)
{
    (void)state;
    struct schedule_builder *b = schedule_builder_new(3);
    uint32_t group = schedule_add_group(b, (const uint32_t[]){0, 2}, 2);
    (void)schedule_compute(b, 1, 1, 0);
    (void)schedule_collect(b, 1, HX_BARRIER, group, 0, 0);
    is_refused(b, "rank 1: collective 1 is of a group that the rank is not in");
}

static struct schedule_builder *in_groups(uint32_t groups)
{
    struct schedule_builder *b = schedule_builder_new(SCHEDULE_MOST_GROUPS_OF_RANK + 2);
    for (unsigned times = 0; times < 2; times++) {
        for (uint32_t i = 0; i < groups; i++)
            (void)schedule_collect(b, 0, HX_BARRIER, schedule_add_group(b, (const uint32_t[]){i + 1, 0}, 2), 0, 0);
    }
    return b;
}

static void a_rank_is_in_128_groups(void **state)
{
    (void)state;
    schedule_close(built(in_groups(SCHEDULE_MOST_GROUPS_OF_RANK)));
    is_refused(in_groups(SCHEDULE_MOST_GROUPS_OF_RANK + 1), "rank 0 has collectives of more than 128 groups");
}

/* ---- files ---- */

/* Two ranks: 0 has `a`, a repeat of two with one of one in it, and a send; 1 has a receive and a collective. */
static struct schedule *sample(void)
{
    struct schedule_builder *b = schedule_builder_new(2);
    (void)schedule_compute(b, 0, 10, 1);
    schedule_set_name(b, 0, 0, "a");
    (void)schedule_repeat(b, 0, 3);
    (void)schedule_repeat(b, 0, 2);
    (void)schedule_compute(b, 0, 20, 0);
    schedule_repeat_end(b, 0);
    schedule_repeat_end(b, 0);
    (void)schedule_send(b, 0, 1, 100, 5);
    (void)schedule_receive(b, 1, 0, 100, 5);
    uint32_t group = schedule_add_group(b, (const uint32_t[]){1, 0}, 2);
    for (uint32_t rank = 0; rank < 2; rank++)
        (void)schedule_collect(b, rank, HX_ALL_REDUCE, group, 64, 0);
    schedule_after(b, 0, 1, 0);
    schedule_after_start(b, 0, 4, 1);
    schedule_after(b, 1, 1, 0);
    return built(b);
}

enum { FILE_ROOM = 4096 };

/* A file of `sample` in memory, to be damaged. */
struct image {
    size_t bytes;
    struct schedule s; /* points into it */
    uint64_t file[FILE_ROOM / 8];
};

static const struct image *image_of(struct schedule *s)
{
    static struct image i;
    assert_true(s->bytes <= sizeof i.file);
    i.bytes = s->bytes;
    memcpy(i.file, s->head, s->bytes);
    assert_int_equal(schedule_place(&i.s, i.file), i.bytes);
    schedule_close(s);
    return &i;
}

static const struct image *image(void)
{
    return image_of(sample());
}

/* Two ranks with an all-to-all of unequal shares. */
static const struct image *image_with_shares(void)
{
    struct schedule_builder *b = schedule_builder_new(2);
    const uint32_t group = schedule_add_group(b, (const uint32_t[]){1, 0}, 2);
    const uint32_t tag = schedule_add_shares(b, (const uint32_t[]){1, 2, 3, 4}, 2);
    for (uint32_t rank = 0; rank < 2; rank++)
        (void)schedule_collect(b, rank, HX_COLLECTIVE_ALL_TO_ALL, group, 64, tag);
    schedule_after(b, 0, schedule_compute(b, 0, 5, 0), 0);
    return image_of(built(b));
}

/* The arrays of the image, which are the test's own. */
#define OWN(array) ((void *)(uintptr_t)(array))

static struct schedule_operation *operation_of(const struct image *i, uint32_t rank, uint32_t number)
{
    return OWN(schedule_at(&i->s, rank, number));
}

static void opening_fails(const void *bytes, size_t count, const char *what)
{
    struct hx_problem problem = {.exit_code = 0};
    const char *path = file_write("damaged.hxs", bytes, count);
    struct schedule *s = schedule_open(path, &problem);
    assert_null(s);
    assert_int_equal(problem.exit_code, HX_EXIT_CONFIG);
    assert_string_equal(problem.where, path);
    if (what)
        assert_string_equal(problem.what, what);
    else
        assert_true(problem.what[0] != '\0');
}

static void damaged(const struct image *i, const char *what)
{
    char text[128];
    (void)snprintf(text, sizeof text, "is a damaged schedule: %s", what);
    opening_fails(i->file, i->bytes, text);
}

static void a_written_file_opens_with_the_same_bytes(void **state)
{
    (void)state;
    struct schedule *s = sample();
    struct hx_problem problem;
    const char *path = file_path("same.hxs");
    schedule_write(s, path);
    struct schedule *again = schedule_open(path, &problem);
    assert_non_null(again);
    assert_true(again->mapped_file);
    assert_int_equal(again->bytes, s->bytes);
    assert_memory_equal(again->head, s->head, s->bytes);
    assert_string_equal(schedule_name(again, schedule_at(again, 0, 0)), "a");
    schedule_close(again);
    schedule_close(s);
    schedule_close(NULL);
}

/* What a fuzzer begins with is of this version. */
static void stored_seeds_open(void **state)
{
    (void)state;
    glob_t seeds;
    struct hx_problem problem;
    assert_int_equal(glob("tests/fuzz/corpus/schedule/*.hxs", 0, NULL, &seeds), 0);
    assert_true(seeds.gl_pathc >= 6);
    for (size_t i = 0; i < seeds.gl_pathc; i++) {
        struct schedule *s = schedule_open(seeds.gl_pathv[i], &problem);
        if (!s)
            fail_msg("%s: %s", problem.where, problem.what);
        schedule_close(s);
    }
    globfree(&seeds);
}

static void an_empty_schedule_opens(void **state)
{
    (void)state;
    struct hx_problem problem;
    struct schedule *s = built(schedule_builder_new(3));
    const char *path = file_path("empty.hxs");
    schedule_write(s, path);
    schedule_close(s);
    s = schedule_open(path, &problem);
    assert_non_null(s);
    assert_int_equal(schedule_ranks(s), 3);
    schedule_close(s);
}

static void a_file_that_is_none_is_refused(void **state)
{
    (void)state;
    struct hx_problem problem;
    struct image *i = OWN(image());
    opening_fails("", 0, "is no schedule of hxmesh");
    opening_fails("hxsched\n", 8, "is no schedule of hxmesh");
    ((char *)i->file)[3] = 'x';
    opening_fails(i->file, i->bytes, "is no schedule of hxmesh");
    assert_null(schedule_open("/tmp", &problem));
    assert_string_equal(problem.what, "is no schedule of hxmesh");
    assert_null(schedule_open(file_path("missing.hxs"), &problem));
    assert_string_equal(problem.what, "cannot be read: No such file or directory");
}

static void another_version_is_refused(void **state)
{
    (void)state;
    struct image *i = OWN(image());
    ((struct schedule_head *)i->file)->version = 1;
    opening_fails(i->file, i->bytes,
                  "is a schedule of version 1, this program reads version 3 (convert its source again)");
}

/* Each cut and each longer file. */
static void a_file_that_is_cut_is_refused(void **state)
{
    (void)state;
    const struct image *i = image();
    for (size_t bytes = 0; bytes < i->bytes; bytes++)
        opening_fails(i->file, bytes,
                      bytes < sizeof(struct schedule_head)
                          ? "is no schedule of hxmesh"
                          : "is a damaged schedule: its length is not that of its counts");
    opening_fails(i->file, i->bytes + 8, "is a damaged schedule: its length is not that of its counts");
}

static void wrong_counts_are_refused(void **state)
{
    (void)state;
    static const uint64_t wrong[] = {0, UINT64_C(1) << 40, UINT64_C(1) << 60, UINT64_MAX};
    for (unsigned w = 0; w < sizeof wrong / sizeof *wrong; w++) {
        for (unsigned field = 0; field < 8; field++) {
            struct image *i = OWN(image_with_shares());
            struct schedule_head *h = (struct schedule_head *)i->file;
            uint64_t *const counts[] = {&h->operations, &h->followers, &h->groups, &h->members,
                                        &h->names,      &h->shares,    &h->weights};
            if (field < 7)
                *counts[field] = wrong[w];
            else
                h->ranks = (uint32_t)wrong[w];
            damaged(i, "its length is not that of its counts");
        }
    }
}

static void arrays_that_do_not_ascend_are_refused(void **state)
{
    (void)state;
    static const char *const what[] = {"its ranks do not follow each other",
                                       "its dependencies do not follow each other",
                                       "its groups do not follow each other"};
    for (unsigned array = 0; array < 3; array++) {
        const uint64_t *const of[] = {image()->s.first, image()->s.first_follower, image()->s.first_member};
        for (unsigned at = 0; at < (array == 2 ? 2 : 3); at++) {
            for (unsigned huge = 0; huge < 2; huge++) {
                struct image *i = OWN(image());
                *(uint64_t *)OWN(&of[array][at]) = huge ? UINT64_MAX : at == 0 ? 1 : UINT64_C(1) << 31;
                damaged(i, what[array]);
            }
        }
    }
}

static void names_without_an_end_are_refused(void **state)
{
    (void)state;
    struct image *i = OWN(image());
    ((char *)OWN(i->s.names))[i->s.head->names - 1] = 'x';
    damaged(i, "its names do not end");
    i = OWN(image());
    ((char *)OWN(i->s.names))[0] = 'x'; /* the name of those that have none */
    damaged(i, "its names do not end");
}

static void wrong_members_are_refused(void **state)
{
    (void)state;
    struct image *i = OWN(image());
    ((uint32_t *)OWN(i->s.member))[1] = 2;
    damaged(i, "a member of a group is no rank");
    i = OWN(image());
    ((uint32_t *)OWN(i->s.member))[0] = 0;
    damaged(i, "a group has a rank twice");
}

static void wrong_shares_are_refused(void **state)
{
    (void)state;
    struct image *i = OWN(image_with_shares());
    ((uint64_t *)OWN(i->s.first_weight))[1] = 3;
    damaged(i, "its shares do not follow each other");
    i = OWN(image_with_shares());
    memset(OWN(i->s.weight), 0, 4 * sizeof(uint32_t));
    damaged(i, "its shares are no square of weights");
    i = OWN(image_with_shares());
    operation_of(i, 0, 0)->tag = 2; /* a table that is not there */
    damaged(i, "an operation has a number out of range");
    i = OWN(image_with_shares());
    ((struct schedule_head *)i->file)->weights = 3; /* as many bytes */
    ((uint64_t *)OWN(i->s.first_weight))[1] = 3;
    damaged(i, "its shares are no square of weights");
    i = OWN(image_with_shares());
    ((struct schedule_head *)i->file)->weights = 1;
    ((uint64_t *)OWN(i->s.first_weight))[1] = 1;
    damaged(i, "its length is not that of its counts");
    i = OWN(image_with_shares());
    operation_of(i, 1, 0)->tag = 0; /* equal shares */
    const char *path = file_write("equal.hxs", i->file, i->bytes);
    struct hx_problem problem;
    struct schedule *s = schedule_open(path, &problem);
    assert_non_null(s);
    assert_null(schedule_shares(s, schedule_at(s, 1, 0)));
    assert_int_equal(schedule_shares(s, schedule_at(s, 0, 0))[3], 4);
    schedule_close(s);
}

/* A value of a field of an operation that is out of its range. */
struct wrong {
    uint32_t rank, number;
    struct schedule_operation with; /* the operation instead; its waits and followers stay */
};

static void operations_out_of_range_are_refused(void **state)
{
    (void)state;
    static const struct wrong wrong[] = {
        {0, 0, {.kind = SCHEDULE_KINDS}},
        {0, 0, {.kind = 15}},
        {0, 0, {.kind = SCHEDULE_COMPUTE, .amount = SCHEDULE_MOST_TIME + 1}},
        {0, 0, {.kind = SCHEDULE_COMPUTE, .name = 3}},
        {0, 0, {.kind = SCHEDULE_COMPUTE, .name = UINT32_MAX}},
        {0, 4, {.kind = SCHEDULE_SEND, .peer = 2}},
        {0, 4, {.kind = SCHEDULE_SEND, .peer = SCHEDULE_ANY}},
        {0, 4, {.kind = SCHEDULE_SEND, .tag = SCHEDULE_ANY}},
        {0, 4, {.kind = SCHEDULE_SEND, .amount = SCHEDULE_MOST_BYTES + 1}},
        {1, 0, {.kind = SCHEDULE_RECEIVE, .peer = 2}},
        {1, 0, {.kind = SCHEDULE_RECEIVE, .amount = SCHEDULE_MOST_BYTES + 1}},
        {1, 1, {.kind = SCHEDULE_COLLECTIVE, .peer = 1}},
        {1, 1, {.kind = SCHEDULE_COLLECTIVE, .tag = 2}},
        {1, 1, {.kind = SCHEDULE_COLLECTIVE, .amount = SCHEDULE_MOST_BYTES + 1}},
        {1, 1, {.kind = SCHEDULE_COLLECTIVE, .collective = HX_COLLECTIVE_KINDS}},
        {1, 1, {.kind = SCHEDULE_COLLECTIVE, .algorithm = HX_ALGORITHMS}},
        {0, 1, {.kind = SCHEDULE_REPEAT, .amount = 0, .peer = 2}},
        {0, 1, {.kind = SCHEDULE_REPEAT, .amount = 1, .peer = 5}},
        {0, 1, {.kind = SCHEDULE_REPEAT, .amount = 1, .peer = UINT32_MAX}},
    };
    for (unsigned w = 0; w < sizeof wrong / sizeof *wrong; w++) {
        struct image *i = OWN(image());
        struct schedule_operation *o = operation_of(i, wrong[w].rank, wrong[w].number);
        const struct schedule_operation old = *o;
        *o = wrong[w].with;
        o->follower = old.follower;
        o->waits = old.waits;
        damaged(i, "an operation has a number out of range");
    }
}

static void wrong_followers_are_refused(void **state)
{
    (void)state;
    static const uint32_t first[] = {1, 3, UINT32_MAX};
    for (unsigned f = 0; f < 3; f++) {
        struct image *i = OWN(image());
        operation_of(i, 0, 0)->follower = first[f];
        damaged(i, "an operation has a number out of range");
    }
    struct image *i = OWN(image());
    operation_of(i, 0, 3)->follower = 0; /* less than that of the former */
    damaged(i, "an operation has a number out of range");
    i = OWN(image());
    ((uint32_t *)OWN(i->s.follower))[0] = 6 << 1;
    damaged(i, "an operation has a number out of range");
    i = OWN(image());
    ((uint32_t *)OWN(i->s.follower))[0] = UINT32_MAX;
    damaged(i, "an operation has a number out of range");
    i = OWN(image());
    ((uint32_t *)OWN(i->s.follower))[0] = 4 << 1;
    damaged(i, "rank 0 counts its dependencies wrongly");
}

static void wrong_waits_are_refused(void **state)
{
    (void)state;
    static const uint32_t waits[] = {0, 2, UINT32_MAX - 1, UINT32_MAX};
    for (unsigned w = 0; w < 4; w++) {
        struct image *i = OWN(image());
        operation_of(i, 1, 1)->waits = waits[w];
        damaged(i, "rank 1 counts its dependencies wrongly");
    }
}

static void blocks_that_cross_are_refused(void **state)
{
    (void)state;
    struct image *i = OWN(image());
    operation_of(i, 0, 2)->peer = 2;
    damaged(i, "rank 0 has a block that ends behind the one around it");
    i = OWN(image());
    operation_of(i, 0, 1)->peer = 3; /* the send comes into the block: it waits for the block */
    opening_fails(i->file, i->bytes,
                  "rank 0: send 4 waits for repeat 1, but only one of them is in a repeated block (let it wait for the "
                  "repeat itself)");
}

static void a_circle_in_a_file_is_refused(void **state)
{
    (void)state;
    struct image *i = OWN(image());
    ((uint32_t *)OWN(i->s.follower))[2] = 0 << 1; /* rank 1: the receive waits for itself */
    operation_of(i, 1, 0)->waits = 1;
    operation_of(i, 1, 1)->waits = 0;
    opening_fails(i->file, i->bytes, "rank 1: receive 0 waits for itself");
}

/* Each bit of each byte is turned: the file opens, or fails in one line. */
static void a_file_with_any_bit_turned_opens_or_is_refused(void **state)
{
    (void)state;
    const size_t bits = 8 * image()->bytes;
    const size_t all = bits + 8 * image_with_shares()->bytes;
    for (size_t number = 0; number < all; number++) {
        struct image *i = OWN(number < bits ? image() : image_with_shares());
        const size_t bit = number < bits ? number : number - bits;
        struct hx_problem problem = {.what = ""};
        ((uint8_t *)i->file)[bit / 8] ^= (uint8_t)(1U << bit % 8);
        struct schedule *s = schedule_open(file_write("turned.hxs", i->file, i->bytes), &problem);
        if (!s)
            assert_true(problem.exit_code == HX_EXIT_CONFIG && problem.what[0] && !strchr(problem.what, '\n'));
        schedule_close(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_keep_their_order_and_fields),
        cmocka_unit_test(a_dependency_counts_once),
        cmocka_unit_test(equal_names_share_their_text),
        cmocka_unit_test(equal_groups_are_one),
        cmocka_unit_test(bodies_have_their_operations),
        cmocka_unit_test(circles_are_named),
        cmocka_unit_test(long_names_and_control_characters_make_one_line),
        cmocka_unit_test(dependencies_across_a_block_are_refused),
        cmocka_unit_test(repeats_are_bounded),
        cmocka_unit_test(groups_of_others_are_refused),
        cmocka_unit_test(a_rank_is_in_128_groups),
        cmocka_unit_test(a_written_file_opens_with_the_same_bytes),
        cmocka_unit_test(stored_seeds_open),
        cmocka_unit_test(an_empty_schedule_opens),
        cmocka_unit_test(a_file_that_is_none_is_refused),
        cmocka_unit_test(another_version_is_refused),
        cmocka_unit_test(a_file_that_is_cut_is_refused),
        cmocka_unit_test(wrong_counts_are_refused),
        cmocka_unit_test(arrays_that_do_not_ascend_are_refused),
        cmocka_unit_test(names_without_an_end_are_refused),
        cmocka_unit_test(wrong_members_are_refused),
        cmocka_unit_test(wrong_shares_are_refused),
        cmocka_unit_test(operations_out_of_range_are_refused),
        cmocka_unit_test(wrong_followers_are_refused),
        cmocka_unit_test(wrong_waits_are_refused),
        cmocka_unit_test(blocks_that_cross_are_refused),
        cmocka_unit_test(a_circle_in_a_file_is_refused),
        cmocka_unit_test(a_file_with_any_bit_turned_opens_or_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
