/* test_verify_order.c - order of events: records that are moved, doubled or impossible to observe are found,
 * anywhere in a capture. The captures are those of a model (tests/support/support_capture.h). */
/* sanitizers: check-all */
#include "tests/support/support_capture_harm.h"
#include "tests/support/support_capture_validate.h"
#include "tests/support/support_effort.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOVES = 48, CREDIT_VC_AT = 17 };

static void make_small(struct sim_capture *c, unsigned seed)
{
    struct sim_settings set = sim_default;
    set.seed = seed;
    set.messages = 10;
    set.bytes = 100;
    sim_run(c, &set);
}

static bool is_endpoints(const struct sim_capture *c, size_t at, unsigned direction)
{
    const struct sim_record *r = &c->records[at];
    return r->direction == direction && strstr(sim_interface_name(&c->set, r->interface), "/local");
}

/* First record at an endpoint from `at` on, in that direction, of the packet of record `at` or of any. */
static size_t find_endpoints(const struct sim_capture *c, size_t at, unsigned direction, const uint8_t *key)
{
    while (at < c->count && !(is_endpoints(c, at, direction) && (!key || sim_is_record_of(&c->records[at], key))))
        at++;
    return at;
}

/* Moves a record, with its time. */
static void move_record(struct sim_capture *c, size_t from, size_t to)
{
    struct sim_record moved = c->records[from];
    moved.time_ns = c->records[to].time_ns;
    if (to < from)
        memmove(&c->records[to + 1], &c->records[to], (from - to) * sizeof moved);
    else
        memmove(&c->records[from], &c->records[from + 1], (to - from) * sizeof moved);
    c->records[to] = moved;
}

static void require_bad(const struct sim_capture *c, enum hx_rule rule, const char *what)
{
    struct verdict v;
    validate_capture(c, NULL, false, &v);
    if (v.found.count == 0 || !v.found.by_rule[rule])
        fail_msg("%s: %s", what, v.found.count ? v.found.kept[0].what : "nothing is found");
}

/* A delivery moves before its injection, an injection behind its delivery. */
static void a_packet_is_delivered_after_it_was_injected(void **state)
{
    (void)state;
    for (unsigned n = 0; n < effort_few(MOVES / 4, MOVES); n++) {
        const unsigned i = effort_case(n, MOVES);
        struct sim_capture c;
        make_small(&c, 1 + i / 8);
        size_t injected = find_endpoints(&c, c.count * (i % 8) / 16, 1, NULL);
        size_t delivered = find_endpoints(&c, injected, 2, c.records[injected].frame + SIM_KEY_AT);
        assert_true(delivered < c.count);
        if (i % 2)
            move_record(&c, injected, delivered);
        else
            move_record(&c, delivered, injected);
        require_bad(&c, HX_RULE_DELIVERY, i % 2 ? "an injection moved" : "a delivery moved");
        sim_free(&c);
    }
}

static bool of_endpoints_alone(const char *name)
{
    return strstr(name, "/local") != NULL;
}

/* Between two nodes only simulated times show it. */
static void simulated_times_show_it_if_only_endpoints_are_captured(void **state)
{
    (void)state;
    struct sim_capture c;
    struct verdict v;
    make_small(&c, 1);
    size_t injected = find_endpoints(&c, c.count / 4, 1, NULL);
    size_t delivered = find_endpoints(&c, injected, 2, c.records[injected].frame + SIM_KEY_AT);
    move_record(&c, delivered, injected);
    validate_capture(&c, of_endpoints_alone, false, &v);
    assert_true(v.found.by_rule[HX_RULE_DELIVERY] > 0);
    sim_free(&c);
}

/* Every frame twice, one behind the other; all frames repeated behind the last. */
static void a_capture_joined_with_itself_is_found(void **state)
{
    (void)state;
    struct sim_capture c;
    make_small(&c, 1);
    for (size_t i = 0; i < c.count; i += 2)
        sim_insert_copy(&c, i);
    require_bad(&c, HX_RULE_DELIVERY, "frames twice");
    sim_free(&c);
    make_small(&c, 2);
    sim_repeat_all(&c, 0);
    require_bad(&c, HX_RULE_DELIVERY, "the capture twice");
    sim_free(&c);
}

static void meaningless_times_are_reported(void **state)
{
    (void)state;
    static const uint64_t times[] = {0, UINT64_C(1) << 63};
    for (unsigned i = 0; i < 2; i++) {
        struct sim_capture c;
        struct verdict v;
        make_small(&c, 1);
        for (size_t at = 0; at < c.count; at++)
            c.records[at].time_ns = times[i];
        validate_capture(&c, NULL, false, &v);
        assert_int_equal(v.found.count, 0);
        assert_int_equal(verdict_noted(&v, "have the same time"), c.count);
        sim_free(&c);
    }
}

/* Simulated times never decrease at a node; a machine's clock may be set. */
static void a_simulated_time_that_decreases_is_found(void **state)
{
    (void)state;
    static const uint64_t times[] = {0, UINT64_C(1) << 63};
    for (unsigned i = 0; i < 4; i++) {
        struct sim_capture c;
        struct verdict v;
        make_small(&c, 1);
        c.set.live = i >= 2;
        c.records[c.count / 2].time_ns = times[i % 2];
        validate_capture(&c, NULL, false, &v);
        assert_int_equal(v.found.by_rule[HX_RULE_ORDER], c.set.live ? 0 : 1);
        assert_int_equal(verdict_noted(&v, "goes back"), c.set.live);
        sim_free(&c);
    }
}

static void the_queue_is_the_vc_and_memory_grants_no_credit(void **state)
{
    (void)state;
    for (unsigned n = 0; n < effort_few(MOVES / 4, MOVES); n++) {
        const unsigned i = effort_case(n, MOVES);
        struct sim_capture c;
        make_small(&c, 1 + i / 16);
        struct sim_record *r = &c.records[c.count * (i % 16) / 16];
        if (i % 2)
            r->vc++;
        else
            r->frame[CREDIT_VC_AT] = 0;
        require_bad(&c, i % 2 ? HX_RULE_VC : HX_RULE_CREDIT, i % 2 ? "another queue" : "a grant");
        sim_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packet_is_delivered_after_it_was_injected),
        cmocka_unit_test(simulated_times_show_it_if_only_endpoints_are_captured),
        cmocka_unit_test(a_capture_joined_with_itself_is_found),
        cmocka_unit_test(meaningless_times_are_reported),
        cmocka_unit_test(a_simulated_time_that_decreases_is_found),
        cmocka_unit_test(the_queue_is_the_vc_and_memory_grants_no_credit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
