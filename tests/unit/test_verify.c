/* test_verify.c - good captures pass; one that is broken in one place is refused with that frame and that rule. The
 * captures are those of a model (tests/support/support_capture.h). */
#include "tests/support/support_capture_validate.h"
#include "tests/support/support_effort.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- whole captures ---- */

static struct sim_settings with(void (*change)(struct sim_settings *))
{
    struct sim_settings s = sim_default;
    if (change)
        change(&s);
    return s;
}

static void wire(struct sim_settings *s)
{
    s->wire = true;
}
static void four_planes(struct sim_settings *s)
{
    s->planes = 4;
    s->bytes = 9000;
}
static void large_boards(struct sim_settings *s)
{
    s->a = s->b = 4;
    s->x = s->y = 2;
}
static void oblong(struct sim_settings *s)
{
    s->b = 4;
    s->x = 3;
    s->y = 2;
}
static void single(struct sim_settings *s)
{
    s->a = s->b = 1;
    s->x = 5;
    s->y = 3;
}
static void tight(struct sim_settings *s)
{
    s->credits = 32;
    s->messages = 8;
}
static void tight_wire(struct sim_settings *s)
{
    tight(s);
    s->wire = true;
}
static void cut(struct sim_settings *s)
{
    s->snaplen = 64;
    s->crc = false;
}
static void lossy(struct sim_settings *s)
{
    s->wire = true;
    s->credits = 32;
    s->lose = 20;
}
static void busy(struct sim_settings *s)
{
    s->messages = 40;
    s->bytes = 100;
}
static void greedy(struct sim_settings *s)
{
    s->greedy = true;
    s->credits = 32;
    s->messages = 10;
}

static const struct {
    const char *what;
    void (*change)(struct sim_settings *);
} kinds[] = {{"4x4 Hx2Mesh", NULL},
             {"wire", wire},
             {"4 planes", four_planes},
             {"2x2 Hx4Mesh", large_boards},
             {"3x2 H2x4Mesh", oblong},
             {"5x3 Hx1Mesh", single},
             {"32 credits", tight},
             {"32 credits, wire", tight_wire},
             {"snaplen 64", cut},
             {"losses, wire", lossy},
             {"busy", busy}};
enum { KINDS = sizeof kinds / sizeof *kinds, SEEDS = 3 };

static void good_captures_pass(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < KINDS; kind++)
        for (unsigned seed = 1; seed <= effort(SEEDS); seed++) {
            struct sim_settings set = with(kinds[kind].change);
            struct sim_capture c;
            struct verdict v;
            set.seed = seed;
            sim_run(&c, &set);
            require_good(&c, kinds[kind].what, seed, &v);
            assert_int_equal(v.counts.data + v.counts.credit, c.count);
            assert_int_equal(v.counts.injected - v.counts.delivered, c.lost);
            assert_int_equal(v.counts.crc_validated, set.crc ? v.counts.data : 0);
            assert_true(v.counts.nodes_validated > 0 && v.counts.links_validated > 0 &&
                        v.counts.credit_links_validated > 0);
            if (c.lost)
                assert_int_equal(v.counts.lost_repaired > 0, true);
            sim_free(&c);
        }
}

/* ---- broken captures ---- */

/* Whether a capture has a place to break a rule. */
enum place { CERTAIN, BY_CHANCE, NONE };

/* Breaks the rule if possible, and expects exactly that finding; returns whether there was a place. */
static bool require_broken(struct sim_settings *set, const char *rule, const char *what, enum place place)
{
    struct sim_capture c;
    struct verdict v;
    sim_run(&c, set);
    uint64_t frame = sim_break(&c, rule);
    if (place != BY_CHANCE && (frame == 0) != (place == NONE))
        fail_msg("%s, seed %llu: %s place to break '%s'", what, (unsigned long long)set->seed,
                 frame ? "there is a" : "no", rule);
    if (frame != 0) {
        validate_capture(&c, NULL, false, &v);
        char name[32]; /* "order" of "order-early" */
        snprintf(name, sizeof name, "%s", rule);
        size_t base = strncmp(rule, "north-last", 10) == 0 ? 10 : strcspn(rule, "-");
        name[base] = '\0';
        if (v.found.count == 0)
            fail_msg("%s, seed %llu: '%s' at frame %llu was not found", what, (unsigned long long)set->seed, rule,
                     (unsigned long long)frame);
        const struct hx_finding *f = &v.found.kept[0];
        if (f->frame != frame || strcmp(hx_rule_names[f->rule], name) != 0)
            fail_msg("%s, seed %llu: '%s' at frame %llu, but named was frame %llu: %s: %s", what,
                     (unsigned long long)set->seed, rule, (unsigned long long)frame, (unsigned long long)f->frame,
                     hx_rule_names[f->rule], f->what);
    }
    sim_free(&c);
    return frame != 0;
}

static const char *const rules[] = {"header", "crc",   "job",         "distance",     "north-last", "vc",
                                    "hops",   "order", "order-early", "order-before", "delivery",   "delivery-lost"};

/* Cut frames have no checksum to check. On a link that holds one packet none passes another. On boards of one
 * accelerator no packet moves north, and in a small capture perhaps none that could turn then. */
static enum place place_of(unsigned kind, const char *rule)
{
    void (*const change)(struct sim_settings *) = kinds[kind].change;
    bool is_north = strcmp(rule, "north-last") == 0;
    if ((change == cut && strcmp(rule, "crc") == 0) || (change == tight && strncmp(rule, "order-", 6) == 0) ||
        (change == single && is_north))
        return NONE;
    bool is_small = change == NULL || change == four_planes || change == tight || change == tight_wire || change == cut;
    return is_north && is_small ? BY_CHANCE : CERTAIN;
}

static void each_rule_is_found_where_it_is_broken(void **state)
{
    (void)state;
    const unsigned seeds = effort(2 * SEEDS) < SEEDS ? effort(2 * SEEDS) : SEEDS;
    unsigned by_chance = 0;
    for (unsigned kind = 0; kind < KINDS; kind++)
        for (unsigned seed = 1; seed <= seeds; seed++)
            for (unsigned rule = 0; rule < sizeof rules / sizeof *rules; rule++) {
                if (effort_is_quick() && (kind + rule) % 3 != 0) /* each rule in a third of the kinds */
                    continue;
                struct sim_settings set = with(kinds[kind].change);
                set.seed = seed;
                enum place place = place_of(kind, rules[rule]);
                by_chance += require_broken(&set, rules[rule], kinds[kind].what, place) && place == BY_CHANCE;
            }
    assert_true(by_chance > 0 || seeds == 1);
}

/* On a board of three a packet may take the network or go straight on: both are minimal. */
static void a_turn_after_north_is_found(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= effort(SEEDS); seed++) {
        struct sim_settings set = with(busy);
        set.seed = seed;
        set.a = set.b = 3;
        set.x = set.y = 2;
        set.messages = 100;
        (void)require_broken(&set, "north-last-turn", "2x2 Hx3Mesh", CERTAIN);
    }
}

static void credit_is_verified_in_memory_and_on_wires(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= effort(SEEDS); seed++) {
        struct sim_settings memory = with(greedy);
        struct sim_settings on_wire = with(tight_wire);
        struct sim_settings greedy_on_wire = with(greedy);
        greedy_on_wire.wire = true;
        memory.seed = on_wire.seed = greedy_on_wire.seed = seed;
        (void)require_broken(&memory, "credit", "memory", CERTAIN);
        (void)require_broken(&on_wire, "credit", "wire", CERTAIN);
        (void)require_broken(&on_wire, "credit-sent", "wire", CERTAIN);
        (void)require_broken(&greedy_on_wire, "credit", "greedy, wire", CERTAIN);
    }
}

/* ---- parts of captures ---- */

static bool of_one_accelerator(const char *name)
{
    return strncmp(name, "a3,4/", 5) == 0;
}
static bool of_one_cable(const char *name)
{
    return strcmp(name, "a3,4/p0/W") == 0 || strcmp(name, "a2,4/p0/E") == 0;
}
static bool of_one_port(const char *name)
{
    return strcmp(name, "row2/p0/3") == 0;
}
static bool of_endpoints(const char *name)
{
    return strstr(name, "/local") != NULL;
}

static void a_part_is_verified_as_far_as_it_goes(void **state)
{
    (void)state;
    static const struct {
        bool (*keep)(const char *name);
        uint64_t nodes, links;
    } parts[] = {{of_one_accelerator, 1, 0}, {of_one_cable, 0, 2}, {of_one_port, 0, 0}, {of_endpoints, 0, 0}};
    struct sim_settings set = with(busy);
    struct sim_capture c;
    struct verdict v;
    sim_run(&c, &set);
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++) {
        validate_capture(&c, parts[i].keep, false, &v);
        if (v.found.count)
            fail_msg("part %u: frame %llu: %s", i, (unsigned long long)v.found.kept[0].frame, v.found.kept[0].what);
        assert_true(v.counts.data > 10);
        assert_int_equal(v.counts.nodes_validated, parts[i].nodes);
        assert_int_equal(v.counts.links_validated, parts[i].links);
        assert_true(parts[i].nodes == 1 || verdict_noted(&v, "captured in part") > 0);
    }
    sim_free(&c);
}

/* A capture that begins and ends with packets in flight: good if marked so, otherwise bad. */
static void the_middle_of_a_run_is_good_if_marked(void **state)
{
    (void)state;
    struct sim_settings set = with(busy);
    struct sim_capture c;
    struct verdict v;
    sim_run(&c, &set);
    size_t first = c.count / 3;
    size_t last = 2 * first;
    struct sim_record *all = c.records;
    size_t count = c.count;
    c.records = all + first;
    c.count = last - first;
    validate_capture(&c, NULL, true, &v);
    if (v.found.count)
        fail_msg("frame %llu: %s", (unsigned long long)v.found.kept[0].frame, v.found.kept[0].what);
    assert_true(v.counts.in_flight > 0);
    validate_capture(&c, NULL, false, &v);
    assert_true(v.found.by_rule[HX_RULE_DELIVERY] > 0);
    c.comment = "hxmesh fabric: 4x4 Hx2Mesh credits=64 link=memory span=part";
    validate_capture(&c, NULL, false, &v);
    assert_int_equal(v.found.count, 0);
    c.records = all;
    c.count = count;
    sim_free(&c);
}

static void an_unknown_fabric_allows_header_and_checksum_rules(void **state)
{
    (void)state;
    struct sim_capture c;
    struct verdict v;
    sim_run(&c, &sim_default);
    c.comment = "somebody's own words";
    validate_capture(&c, NULL, false, &v);
    assert_int_equal(v.found.count, 0);
    assert_int_equal(v.counts.crc_validated, c.count);
    assert_int_equal(verdict_noted(&v, "the fabric is not known"), c.count);
    uint64_t frame = sim_break(&c, "crc");
    validate_capture(&c, NULL, false, &v);
    assert_true(v.found.count > 0 && v.found.kept[0].frame == frame && v.found.kept[0].rule == HX_RULE_CRC);
    sim_free(&c);
}

/* By another fabric's rules most frames are wrong: the comment names the fabric to verify. */
static void the_named_fabric_is_verified(void **state)
{
    (void)state;
    struct sim_capture c;
    struct verdict v;
    sim_run(&c, &sim_default);
    c.comment = "hxmesh fabric: 2x2 Hx4Mesh credits=64 link=memory";
    validate_capture(&c, NULL, false, &v);
    assert_true(v.found.by_rule[HX_RULE_DISTANCE] > 0);
    c.comment = "hxmesh fabric: 4x4 Hx2Mesh credits=64 link=memory jobs=0-15:9";
    validate_capture(&c, NULL, false, &v);
    assert_true(v.found.count > 0 && v.found.kept[0].frame == 1 && v.found.kept[0].rule == HX_RULE_JOB);
    c.comment = "hxmesh fabric: 4x4 Hx2Mesh credits=64 link=memory failed=0";
    validate_capture(&c, NULL, false, &v);
    assert_true(v.found.count > 0 && v.found.kept[0].rule == HX_RULE_JOB);
    sim_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_captures_pass),
        cmocka_unit_test(each_rule_is_found_where_it_is_broken),
        cmocka_unit_test(a_turn_after_north_is_found),
        cmocka_unit_test(credit_is_verified_in_memory_and_on_wires),
        cmocka_unit_test(a_part_is_verified_as_far_as_it_goes),
        cmocka_unit_test(the_middle_of_a_run_is_good_if_marked),
        cmocka_unit_test(an_unknown_fabric_allows_header_and_checksum_rules),
        cmocka_unit_test(the_named_fabric_is_verified),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
