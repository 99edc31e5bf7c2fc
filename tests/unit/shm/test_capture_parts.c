/* test_capture_parts.c - parts of a capture without a file of it: ports, filters, comments, names of files. */
#include "fabric-emu/capture/capture.h"
#include "fabric-emu/capture/filter.h"
#include "fabric-emu/capture/note.h"
#include "tests/support/shm/support_annotation.h"
#include "tests/support/support_fabric.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct hx_fabric g;
enum { ALL_PORTS = 4 * 5 + 2 * 4 + 2 * 4 };

static int make_fabric(void **state)
{
    (void)state;
    fabric_make(&g, "2x2 H1x1Mesh");
    return 0;
}

static int free_fabric(void **state)
{
    (void)state;
    hx_fabric_free(&g);
    return 0;
}

/* Faults that do not fit into one comment continue in the next frame's. */
static void many_faults_are_comments_of_several_frames(void **state)
{
    (void)state;
    enum { FAULTS = 200, FRAMES = 100 };
    char text[512];
    struct capture_annotations r = {.count = 0};
    unsigned said = 0;
    for (unsigned i = 0; i < FAULTS; i++) {
        char line[32];
        (void)snprintf(line, sizeof line, "a0,0/E delay=%uus", i + 1);
        annotate_fault(&r, 1, 0, line);
    }
    for (unsigned frame = 0; frame < FRAMES && capture_annotations_take(&r, 5, text, sizeof text); frame++) {
        assert_true(strlen(text) < sizeof text);
        char *rest;
        for (const char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
            char whole[64];
            (void)snprintf(whole, sizeof whole, "fault at 0 ns: a0,0/E delay=%uus", ++said);
            assert_string_equal(line, whole);
        }
    }
    assert_int_equal(said, FAULTS);
    capture_annotations_free(&r);
}

/* A fault that does not fit alone is cut, and does not delay later ones. */
static void a_fault_longer_than_a_comment_is_cut(void **state)
{
    (void)state;
    char text[32];
    struct capture_annotations r = {.count = 0};
    annotate_fault(&r, 1, 0, "a0,0/E loss=1% corrupt=1% duplicate=1%");
    annotate_fault(&r, 1, 0, "all up");
    assert_string_equal(capture_annotations_take(&r, 5, text, sizeof text), "fault at 0 ns: a0,0/E loss=1% c");
    assert_string_equal(capture_annotations_take(&r, 5, text, sizeof text), "fault at 0 ns: all up");
    assert_null(capture_annotations_take(&r, 5, text, sizeof text));
    capture_annotations_free(&r);
}

/* A live file gives the exact age of a planned change, also if others are annotated before it. */
static void planned_changes_are_annotated_with_their_age(void **state)
{
    (void)state;
    char text[256];
    struct capture_annotations r = {.count = 0};
    static const struct capture_annotation change = {CAPTURE_CHANGE, .since = 90, .at_ns = 5000};
    static const struct capture_annotation followed = {CAPTURE_CHANGE_FOLLOWED, .since = 120, .at_ns = 30};
    capture_annotations_again(&r, 50);
    annotate_fault(&r, 95, 5005, "all loss=1%");
    capture_annotation_add(&r, &change, "a0,0/E closed");
    assert_string_equal(capture_annotations_take(&r, 100, text, sizeof text),
                        "fault at 5.005 us: all loss=1%\nchange at 5 us, 10ns ago: a0,0/E closed");
    capture_annotation_add(&r, &followed, "a0,0/E closed");
    assert_null(capture_annotations_take(&r, 119, text, sizeof text));
    assert_string_equal(capture_annotations_take(&r, 120, text, sizeof text),
                        "change followed after 30 ns: a0,0/E closed");
    capture_annotations_again(&r, 2000000); /* the next file */
    assert_string_equal(capture_annotations_take(&r, 3000096, text, sizeof text),
                        "fault at 5.005 us, 3ms ago: all loss=1%\nchange at 5 us, 3000006ns ago: a0,0/E closed\n"
                        "change followed after 30 ns, 2999976ns ago: a0,0/E closed");
    capture_annotations_free(&r);
    r = (struct capture_annotations){.count = 0}; /* simulated: its line has the time */
    capture_annotation_add(&r, &change, "a0,0/E closed");
    assert_string_equal(capture_annotations_take(&r, 100, text, sizeof text), "change at 5 us: a0,0/E closed");
    capture_annotations_free(&r);
}

static void rotated_names_keep_their_ending(void **state)
{
    (void)state;
    static const struct {
        const char *file, *third;
    } names[] = {{"run.pcapng", "run.00003.pcapng"}, {"a.b/run", "a.b/run.00003"}, {"a/.run", "a/.run.00003"}};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        char name[64];
        capture_file_name(name, sizeof name, names[i].file, 3);
        assert_string_equal(name, names[i].third);
    }
}

static unsigned choose(struct capture_ports *p, const char *pattern, struct hx_problem *problem)
{
    const struct hx_option_list patterns = {.item = {pattern}, .count = 1};
    if (!capture_ports_choose(p, &g, &patterns, "--port", problem))
        return 0;
    unsigned chosen = p->interfaces;
    capture_ports_free(p);
    return chosen;
}

static void ports_are_chosen_by_their_names(void **state)
{
    (void)state;
    struct capture_ports p;
    struct hx_problem problem;
    assert_int_equal(choose(&p, "a1,0/p0/E", &problem), 1);
    assert_int_equal(choose(&p, "a1,0/*", &problem), 5);
    assert_int_equal(choose(&p, "*", &problem), ALL_PORTS);
    assert_int_equal(choose(&p, "*/local", &problem), 4);
    assert_int_equal(choose(&p, "a0,0/p0/[EW] row1/p0/?  col0/p0/3", &problem), 2 + 4 + 1);
    assert_int_equal(choose(&p, "", &problem), ALL_PORTS);
    assert_int_equal(choose(&p, "a0,0/p0/E b*", &problem), 0);
    assert_int_equal(problem.exit_code, HX_EXIT_USAGE);
    assert_string_equal(problem.where, "--port");
    assert_non_null(strstr(problem.what, "'b*'"));
    assert_int_equal(choose(&p, "a0,0/p0/E-a-name-that-is-longer-than-any-port-of-any-fabric-could-ever-be", &problem),
                     0);
}

static void filters_are_those_of_libpcap(void **state)
{
    (void)state;
    struct capture_filter f;
    struct hx_problem problem;
    uint8_t frame[64] = {2, 0, 0, 1, 0, 2};
    assert_true(capture_filter_compile(&f, NULL, "-f", &problem));
    assert_true(capture_filter_passes(&f, frame, 64, 64));
    capture_filter_free(&f);
    assert_true(capture_filter_compile(&f, "ether dst 02:00:00:01:00:02", "-f", &problem));
    assert_true(capture_filter_passes(&f, frame, 64, 64));
    frame[5] = 3;
    assert_false(capture_filter_passes(&f, frame, 64, 64));
    capture_filter_free(&f);
    assert_true(capture_filter_compile(&f, "greater 100", "-f", &problem));
    assert_true(capture_filter_passes(&f, frame, 64, 100));
    assert_false(capture_filter_passes(&f, frame, 64, 99));
    capture_filter_free(&f);
    assert_false(capture_filter_compile(&f, "ether dst nonsense", "-f", &problem));
    assert_int_equal(problem.exit_code, HX_EXIT_USAGE);
    assert_string_equal(problem.where, "-f");
}

static void notes_become_text(void **state)
{
    (void)state;
    char text[CAPTURE_NOTE_BYTES];
    const struct capture_port at = {.node = 0, .port = HX_N, .plane = 0};
    struct hx_tap_note note = {.candidates = 1U << HX_E | 1U << HX_N,
                               .input = HX_W,
                               .output = HX_N,
                               .reason = HX_TAP_MOST_ROOM,
                               .room = {12, 16}};
    assert_string_equal(capture_note_print(text, &g, &at, &note, 1),
                        "in W vc 0, out N vc 1: most room. candidates E 12 packets, N 16; 15 left on N");
    note.wanted = 1U << HX_E;
    note.reason = HX_TAP_ONLY;
    assert_string_equal(
        capture_note_print(text, &g, &at, &note, 0),
        "in W vc 0, out N vc 0: the only way. candidates E 12 packets (reserved for waiting packets), N 16; 15 "
        "left on N");
    note =
        (struct hx_tap_note){.candidates = UINT64_MAX, .wanted = UINT64_MAX, .input = 255, .output = 255, .reason = 99};
    (void)capture_note_print(text, &g, &at, &note, 2);
    assert_true(strlen(text) < CAPTURE_NOTE_BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fault_longer_than_a_comment_is_cut),
        cmocka_unit_test(planned_changes_are_annotated_with_their_age),
        cmocka_unit_test(many_faults_are_comments_of_several_frames),
        cmocka_unit_test(rotated_names_keep_their_ending),
        cmocka_unit_test(ports_are_chosen_by_their_names),
        cmocka_unit_test(filters_are_those_of_libpcap),
        cmocka_unit_test(notes_become_text),
    };
    return cmocka_run_group_tests(tests, make_fabric, free_fabric);
}
