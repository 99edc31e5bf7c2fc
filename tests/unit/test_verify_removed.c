/* test_verify_removed.c - a capture from which any single frame was removed is refused; so is one with a frame twice,
 * or on another VC. The captures are those of a model (tests/support/support_capture.h). */
#include "tests/support/support_capture_harm.h"
#include "tests/support/support_capture_validate.h"
#include "tests/support/support_effort.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct sim_settings small = {.a = 2,
                                          .b = 2,
                                          .x = 2,
                                          .y = 2,
                                          .planes = 1,
                                          .messages = 2,
                                          .bytes = 100,
                                          .credits = 64,
                                          .crc = true,
                                          .snaplen = 8256,
                                          .seed = 1};

static bool is_data(const struct sim_record *r)
{
    return r->frame[13] == 0xB5;
}

/* Whether the finding names the port of the record, or the other end of its cable, or the record's neighbour in its
 * packet: all that is left of a removed frame. */
static bool names_a_port(const struct hx_finding *f)
{
    return strstr(f->what, "/p0/") != NULL;
}

/* Removes each data frame in turn from the capture that `set` makes. Every removal must be refused. */
static void require_removals_refused(const struct sim_settings *set, const char *what)
{
    struct sim_capture whole;
    sim_run(&whole, set);
    size_t count = whole.count;
    size_t step = 1 + count / effort(400);
    unsigned missed = 0;
    unsigned removed = 0;
    for (size_t at = 0; at < count; at += step) {
        struct sim_capture c;
        struct verdict v;
        if (!is_data(&whole.records[at]))
            continue;
        sim_run(&c, set);
        sim_take_out(&c, at);
        validate_capture(&c, NULL, false, &v);
        removed++;
        missed += v.found.count == 0;
        if (v.found.count && !names_a_port(&v.found.kept[0]))
            fail_msg("%s, record %zu removed: no port in: %s", what, at, v.found.kept[0].what);
        if (v.found.count == 0)
            print_message("%s: record %zu of %s, direction %u, kind %u is not missed\n", what, at,
                          sim_interface_name(&c.set, whole.records[at].interface), whole.records[at].direction,
                          whole.records[at].frame[28]);
        sim_free(&c);
    }
    sim_free(&whole);
    assert_true(removed > (unsigned)effort(400) / 13);
    if (missed)
        fail_msg("%s: %u of %u removed frames were not missed", what, missed, removed);
}

static void any_frame_removed_is_missed_in_memory(void **state)
{
    (void)state;
    require_removals_refused(&small, "memory");
    struct sim_settings cut = small;
    cut.snaplen = 64;
    cut.crc = false;
    require_removals_refused(&cut, "snaplen 64");
}

static void any_frame_removed_is_missed_on_wires(void **state)
{
    (void)state;
    struct sim_settings wire = small;
    wire.wire = true;
    require_removals_refused(&wire, "wire");
}

/* The frame that was the only one to leave by its port, or to come in by it. */
static void the_only_frame_of_its_port_is_missed(void **state)
{
    (void)state;
    unsigned removed = 0;
    for (uint64_t seed = 1; seed <= effort(8); seed++) {
        struct sim_settings few = small;
        few.messages = 1;
        few.bytes = 1;
        few.seed = seed;
        struct sim_capture whole;
        sim_run(&whole, &few);
        for (size_t at = 0; at < whole.count; at++) {
            unsigned alike = 0;
            for (size_t i = 0; i < whole.count; i++)
                alike += whole.records[i].interface == whole.records[at].interface &&
                         whole.records[i].direction == whole.records[at].direction;
            if (alike != 1)
                continue;
            struct sim_capture c;
            struct verdict v;
            sim_run(&c, &few);
            sim_take_out(&c, at);
            validate_capture(&c, NULL, false, &v);
            removed++;
            if (v.found.count == 0)
                fail_msg("seed %llu, record %zu, the only one of %s in direction %u: not missed",
                         (unsigned long long)seed, at, sim_interface_name(&few, whole.records[at].interface),
                         whole.records[at].direction);
            const char *port = sim_interface_name(&few, whole.records[at].interface);
            if (!strstr(v.found.kept[0].what, port))
                fail_msg("the removed frame was at %s, named is: %s", port, v.found.kept[0].what);
            sim_free(&c);
        }
        sim_free(&whole);
    }
    assert_true(removed > 10);
}

/* A frame twice, at its place and time. */
static void a_doubled_frame_is_refused(void **state)
{
    (void)state;
    struct sim_capture whole;
    sim_run(&whole, &small);
    size_t step = 1 + whole.count / effort(200);
    for (size_t at = 0; at < whole.count; at += step) {
        struct sim_capture c;
        struct verdict v;
        if (!is_data(&whole.records[at]))
            continue;
        sim_run(&c, &small);
        sim_insert_copy(&c, at);
        validate_capture(&c, NULL, false, &v);
        if (v.found.count == 0)
            fail_msg("record %zu twice: not refused", at);
        sim_free(&c);
    }
    sim_free(&whole);
}

/* A frame on another VC. */
static void another_vc_is_refused(void **state)
{
    (void)state;
    struct sim_capture whole;
    sim_run(&whole, &small);
    size_t step = 1 + whole.count / effort(200);
    for (size_t at = 0; at < whole.count; at += step) {
        struct sim_capture c;
        struct verdict v;
        if (!is_data(&whole.records[at]))
            continue;
        sim_run(&c, &small);
        c.records[at].frame[15] ^= 1;
        validate_capture(&c, NULL, false, &v);
        if (v.found.count == 0 || v.found.kept[0].frame != at + 1)
            fail_msg("record %zu on another VC: named is frame %llu", at,
                     v.found.count ? (unsigned long long)v.found.kept[0].frame : 0);
        sim_free(&c);
    }
    sim_free(&whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_frame_removed_is_missed_in_memory),
        cmocka_unit_test(any_frame_removed_is_missed_on_wires),
        cmocka_unit_test(the_only_frame_of_its_port_is_missed),
        cmocka_unit_test(a_doubled_frame_is_refused),
        cmocka_unit_test(another_vc_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
