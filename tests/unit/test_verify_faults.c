/* test_verify_faults.c - a capture names its faults, and verify allows exactly their effects: at their place and
 * time, and of their kind. One link of the model's capture (tests/support/support_capture.h) harms one packet. */
#include "tests/support/support_capture_harm.h"
#include "tests/support/support_capture_validate.h"
#include "tests/support/support_effort.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SEEDS = 3 };

/* Records begin so late that earlier faults have no effect. */
static const uint64_t BEGIN_NS = 5000000;

/* ---- harm to the packet that arrives with record `at`, in this and all its later records ---- */

static void damage(struct sim_capture *c, size_t at)
{
    sim_turn_bit(c, at, SIM_HEADER_BYTES);
}

static void damage_checksum(struct sim_capture *c, size_t at)
{
    sim_turn_bit(c, at, SIM_KEY_AT);
}

/* Flips a bit of the header, which makes it another packet; only the checksum shows it. */
static void damage_header(struct sim_capture *c, size_t at)
{
    sim_turn_bit(c, at, SIM_KEY_AT + 9);
}

static void leave(struct sim_capture *c, size_t at)
{
    (void)c;
    (void)at;
}

static const struct harm {
    const char *by, *also; /* effect of a fault that causes this; another that may, too */
    void (*to)(struct sim_capture *c, size_t at);
    const char *rule;
} harms[] = {{"loss=1%", "down", sim_lose, "delivery"},
             {"corrupt=1%", "loss=1% corrupt=1%", damage, "crc"},
             {"corrupt=1%", "corrupt=2% delay=1us", damage_header, "header"},
             {"duplicate=1%", "duplicate=1% loss=1%", sim_repeat, "delivery"},
             {"reorder=1%", "delay=1us", NULL, "order"}};
enum { HARMS = sizeof harms / sizeof *harms };

/* ---- a capture with one harmed packet ---- */

struct harmed {
    struct sim_capture capture;
    char port[64];    /* of the arrival */
    uint64_t time_ns; /* of the arrival */
    size_t at;        /* its record */
};

static void make(struct harmed *h, const struct harm *harm, unsigned seed)
{
    struct sim_settings set = sim_default;
    set.seed = seed;
    set.messages = 20;
    set.bytes = 100;
    set.credits = 1024; /* a copy takes room that the model does not count */
    sim_run(&h->capture, &set);
    for (size_t i = 0; i < h->capture.count; i++)
        h->capture.records[i].time_ns += BEGIN_NS;
    size_t at = harm->to ? sim_find_arrival(&h->capture, h->capture.count / 2)
                         : (size_t)sim_break(&h->capture, "order-early") - 1;
    for (size_t i = 1; i < h->capture.count; i++) { /* records swap places, times do not */
        struct sim_record *r = &h->capture.records[i];
        r->time_ns = r->time_ns < r[-1].time_ns ? r[-1].time_ns : r->time_ns;
    }
    (void)snprintf(h->port, sizeof h->port, "%s", sim_interface_name(&set, h->capture.records[at].interface));
    h->time_ns = h->capture.records[at].time_ns;
    h->at = at;
    if (harm->to)
        harm->to(&h->capture, at);
}

/* First finding for a capture with such a fault, or with none (""); NULL: it is good. */
static const char *found(struct harmed *h, const char *place, const char *what, const char *when)
{
    static char rule[32];
    char annotation[200];
    struct verdict v;
    (void)snprintf(annotation, sizeof annotation, "fault at 0 ns: all up\nfault at 0 ns: %s %s %s", place, what, when);
    h->capture.annotation = *what ? annotation : NULL;
    validate_capture(&h->capture, NULL, false, &v);
    h->capture.annotation = NULL;
    if (v.found.count == 0)
        return NULL;
    (void)snprintf(rule, sizeof rule, "%s", hx_rule_names[v.found.kept[0].rule]);
    return rule;
}

static void require(struct harmed *h, const struct harm *harm, const char *place, const char *what, const char *when,
                    bool good)
{
    const char *rule = found(h, place, what, when);
    if (good ? rule != NULL : !rule || strcmp(rule, harm->rule) != 0)
        fail_msg("%s at %s, seed %" PRIu64 ", with fault '%s %s %s': %s is found", harm->by, h->port,
                 h->capture.set.seed, place, *what ? what : "nothing", when, rule ? rule : "nothing");
}

/* ---- */

static void effects_of_a_fault_are_allowed_at_its_place_and_time(void **state)
{
    (void)state;
    for (unsigned i = 0; i < HARMS; i++)
        for (unsigned seed = 1; seed <= effort(SEEDS); seed++) {
            struct harmed h;
            char when[64];
            make(&h, &harms[i], seed);
            (void)snprintf(when, sizeof when, "at %" PRIu64 "ns for 1us", h.time_ns - 500);
            require(&h, &harms[i], "", "", "", false);
            require(&h, &harms[i], h.port, harms[i].by, "", true);
            require(&h, &harms[i], h.port, harms[i].also, "", true);
            require(&h, &harms[i], "all", harms[i].by, when, true);
            sim_free(&h.capture);
        }
}

static void other_places_times_and_kinds_are_found(void **state)
{
    (void)state;
    for (unsigned i = 0; i < HARMS; i++)
        for (unsigned seed = 1; seed <= effort(SEEDS); seed++) {
            struct harmed h;
            make(&h, &harms[i], seed);
            /* One of the two is not the harmful link. */
            bool here = strcmp(h.port, "a0,0/p0/E") == 0 || strcmp(h.port, "a1,0/p0/W") == 0;
            require(&h, &harms[i], here ? "a2,2/E" : "a0,0/E", harms[i].by, "", false);
            require(&h, &harms[i], "all", harms[i].by, "for 1ms", false);
            require(&h, &harms[i], "all", harms[i].by, "at 1s", false);
            require(&h, &harms[i], "all", "rate=50%", "", false);
            require(&h, &harms[i], "all", i == 3 ? "corrupt=1%" : "duplicate=1%", "", harms[i].to == NULL);
            sim_free(&h.capture);
        }
}

/* A loss between two switches is not allowed by a link that loses packets elsewhere; "up" ends a fault. */
static void an_up_ends_a_fault_allowance(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= effort(SEEDS); seed++) {
        struct harmed h;
        char when[96];
        make(&h, &harms[0], seed);
        (void)snprintf(when, sizeof when, "\nfault at 1 us: all up at 1us");
        require(&h, &harms[0], "all", "loss=1%", when, false);
        sim_free(&h.capture);
    }
}

/* On the wall clock, a file that begins during a fault states its age: the fault is over in its time, and has
 * effects for 3 s more. */
static void a_fault_from_before_the_file_ends_in_its_time(void **state)
{
    (void)state;
    static const struct {
        const char *annotation;
        bool good;
    } cases[] = {{"fault at 1 s, 9000ms ago: all corrupt=1% for 20s", true},
                 {"fault at 1 s, 9000ms ago: all corrupt=1% for 7s", true},
                 {"fault at 1 s, 9000ms ago: all corrupt=1% for 1s", false},
                 {"fault at 1 s, 9000ms ago: all corrupt=1%\nfault at 2 s, 8000ms ago: all up", false},
                 {"fault at 1 s: all corrupt=1% for 1s", true},
                 {"fault at 1 s, ago: all corrupt=1% for 1s", true},
                 {"fault at 1 s, some time ago: all corrupt=1% for 1s", true}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct harmed h;
        struct verdict v;
        make(&h, &harms[1], 1);
        h.capture.set.live = true;
        for (size_t at = 0; at < h.capture.count; at++)
            h.capture.records[at].time_ns += UINT64_C(1700000000000000000);
        h.capture.annotation = cases[i].annotation;
        validate_capture(&h.capture, NULL, false, &v);
        if (cases[i].good ? v.found.count != 0 : v.found.count == 0 || v.found.kept[0].rule != HX_RULE_CRC)
            fail_msg("'%s': %u found", cases[i].annotation, v.found.count);
        sim_free(&h.capture);
    }
}

static size_t next_of(const struct sim_capture *c, size_t at)
{
    uint8_t key[SIM_KEY_BYTES];
    memcpy(key, c->records[at].frame + SIM_KEY_AT, sizeof key);
    for (at++; at < c->count && !sim_is_record_of(&c->records[at], key); at++)
        ;
    assert_true(at < c->count);
    return at;
}

static size_t first_of(const struct sim_capture *c, size_t at)
{
    uint8_t key[SIM_KEY_BYTES];
    size_t first = 0;
    memcpy(key, c->records[at].frame + SIM_KEY_AT, sizeof key);
    while (!sim_is_record_of(&c->records[first], key))
        first++;
    return first;
}

/* The finding is the frame of that record. */
static void require_frame(struct harmed *h, const char *what, size_t at, enum hx_rule rule)
{
    char annotation[128];
    struct verdict v;
    (void)snprintf(annotation, sizeof annotation, "fault at 0 ns: %s %s", h->port, what);
    h->capture.annotation = annotation;
    validate_capture(&h->capture, NULL, false, &v);
    if (v.found.count == 0 || v.found.kept[0].frame != at + 1 || v.found.kept[0].rule != rule)
        fail_msg("%s, seed %" PRIu64 ": not frame %zu but %s is found", annotation, h->capture.set.seed, at + 1,
                 v.found.count ? v.found.kept[0].what : "nothing");
    sim_free(&h->capture);
}

/* A damaged packet was intact before, and keeps its identity: its other errors are found. */
static void damage_allows_only_its_consequences(void **state)
{
    (void)state;
    enum { VC_AT = 15 };
    for (unsigned seed = 1; seed <= effort(SEEDS); seed++) {
        struct harmed h;
        make(&h, &harms[1], seed);
        size_t first = first_of(&h.capture, h.at);
        assert_true(first < h.at);
        h.capture.records[first].frame[SIM_HEADER_BYTES] ^= 1; /* at its injection */
        require_frame(&h, "corrupt=1%", first, HX_RULE_CRC);

        make(&h, &harms[1], seed);
        size_t next = next_of(&h.capture, h.at);
        h.capture.records[next].frame[SIM_HEADER_BYTES] ^= 1; /* intact again, */
        h.capture.records[next].frame[VC_AT] = (uint8_t)(h.capture.records[next].frame[VC_AT] + 1);
        require_frame(&h, "corrupt=1%", next, HX_RULE_VC);
    }
}

/* Record of the next arrival, by a cable, of the packet of record `at`; c->count: none. */
static size_t next_arrival(const struct sim_capture *c, size_t at)
{
    uint8_t key[SIM_KEY_BYTES];
    memcpy(key, c->records[at].frame + SIM_KEY_AT, sizeof key);
    for (at++; at < c->count && !(sim_is_record_of(&c->records[at], key) && sim_is_arrival(c, &c->records[at])); at++)
        ;
    return at;
}

/* A packet that one link damages and a later one, with record *at, restores by a second damage. */
static void make_restored(struct harmed *h, void (*by)(struct sim_capture *c, size_t at), unsigned seed, size_t *at)
{
    make(h, &(struct harm){.to = leave}, seed);
    size_t first = h->at;
    while (!sim_is_arrival(&h->capture, &h->capture.records[first]) ||
           next_arrival(&h->capture, first) == h->capture.count)
        assert_true(++first < h->capture.count);
    *at = next_arrival(&h->capture, first);
    by(&h->capture, first);
    by(&h->capture, *at);
    (void)snprintf(h->port, sizeof h->port, "%s",
                   sim_interface_name(&h->capture.set, h->capture.records[first].interface));
}

/* Record at the other end of the link, just before. */
static size_t sent_before(const struct sim_capture *c, size_t at)
{
    uint8_t key[SIM_KEY_BYTES];
    memcpy(key, c->records[at].frame + SIM_KEY_AT, sizeof key);
    while (!sim_is_record_of(&c->records[--at], key))
        ;
    return at;
}

/* Two links that flip the same bit deliver the original; if the second damages nothing, the packet has no origin. */
static void one_link_may_restore_the_damage_of_another(void **state)
{
    (void)state;
    static void (*const by[])(struct sim_capture * c, size_t at) = {damage, damage_checksum};
    for (unsigned i = 0; i < effort(2 * SEEDS); i++) {
        struct harmed h;
        struct verdict v;
        size_t at;
        make_restored(&h, by[i % 2], 1 + i / 2, &at);
        h.capture.annotation = "fault at 0 ns: all corrupt=1%";
        validate_capture(&h.capture, NULL, false, &v);
        if (v.found.count > 0)
            fail_msg("seed %u, restored with frame %zu: %s", 1 + i / 2, at + 1, v.found.kept[0].what);
        require_frame(&h, "corrupt=1%", at, HX_RULE_DELIVERY);
    }
}

/* Damage elsewhere, or before the same link on arrival, restores nothing: the intact packet was never sent. */
static void only_a_damaged_packet_of_the_same_link_is_restored(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= effort(SEEDS); seed++) {
        struct harmed h;
        struct verdict v;
        size_t at;
        make_restored(&h, damage, seed, &at);
        h.capture.annotation = "fault at 0 ns: all corrupt=1%";
        validate_capture(&h.capture, NULL, false, &v);
        assert_int_equal(v.found.count, 0);
        sim_insert_copy(&h.capture, at); /* a second arrival of the one that was sent */
        validate_capture(&h.capture, NULL, false, &v);
        if (v.found.count == 0 || !strstr(v.found.kept[0].what, "but never left"))
            fail_msg("seed %u: %s", seed, v.found.count ? v.found.kept[0].what : "nothing is found");
        sim_free(&h.capture);

        make_restored(&h, damage, seed, &at);
        sim_take_out(&h.capture, sent_before(&h.capture, at)); /* it is known to be damaged only by the earlier link */
        h.capture.annotation = "fault at 0 ns: all corrupt=1%";
        validate_capture(&h.capture, NULL, false, &v);
        if (v.found.count == 0)
            fail_msg("seed %u: a packet that never left its switch is taken for a restored one", seed);
        sim_free(&h.capture);
    }
}

/* A packet that was not damaged cannot be restored. */
static void an_intact_packet_is_not_restored(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= effort(SEEDS); seed++) {
        struct harmed h;
        make(&h, &(struct harm){.to = leave}, seed);
        sim_take_out(&h.capture, sent_before(&h.capture, h.at));
        require_frame(&h, "corrupt=1%", h.at - 1, HX_RULE_DELIVERY);
    }
}

/* One sending arrives twice at most. */
static void a_link_repeats_a_packet_once(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= effort(SEEDS); seed++) {
        struct harmed h;
        struct verdict v;
        make(&h, &harms[3], seed);
        h.capture.annotation = "fault at 0 ns: all duplicate=1%";
        validate_capture(&h.capture, NULL, false, &v);
        assert_int_equal(v.found.count, 0);
        assert_int_equal(v.copies, 1);
        sim_repeat(&h.capture, h.at + 1); /* only the copy, from the same place on */
        validate_capture(&h.capture, NULL, false, &v);
        assert_true(v.found.count > 0);
        assert_non_null(strstr(v.found.kept[0].what, "but never left"));
        sim_free(&h.capture);
    }
}

/* Of the packets that crossed a repeating link only the last ones are remembered, for any length of capture. */
static void candidates_for_copies_are_forgotten_in_time(void **state)
{
    (void)state;
    struct harmed h;
    struct verdict v;
    make(&h, &harms[3], 1);
    h.capture.annotation = "fault at 0 ns: all duplicate=1%";
    validate_capture(&h.capture, NULL, false, &v);
    size_t all = v.remembered;
    uint64_t first = h.capture.records[0].time_ns;
    uint64_t slower = 20000000 / (h.capture.records[h.capture.count - 1].time_ns - first) + 1;
    for (size_t i = 0; i < h.capture.count; i++)
        h.capture.records[i].time_ns = first + (h.capture.records[i].time_ns - first) * slower;
    validate_capture(&h.capture, NULL, false, &v);
    assert_int_equal(v.found.count, 0);
    assert_int_equal(v.copies, 1);
    assert_in_range(v.remembered, 1, all / 4);
    sim_free(&h.capture);
}

/* A fault allows the first of two packets too many in a buffer, but not the second, which follows a notice of the
 * fault. */
static void an_overrun_after_a_fault_allowance_is_found(void **state)
{
    (void)state;
    static const uint64_t LATER_NS = 10000000;
    for (unsigned seed = 1; seed <= effort(SEEDS); seed++) {
        struct sim_settings set = sim_default;
        struct sim_capture c;
        struct verdict v;
        char annotation[64];
        set.seed = seed;
        set.greedy = true;
        set.credits = 32;
        set.messages = 10;
        sim_run(&c, &set);
        assert_true(c.overrun_frame > 0);
        size_t once = c.count;
        uint64_t at_ns = c.records[c.overrun_frame - 1].time_ns;
        sim_repeat_all(&c, LATER_NS);
        (void)snprintf(annotation, sizeof annotation, "fault at 0 ns: all delay=1us at %" PRIu64 "ns for 1us", at_ns);
        c.annotation = annotation;
        c.annotation_at = once;
        validate_capture(&c, NULL, false, &v);
        assert_true(v.found.count > 0);
        assert_int_equal(v.found.kept[0].rule, HX_RULE_CREDIT);
        assert_int_equal(v.found.kept[0].frame, once + c.overrun_frame);
        sim_free(&c);
    }
}

/* A killed worker loses its packets and its records. A cable is not verified if one end has no other records. A
 * packet lost there is known only from its injection. */
static void packets_of_a_killed_worker_are_lost_on_a_cable_of_one_end(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= effort(SEEDS); seed++) {
        struct harmed h;
        char when[64];
        make(&h, &harms[0], seed);
        for (unsigned i = 0; i < h.capture.interfaces; i++)
            if (strcmp(sim_interface_name(&h.capture.set, i), h.port) == 0)
                sim_forget_interface(&h.capture, i);
        (void)snprintf(when, sizeof when, "at %" PRIu64 "ns", h.time_ns - 500);
        require(&h, &harms[0], "worker0", "killed", when, true);
        require(&h, &harms[0], "worker0", "killed", "at 1us", false);
        require(&h, &harms[0], "", "", "", false);
        sim_free(&h.capture);
    }
}

static void invalid_fault_lines_are_reported_and_allow_nothing(void **state)
{
    (void)state;
    struct harmed h;
    struct verdict v;
    make(&h, &harms[0], 1);
    h.capture.annotation = "fault at 0 ns: all lsos=1%\nfault at 0 ns\nwhose fault at 0 ns: all down";
    validate_capture(&h.capture, NULL, false, &v);
    assert_true(v.found.count > 0);
    assert_int_equal(verdict_noted(&v, "not understood"), 1);
    sim_free(&h.capture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(effects_of_a_fault_are_allowed_at_its_place_and_time),
        cmocka_unit_test(other_places_times_and_kinds_are_found),
        cmocka_unit_test(an_up_ends_a_fault_allowance),
        cmocka_unit_test(damage_allows_only_its_consequences),
        cmocka_unit_test(one_link_may_restore_the_damage_of_another),
        cmocka_unit_test(only_a_damaged_packet_of_the_same_link_is_restored),
        cmocka_unit_test(an_intact_packet_is_not_restored),
        cmocka_unit_test(a_link_repeats_a_packet_once),
        cmocka_unit_test(candidates_for_copies_are_forgotten_in_time),
        cmocka_unit_test(an_overrun_after_a_fault_allowance_is_found),
        cmocka_unit_test(a_fault_from_before_the_file_ends_in_its_time),
        cmocka_unit_test(packets_of_a_killed_worker_are_lost_on_a_cable_of_one_end),
        cmocka_unit_test(invalid_fault_lines_are_reported_and_allow_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
