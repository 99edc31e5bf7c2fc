/* test_spec.c - spec strings, impossible sizes, overrides, settings, jobs and blocked boards. */
#include "spec/spec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <cmocka.h>

static void good_strings(void **state)
{
    (void)state;
    static const struct {
        const char *text, *canonical;
        unsigned a, b, x, y;
    } cases[] = {{"4x4 Hx2Mesh", "4x4 Hx2Mesh", 2, 2, 4, 4},       {"3x2 H2x4Mesh", "3x2 H2x4Mesh", 2, 4, 3, 2},
                 {"8X8hx4MESH", "8x8 Hx4Mesh", 4, 4, 8, 8},        {" 5 x 3  h x 1 mesh ", "5x3 Hx1Mesh", 1, 1, 5, 3},
                 {"1x1 H64x64Mesh", "1x1 Hx64Mesh", 64, 64, 1, 1}, {"1024x2 Hx1Mesh", "1024x2 Hx1Mesh", 1, 1, 1024, 2},
                 {"04x4 Hx02Mesh", "4x4 Hx2Mesh", 2, 2, 4, 4}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hx_spec s;
        struct hx_problem p;
        assert_true(hx_spec_parse(cases[i].text, &s, &p));
        assert_string_equal(s.fabric, cases[i].canonical);
        assert_string_equal(s.name, cases[i].canonical);
        assert_int_equal(s.a, cases[i].a);
        assert_int_equal(s.b, cases[i].b);
        assert_int_equal(s.x, cases[i].x);
        assert_int_equal(s.y, cases[i].y);
        assert_int_equal(s.planes, 1);
        assert_int_equal(s.radix, 64);
        assert_int_equal(s.taper, 1);
        assert_int_equal(s.credits, 512);
        assert_int_equal(s.settings.given, 0);
    }
}

static void bad_strings(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {{"", "is not a fabric"},
                 {"garbage", "write for example '4x4 Hx2Mesh'"},
                 {"4x4", "is not a fabric"},
                 {"4x4 Hx2", "is not a fabric"},
                 {"4x4 HxMesh", "is not a fabric"},
                 {"4 4 Hx2Mesh", "is not a fabric"},
                 {"-4x4 Hx2Mesh", "is not a fabric"},
                 {"4x4 Hx2Mesh2", "is not a fabric"},
                 {"4x4 H2x2x2Mesh", "is not a fabric"},
                 {"4x9999999999 Hx2Mesh", "is not a fabric"},
                 {"0x3 Hx2Mesh", "columns of boards (x): 0 is outside 1 .. 1024"},
                 {"3x1025 Hx2Mesh", "rows of boards (y): 1025 is outside 1 .. 1024"},
                 {"3x3 H0x2Mesh", "columns of a board (a): 0 is outside 1 .. 64"},
                 {"3x3 H2x65Mesh", "rows of a board (b): 65 is outside 1 .. 64"},
                 {"3x3 Hx999999999Mesh", "columns of a board (a): 999999999 is outside 1 .. 64"}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hx_spec s;
        struct hx_problem p;
        assert_false(hx_spec_parse(cases[i].text, &s, &p));
        assert_int_equal(p.exit_code, HX_EXIT_CONFIG);
        if (!strstr(p.what, cases[i].says))
            fail_msg("%s: \"%s\" does not say \"%s\"", cases[i].text, p.what, cases[i].says);
    }
}

enum { TEXT = 24 };

static const char letters[] = "0123456789xxhHmMeEsShH \t-,./";

/* Any bytes, likely bytes, or a good spec with one byte replaced by a likely one. */
static void random_text(unsigned round, char text[TEXT])
{
    unsigned length = (unsigned)rand() % (TEXT - 1);
    for (unsigned i = 0; i < length; i++)
        text[i] = round % 2 ? letters[(unsigned)rand() % (sizeof letters - 1)] : (char)(rand() % 255 + 1);
    text[length] = '\0';
    if (round % 3)
        return;
    int good = snprintf(text, TEXT, "%dx%d H%dx%dMesh", rand() % 9, rand() % 9, rand() % 9, rand() % 9);
    text[rand() % good] = letters[(unsigned)rand() % (sizeof letters - 1)];
}

static void assert_a_spec(const char *text, const struct hx_spec *s)
{
    char again[64];
    struct hx_spec other;
    struct hx_problem p;
    if (!s->a) {
        const struct hx_topology *topology = hx_topology_of(text, &p);
        assert_true(topology && strcasecmp(topology->word, "HxMesh") != 0);
        return;
    }
    (void)snprintf(again, sizeof again, "%ux%u H%ux%uMesh", s->x, s->y, s->a, s->b);
    if (!hx_spec_parse(again, &other, &p))
        fail_msg("'%s' was taken as '%s', which is refused", text, again);
    if (other.a != s->a || other.b != s->b || other.x != s->x || other.y != s->y)
        fail_msg("'%s' was taken as '%s', which is another fabric", text, again);
}

/* Any bytes end in a spec or in one error. */
static void random_strings(void **state)
{
    (void)state;
    unsigned taken = 0;
    const unsigned seed = 1;
    srand(seed);
    for (unsigned round = 0; round < 200000; round++) {
        char text[TEXT];
        struct hx_spec s;
        struct hx_problem p = {.exit_code = -1};
        random_text(round, text);
        if (hx_spec_parse(text, &s, &p)) {
            assert_int_equal(p.exit_code, -1);
            assert_a_spec(text, &s);
            taken++;
        } else {
            assert_int_equal(p.exit_code, HX_EXIT_CONFIG);
            assert_true(p.what[0] != '\0');
        }
    }
    print_message("seed %u: %u of 200000 texts are specs\n", seed, taken);
    assert_in_range(taken, 1000, 100000);
}

static void impossible_sizes_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        struct hx_overrides overrides;
        const char *says;
        int exit_code;
    } cases[] = {{"1024x1 H64x1Mesh", {0}, "a line of 65536 accelerators is longer than 4096", HX_EXIT_CONFIG},
                 {"512x512 Hx4Mesh", {0}, "4194304 accelerators are more than 1048576", HX_EXIT_CONFIG},
                 {"150x2 Hx1Mesh",
                  {.radix = 4},
                  "a row network has 300 ports, more than a two-level tree of radix 4 and taper 1 can join",
                  HX_EXIT_CONFIG},
                 {"2x150 Hx1Mesh", {.radix = 4}, "a column network has 300 ports", HX_EXIT_CONFIG},
                 {"2x2 Hx1Mesh", {.credits = 40}, "40 is not a multiple of 32", HX_EXIT_USAGE},
                 {"torus 4x4", {.radix = 8}, "is for a HammingMesh's trees", HX_EXIT_USAGE},
                 {"fat-tree hosts=64 radix=16", {.taper = 2}, "is for a HammingMesh's trees", HX_EXIT_USAGE}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hx_spec s;
        struct hx_problem p;
        assert_false(hx_spec_try_load(cases[i].text, &cases[i].overrides, &s, &p));
        assert_int_equal(p.exit_code, cases[i].exit_code);
        if (!strstr(p.what, cases[i].says))
            fail_msg("%s: \"%s\" does not say \"%s\"", cases[i].text, p.what, cases[i].says);
    }
}

static void overrides_win(void **state)
{
    (void)state;
    struct hx_spec s;
    struct hx_problem p;
    struct hx_overrides o = {.planes = 4, .radix = 8, .taper = 3, .credits = 64};
    assert_true(hx_spec_try_load("4x4 Hx2Mesh", &o, &s, &p));
    struct hx_geometry g = hx_spec_mesh(&s, "this test");
    assert_int_equal(g.planes, 4);
    assert_int_equal(g.radix, 8);
    assert_int_equal(g.taper, 3);
    assert_int_equal(s.credits, 64);
    hx_spec_free(&s);
}

static void settings_keep_defaults(void **state)
{
    (void)state;
    struct hx_settings s = hx_default_settings;
    const struct hx_settings over = {
        .pattern = HX_INCAST, .message = 5, .seed = 9, .given = HX_GIVEN_PATTERN | HX_GIVEN_SEED};
    hx_settings_merge(&s, &over);
    assert_int_equal(s.pattern, HX_INCAST);
    assert_int_equal(s.seed, 9);
    assert_int_equal(s.message, hx_default_settings.message);
    assert_true(s.verify);
    assert_int_equal(s.given, HX_GIVEN_PATTERN | HX_GIVEN_SEED);
}

/* 3x2 boards of 2x2: board 1 has failed, boards 4 and 5 belong to job 7. */
static void boards_of_others_are_blocked(void **state)
{
    (void)state;
    struct hx_spec s;
    struct hx_problem p;
    assert_true(hx_spec_parse("3x2 Hx2Mesh", &s, &p));
    uint8_t bits;
    assert_false(hx_spec_blocked_boards(&s, HX_NO_JOB, &bits));
    assert_int_equal(bits, 0);
    assert_true(hx_spec_blocked_boards(&s, 7, &bits));
    assert_int_equal(bits, 0x3F);

    bool failed[6] = {[1] = true};
    uint16_t job[6] = {[4] = 7, [5] = 7};
    s.failed = failed;
    s.job = job;
    assert_true(hx_spec_blocked_boards(&s, HX_NO_JOB, &bits));
    assert_int_equal(bits, 0x32);
    assert_true(hx_spec_blocked_boards(&s, 7, &bits));
    assert_int_equal(bits, 0x0F);
    assert_int_equal(hx_spec_board_at(&s, 3, 1), 1);
    assert_int_equal(hx_spec_board_at(&s, 0, 2), 3);
    assert_int_equal(hx_spec_board_at(&s, 5, 3), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_strings),
        cmocka_unit_test(bad_strings),
        cmocka_unit_test(random_strings),
        cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(overrides_win),
        cmocka_unit_test(settings_keep_defaults),
        cmocka_unit_test(boards_of_others_are_blocked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
