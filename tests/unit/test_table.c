/* test_table.c - the open hash table (base/table.h), against a plain array of records in the order of adding. */
#include "base/rng.h"
#include "base/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 400, KEYS = 300, STEPS = 30000, TURN = 3000 };

struct record {
    uint64_t key[2];
    uint64_t value;
};

struct plain {
    struct record record[MOST];
    size_t count;
};

/* Both words are multiples of powers of two: a weak hash would put all keys into few slots. */
static struct record draw(uint64_t *seed, uint64_t value)
{
    const uint64_t number = hx_rng_below(seed, KEYS);
    return (struct record){.key = {number % 100 << 32, number / 100 << 20}, .value = value};
}

static bool is_of(const struct hx_table *t, const struct record *r, const struct record *of)
{
    return memcmp(r->key, of->key, t->key_bytes) == 0;
}

/* The first record with this key from `at` on; count: none. */
static size_t search(const struct hx_table *t, const struct plain *p, const struct record *of, size_t at)
{
    while (at < p->count && !is_of(t, &p->record[at], of))
        at++;
    return at;
}

static void assert_same_records(const struct hx_table *t, const struct plain *p, const struct record *of)
{
    size_t at = search(t, p, of, 0);
    for (const struct record *r = hx_table_find(t, of->key); r; r = hx_table_find_next(t, r)) {
        assert_true(at < p->count);
        assert_int_equal(r->value, p->record[at].value);
        at = search(t, p, of, at + 1);
    }
    assert_int_equal(at, p->count);
}

static void assert_each_comes_once(const struct hx_table *t, const struct plain *p, size_t steps)
{
    static bool seen[STEPS];
    size_t at = 0, count = 0;
    memset(seen, 0, steps * sizeof *seen);
    for (const struct record *r; (r = hx_table_each(t, &at)) != NULL; count++) {
        assert_false(seen[r->value]);
        seen[r->value] = true;
    }
    assert_int_equal(count, p->count);
    for (size_t i = 0; i < p->count; i++)
        assert_true(seen[p->record[i].value]);
}

static void add(struct hx_table *t, struct plain *p, struct record r, bool twice)
{
    const bool known = search(t, p, &r, 0) < p->count;
    struct record *added = twice ? hx_table_add(t, r.key) : hx_table_find_or_add(t, r.key);
    if (known && !twice)
        return;
    assert_int_equal(added->value, 0);
    added->value = r.value;
    p->record[p->count++] = r;
}

/* Removes one of the records with this key, not always the first. */
static void drop(struct hx_table *t, struct plain *p, const struct record *of, bool second)
{
    size_t at = search(t, p, of, 0);
    struct record *r = hx_table_find(t, of->key);
    if (!r)
        return;
    if (second && hx_table_find_next(t, r)) {
        r = hx_table_find_next(t, r);
        at = search(t, p, of, at + 1);
    }
    hx_table_remove(t, r);
    memmove(&p->record[at], &p->record[at + 1], (--p->count - at) * sizeof *p->record);
}

static void a_table_holds_what_a_plain_array_holds(void **state)
{
    (void)state;
    for (size_t words = 1; words <= 2; words++) {
        struct hx_table t = hx_table_make(words * sizeof(uint64_t), sizeof(struct record));
        struct plain p = {.count = 0};
        uint64_t seed = words;
        for (uint32_t step = 0; step < STEPS; step++) {
            const struct record r = draw(&seed, step);
            const uint32_t choice = hx_rng_below(&seed, step / TURN % 2 ? 12 : 6); /* grows and shrinks in turns */
            if (choice >= 4)
                drop(&t, &p, &r, choice % 2);
            else if (p.count < MOST)
                add(&t, &p, r, choice < 2);
            assert_int_equal(t.count, p.count);
            assert_same_records(&t, &p, &r);
            if (step % TURN == TURN - 1)
                assert_each_comes_once(&t, &p, STEPS);
        }
        hx_table_free(&t);
        assert_null(hx_table_find(&t, (const uint64_t[2]){0}));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_table_holds_what_a_plain_array_holds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
