/* test_plot.c - plots: ticks at round numbers, well-formed SVG, points at their coordinates. */
#include "tests/support/support_file.h"
#include "tools/draw/violin.h"

#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- ticks ---- */

/* Whether it is 1, 2 or 5 times a power of ten, by division and multiplication only. */
static bool is_round(double step)
{
    while (step < 0.999)
        step *= 10;
    while (step > 9.99)
        step /= 10;
    return fabs(step - 1) < 1e-6 || fabs(step - 2) < 1e-6 || fabs(step - 5) < 1e-6;
}

static void linear_ticks_are_round_and_enclose_the_data(void **state)
{
    (void)state;
    for (unsigned place = 0; place < 11; place++) {
        for (unsigned power = 0; power < 43; power++) {
            double least = 7.3 * place - 37;
            double width = 0.0013 * pow(1.7, power);
            struct plot_ticks t = plot_ticks(PLOT_LINEAR, least, least + width);
            assert_true(t.count >= 3 && t.count <= PLOT_MOST_TICKS);
            assert_true(is_round(t.at[1] - t.at[0]));
            assert_true(t.low <= least + width * 1e-6 && t.high >= (least + width) - width * 1e-6);
            assert_true(fabs(t.at[0] - t.low) < 1e-9 && fabs(t.at[t.count - 1] - t.high) < width * 1e-6);
        }
    }
}

static void a_known_axis(void **state)
{
    (void)state;
    struct plot_ticks t = plot_ticks(PLOT_LINEAR, 0, 57.1);
    assert_int_equal(t.count, 7);
    assert_true(fabs(t.at[3] - 30) < 1e-9 && fabs(t.high - 60) < 1e-9);
}

static void binary_ticks_are_powers_of_two(void **state)
{
    (void)state;
    struct plot_ticks t = plot_ticks(PLOT_BINARY, 1000, 5000);
    assert_int_equal(t.count, 5);
    assert_true(fabs(t.low - 512) < 1e-9 && fabs(t.high - 8192) < 1e-9);
    t = plot_ticks(PLOT_BINARY, 1, exp2(32));
    assert_true(t.count <= PLOT_MOST_TICKS && t.count >= 5);
    for (unsigned i = 1; i < t.count; i++)
        assert_true(fabs(t.at[i] / t.at[i - 1] - t.at[1] / t.at[0]) < 1e-9);
    assert_true(fabs(plot_place(PLOT_BINARY, &t, 65536) - 0.5) < 1e-9);
}

static void axes_without_data_or_width(void **state)
{
    (void)state;
    const enum plot_scale scales[] = {PLOT_LINEAR, PLOT_BINARY};
    for (unsigned i = 0; i < 2; i++) {
        struct plot_ticks nothing = plot_ticks(scales[i], INFINITY, -INFINITY);
        struct plot_ticks point = plot_ticks(scales[i], 4096, 4096);
        assert_true(nothing.low < nothing.high && nothing.count >= 2);
        assert_true(point.low <= 4096 && point.high >= 4096 && point.low < point.high);
    }
}

/* ---- XML ---- */

/* Reads one tag after '<' and pushes or pops its name; returns its end, or NULL if it is no tag. */
static const char *read_tag(const char *at, char stack[][16], unsigned *depth)
{
    bool closing = *at == '/';
    at += closing;
    size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz");
    if (length == 0 || length > 15)
        return NULL;
    if (closing) {
        if (*depth == 0 || strlen(stack[*depth - 1]) != length || strncmp(stack[*depth - 1], at, length) != 0)
            return NULL;
        --*depth;
        return at[length] == '>' ? at + length + 1 : NULL;
    }
    memcpy(stack[*depth], at, length);
    stack[*depth][length] = '\0';
    at += length;
    while (isspace((unsigned char)*at)) {
        at += strspn(at, " \n");
        size_t name = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
        if (name == 0)
            break;
        at += name;
        if (at[0] != '=' || at[1] != '"')
            return NULL;
        at += 2 + strcspn(at + 2, "\"<&");
        if (*at != '"')
            return NULL;
        at++;
    }
    if (strncmp(at, "/>", 2) == 0)
        return at + 2;
    ++*depth;
    return *at == '>' && *depth < 8 ? at + 1 : NULL;
}

static bool is_entity(const char *at)
{
    return strncmp(at, "&amp;", 5) == 0 || strncmp(at, "&lt;", 4) == 0 || strncmp(at, "&gt;", 4) == 0;
}

static bool is_well_formed(const char *text)
{
    char stack[8][16];
    unsigned depth = 0;
    if (*text != '<')
        return false;
    while (*text) {
        if (*text == '<')
            text = read_tag(text + 1, stack, &depth);
        else if ((*text == '&' && !is_entity(text)) || (depth == 0 && !isspace((unsigned char)*text)))
            return false;
        else
            text++;
        if (!text)
            return false;
    }
    return depth == 0;
}

static void the_xml_check_finds_errors(void **state)
{
    (void)state;
    assert_true(is_well_formed("<svg a=\"1\"><b/><c d=\"2\" e=\"3\">x &amp; y</c></svg>\n"));
    assert_false(is_well_formed("<svg><b></svg></b>"));
    assert_false(is_well_formed("<svg>"));
    assert_false(is_well_formed("<svg a=1></svg>"));
    assert_false(is_well_formed("<svg>a & b</svg>"));
    assert_false(is_well_formed("<svg a=\"<\"></svg>"));
    assert_false(is_well_formed("<svg></svg>more"));
}

/* ---- plots ---- */

/* Frees the plot; the caller frees the text. */
static char *drawn(struct plot *p)
{
    plot_write(p, file_begin_text());
    free(p);
    return file_end_text();
}

/* The first three points of a line. */
static void read_points(char *text, double x[3], double y[3])
{
    char *at = strstr(text, "points=\"");
    assert_non_null(at);
    at += strlen("points=\"");
    for (unsigned i = 0; i < 3; i++) {
        x[i] = strtod(at, &at);
        y[i] = strtod(at + 1, &at);
    }
}

static unsigned occurrences(const char *text, const char *word)
{
    unsigned count = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        count++;
    return count;
}

static void every_kind_is_well_formed(void **state)
{
    (void)state;
    struct plot *p = plot_new("a < b & \"c\"", "size \x01 <x>", PLOT_BINARY, PLOT_BYTES, "y & z (%)");
    for (enum plot_kind kind = PLOT_LINE; kind <= PLOT_LIMITS; kind++) {
        struct plot_series *s = plot_add(p, kind, kind, "series <%d> & more", (int)kind);
        plot_point(s, 1024, 10);
        plot_point(s, 4096, NAN);
        plot_point(s, 0, 5);
        plot_point(s, 65536, 40.5);
    }
    char *text = drawn(p);
    assert_true(is_well_formed(text));
    assert_non_null(strstr(text, "a &lt; b &amp; \"c\""));
    assert_non_null(strstr(text, "1 KiB"));
    assert_non_null(strstr(text, "y &amp; z (%)"));
    assert_int_equal(occurrences(text, "series &lt;"), PLOT_LIMITS + 1);
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    assert_null(strchr(text, '\x01'));
    free(text);
}

/* A violin spans exactly its values, has its full width somewhere, is symmetric, and ends in a gap. */
static void a_violin_is_as_wide_as_its_density(void **state)
{
    (void)state;
    double value[100];
    for (unsigned i = 0; i < 100; i++)
        value[i] = i < 80 ? 50 + i * 0.01 : 90 - (i - 80) * 1.5;
    struct plot *p = plot_new("", "", PLOT_LINEAR, PLOT_NUMBER, "");
    struct plot_series *s = plot_add(p, PLOT_AREAS, 0, "violin");
    violin_add(s, 3, 0.4, value, 100);
    assert_int_equal(s->points, VIOLIN_POINTS);
    assert_true(isnan(s->x[VIOLIN_POINTS - 1]));
    double widest = 0, at = 0;
    for (unsigned i = 0; i < VIOLIN_LEVELS; i++) {
        assert_true(fabs(s->x[i] - 3 - (3 - s->x[2 * VIOLIN_LEVELS - 1 - i])) < 1e-9);
        assert_true(s->y[i] > 50 - 1e-9 && s->y[i] < 90 + 1e-9);
        at = s->x[i] - 3 > widest ? s->y[i] : at;
        widest = fmax(widest, s->x[i] - 3);
    }
    assert_true(fabs(widest - 0.2) < 1e-9 && at < 55);
    for (unsigned more = 0; more < 10; more++)
        violin_add(s, 5 + more, 0.4, value, 100);
    assert_int_equal(s->points % VIOLIN_POINTS, 0); /* a violin without room is left out */
    char *text = drawn(p);
    assert_true(is_well_formed(text));
    assert_int_equal(occurrences(text, "<polygon"), PLOT_MOST_POINTS / VIOLIN_POINTS);
    free(text);
}

static void counts_have_whole_ticks(void **state)
{
    (void)state;
    struct plot_ticks ticks = plot_ticks(PLOT_WHOLE, 0, 2);
    assert_int_equal(ticks.count, 3);
    assert_true(ticks.at[1] == 1);
    assert_true(plot_ticks(PLOT_LINEAR, 0, 2).at[1] == 0.5);
    assert_true(plot_ticks(PLOT_WHOLE, 0, 6000).at[1] == 1000);
}

static void points_are_at_their_coordinates(void **state)
{
    (void)state;
    struct plot *p = plot_new("t", "x", PLOT_LINEAR, PLOT_NUMBER, "y");
    struct plot_series *s = plot_add(p, PLOT_CURVE, 0, "s");
    plot_point(s, 0, 0);
    plot_point(s, 5, 50);
    plot_point(s, 10, 100);
    char *text = drawn(p);
    double x[3];
    double y[3];
    read_points(text, x, y);
    assert_true(x[0] < x[1] && y[0] > y[1]);
    assert_true(fabs((x[0] + x[2]) / 2 - x[1]) < 0.11 && fabs((y[0] + y[2]) / 2 - y[1]) < 0.11);
    free(text);
}

static void a_gap_parts_a_line(void **state)
{
    (void)state;
    struct plot *p = plot_new("t", "x", PLOT_LINEAR, PLOT_NUMBER, "y");
    struct plot_series *s = plot_add(p, PLOT_CURVE, 0, "s");
    for (unsigned i = 0; i < 5; i++)
        plot_point(s, i, i == 2 ? (double)NAN : i);
    char *text = drawn(p);
    assert_int_equal(occurrences(text, "<polyline"), 2);
    free(text);
}

/* A band has the upper ends of all intervals, left to right, then the lower ones back; a gap ends it. */
static void intervals_along_a_line_are_a_band(void **state)
{
    (void)state;
    const double half[] = {0, 10, 30, 0, 5, 5};
    struct plot *p = plot_new("t", "x", PLOT_LINEAR, PLOT_NUMBER, "y");
    struct plot_series *s = plot_add(p, PLOT_LINE, 0, "s");
    for (unsigned i = 0; i < 6; i++)
        plot_point_within(s, i, i == 3 ? (double)NAN : 20.0 * i + 20, half[i]);
    plot_point(plot_add(p, PLOT_LINE, 1, "without"), 0, 200);
    char *text = drawn(p);
    assert_true(is_well_formed(text));
    assert_int_equal(occurrences(text, "class=\"band\""), 2);
    char *at = strstr(strstr(text, "class=\"band\""), "points=\"") + strlen("points=\"");
    double y[6];
    double x[6];
    for (unsigned i = 0; i < 6; i++) {
        x[i] = strtod(at, &at);
        y[i] = strtod(at + 1, &at);
    }
    assert_true(*at == ' ' && at[1] == '"');
    /* Pixels go down: 20 +- 0, 40 +- 10, 60 +- 30, of 200 on the whole height. */
    const double each = (y[5] - y[2]) / 70;
    const double by_hand[] = {20, 50, 90, 30, 30, 20};
    for (unsigned i = 0; i < 6; i++)
        assert_true(fabs(y[0] - (by_hand[i] - 20) * each - y[i]) < 0.2);
    for (unsigned i = 0; i < 3; i++)
        assert_true(x[i] == x[5 - i] && (i == 0 || x[i] > x[i - 1]));
    free(text);
}

static void categories_are_below_the_axis(void **state)
{
    (void)state;
    struct plot *p = plot_new("t", "fabric", PLOT_LINEAR, PLOT_NUMBER, "y");
    struct plot_series *s = plot_add(p, PLOT_BARS, 0, "s");
    const char *const names[] = {"first", "second", "third"};
    for (unsigned i = 0; i < 3; i++) {
        plot_category(p, names[i]);
        plot_point(s, i, 10 * i);
    }
    char *text = drawn(p);
    assert_true(is_well_formed(text));
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(occurrences(text, names[i]), 1);
    assert_int_equal(occurrences(text, "opacity"), 4); /* three bars and the legend */
    free(text);
}

static void long_words_below_the_axis_are_slanted(void **state)
{
    (void)state;
    for (unsigned letters = 5; letters <= 45; letters += 40) {
        struct plot *p = plot_new("t", "fabric", PLOT_LINEAR, PLOT_NUMBER, "y");
        char name[PLOT_TEXT];
        (void)snprintf(name, sizeof name, "%.*s", (int)letters, "fat-tree hosts=64 radix=16 down=8 up=4 and more");
        for (unsigned i = 0; i < 9; i++)
            plot_category(p, name);
        plot_point(plot_add(p, PLOT_BARS, 0, "s"), 1, 1);
        char *text = drawn(p);
        assert_true(is_well_formed(text));
        assert_int_equal(occurrences(text, "rotate(32"), letters > 5 ? 9 : 0);
        free(text);
    }
}

static void log_axes_leave_out_values_not_above_0(void **state)
{
    (void)state;
    struct plot_ticks ticks = plot_ticks(PLOT_DECADES, 0.3, 4000);
    assert_int_equal(ticks.count, 6);
    assert_true(fabs(ticks.low - 0.1) < 1e-9 && fabs(ticks.high - 10000) < 1e-6);
    assert_true(fabs(plot_place(PLOT_DECADES, &ticks, 10) - 0.4) < 1e-9);
    struct plot *p = plot_new("t", "x", PLOT_LINEAR, PLOT_NUMBER, "y");
    struct plot_series *s = plot_add(p, PLOT_CURVE, 0, "s");
    p->y_scale = PLOT_DECADES;
    for (unsigned i = 0; i < 5; i++)
        plot_point(s, i, i == 2 ? 0 : i + 1);
    char *text = drawn(p);
    assert_int_equal(occurrences(text, "<polyline"), 2);
    assert_null(strstr(text, "inf"));
    free(text);
}

static void steps_hold_their_height(void **state)
{
    (void)state;
    struct plot *p = plot_new("t", "x", PLOT_LINEAR, PLOT_NUMBER, "y");
    struct plot_series *s = plot_add(p, PLOT_STEPS, 0, "s");
    plot_point(s, 0, 10);
    plot_point(s, 10, 0);
    char *text = drawn(p);
    double x[3];
    double y[3];
    read_points(text, x, y);
    assert_true(x[1] == x[2] && y[0] == y[1] && y[1] < y[2]);
    free(text);
}

/* Long text makes the picture larger: nothing is cut. */
static void foot_and_legend_are_whole(void **state)
{
    (void)state;
    struct plot *p = plot_new("t", "x", PLOT_LINEAR, PLOT_NUMBER, "y");
    plot_point(plot_add(p, PLOT_CURVE, 0, "%070d", 7), 1, 1);
    for (unsigned i = 0; i < 100; i++)
        (void)snprintf(p->foot[0] + strlen(p->foot[0]), PLOT_FOOT - strlen(p->foot[0]), "word%02u ", i);
    (void)snprintf(p->foot[1], PLOT_FOOT, "%0300d", 8);
    char *text = drawn(p);
    assert_true(is_well_formed(text));
    assert_true(occurrences(text, "font-size=\"11\"") >= 6);
    assert_int_equal(occurrences(text, "word"), 100);
    assert_null(strstr(text, "width=\"960\""));
    free(text);
}

static void other_kinds_of_pictures_are_not_written(void **state)
{
    (void)state;
    static const char *const good[] = {NULL, "x.svg", "x", "x.SVG", "png", "-", "x.txt"};
    for (unsigned i = 0; i < sizeof good / sizeof *good; i++)
        plot_check_name(good[i]);
}

static void nothing_to_draw(void **state)
{
    (void)state;
    struct plot *p = plot_new("t", "x", PLOT_BINARY, PLOT_BYTES, "y");
    plot_add(p, PLOT_LINE, 0, "empty");
    char *text = drawn(p);
    assert_true(is_well_formed(text));
    assert_null(strstr(text, "empty"));
    free(text);
}

static void too_much_is_left_out(void **state)
{
    (void)state;
    struct plot *p = plot_new("t", "x", PLOT_LINEAR, PLOT_NUMBER, "y");
    for (unsigned i = 0; i < PLOT_MOST_SERIES; i++)
        assert_non_null(plot_add(p, PLOT_LINE, i, "s"));
    assert_null(plot_add(p, PLOT_LINE, 0, "one more"));
    plot_point(NULL, 1, 1);
    for (unsigned i = 0; i < 2 * PLOT_MOST_POINTS; i++)
        plot_point(&p->series[0], i, i);
    assert_int_equal(p->series[0].points, PLOT_MOST_POINTS);
    for (unsigned i = 0; i < 2 * PLOT_MOST_CATEGORIES; i++)
        plot_category(p, "c");
    assert_int_equal(p->categories, PLOT_MOST_CATEGORIES);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_ticks_are_round_and_enclose_the_data),
        cmocka_unit_test(a_known_axis),
        cmocka_unit_test(binary_ticks_are_powers_of_two),
        cmocka_unit_test(axes_without_data_or_width),
        cmocka_unit_test(the_xml_check_finds_errors),
        cmocka_unit_test(every_kind_is_well_formed),
        cmocka_unit_test(a_violin_is_as_wide_as_its_density),
        cmocka_unit_test(counts_have_whole_ticks),
        cmocka_unit_test(points_are_at_their_coordinates),
        cmocka_unit_test(a_gap_parts_a_line),
        cmocka_unit_test(intervals_along_a_line_are_a_band),
        cmocka_unit_test(categories_are_below_the_axis),
        cmocka_unit_test(long_words_below_the_axis_are_slanted),
        cmocka_unit_test(log_axes_leave_out_values_not_above_0),
        cmocka_unit_test(steps_hold_their_height),
        cmocka_unit_test(foot_and_legend_are_whole),
        cmocka_unit_test(other_kinds_of_pictures_are_not_written),
        cmocka_unit_test(nothing_to_draw),
        cmocka_unit_test(too_much_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
