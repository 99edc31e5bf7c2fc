/* test_redo.c - the record of a step, cut off at every store: the step has happened, or it has not.
 *
 * A commit is a sequence of stores. The test makes the memory as it is after each of them, lets recover_worker()
 * finish, and checks all words of the step: all old, or all new. */
#include "fabric-emu/live/recover.h"
#include "tests/support/shm/support_shm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS = 12 };

static struct support s;

static int open_fabric(void **state)
{
    (void)state;
    support_open(&s, &(struct support_plan){"1x1 Hx1Mesh", .workers = 1, .planes = 1, .message = 1, .count = 1});
    return 0;
}

static int close_fabric(void **state)
{
    (void)state;
    support_close(&s);
    return 0;
}

/* Words that a recovery does not check: the payload of a free buffer. */
static uint64_t *words(void)
{
    return (uint64_t *)(void *)s.f.buffers[0].frame;
}

static struct shm_redo *record(void)
{
    return &s.f.area[0].redo;
}

static void set_all(uint64_t base)
{
    for (unsigned i = 0; i < WORDS; i++)
        words()[i] = base + i;
}

static bool are_all(uint64_t base)
{
    for (unsigned i = 0; i < WORDS; i++) {
        if (words()[i] != base + i)
            return false;
    }
    return true;
}

static struct shm_step note_all(uint64_t base)
{
    struct shm_step step = {s.f.arena.base, record(), 0};
    for (unsigned i = 0; i < WORDS; i++)
        shm_note(&step, &words()[i], base + i);
    return step;
}

static void a_commit_stores_every_word(void **state)
{
    (void)state;
    set_all(100);
    struct shm_step step = note_all(200);
    assert_true(are_all(100));
    shm_step_commit(&step);
    assert_true(are_all(200));
    assert_int_equal(step.count, 0);
    assert_true(atomic_load(&record()->count) == 0);
    /* The next step overwrites the record of this one. */
    step = note_all(300);
    shm_step_commit(&step);
    assert_true(are_all(300));
}

/* Entries of an earlier step behind its own are ignored. */
static void a_commit_stores_no_other_word(void **state)
{
    (void)state;
    for (unsigned few = 0; few <= WORDS; few++) {
        struct shm_step step = note_all(200);
        shm_step_commit(&step);
        set_all(100);
        for (unsigned i = 0; i < few; i++)
            shm_note(&step, &words()[i], 300 + i);
        shm_step_commit(&step);
        for (unsigned i = 0; i < WORDS; i++)
            assert_int_equal(words()[i], i < few ? 300 + i : 100 + i);
    }
}

static void cut_off_before_it_is_valid_nothing_has_happened(void **state)
{
    (void)state;
    for (unsigned written = 0; written <= WORDS; written++) {
        set_all(100);
        struct shm_step step = {s.f.arena.base, record(), 0};
        for (unsigned i = 0; i < written; i++)
            shm_note(&step, &words()[i], 200 + i);
        (void)recover_worker(&s.f, 0);
        assert_true(are_all(100));
    }
}

static void cut_off_while_it_is_published_all_has_happened(void **state)
{
    (void)state;
    for (unsigned stored = 0; stored <= WORDS; stored++) {
        set_all(100);
        struct shm_step step = note_all(200);
        atomic_store(&record()->count, step.count);
        for (unsigned i = 0; i < stored; i++)
            words()[i] = 200 + i;
        (void)recover_worker(&s.f, 0);
        assert_true(are_all(200));
        assert_true(atomic_load(&record()->count) == 0);
        /* Again, as the supervisor does while the worker is down: nothing is repeated. */
        set_all(300);
        (void)recover_worker(&s.f, 0);
        assert_true(are_all(300));
    }
}

static void an_invalid_record_is_ignored(void **state)
{
    (void)state;
    static const uint64_t wrong_offset[] = {1, 4, UINT64_MAX, UINT64_MAX - 7, (uint64_t)1 << 40};
    for (unsigned i = 0; i < sizeof wrong_offset / sizeof *wrong_offset + 2; i++) {
        set_all(100);
        struct shm_step step = note_all(200);
        atomic_store(&record()->count, step.count);
        if (i < sizeof wrong_offset / sizeof *wrong_offset)
            record()->entry[WORDS - 1].offset = wrong_offset[i];
        else if (i == sizeof wrong_offset / sizeof *wrong_offset)
            record()->entry[WORDS - 1].offset = s.f.arena.bytes;
        else
            atomic_store(&record()->count, SHM_REDO_ENTRIES + 1);
        (void)recover_worker(&s.f, 0);
        assert_true(are_all(100));
        assert_true(atomic_load(&record()->count) == 0);
    }
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, open_fabric, close_fabric)
    const struct CMUnitTest tests[] = {
        TEST(a_commit_stores_every_word),
        TEST(a_commit_stores_no_other_word),
        TEST(cut_off_before_it_is_valid_nothing_has_happened),
        TEST(cut_off_while_it_is_published_all_has_happened),
        TEST(an_invalid_record_is_ignored),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
