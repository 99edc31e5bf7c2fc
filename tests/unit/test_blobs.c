/* test_blobs.c - the table of byte strings (base/blobs.h), against a linear search. */
#include "base/blobs.h"
#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { ADDED = 3000, LONGEST = 20 };

/* Strings of few letters, so that many are equal, and many are the begin of others. */
static size_t draw(uint64_t *seed, char text[LONGEST])
{
    size_t bytes = hx_rng_below(seed, LONGEST);
    for (size_t i = 0; i < bytes; i++)
        text[i] = (char)('a' + hx_rng_below(seed, i < 3 ? 4 : 2));
    return bytes;
}

static uint32_t search(const struct hx_blobs *t, const char *text, size_t bytes)
{
    for (uint32_t i = 0; i < t->count; i++) {
        if (t->blob[i].bytes == bytes && (bytes == 0 || memcmp(hx_blobs_at(t, i), text, bytes) == 0))
            return i;
    }
    return HX_NO_BLOB;
}

static void equal_strings_have_one_number(void **state)
{
    struct hx_blobs t = {0};
    uint64_t seed = 5;
    char text[LONGEST];
    (void)state;
    assert_int_equal(hx_blobs_find(&t, "a", 1), HX_NO_BLOB);
    for (unsigned i = 0; i < ADDED; i++) {
        size_t bytes = draw(&seed, text);
        uint32_t expected = search(&t, text, bytes);
        assert_int_equal(hx_blobs_find(&t, text, bytes), expected);
        uint32_t added = hx_blobs_add(&t, text, bytes);
        assert_int_equal(added, expected == HX_NO_BLOB ? t.count - 1 : expected);
    }
    assert_true(t.count > 100 && t.count < ADDED);
    hx_blobs_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(equal_strings_have_one_number)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
