/* test_verify_closed.c - links that are closed as planned, in captures of the model (tests/support/support_capture.h):
 * verify finds packets that leave on them, and they allow no loss. */
#include "tests/support/support_capture_harm.h"
#include "tests/support/support_capture_validate.h"
#include "tests/support/support_effort.h"

#include "base/split_mix.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SEEDS = 12, OUT = 2, BEGIN_NS = 1000000 /* of the records: a change may be older */ };

/* ---- a capture and one of its links ---- */

struct crossed {
    struct sim_capture capture;
    char port[64];       /* an end of a link */
    size_t left, came;   /* records of a packet that crosses it */
    uint32_t of_link[2]; /* interfaces of both ends */
};

static void make(struct crossed *c, uint64_t seed)
{
    struct sim_settings set = sim_default;
    uint8_t key[SIM_KEY_BYTES];
    set.seed = seed;
    set.messages = 20;
    set.bytes = 100;
    sim_run(&c->capture, &set);
    for (size_t i = 0; i < c->capture.count; i++)
        c->capture.records[i].time_ns += BEGIN_NS;
    c->came = sim_find_arrival(&c->capture, split_mix(seed) % (c->capture.count / 2 + 1));
    memcpy(key, c->capture.records[c->came].frame + SIM_KEY_AT, sizeof key);
    c->left = c->came - 1;
    while (!sim_is_record_of(&c->capture.records[c->left], key))
        c->left--;
    c->of_link[0] = c->capture.records[c->left].interface;
    c->of_link[1] = c->capture.records[c->came].interface;
    (void)snprintf(c->port, sizeof c->port, "%s", sim_interface_name(&set, c->of_link[seed % 2]));
}

/* Number of the first frame, from a record on, that leaves by the link between two times; 0: none. */
static uint64_t first_out(const struct crossed *c, size_t from, uint64_t after_ns, uint64_t before_ns)
{
    for (size_t i = from; i < c->capture.count; i++) {
        const struct sim_record *r = &c->capture.records[i];
        if ((r->interface == c->of_link[0] || r->interface == c->of_link[1]) && r->direction == OUT &&
            r->time_ns > after_ns && r->time_ns < before_ns)
            return i + 1;
    }
    return 0;
}

static void require_first(struct crossed *c, const char *annotation, size_t at, uint64_t frame)
{
    struct verdict v;
    c->capture.annotation = annotation;
    c->capture.annotation_at = at;
    validate_capture(&c->capture, NULL, false, &v);
    uint64_t found = v.found.count ? v.found.kept[0].frame : 0;
    if (found != frame || (frame && v.found.kept[0].rule != HX_RULE_CLOSED))
        fail_msg("seed %" PRIu64 ", frame %" PRIu64 " should be found, with '%s': frame %" PRIu64 ", %s",
                 c->capture.set.seed, frame, annotation, found, v.found.count ? v.found.kept[0].what : "good");
}

/* ---- packets on closed links ---- */

static void simulated_a_packet_that_leaves_on_a_closed_link_is_found(void **state)
{
    (void)state;
    unsigned bad = 0;
    for (uint64_t seed = 1; seed <= effort(SEEDS); seed++) {
        struct crossed c;
        char annotation[256];
        make(&c, seed);
        uint64_t random = split_mix(~seed);
        uint64_t before_ns = 1 + random % 1000;
        uint64_t at_ns = c.capture.records[c.left].time_ns - before_ns;
        uint64_t for_ns = 1 + (random >> 32) % 1000 + (seed % 2 ? before_ns : 0); /* of odd seeds one is bad */
        uint64_t frame = first_out(&c, 0, at_ns, at_ns + for_ns);
        (void)snprintf(annotation, sizeof annotation, "change at 1 us: %s closed at %" PRIu64 "ns for %" PRIu64 "ns",
                       c.port, at_ns, for_ns);
        require_first(&c, annotation, 0, frame);
        (void)snprintf(annotation, sizeof annotation,
                       "change at 1 us: %s closed at %" PRIu64 "ns\nfault at 2 us: all up at %" PRIu64 "ns", c.port,
                       at_ns, at_ns + for_ns);
        require_first(&c, annotation, 0, frame);
        bad += frame != 0;
        sim_free(&c.capture);
    }
    assert_true(bad > 0);
}

/* Nodes follow one after another, so packets may leave until an annotation says that all do. The change's age gives its
 * end exactly. */
static void live_a_packet_is_found_from_the_frame_on_that_says_followed(void **state)
{
    (void)state;
    unsigned bad = 0;
    for (uint64_t seed = 1; seed <= effort(SEEDS); seed++) {
        struct crossed c;
        char annotation[256];
        make(&c, seed);
        c.capture.set.live = true;
        uint64_t random = split_mix(~seed);
        size_t said = c.left - random % (c.left < 500 ? c.left : 500);
        uint64_t said_ns = c.capture.records[said].time_ns;
        uint64_t age_ns = random >> 48;
        uint64_t until_left_ns = seed % 2 ? c.capture.records[c.left].time_ns - said_ns : 0;
        uint64_t for_ns = age_ns + 1 + (random >> 32) % 300 + until_left_ns;
        uint64_t frame = first_out(&c, said, said_ns, said_ns - age_ns + for_ns);
        int used =
            snprintf(annotation, sizeof annotation,
                     "change at 1 s, %" PRIu64 "ns ago: %s closed at 1s for %" PRIu64 "ns", age_ns, c.port, for_ns);
        require_first(&c, annotation, said, 0);
        (void)snprintf(annotation + used, sizeof annotation - (size_t)used,
                       "\nchange followed after 1 us, 3ns ago: %s closed at 1s for %" PRIu64 "ns", c.port, for_ns);
        require_first(&c, annotation, said, frame);
        bad += frame != 0;
        sim_free(&c.capture);
    }
    assert_true(bad > 0);
}

/* A supervisor that is late says so after the link was opened again. */
static void live_a_link_that_is_open_again_is_not_closed_by_a_late_follower(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= effort(SEEDS); seed++) {
        struct crossed c;
        char annotation[256];
        make(&c, seed);
        c.capture.set.live = true;
        const size_t said = c.left - split_mix(~seed) % (c.left < 500 ? c.left : 500);
        (void)snprintf(annotation, sizeof annotation,
                       "change at 1 s, 9ns ago: %s closed\nfault at 1 s, 1ns ago: all up\n"
                       "change followed after 1 us, 3ns ago: %s closed",
                       c.port, c.port);
        require_first(&c, annotation, said, 0);
        sim_free(&c.capture);
    }
}

/* The capture began after the change, so its end is unknown. */
static void a_follower_of_an_unknown_change_says_nothing(void **state)
{
    (void)state;
    struct crossed c;
    make(&c, 1);
    c.capture.set.live = true;
    require_first(&c, "change followed after 1 us: all closed", 0, 0);
    sim_free(&c.capture);
}

/* ---- losses ---- */

static void require_loss(struct crossed *c, const char *annotation, bool found)
{
    struct verdict v;
    c->capture.annotation = annotation;
    validate_capture(&c->capture, NULL, false, &v);
    if (found ? v.found.count == 0 || v.found.kept[0].rule != HX_RULE_DELIVERY : v.found.count != 0)
        fail_msg("seed %" PRIu64 ", '%s': %s", c->capture.set.seed, annotation,
                 v.found.count ? v.found.kept[0].what : "good");
}

/* A link that is down explains a packet that is lost on a cable, and one that is lost in a switch. Another one that is
 * closed explains neither. */
static void no_loss_is_allowed_by_a_closed_link(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= effort(SEEDS); seed++) {
        struct crossed c;
        make(&c, seed);
        sim_lose(&c.capture, seed % 4 < 2 ? c.left : c.came);
        c.capture.set.live = seed % 3 == 0;
        require_loss(&c, "fault at 0 ns: all down for 1ms", false);
        require_loss(&c, "change at 0 ns: all closed at 1s for 1ms", true);
        c.capture.set.live = true;
        require_loss(&c, "change at 0 ns: all closed", true);
        sim_free(&c.capture);
    }
}

/* ---- what is counted ---- */

static void changes_are_counted_apart_from_faults(void **state)
{
    (void)state;
    struct crossed c;
    struct verdict v;
    make(&c, 1);
    c.capture.annotation =
        "change at 1 s: all closed at 1s\nchange at 2 s: all closed at 2s\nfault at 1 s: all up at 1s";
    validate_capture(&c.capture, NULL, false, &v);
    assert_int_equal(verdict_noted(&v, "2 planned changes of links are reported"), 2);
    assert_int_equal(verdict_noted(&v, "1 fault is reported in the capture: effects at its place"), 1);
    assert_int_equal(verdict_noted(&v, "not understood"), 0);
    c.capture.annotation = "fault at 1 s: all closed at 1s\nchange at 1 s: all down\nchange followed after 1 s: all up";
    validate_capture(&c.capture, NULL, false, &v);
    assert_int_equal(verdict_noted(&v, "not understood"), 3);
    assert_int_equal(verdict_noted(&v, "planned changes"), 0);
    sim_free(&c.capture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simulated_a_packet_that_leaves_on_a_closed_link_is_found),
        cmocka_unit_test(live_a_packet_is_found_from_the_frame_on_that_says_followed),
        cmocka_unit_test(live_a_link_that_is_open_again_is_not_closed_by_a_late_follower),
        cmocka_unit_test(a_follower_of_an_unknown_change_says_nothing),
        cmocka_unit_test(no_loss_is_allowed_by_a_closed_link),
        cmocka_unit_test(changes_are_counted_apart_from_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
