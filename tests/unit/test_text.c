/* test_text.c - texts and names of fabrics are cut between UTF-8 characters; invalid UTF-8 is marked in JSON. */
#include "base/json.h"
#include "base/text.h"
#include "spec/spec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* characters of one to four bytes */
static const char mixed[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z";

static bool is_utf8(const char *text)
{
    json_t *string = json_string(text);
    bool is = string != NULL;
    json_decref(string);
    return is;
}

static void texts_are_cut_between_characters(void **state)
{
    (void)state;
    static const size_t whole[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
    for (size_t most = 0; most < sizeof whole / sizeof *whole; most++) {
        char to[16];
        assert_int_equal(hx_text_length(mixed, most), whole[most]);
        assert_ptr_equal(hx_text_copy(to, most + 1, mixed), to);
        assert_int_equal(strlen(to), whole[most]);
        assert_memory_equal(to, mixed, whole[most]);
        assert_true(is_utf8(to));
    }
}

static void bytes_beyond_the_size_are_not_read(void **state)
{
    (void)state;
    const char endless[4] = {'a', 'b', 'c', 'd'};
    char to[4];
    assert_string_equal(hx_text_copy(to, sizeof endless, endless), "abc");
}

/* A long path of a graph, at each offset of its cut. */
static void a_fabrics_name_is_cut_between_characters(void **state)
{
    (void)state;
    for (unsigned before = 0; before < 4; before++) {
        char text[HX_SPEC_BYTES];
        struct hx_spec spec;
        struct hx_problem problem;
        size_t used = (size_t)snprintf(text, sizeof text, "graph /%.*s", (int)before, "aaaa");
        while (used < 100)
            used += (size_t)snprintf(text + used, sizeof text - used, "\xf0\x9f\x98\x80");
        assert_true(hx_spec_parse(text, &spec, &problem));
        assert_true(is_utf8(spec.name));
        assert_in_range(strlen(spec.name), sizeof spec.name - 4, sizeof spec.name - 1);
    }
}

static void invalid_utf8_is_marked(void **state)
{
    (void)state;
    json_t *text = hx_json_text("lat\xe9 \xc3");
    assert_string_equal(json_string_value(text), "lat? ?");
    json_decref(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_cut_between_characters),
        cmocka_unit_test(bytes_beyond_the_size_are_not_read),
        cmocka_unit_test(a_fabrics_name_is_cut_between_characters),
        cmocka_unit_test(invalid_utf8_is_marked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
