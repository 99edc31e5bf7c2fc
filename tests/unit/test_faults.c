/* test_faults.c - fault schedules: meaning of lines, refusals with reasons, states of links, random faults. */
#include "spec/faults/faults.h"
#include "topology/topology.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct hx_fabric mesh, tree;

static int make(void **state)
{
    (void)state;
    struct hx_problem problem;
    assert_true(hx_fabric_make(&mesh, "3x2 Hx2Mesh", 2, &problem));
    assert_true(hx_fabric_make(&tree, "fat-tree hosts=16 radix=8", 1, &problem));
    return 0;
}

static int drop(void **state)
{
    (void)state;
    hx_fabric_free(&mesh);
    hx_fabric_free(&tree);
    return 0;
}

static struct hx_fault parsed(const char *line, const struct hx_fabric *f)
{
    struct hx_fault fault;
    struct hx_problem problem = {.what = ""};
    if (!hx_fault_parse(&fault, line, f, &problem))
        fail_msg("%s: %s", line, problem.what);
    return fault;
}

static void count_link(void *of, unsigned plane, uint32_t node, unsigned port)
{
    (void)plane;
    (void)node;
    (void)port;
    ++*(unsigned *)of;
}

static unsigned links_of(const char *line, const struct hx_fabric *f)
{
    unsigned links = 0;
    struct hx_fault fault = parsed(line, f);
    hx_fault_each_link(&fault.target, f, count_link, &links);
    return links;
}

/* 24 accelerators of a 3x2 Hx2Mesh have 4 links each; links on boards, 4 per board, belong to two of them. */
static void places_have_their_links(void **state)
{
    (void)state;
    assert_int_equal(links_of("all loss=1%", &mesh), 2 * (24 * 4 - 6 * 4));
    assert_int_equal(links_of("plane1 down", &mesh), 24 * 4 - 6 * 4);
    assert_int_equal(links_of("a0,0/E down", &mesh), 2);
    assert_int_equal(links_of("0,0/p1/E down", &mesh), 1);
    assert_int_equal(links_of("a5,3 down", &mesh), 8);
    assert_int_equal(links_of("a5,3/p0 down", &mesh), 4);
    assert_int_equal(links_of("board2,1 down", &mesh), 2 * (4 + 8));
    assert_int_equal(links_of("row0/leaf0 down", &mesh), 2 * 6);
    assert_int_equal(links_of("row0 down", &mesh), 2 * 6);
    assert_int_equal(links_of("col1/p1 down", &mesh), 4);
    assert_int_equal(links_of("leaf1 down", &tree), 8);
    assert_int_equal(links_of("leaf1/0 down", &tree), 1);
    assert_int_equal(links_of("a0,0/E down", &tree), 1);
}

static void a_line_has_a_fault_and_a_time(void **state)
{
    (void)state;
    struct hx_fault f = parsed("  a0,1/E   down at 10us for 5us", &mesh);
    assert_int_equal(f.kind, HX_FAULT_DOWN);
    assert_int_equal(f.at_ns, 10000);
    assert_int_equal(f.for_ns, 5000);
    assert_string_equal(f.text, "a0,1/E down at 10us for 5us");
    f = parsed("all loss=1% corrupt=0.001 duplicate=100% credit-loss=10% delay=2us rate=25%", &mesh);
    assert_int_equal(f.kind, HX_FAULT_IMPAIRS);
    assert_int_equal(f.impairs.loss, (HX_FAULT_WHOLE + 50) / 100);
    assert_int_equal(f.impairs.corrupt, (HX_FAULT_WHOLE + 500) / 1000);
    assert_int_equal(f.impairs.duplicate, HX_FAULT_WHOLE);
    assert_int_equal(f.impairs.credit_loss, (HX_FAULT_WHOLE + 5) / 10);
    assert_int_equal(f.impairs.rate, HX_FAULT_WHOLE / 4);
    assert_int_equal(f.impairs.delay_ns, 2000);
    f = parsed("worker2 stopped for 1s at 3s", &mesh);
    assert_int_equal(f.kind, HX_FAULT_STOPPED);
    assert_int_equal(f.target.index, 2);
}

static void refused(const char *line, const char *why)
{
    struct hx_fault fault;
    struct hx_problem problem = {.what = ""};
    assert_false(hx_fault_parse(&fault, line, &mesh, &problem));
    if (!strstr(problem.what, why))
        fail_msg("%s: '%s' does not contain '%s'", line, problem.what, why);
}

static void a_bad_line_is_refused_with_its_reason(void **state)
{
    (void)state;
    refused("", "an empty line");
    refused("a9,9/E down", "no place of this fabric");
    refused("board3,0 down", "no place of this fabric");
    refused("row4 down", "no place of this fabric");
    refused("plane2 down", "no place of this fabric");
    refused("a0,0/local down", "a port without a link");
    refused("a0,0/E", "nothing is said of what happens there");
    refused("a0,0/E dwon", "did you mean 'down'");
    refused("a0,0/E impaired", "say how");
    refused("a0,0/E killed", "killed is for workers");
    refused("worker1 down", "down is for links and nodes");
    refused("worker1 closed", "closed is for links and nodes");
    refused("a0,0/E clsoed", "did you mean 'closed'");
    refused("a0,0/E flaps at 1us", "every TIME");
    refused("a0,0/E flaps every", "a time is missing");
    refused("a0,0/E los=1%", "did you mean 'loss'");
    refused("a0,0/E loss=101%", "101");
    refused("a0,0/E rate=0", "rate");
    refused("a0,0/E up for 1us", "'at TIME' belongs here");
    refused("a0,0/E down for 0", "for");
    refused("all loss=1% corrupt=1% loss=0", "loss: is said twice");
    refused("all loss=1% at 1us at 2us", "at: is said twice");
    refused("a0,0/E down tomorrow", "'at TIME' or 'for TIME'");
}

static void an_error_names_the_bad_line(void **state)
{
    (void)state;
    struct hx_faults faults = {.count = 0};
    struct hx_problem problem;
    assert_false(hx_faults_add(&faults, "all loss=1%; # nothing\na0,0/X down", "--fault", &mesh, &problem));
    assert_string_equal(problem.where, "--fault");
    assert_non_null(strstr(problem.what, "'a0,0/X down'"));
    hx_faults_free(&faults);
}

/* Text behind a zero byte must not be ignored. */
static void a_file_with_a_byte_0_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *where;
        size_t bytes;
    } cases[] = {{"a0,0/E down\n\0a0,0/W down\n", ":2:1", 25},
                 {"a0,0/E down\na0,0\0/W", ":2:5", 19},
                 {"a0,0/E down\n\0", ":2:1", 13},
                 {"a0,0/E down\n\0\n", ":2:1", 14},
                 {"a0,0/E down\n# a\n\na0,0/W down", NULL, 28}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[] = "/tmp/test-faults-XXXXXX";
        struct hx_faults faults = {.count = 0};
        struct hx_problem problem = {.what = ""};
        FILE *out = fdopen(mkstemp(path), "w");
        assert_non_null(out);
        assert_int_equal(fwrite(cases[i].text, 1, cases[i].bytes, out), cases[i].bytes);
        assert_int_equal(fclose(out), 0);
        bool good = hx_faults_read(&faults, path, &mesh, &problem);
        (void)remove(path);
        assert_int_equal(good, cases[i].where == NULL);
        if (good)
            assert_int_equal(faults.count, 2);
        else if (!strstr(problem.where, cases[i].where) || strcmp(problem.what, "a byte 0 in a text file") != 0)
            fail_msg("case %u: %s: %s", i, problem.where, problem.what);
        hx_faults_free(&faults);
    }
}

/* ---- states of a link ---- */

struct expected {
    uint64_t at_ns;
    bool down;
    uint32_t loss;
};

static void becomes(const char *text, const struct expected *expected, size_t count)
{
    struct hx_faults faults = {.count = 0};
    struct hx_problem problem;
    size_t changes;
    assert_true(hx_faults_add(&faults, text, NULL, &mesh, &problem));
    struct hx_link_change *c = hx_faults_of_link(&faults, &mesh, 0, 0, HX_E, &changes);
    assert_int_equal(changes, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(c[i].at_ns, expected[i].at_ns);
        assert_int_equal(c[i].state.down, expected[i].down);
        assert_int_equal(c[i].state.impairs.loss, expected[i].loss);
    }
    free(c);
    hx_faults_free(&faults);
}
#define BECOMES(text, ...)                                                                                             \
    becomes(text, (const struct expected[]){__VA_ARGS__},                                                              \
            sizeof(const struct expected[]){__VA_ARGS__} / sizeof(struct expected))

static void a_link_is_down_while_a_fault_holds(void **state)
{
    (void)state;
    const uint32_t half = HX_FAULT_WHOLE / 2;
    BECOMES("a1,0/W down at 1us", {1000, true, 0});
    BECOMES("a0,0/E down at 1us for 4us; board0,0 down at 3us for 4us", {1000, true, 0}, {3000, true, 0},
            {5000, true, 0}, {7000, false, 0});
    BECOMES("a0,0/E down at 1us; all up at 2us; a0,0/E down at 3us", {1000, true, 0}, {2000, false, 0},
            {3000, true, 0});
    BECOMES("all loss=50%; a0,0 loss=50% at 1us for 1us; plane0 loss=50% at 1us for 2us", {0, false, half},
            {1000, false, HX_FAULT_WHOLE}, {2000, false, HX_FAULT_WHOLE}, {3000, false, half});
    BECOMES("a0,0/E flaps every 2us at 1us for 3500ns", {1000, true, 0}, {2000, false, 0}, {3000, true, 0},
            {4000, false, 0});
    becomes("a0,0/E down; a0,0/E up", NULL, 0);
    BECOMES("all loss=50% at 1us; all up at 1us; a0,0/E down at 2us", {2000, true, 0});
}

/* States of the link at a0,0/E: C closed, D down, B both, - neither; and the fault of each
 * change, a digit. */
static void closes(const char *text, const char *states, const char *fault)
{
    struct hx_faults faults = {.count = 0};
    struct hx_problem problem;
    size_t changes;
    assert_true(hx_faults_add(&faults, text, NULL, &mesh, &problem));
    struct hx_link_change *c = hx_faults_of_link(&faults, &mesh, 0, 0, HX_E, &changes);
    assert_int_equal(changes, strlen(states));
    assert_int_equal(changes, strlen(fault));
    for (size_t i = 0; i < changes; i++) {
        const struct hx_link_state *s = &c[i].state;
        assert_int_equal(states[i], s->down ? (s->closed ? 'B' : 'D') : s->closed ? 'C' : '-');
        assert_int_equal(c[i].fault, fault[i] - '0');
    }
    free(c);
    hx_faults_free(&faults);
}

/* Lost packets count for the fault of a change, so it is not one that loses none. */
static void a_closed_link_may_be_down_as_well_and_its_losses_are_not_those_of_the_plan(void **state)
{
    (void)state;
    closes("a1,0/W closed at 1us for 2us", "C-", "00");
    closes("a0,0/E closed at 1us; all up at 2us", "C-", "00");
    closes("a0,0/E closed at 1us for 2us; a0,0 closed at 3us for 1us", "CC-", "011");
    closes("a0,0/E down for 9us; a0,0/E closed at 1us for 2us", "DBD-", "0000");
    closes("a0,0/E closed for 9us; a0,0/E down at 1us for 2us", "CBC-", "0110");
    closes("a0,0/E down at 1us for 9us; a0,0/E closed at 1us for 2us", "BD-", "000");
    closes("a0,0/E down at 1us for 2us; a0,0/E closed at 3us", "DC", "00");
}

static void ends_at(const char *text, uint64_t end_ns)
{
    struct hx_faults faults = {.count = 0};
    struct hx_problem problem;
    assert_true(hx_faults_add(&faults, text, NULL, &mesh, &problem));
    uint64_t *end = hx_allocate(faults.count, sizeof *end);
    hx_faults_ends(&faults, &mesh, end);
    assert_int_equal(end[0], end_ns);
    free(end);
    hx_faults_free(&faults);
}

/* Of the first fault in a text. */
static void a_fault_ends_when_it_holds_at_none_of_its_links(void **state)
{
    (void)state;
    ends_at("a0,0/E down at 1us", UINT64_MAX);
    ends_at("a0,0/E down at 1us for 2us", 3000);
    ends_at("a0,0/E down at 1us; a1,0/W up at 4us; all up at 5us", 4000); /* its other end */
    ends_at("a0,0/E closed at 1us for 2us", 3000);
    ends_at("a0,0/E closed; a0,0/E up at 4us", 4000);
    ends_at("a0,0/E loss=1%; all up at 2us", 2000);
    ends_at("a0,0/E down; a0,0/p0/E up at 1us", UINT64_MAX); /* it holds in the other plane */
    ends_at("a0,0/E down; a0,0/p0/E up at 1us; plane1 up at 3us", 3000);
    ends_at("all up at 7us", 7000);
    ends_at("worker0 stopped at 1us for 2us; all up at 2us", 3000);
    ends_at("worker0 stopped at 1us; worker1 continued at 2us; worker0 continued at 4us", 4000);
    ends_at("worker0 stopped at 1us for 9us; worker0 killed at 2us", 2000);
    ends_at("worker0 stopped at 1us for 1us; worker0 continued at 4us", 2000);
}

static void other_links_stay_up(void **state)
{
    (void)state;
    struct hx_faults faults = {.count = 0};
    struct hx_problem problem;
    size_t changes = 1;
    assert_true(hx_faults_add(&faults, "a0,0/E down; a5,3 down; plane1 down; board2,1 loss=1%", NULL, &mesh, &problem));
    assert_null(hx_faults_of_link(&faults, &mesh, 0, 0, HX_S, &changes));
    assert_int_equal(changes, 0);
    hx_faults_free(&faults);
}

/* ---- long schedules, beside what is found by looking at all their lines ---- */

/* Random lines in order of time; most faults last until an "up" of the link. */
static void draw_lines(struct hx_faults *faults, unsigned count, uint64_t *random)
{
    static const char *const places[] = {"a0,0/E", "a0,0/p0/E", "a1,0/W", "board0,0",
                                         "plane0", "all",       "a3,2/N", "row0/leaf0"};
    static const char *const whats[] = {
        "down",    "loss=0.3% rate=50%", "corrupt=1% delay=2us", "duplicate=2% reorder=60%", "closed",
        "rate=7%", "credit-loss=20%",    "flaps every 30ns",     "rate=7% loss=40%"};
    enum { WHATS = sizeof whats / sizeof *whats };
    for (unsigned i = 0; i < count; i++) {
        char line[HX_FAULT_TEXT];
        const char *what = split_mix_next(random) % (count / 8) == 0 ? "up" : whats[split_mix_next(random) % WHATS];
        unsigned for_ns = split_mix_next(random) % 4 || what[0] == 'u' ? 0 : 1 + (unsigned)split_mix_next(random) % 900;
        int at = snprintf(line, sizeof line, "%s %s at %uns", places[split_mix_next(random) % 8], what, i / 2 * 3);
        if (for_ns)
            (void)snprintf(line + at, sizeof line - (size_t)at, " for %uns", for_ns);
        struct hx_fault fault = parsed(line, &mesh);
        (void)hx_faults_put(faults, &fault);
    }
}

static bool holds_at(const struct hx_fault *f, uint64_t ns)
{
    uint64_t since = ns - f->at_ns;
    if (f->for_ns && since >= f->for_ns)
        return false;
    if (f->kind == HX_FAULT_FLAPS)
        return since < f->period_ns * HX_MOST_FLAPS && since % f->period_ns < f->period_ns / 2;
    return f->kind != HX_FAULT_UP;
}

static uint32_t sum_of_shares(uint32_t a, uint32_t b)
{
    return a + b < HX_FAULT_WHOLE ? a + b : HX_FAULT_WHOLE;
}

static void add(struct hx_link_state *state, const struct hx_fault *f)
{
    struct hx_impairment *sum = &state->impairs;
    state->down |= hx_fault_cuts(f);
    state->closed |= f->kind == HX_FAULT_CLOSED;
    state->impaired |= f->kind == HX_FAULT_IMPAIRS;
    sum->loss = sum_of_shares(sum->loss, f->impairs.loss);
    sum->corrupt = sum_of_shares(sum->corrupt, f->impairs.corrupt);
    sum->duplicate = sum_of_shares(sum->duplicate, f->impairs.duplicate);
    sum->reorder = sum_of_shares(sum->reorder, f->impairs.reorder);
    sum->credit_loss = sum_of_shares(sum->credit_loss, f->impairs.credit_loss);
    sum->delay_ns += f->impairs.delay_ns;
    if (f->impairs.rate && (!sum->rate || f->impairs.rate < sum->rate))
        sum->rate = f->impairs.rate;
}

/* State of a link at a time: all lines until then, less those that a later "up" ended. */
static struct hx_link_state state_at(const struct hx_faults *faults, unsigned plane, uint32_t node, unsigned port,
                                     uint64_t ns)
{
    struct hx_link_state state = {.down = false};
    for (size_t i = 0; i < faults->count && faults->fault[i].at_ns <= ns; i++) {
        if (!hx_fault_has_link(&faults->fault[i].target, &mesh, plane, node, port))
            continue;
        if (faults->fault[i].kind == HX_FAULT_UP)
            state = (struct hx_link_state){.down = false};
        else if (holds_at(&faults->fault[i], ns))
            add(&state, &faults->fault[i]);
    }
    return state;
}

static void assert_same_state(const struct hx_link_state *a, const struct hx_link_state *b)
{
    assert_int_equal(a->down, b->down);
    assert_int_equal(a->closed, b->closed);
    assert_int_equal(a->impaired, b->impaired);
    assert_memory_equal(&a->impairs, &b->impairs, sizeof a->impairs);
}

/* At `looks` random times of the link's changes. */
static void validate_link(const struct hx_faults *faults, const struct hx_end *end, unsigned plane, unsigned looks,
                          uint64_t *random)
{
    size_t count;
    struct hx_link_change *change = hx_faults_of_link(faults, &mesh, plane, end->node, end->port, &count);
    for (size_t i = 0; i < count; i++) {
        assert_true(i == 0 || change[i - 1].at_ns < change[i].at_ns);
        assert_false((change[i].state.down || change[i].state.impaired) &&
                     faults->fault[change[i].fault].kind == HX_FAULT_CLOSED);
    }
    for (unsigned look = 0; look < looks; look++) {
        uint64_t ns = split_mix_next(random) % (2 * faults->count + 1000);
        struct hx_link_state found = {.down = false};
        for (size_t i = 0; i < count && change[i].at_ns <= ns; i++)
            found = change[i].state;
        const struct hx_link_state expected = state_at(faults, plane, end->node, end->port, ns);
        assert_same_state(&found, &expected);
    }
    free(change);
}

static void a_long_schedule_agrees_with_all_its_lines(void **state)
{
    (void)state;
    static const struct hx_end ends[] = {{0, HX_E}, {1, HX_W}, {0, HX_S}, {15, HX_N}};
    static const unsigned counts[] = {10, 100, 1000, 10000};
    for (unsigned i = 0; i < 4; i++) {
        uint64_t random = 7 + i;
        struct hx_faults faults = {.count = 0};
        draw_lines(&faults, counts[i], &random);
        for (unsigned link = 0; link < 8; link++)
            validate_link(&faults, &ends[link / 2], link % 2, 200, &random);
        hx_faults_free(&faults);
    }
}

/* Last time at which a fault holds at any of its links, by a search from each fault on. */
struct search {
    const struct hx_faults *faults;
    size_t fault;
    uint64_t end_ns;
};

/* Notices about one fault at a link. */
struct notice {
    size_t fault;
    bool arrived;
    uint64_t end_ns;
};

static void take_notice(void *of, size_t fault, uint64_t end_ns)
{
    struct notice *notice = of;
    if (fault == notice->fault)
        *notice = (struct notice){fault, true, end_ns};
}

static void search_end(void *of, unsigned plane, uint32_t node, unsigned port)
{
    struct search *s = of;
    const struct hx_fault *one = &s->faults->fault[s->fault];
    uint64_t end = one->for_ns ? one->at_ns + one->for_ns : UINT64_MAX;
    for (size_t i = s->fault + 1; i < s->faults->count; i++) {
        const struct hx_fault *later = &s->faults->fault[i];
        if (later->kind == HX_FAULT_UP && later->at_ns < end &&
            hx_fault_has_link(&later->target, &mesh, plane, node, port))
            end = later->at_ns;
    }
    struct notice notice = {.fault = s->fault};
    hx_faults_each_end(s->faults, &mesh, plane, node, port, take_notice, &notice);
    assert_true(notice.arrived);
    assert_int_equal(notice.end_ns, end);
    s->end_ns = end > s->end_ns ? end : s->end_ns;
}

static void faults_of_a_long_schedule_end_as_a_search_finds(void **state)
{
    (void)state;
    uint64_t random = 3;
    struct hx_faults faults = {.count = 0};
    draw_lines(&faults, 10000, &random);
    uint64_t *end = hx_allocate(faults.count, sizeof *end);
    hx_faults_ends(&faults, &mesh, end);
    for (size_t i = 0; i < faults.count; i += i < 9900 ? 1 + split_mix_next(&random) % 99 : 1) {
        struct search search = {&faults, i, faults.fault[i].at_ns};
        if (faults.fault[i].kind != HX_FAULT_UP)
            hx_fault_each_link(&faults.fault[i].target, &mesh, search_end, &search);
        assert_int_equal(end[i], search.end_ns);
    }
    free(end);
    hx_faults_free(&faults);
}

/* ---- random faults ---- */

static void the_same_seed_draws_the_same_lines_within_the_time(void **state)
{
    (void)state;
    const struct hx_fault_draw draw = {.seed = 7, .mtbf_ns = 1000, .mttr_ns = 5000, .until_ns = 1000000};
    struct hx_faults a = {.count = 0};
    struct hx_faults b = {.count = 0};
    hx_faults_draw(&a, &draw, &mesh);
    hx_faults_draw(&b, &draw, &mesh);
    assert_int_equal(a.count, b.count);
    assert_in_range(a.count, 850, 1150); /* 1,000 on average, five deviations of 32 either way */
    uint64_t lasted = 0;
    for (size_t i = 0; i < a.count; i++) {
        assert_string_equal(a.fault[i].text, b.fault[i].text);
        assert_int_not_equal(a.fault[i].kind, HX_FAULT_CLOSED);
        assert_true(a.fault[i].at_ns < draw.until_ns && a.fault[i].for_ns);
        assert_true(i == 0 || a.fault[i - 1].at_ns <= a.fault[i].at_ns);
        lasted += a.fault[i].for_ns;
    }
    assert_in_range(lasted, 4200 * a.count, 5800 * a.count);
    hx_faults_free(&a);
    hx_faults_free(&b);
}

/* A later fault could not be written as a line. */
static void random_faults_are_within_the_times_of_lines(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        const struct hx_fault_draw draw = {
            .seed = seed, .mtbf_ns = HX_MOST_FAULT_TIME / 20, .mttr_ns = HX_MOST_FAULT_TIME, .until_ns = UINT64_MAX};
        struct hx_faults a = {.count = 0};
        hx_faults_draw(&a, &draw, &mesh);
        assert_in_range(a.count, 2, 50); /* 20 on average */
        assert_true(a.fault[a.count - 1].at_ns < HX_MOST_FAULT_TIME);
        hx_faults_free(&a);
    }
}

/* Nodes of a plane that links lead to from node 0, without those of some faults: by growth of one set, to its end. */
static uint32_t joined_nodes(const struct hx_faults *faults, const struct hx_fabric *f, unsigned plane)
{
    uint32_t joined = 1;
    bool *in = calloc(f->nodes, sizeof *in);
    in[0] = true;
    for (bool grows = true; grows;) {
        grows = false;
        for (uint32_t node = 0; node < f->nodes; node++) {
            for (unsigned port = 0; port < hx_fabric_ports(f, node); port++) {
                const uint32_t far = hx_fabric_far(f, node, port).node;
                bool open = far != HX_NOWHERE && in[node] && !in[far];
                for (size_t i = 0; open && i < faults->count; i++)
                    open = !hx_fault_has_link(&faults->fault[i].target, f, plane, node, port);
                joined += open;
                grows = grows || open;
                if (open)
                    in[far] = true;
            }
        }
    }
    free(in);
    return joined;
}

/* A tree of all nodes is left in the end: as many links can close as there are beyond nodes - 1, in each plane. */
static void closed_links_are_nested_and_part_nothing(void **state)
{
    (void)state;
    const struct {
        const struct hx_fabric *f;
        unsigned links; /* by hand, of all planes */
    } cases[] = {{&mesh, 2 * 72}, {&tree, 16 + 16}};
    for (unsigned i = 0; i < 2; i++) {
        const struct hx_fabric *f = cases[i].f;
        const uint64_t most = cases[i].links - (uint64_t)f->planes * (f->nodes - 1);
        struct hx_problem problem;
        char most_text[HX_FAULT_TEXT];
        for (uint64_t seed = 1; seed <= 5; seed++) {
            struct hx_faults all = {.count = 0};
            struct hx_faults some = {.count = 0};
            assert_true(hx_faults_draw_closed(&all, most, seed, f, &problem));
            assert_true(hx_faults_draw_closed(&some, most / 3, seed, f, &problem));
            assert_int_equal(all.count, most);
            assert_int_equal(some.count, most / 3);
            for (size_t n = 0; n < some.count; n++)
                assert_string_equal(some.fault[n].text, all.fault[n].text);
            for (size_t n = 0; n < all.count; n++) {
                assert_true(all.fault[n].kind == HX_FAULT_CLOSED && !all.fault[n].at_ns && !all.fault[n].for_ns);
                assert_int_equal(links_of(all.fault[n].text, f), 1);
                for (size_t other = 0; other < n; other++)
                    assert_string_not_equal(all.fault[n].text, all.fault[other].text);
            }
            for (unsigned plane = 0; plane < f->planes; plane++)
                assert_int_equal(joined_nodes(&all, f, plane), f->nodes);
            hx_faults_free(&all);
            hx_faults_free(&some);
        }
        struct hx_faults more = {.count = 0};
        assert_false(hx_faults_draw_closed(&more, most + 1, 1, f, &problem));
        (void)snprintf(most_text, sizeof most_text, "(draw %u at most)", (unsigned)most);
        assert_non_null(strstr(problem.what, most_text));
        hx_faults_free(&more);
    }
}

/* Each of the 144 links is drawn first by one seed in 144: 20 of 2,880, with a deviation of 4.5. */
static void links_are_closed_equally_often(void **state)
{
    (void)state;
    unsigned often[2][512] = {{0}};
    unsigned links = 0;
    struct hx_problem problem;
    for (uint64_t seed = 0; seed < 2880; seed++) {
        struct hx_faults one = {.count = 0};
        assert_true(hx_faults_draw_closed(&one, 1, seed, &mesh, &problem));
        const struct hx_fault_target *t = &one.fault[0].target;
        often[t->plane][mesh.node[t->index].first_port + t->port]++;
        hx_faults_free(&one);
    }
    for (unsigned plane = 0; plane < 2; plane++) {
        for (unsigned i = 0; i < 512; i++) {
            links += often[plane][i] > 0;
            assert_true(often[plane][i] <= 43);
        }
    }
    assert_int_equal(links, 144);
}

static void random_losses_have_their_rate_and_are_independent(void **state)
{
    (void)state;
    enum { THROWS = 100000 };
    unsigned hits[2] = {0};
    unsigned both = 0;
    for (unsigned i = 0; i < THROWS; i++) {
        bool loss = hx_fault_throw(1, 5, i, HX_DIE_LOSS) < HX_FAULT_WHOLE / 10;
        bool next = hx_fault_throw(1, 6, i, HX_DIE_LOSS) < HX_FAULT_WHOLE / 10;
        hits[0] += loss;
        hits[1] += hx_fault_throw(1, 5, i, HX_DIE_CORRUPT) < HX_FAULT_WHOLE / 10;
        both += loss && next;
    }
    assert_in_range(hits[0], 9500, 10500);
    assert_in_range(hits[1], 9500, 10500);
    assert_in_range(both, 840, 1160);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_have_their_links),
        cmocka_unit_test(a_line_has_a_fault_and_a_time),
        cmocka_unit_test(a_bad_line_is_refused_with_its_reason),
        cmocka_unit_test(an_error_names_the_bad_line),
        cmocka_unit_test(a_file_with_a_byte_0_is_refused),
        cmocka_unit_test(a_link_is_down_while_a_fault_holds),
        cmocka_unit_test(a_closed_link_may_be_down_as_well_and_its_losses_are_not_those_of_the_plan),
        cmocka_unit_test(a_fault_ends_when_it_holds_at_none_of_its_links),
        cmocka_unit_test(other_links_stay_up),
        cmocka_unit_test(a_long_schedule_agrees_with_all_its_lines),
        cmocka_unit_test(faults_of_a_long_schedule_end_as_a_search_finds),
        cmocka_unit_test(the_same_seed_draws_the_same_lines_within_the_time),
        cmocka_unit_test(random_faults_are_within_the_times_of_lines),
        cmocka_unit_test(closed_links_are_nested_and_part_nothing),
        cmocka_unit_test(links_are_closed_equally_often),
        cmocka_unit_test(random_losses_have_their_rate_and_are_independent),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
