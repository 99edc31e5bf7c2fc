/* test_verify_legal.c - effects of faults are allowed if a capture shows them in part, or late: on cables that died
 * before their first packet, behind another fault's delay, in buffers, and on links that are not captured. Without
 * the fault each is a violation. */
#include "tests/support/support_capture_harm.h"
#include "tests/support/support_capture_validate.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SEEDS = 3 };

/* Records begin so late that earlier faults have no effect. */
static const uint64_t LATE_NS = 5000000;

/* A capture, and a record in its middle of an arrival by a cable. */
struct middle {
    struct sim_capture capture;
    size_t at;
    uint64_t time_ns;
    char port[64];
};

static void make_middle(struct middle *m, unsigned seed)
{
    struct sim_settings set = sim_default;
    set.seed = seed;
    set.messages = 20;
    set.bytes = 100;
    set.credits = 1024; /* a copy takes room that the model does not count */
    sim_run(&m->capture, &set);
    for (size_t i = 0; i < m->capture.count; i++)
        m->capture.records[i].time_ns += LATE_NS;
    m->at = sim_find_arrival(&m->capture, m->capture.count / 2);
    m->time_ns = m->capture.records[m->at].time_ns;
    (void)snprintf(m->port, sizeof m->port, "%s", sim_interface_name(&set, m->capture.records[m->at].interface));
}

/* The capture of those ports is good with the faults, and bad without. */
static void require_allowed(struct middle *m, bool (*keep)(const char *name), const char *annotation)
{
    struct verdict v;
    m->capture.annotation = annotation;
    validate_capture(&m->capture, keep, false, &v);
    if (v.found.count)
        fail_msg("seed %" PRIu64 ", '%s': frame %" PRIu64 ": %s: %s", m->capture.set.seed, annotation,
                 v.found.kept[0].frame, hx_rule_names[v.found.kept[0].rule], v.found.kept[0].what);
    m->capture.annotation = NULL;
    validate_capture(&m->capture, keep, false, &v);
    assert_true(v.found.count > 0);
}

static void damage_payload(struct sim_capture *c, size_t at)
{
    sim_turn_bit(c, at, SIM_HEADER_BYTES);
}

static void a_cable_may_die_before_its_first_packet(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        struct middle m;
        char annotation[128];
        make_middle(&m, seed);
        uint32_t interface = m.capture.records[m.at].interface;
        for (size_t i = 0; i < m.capture.count;) {
            const struct sim_record *r = &m.capture.records[i];
            if (r->interface == interface && r->direction == 1)
                sim_lose(&m.capture, i);
            else
                i++;
        }
        (void)snprintf(annotation, sizeof annotation, "fault at 1 us: %s down at 1us", m.port);
        require_allowed(&m, NULL, annotation);
        sim_free(&m.capture);
    }
}

/* A packet that a link harmed arrives after that fault, if another fault delays it. */
static void another_faults_delay_postpones_harm(void **state)
{
    (void)state;
    static const struct {
        void (*to)(struct sim_capture *c, size_t at);
        const char *by;
    } harms[] = {{damage_payload, "corrupt=1%"}, {sim_repeat, "duplicate=1%"}};
    for (unsigned i = 0; i < 2 * SEEDS; i++) {
        struct middle m;
        char annotation[256];
        make_middle(&m, 1 + i / 2);
        harms[i % 2].to(&m.capture, m.at);
        (void)snprintf(annotation, sizeof annotation,
                       "fault at 1 us: %s %s at %" PRIu64 "ns for 1us\nfault at 1 us: all delay=10us at %" PRIu64 "ns",
                       m.port, harms[i % 2].by, m.time_ns - 9000, m.time_ns - 8500);
        require_allowed(&m, NULL, annotation);
        sim_free(&m.capture);
    }
}

/* A packet waits in a node for a link that goes down. */
static void a_packet_waiting_for_a_link_that_goes_down_is_lost(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        struct middle m;
        char annotation[128];
        make_middle(&m, seed);
        uint8_t key[SIM_KEY_BYTES];
        size_t next = m.at + 1;
        memcpy(key, m.capture.records[m.at].frame + SIM_KEY_AT, sizeof key);
        while (!sim_is_record_of(&m.capture.records[next], key))
            next++;
        sim_lose(&m.capture, next);
        (void)snprintf(annotation, sizeof annotation, "fault at 1 us: all down at %" PRIu64 "ns for 1us",
                       m.time_ns + 500000);
        require_allowed(&m, NULL, annotation);
        sim_free(&m.capture);
    }
}

static bool is_endpoint(const char *name)
{
    return strstr(name, "/local") != NULL;
}

static bool is_of_accelerators(const char *name)
{
    return name[0] == 'a';
}

/* Damage, copies and losses of a link without records appear at the next port with records. */
static void links_that_are_not_captured_may_do_harm(void **state)
{
    (void)state;
    static bool (*const keeps[])(const char *name) = {is_endpoint, is_of_accelerators};
    static const struct {
        void (*to)(struct sim_capture *c, size_t at);
        const char *by;
    } harms[] = {{damage_payload, "corrupt=1%"}, {sim_repeat, "duplicate=1%"}, {sim_lose, "loss=1%"}};
    for (unsigned i = 0; i < 6 * SEEDS; i++) {
        struct middle m;
        char annotation[128];
        make_middle(&m, 1 + i / 6);
        size_t at = m.at; /* at a network's port */
        while (!sim_is_arrival(&m.capture, &m.capture.records[at]) ||
               sim_interface_name(&m.capture.set, m.capture.records[at].interface)[0] == 'a')
            at++;
        harms[i % 3].to(&m.capture, at);
        (void)snprintf(annotation, sizeof annotation, "fault at 1 us: all %s", harms[i % 3].by);
        require_allowed(&m, keeps[i / 3 % 2], annotation);
        sim_free(&m.capture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cable_may_die_before_its_first_packet),
        cmocka_unit_test(another_faults_delay_postpones_harm),
        cmocka_unit_test(a_packet_waiting_for_a_link_that_goes_down_is_lost),
        cmocka_unit_test(links_that_are_not_captured_may_do_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
