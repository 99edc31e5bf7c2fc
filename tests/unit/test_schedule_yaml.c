/* test_schedule_yaml.c - schedules in YAML: each statement becomes the operations and dependencies that its line says,
 * and each error names line, column and how to mend it. */
#include "schedule/readers.h"
#include "schedule/yaml.h"
#include "spec/spec.h"
#include "tests/support/support_file.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 100000 };

static struct schedule *read_text(const char *text, uint32_t ranks, struct hx_problem *problem)
{
    const struct schedule_read_options options = {.ranks = ranks};
    struct schedule_builder *b = schedule_yaml_parse("x.yaml", text, strlen(text), &options, MOST, problem);
    return b ? schedule_build(b, "x.yaml", problem) : NULL;
}

/* ---- operations ---- */

static void print_rank_or_any(FILE *out, const char *word, uint32_t number)
{
    if (number == SCHEDULE_ANY)
        fprintf(out, " %s any", word);
    else
        fprintf(out, " %s %" PRIu32, word, number);
}

static void print_operation(FILE *out, const struct schedule *s, const struct schedule_operation *o)
{
    fprintf(out, "%s %" PRIu64,
            o->kind == SCHEDULE_COLLECTIVE ? hx_collective_kind_names[o->collective] : schedule_kind_names[o->kind],
            o->amount);
    if (o->kind == SCHEDULE_SEND || o->kind == SCHEDULE_RECEIVE) {
        print_rank_or_any(out, o->kind == SCHEDULE_SEND ? "to" : "from", o->peer);
        print_rank_or_any(out, "tag", o->tag);
    }
    if (o->kind == SCHEDULE_REPEAT)
        fprintf(out, " body %" PRIu32, o->peer);
    for (uint32_t i = 0; o->kind == SCHEDULE_COLLECTIVE && i < schedule_group_size(s, o->peer); i++)
        fprintf(out, "%s%" PRIu32, i ? " " : " of ", schedule_group(s, o->peer)[i]);
    if (o->kind == SCHEDULE_COLLECTIVE && schedule_root(o))
        fprintf(out, " root %" PRIu32, o->tag);
    const uint32_t size = o->kind == SCHEDULE_COLLECTIVE ? schedule_group_size(s, o->peer) : 0;
    const uint32_t *weight = size ? schedule_shares(s, o) : NULL;
    for (uint32_t i = 0; weight && i < size * size; i++)
        fprintf(out, "%s%" PRIu32, i % size ? " " : i ? " / " : " shares ", weight[i]);
    if (o->algorithm)
        fprintf(out, " by %s", hx_algorithm_names[o->algorithm]);
    if (o->stream)
        fprintf(out, " stream %u", o->stream);
    if (o->name)
        fprintf(out, " '%s'", schedule_name(s, o));
    if (o->purpose)
        fprintf(out, " for %s", schedule_purpose(s, o));
}

/* Writes what an operation waits for: " after 0 2s", s: its start. */
static void print_waits(FILE *out, const struct schedule *s, uint32_t rank, uint32_t number)
{
    const char *word = " after";
    for (uint32_t i = 0; i < schedule_count(s, rank); i++) {
        const uint32_t *list;
        uint32_t followers = schedule_followers(s, rank, i, &list);
        for (uint32_t f = 0; f < followers; f++) {
            if (list[f] >> 1 != number)
                continue;
            fprintf(out, "%s %" PRIu32 "%s", word, i, list[f] & SCHEDULE_AFTER_START ? "s" : "");
            word = "";
        }
    }
}

/* One line for each operation: "RANK.NUMBER KIND ...". */
static char *print_schedule(const struct schedule *s)
{
    FILE *out = file_begin_text();
    for (uint32_t rank = 0; rank < schedule_ranks(s); rank++) {
        for (uint32_t i = 0; i < schedule_count(s, rank); i++) {
            fprintf(out, "%" PRIu32 ".%" PRIu32 " ", rank, i);
            print_operation(out, s, schedule_at(s, rank, i));
            print_waits(out, s, rank, i);
            fputc('\n', out);
        }
    }
    return file_end_text();
}

static void assert_operations(const char *text, const char *expected)
{
    struct hx_problem p = {.what = ""};
    struct schedule *s = read_text(text, 0, &p);
    if (!s) {
        fail_msg("%s\n%s: %s", text, p.where, p.what);
        return;
    }
    char *printed = print_schedule(s);
    assert_string_equal(printed, expected);
    free(printed);
    schedule_close(s);
}

static void an_all_to_all_has_shares(void **state)
{
    (void)state;
    assert_operations("ranks: 3\n"
                      "program:\n"
                      "  - {collective: all-to-all, bytes: 9, shares: [4, 0, 1], ranks: 0}\n"
                      "  - {collective: all-to-all, bytes: 9, shares: [[2], [1, 2, 3], [7]], ranks: 1}\n"
                      "  - {collective: all-to-all, bytes: 9, shares: [[4294967295]], ranks: 2}\n",
                      "0.0 all-to-all 9 of 0 1 2 shares 4 0 1 / 4 0 1 / 4 0 1\n"
                      "1.0 all-to-all 9 of 0 1 2 shares 2 2 2 / 1 2 3 / 7 7 7\n"
                      "2.0 all-to-all 9 of 0 1 2 shares 4294967295 4294967295 4294967295 / 4294967295 4294967295 "
                      "4294967295 / 4294967295 4294967295 4294967295\n");
}

static void a_list_is_in_its_order(void **state)
{
    (void)state;
    assert_operations("ranks: 2\n"
                      "parameters: {size: 1KiB}\n"
                      "program:\n"
                      "  - do:\n"
                      "      - {compute: 1.5 us, name: forward, stream: 3}\n"
                      "      - {send: 2 * size, to: (rank + 1) % ranks, tag: rank}\n"
                      "      - {receive: 2 * size, from: (rank - 1) % ranks, tag: any}\n"
                      "      - {receive: 0, from: any}\n",
                      "0.0 compute 1500000 stream 3 'forward'\n"
                      "0.1 send 2048 to 1 tag 0 after 0\n"
                      "0.2 receive 2048 from 1 tag any after 1\n"
                      "0.3 receive 0 from any tag 0 after 2\n"
                      "1.0 compute 1500000 stream 3 'forward'\n"
                      "1.1 send 2048 to 0 tag 1 after 0\n"
                      "1.2 receive 2048 from 0 tag any after 1\n"
                      "1.3 receive 0 from any tag 0 after 2\n");
}

static void statements_of_together_are_at_once(void **state)
{
    (void)state;
    assert_operations("ranks: 1\n"
                      "program:\n"
                      "  - do:\n"
                      "      - compute: 1ns\n"
                      "      - together:\n"
                      "          - compute: 2ns\n"
                      "          - do: [compute: 3ns, compute: 4ns]\n"
                      "          - together: []\n"
                      "      - compute: 5ns\n"
                      "  - compute: 6ns\n",
                      "0.0 compute 1000\n"
                      "0.1 compute 2000 after 0\n"
                      "0.2 compute 3000 after 0\n"
                      "0.3 compute 4000 after 2\n"
                      "0.4 compute 5000 after 1 3\n"
                      "0.5 compute 6000\n");
}

static void ranks_are_chosen_by_set_or_condition(void **state)
{
    (void)state;
    assert_operations("ranks: 6\n"
                      "parameters: {is_odd: rank % 2 == 1}\n"
                      "program:\n"
                      "  - {compute: 1ps, ranks: all}\n"
                      "  - {compute: 2ps, ranks: ranks - 1}\n"
                      "  - {compute: 3ps, ranks: 1..2}\n"
                      "  - {compute: 4ps, ranks: [0, 4..ranks - 1]}\n"
                      "  - {compute: 5ps, ranks: is_odd and rank > 1}\n"
                      "  - {compute: 6ps, ranks: 3..2}\n"
                      "  - {compute: 7ps, ranks: [rank == 0, 2]}\n",
                      "0.0 compute 1\n0.1 compute 4\n0.2 compute 7\n"
                      "1.0 compute 1\n1.1 compute 3\n"
                      "2.0 compute 1\n2.1 compute 3\n2.2 compute 7\n"
                      "3.0 compute 1\n3.1 compute 5\n"
                      "4.0 compute 1\n4.1 compute 4\n"
                      "5.0 compute 1\n5.1 compute 2\n5.2 compute 4\n5.3 compute 5\n");
}

static void a_statement_with_after_stands_aside(void **state)
{
    (void)state;
    assert_operations("ranks: 1\n"
                      "program:\n"
                      "  - do:\n"
                      "      - {compute: 1ps, name: a}\n"
                      "      - {compute: 2ps, name: b}\n"
                      "      - {send: 1, to: 0, after: a, name: c}\n"
                      "      - {compute: 3ps}\n"
                      "      - {receive: 1, from: 0, after_start: [a, b], after: c}\n"
                      "      - {compute: 4ps, after: []}\n"
                      "  - {compute: 5ps, after_start: c}\n",
                      "0.0 compute 1 'a'\n"
                      "0.1 compute 2 'b' after 0\n"
                      "0.2 send 1 to 0 tag 0 'c' after 0\n"
                      "0.3 compute 3 after 1\n"
                      "0.4 receive 1 from 0 tag 0 after 0s 1s 2\n"
                      "0.5 compute 4\n"
                      "0.6 compute 5 after 2s\n");
}

static void the_end_of_a_list_waits_for_all(void **state)
{
    (void)state;
    assert_operations("ranks: 1\n"
                      "program:\n"
                      "  - do:\n"
                      "      - for: {layer: [3, 1..2]}\n"
                      "        do:\n"
                      "          - {compute: 10ps * layer, name: 'b{layer}'}\n"
                      "          - {collective: all-reduce, bytes: layer, after: 'b{layer}'}\n"
                      "      - {compute: 1ps}\n",
                      "0.0 compute 30 'b3'\n"
                      "0.1 all-reduce 3 of 0 after 0\n"
                      "0.2 compute 10 'b1' after 0\n"
                      "0.3 all-reduce 1 of 0 after 2\n"
                      "0.4 compute 20 'b2' after 2\n"
                      "0.5 all-reduce 2 of 0 after 4\n"
                      "0.6 compute 1 after 1 3 4 5\n");
}

static void a_repeat_is_one_operation_with_a_body(void **state)
{
    (void)state;
    assert_operations("ranks: 1\n"
                      "parameters: {times: 2}\n"
                      "program:\n"
                      "  - do:\n"
                      "      - {compute: 1ps, name: x}\n"
                      "      - repeat: 5 * times\n"
                      "        name: steps\n"
                      "        do:\n"
                      "          - {compute: 2ps, name: x}\n"
                      "          - repeat: 3\n"
                      "            together: [compute: 3ps, compute: 4ps]\n"
                      "          - {compute: 5ps, after: x}\n"
                      "      - {compute: 6ps, after: x}\n"
                      "      - {compute: 7ps}\n"
                      "      - {compute: 8ps, after_start: steps}\n"
                      "      - {repeat: times - 2, do: [compute: 9ps]}\n"
                      "      - {repeat: 2, do: [{compute: 9ps, ranks: rank > 0}]}\n",
                      "0.0 compute 1 'x'\n"
                      "0.1 repeat 10 body 5 'steps' after 0\n"
                      "0.2 compute 2 'x'\n"
                      "0.3 repeat 3 body 2 after 2\n"
                      "0.4 compute 3\n"
                      "0.5 compute 4\n"
                      "0.6 compute 5 after 2\n"
                      "0.7 compute 6 after 0\n"
                      "0.8 compute 7 after 1\n"
                      "0.9 compute 8 after 1s\n"
                      "0.10 compute 0 stream 255 after 8\n");
}

static void a_block_has_a_name(void **state)
{
    (void)state;
    assert_operations("ranks: 2\n"
                      "program:\n"
                      "  - {name: pair, together: [compute: 1ps, compute: 2ps]}\n"
                      "  - {name: line, do: [compute: 3ps, compute: 4ps]}\n"
                      "  - {name: elsewhere, compute: 5ps, ranks: 0}\n"
                      "  - {compute: 6ps, after: [pair, elsewhere], after_start: [line]}\n",
                      "0.0 compute 1\n0.1 compute 2\n0.2 compute 3\n0.3 compute 4 after 2\n"
                      "0.4 compute 5 'elsewhere'\n"
                      "0.5 compute 6 after 0 1 2s 4\n"
                      "1.0 compute 1\n1.1 compute 2\n1.2 compute 3\n1.3 compute 4 after 2\n"
                      "1.4 compute 6 after 0 1 2s\n");
}

static void groups_are_lists_ranges_and_strides(void **state)
{
    (void)state;
    assert_operations("ranks: 6\n"
                      "groups: {row: {size: 2}, column: {stride: 2}, some: [5, 0..1], pair: {stride: 3, size: 2}}\n"
                      "program:\n"
                      "  - ranks: [0, 5]\n"
                      "    do:\n"
                      "      - {collective: all-gather, group: row, bytes: 1KiB, algorithm: ring}\n"
                      "      - {collective: reduce, group: column, bytes: 3, root: 2}\n"
                      "      - {collective: barrier, group: some}\n"
                      "      - {collective: all-to-all, group: pair, bytes: 4}\n"
                      "      - {collective: scatter, group: 0..ranks - 1, bytes: 6}\n"
                      "      - {collective: barrier}\n"
                      "      - {collective: broadcast, bytes: 7, group: {size: 3}}\n",
                      "0.0 all-gather 1024 of 0 1 by ring\n"
                      "0.1 reduce 3 of 0 2 4 root 2 after 0\n"
                      "0.2 barrier 0 of 5 0 1 after 1\n"
                      "0.3 all-to-all 4 of 0 3 after 2\n"
                      "0.4 scatter 6 of 0 1 2 3 4 5 after 3\n"
                      "0.5 barrier 0 of 0 1 2 3 4 5 after 4\n"
                      "0.6 broadcast 7 of 0 1 2 after 5\n"
                      "5.0 all-gather 1024 of 4 5 by ring\n"
                      "5.1 reduce 3 of 1 3 5 root 2 after 0\n"
                      "5.2 barrier 0 of 5 0 1 after 1\n"
                      "5.3 all-to-all 4 of 2 5 after 2\n"
                      "5.4 scatter 6 of 0 1 2 3 4 5 after 3\n"
                      "5.5 barrier 0 of 0 1 2 3 4 5 after 4\n"
                      "5.6 broadcast 7 of 3 4 5 after 5\n");
}

static void a_block_has_a_purpose_for_those_without(void **state)
{
    (void)state;
    assert_operations("ranks: 1\n"
                      "program:\n"
                      "  - purpose: data-parallel\n"
                      "    do:\n"
                      "      - {send: 1, to: 0}\n"
                      "      - {receive: 1, from: 0, purpose: tensor, name: r}\n"
                      "      - repeat: 2\n"
                      "        purpose: p_1\n"
                      "        do:\n"
                      "          - {for: {i: 0..1}, do: [{collective: barrier}]}\n"
                      "          - {compute: 1ps, purpose: tensor}\n"
                      "      - compute: 2ps\n"
                      "  - send: 2\n"
                      "    to: 0\n",
                      "0.0 send 1 to 0 tag 0 for data-parallel\n"
                      "0.1 receive 1 from 0 tag 0 'r' for tensor after 0\n"
                      "0.2 repeat 2 body 3 after 1\n"
                      "0.3 barrier 0 of 0 for p_1\n"
                      "0.4 barrier 0 of 0 for p_1 after 3\n"
                      "0.5 compute 1 for tensor after 4\n"
                      "0.6 compute 2 for data-parallel after 2\n"
                      "0.7 send 2 to 0 tag 0\n");
}

#define HEAD(mine)                                                                                                     \
    "ranks: 24\n"                                                                                                      \
    "parameters: {side: 4, half: ranks / 2, mine: " mine "}\n"                                                         \
    "samples: 10 * half\n"                                                                                             \
    "tokens: 2048 * 10 * ranks\n"                                                                                      \
    "iterations: 3\n"                                                                                                  \
    "dimensions: [side, 3, ranks / 12]\n"                                                                              \
    "program: []\n"

static void a_file_says_work_and_grid(void **state)
{
    (void)state;
    struct hx_problem p;
    struct schedule *s = read_text("ranks: 24\nprogram: []\n", 0, &p);
    assert_non_null(s);
    assert_int_equal(s->head->samples, 0);
    assert_int_equal(s->head->iterations, 1);
    assert_int_equal(s->head->dimension[0], 0);
    schedule_close(s);
    assert_null(read_text(HEAD("1 / (rank - rank)"), 0, &p));
    assert_string_equal(p.what, "division by 0 at rank 0");
    s = read_text(HEAD("rank + 1"), 0, &p);
    if (!s) {
        fail_msg("%s: %s", p.where, p.what);
        return;
    }
    assert_int_equal(s->head->samples, 120);
    assert_int_equal(s->head->tokens, 2048 * 240);
    assert_int_equal(s->head->iterations, 3);
    static const uint32_t dimension[SCHEDULE_MOST_DIMENSIONS] = {4, 3, 2};
    assert_memory_equal(s->head->dimension, dimension, sizeof dimension);
    schedule_close(s);
}

static void many_operations_before_many_are_joined(void **state)
{
    (void)state;
    struct hx_problem p;
    struct schedule *s = read_text("ranks: 1\n"
                                   "program:\n"
                                   "  - do:\n"
                                   "      - for: {i: 1..100}\n"
                                   "        together: [compute: 1ps]\n"
                                   "      - for: {i: 1..100}\n"
                                   "        together: [compute: 2ps]\n",
                                   0, &p);
    assert_non_null(s);
    assert_int_equal(s->head->operations, 201);
    assert_int_equal(s->head->followers, 299);
    assert_int_equal(schedule_at(s, 0, 100)->waits, 100);
    assert_int_equal(schedule_at(s, 0, 101)->waits, 100);
    assert_int_equal(schedule_at(s, 0, 101)->stream, 255);
    assert_int_equal(schedule_at(s, 0, 200)->waits, 1);
    schedule_close(s);
}

static void ranks_may_depend_on_parameters_or_be_given(void **state)
{
    (void)state;
    struct hx_problem p;
    static const char text[] = "parameters: {next: (rank + 1) % ranks, half: 3}\n"
                               "ranks: 2 * half\n"
                               "program: [{send: 1, to: next, ranks: ranks - 1}]\n";
    struct schedule *s = read_text(text, 0, &p);
    assert_non_null(s);
    assert_int_equal(schedule_ranks(s), 6);
    assert_int_equal(schedule_at(s, 5, 0)->peer, 0);
    schedule_close(s);
    s = read_text(text, 4, &p);
    assert_non_null(s);
    assert_int_equal(schedule_ranks(s), 4);
    assert_int_equal(schedule_count(s, 3), 1);
    schedule_close(s);
}

static void parameters_have_other_values_by_option(void **state)
{
    (void)state;
    static const char text[] = "parameters: {a: 3, b: 2 * a}\nranks: b\nprogram: []\n";
    static const struct {
        const char *set, *what;
        uint32_t ranks;
    } cases[] = {{"a=4 + 1", NULL, 10},
                 {"b=7", NULL, 7},
                 {"a=1us", "a number is expected, found a time", 0},
                 {"b", "'b' is not NAME=VALUE", 0},
                 {"c=1", "the file has no parameter 'c'", 0},
                 {"b=2 * c", "'b=2 * c': unknown name 'c'", 0}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct schedule_read_options options = {.set = {.item = {cases[i].set}, .count = 1}};
        struct hx_problem p;
        struct schedule_builder *b = schedule_yaml_parse("x.yaml", text, strlen(text), &options, MOST, &p);
        if (!cases[i].what != (b != NULL))
            fail_msg("%s: %s", cases[i].set, b ? "is accepted" : p.what);
        if (b)
            assert_int_equal(schedule_builder_ranks(b), cases[i].ranks);
        else
            assert_string_equal(p.what, cases[i].what);
        schedule_builder_free(b);
    }
}

/* ---- errors ---- */

/* A loop is counted before it is carried out. */
static void a_loop_of_too_many_turns_is_refused_before_it_begins(void **state)
{
    (void)state;
    static const char *const loops[] = {"1..4000000000000000000", "0 - 2000000000000000000..2000000000000000000",
                                        "[0..1, 0..2305843009213693952]"};
    for (unsigned i = 0; i < sizeof loops / sizeof *loops; i++) {
        const struct schedule_read_options options = {.ranks = 0};
        char text[200];
        struct hx_problem p;
        (void)snprintf(text, sizeof text, "ranks: 4\nprogram:\n  - {for: {i: %s}, do: []}", loops[i]);
        assert_null(schedule_yaml_parse("x.yaml", text, strlen(text), &options, UINT64_C(1) << 61, &p));
        assert_non_null(strstr(p.what, "the schedule has more than 2305843009213693952 operations"));
    }
}

#define FORTY     "0123456789012345678901234567890123456789"
#define LONG_NAME "x" FORTY FORTY FORTY FORTY FORTY
#define LIST      "ranks: 8\nprogram:\n  - "
#define FOR(p)    "{send: 1, to: 0, purpose: " p "}"
#define SIX(p)    FOR(p "1") ", " FOR(p "2") ", " FOR(p "3") ", " FOR(p "4") ", " FOR(p "5") ", " FOR(p "6")

static void errors_name_line_and_column(void **state)
{
    (void)state;
    static const struct {
        const char *text, *place, *what;
    } cases[] = {
        {"ranks: 2\nprogram: [", "3:1", "did not find expected node content"},
        {"rank: 2\nprogram: []", "1:1", "unknown key 'rank' (did you mean 'ranks'?)"},
        {"ranks: 2", "1:1", "key 'program' is missing"},
        {"program: []", "1:1", "key 'ranks' is missing (or give --ranks)"},
        {"ranks: 0\nprogram: []", "1:8", "0 is outside 1 .. 1048576"},
        {"ranks: 1us\nprogram: []", "1:8", "a number is expected, found a time"},
        {"ranks: 2 * rank\nprogram: []", "1:8", "the number of ranks cannot depend on 'rank' or 'ranks'"},
        {"ranks: [2]\nprogram: []", "1:8",
         "a single value is expected here, found a list (quote an expression that begins with '[' or '{')"},
        {"ranks: 2\nprogram: {do: []}", "2:10", "a list of operations is expected here"},
        {"ranks: 2\nparameters: [1]\nprogram: []", "2:13", "a mapping of names to values is expected here"},
        {"ranks: 2\nparameters: {rank: 1}\nprogram: []", "2:14",
         "'rank' has a meaning of its own: choose another name"},
        {"ranks: 2\nparameters: {a-b: 1}\nprogram: []", "2:14",
         "'a-b' is no name: a letter, then letters, digits and '_'"},
        {"ranks: 2\nparameters: {a: b, b: 1}\nprogram: []", "2:17", "unknown name 'b'"},
        {"ranks: 2\ngroups: {all: [1]}\nprogram: []", "2:10", "'all' has a meaning of its own: choose another name"},
        {"ranks: 2\ngroups: {a: {sise: 3}}\nprogram: []", "2:14", "unknown key 'sise' (did you mean 'size'?)"},
        {LIST "compute", "3:5", "an operation is expected here, for example {compute: 10us}"},
        {LIST "{name: x}", "3:5", "one of these keys is missing: compute, send, receive, collective, do, together"},
        {LIST "{compute: 1us, sream: 2}", "3:20", "unknown key 'sream' (did you mean 'stream'?)"},
        {LIST "{send: min(1, 2), to: 1}", "3:19", "unknown key '2)' (quote an expression that has a comma)"},
        {LIST "{compute: 1us, to: 2}", "3:20", "key 'to' does not belong to 'compute'"},
        {LIST "{compute: 1us, send: 1, to: 2}", "3:20", "key 'send' does not belong to 'compute'"},
        {LIST "{compute: 100}", "3:15", "a time is expected, with a unit: 15.9 ms, 10us"},
        {LIST "{compute: 100 s * 3600}", "3:15",
         "'100 s * 3600' is 360000000000000000, outside 0 .. 72057594037927936"},
        {LIST "{send: 1us, to: 1}", "3:12", "a number is expected, found a time"},
        {LIST "{send: 1}", "3:5", "key 'to' is missing"},
        {LIST "{receive: 1}", "3:5", "key 'from' is missing"},
        {LIST "{send: 8KiB, to: rank + 1}", "3:22", "'rank + 1' is 8 at rank 7, outside 0 .. 7"},
        {LIST "{send: 8KiB, to: \"rank +\"}", "3:29", "a number, a name or '(' is expected here"},
        {LIST "{send: 8KiB, to: 8}", "3:22", "8 is outside 0 .. 7"},
        {LIST "{send: 8KiB, to: 0, tag: any}", "3:30", "a number, a name or '(' is expected here"},
        {LIST "{send: 8KiB, to: 0 1}", "3:24", "'1' is not expected here"},
        {LIST "{send: -1, to: 0}", "3:12", "'-1' is -1, outside 0 .. 4398046511104"},
        {LIST "{compute: 1us, stream: 255}", "3:28", "255 is outside 0 .. 254"},
        {LIST "{compute: 1us, ranks: 0..8}", "3:30", "8 is outside 0 .. 7"},
        {LIST "{compute: 1us, ranks: [1, [2]]}", "3:31",
         "a single value is expected here, found a list (quote an expression that begins with '[' or '{')"},
        {LIST "{collective: all-reduc, bytes: 1}", "3:18", "unknown word 'all-reduc' (did you mean 'all-reduce'?)"},
        {LIST "{collective: x, bytes: 1}", "3:18",
         "unknown word 'x' (one of broadcast, reduce-scatter, all-gather, all-reduce, reduce, gather, scatter, "
         "all-to-all, barrier)"},
        {LIST "{collective: all-reduce}", "3:5", "key 'bytes' is missing"},
        {LIST "{collective: barrier, bytes: 1}", "3:27", "a barrier has no bytes"},
        {LIST "{collective: all-reduce, bytes: 1, root: 1}", "3:40", "all-reduce has no root"},
        {LIST "{collective: all-reduce, bytes: 1, shares: [1]}", "3:40",
         "all-reduce has no shares: only an all-to-all has"},
        {LIST "{collective: all-to-all, bytes: 1, shares: 1}", "3:48",
         "a list of weights is expected here, or one for each member: [4, 1, 1, 1]"},
        {LIST "{collective: all-to-all, bytes: 1, shares: [1, [2]]}", "3:52",
         "a single value is expected here, found a list (quote an expression that begins with '[' or '{')"},
        {LIST "{collective: all-to-all, bytes: 1, shares: [[1], 2]}", "3:54",
         "a list of weights is expected here: [4, 1, 1, 1]"},
        {LIST "{collective: all-to-all, bytes: 1, shares: [1, x]}", "3:52",
         "a weight is expected here: 'x' is not a number (0 .. 4294967295)"},
        {LIST "{collective: all-to-all, bytes: 1, shares: [1, 2, 3]}", "3:48",
         "3 weights for a group of 8 (one for each, or one for all)"},
        {LIST "{collective: all-to-all, bytes: 1, shares: [[1], [2]]}", "3:48",
         "2 rows of weights for a group of 8 (one for each, or one for all)"},
        {LIST "{collective: all-to-all, bytes: 1, shares: [[0]]}", "3:48",
         "all weights are 0, so nothing would be sent"},
        {LIST "{collective: reduce, bytes: 1, root: 8}", "3:42", "8 is outside 0 .. 7"},
        {LIST "{collective: barrier, group: rows}", "3:34", "unknown group 'rows'"},
        {LIST "{collective: barrier, group: al}", "3:34", "unknown group 'al' (did you mean 'all'?)"},
        {LIST "{collective: barrier, group: {}}", "3:34",
         "a group is a list of ranks, or has a size, a stride or both"},
        {LIST "{collective: barrier, group: {size: 3}}", "3:34",
         "3 ranks of stride 1 do not divide 8 ranks: rank 6 has no group"},
        {LIST "{collective: barrier, group: [0, 0]}", "3:34", "the group has rank 0 twice"},
        {LIST "{collective: barrier, group: [0..7, 0]}", "3:34", "the group has a rank twice"},
        {LIST "{collective: barrier, group: [3..2]}", "3:34", "the group has no rank"},
        {LIST "{collective: barrier, group: [0, 1]}", "3:5", "rank 2 is not in the group of its collective"},
        {LIST "{repeat: 3}", "3:5", "key 'do' or 'together' is missing"},
        {LIST "{repeat: 3, compute: 1us}", "3:6", "key 'repeat' does not belong to 'compute'"},
        {LIST "{do: [], together: []}", "3:14", "give 'do' or 'together', not both"},
        {LIST "{repeat: 3, for: {i: 1}, do: []}", "3:6", "give 'for' or 'repeat', not both"},
        {LIST "{for: 3, do: []}", "3:11", "a variable and its values are expected here: {i: 0..3}"},
        {LIST "{for: {i: 1, j: 2}, do: []}", "3:11", "a variable and its values are expected here: {i: 0..3}"},
        {LIST "{for: {rank: 1}, do: []}", "3:12", "'rank' is a name already: choose another"},
        {LIST "{for: {i: 0..9}, do: [{send: 1, to: i}]}", "3:41", "'i' is 8 at rank 0, i = 8, outside 0 .. 7"},
        {LIST "{for: {i: 0..9}, do: [{send: 1 / (2 - i), to: 0}]}", "3:36", "division by 0 at rank 0, i = 2"},
        {LIST "{do: [{for: {i: 0..9}, do: []}, {send: 1, to: i}]}", "3:51", "unknown name 'i'"},
        {LIST "{repeat: 0 - rank, do: []}", "3:14", "'0 - rank' is -1 at rank 1, outside 0 .. 4611686018427387904"},
        {LIST "{for: {i: 0..1000000000}, do: []}", "3:5",
         "the schedule has more than 100000 operations (repeat a block)"},
        {LIST "{compute: 1us, name: forward}\n  - {compute: 1us, after: forwrd, ranks: 3}", "4:27",
         "no operation 'forwrd' is above at rank 3 (did you mean 'forward'?)"},
        {LIST "{repeat: 2, do: [{compute: 1us, name: x}]}\n  - {compute: 1us, after: x}", "4:27",
         "'x' is in another repeated block: only that block can wait for it"},
        {LIST "{compute: 1us, name: x}\n  - {repeat: 2, do: [{compute: 1us, after: x}]}", "4:44",
         "'x' is in another repeated block: only that block can wait for it"},
        {LIST "{compute: 1us, name: \"x{rank\"}", "3:33", "'}' is expected here"},
        {LIST "{compute: 1us, name: \"x{rnk}\"}", "3:29", "unknown name 'rnk' (did you mean 'rank'?)"},
        {LIST "{compute: 1us, name: " LONG_NAME "}", "3:26", "a name of more than 199 characters"},
        {LIST "{compute: 1us, name: ''}", "3:27", "a name is expected"},
        {LIST "{compute: 1us, purpose: [a]}", "3:29",
         "a single value is expected here, found a list (quote an expression that begins with '[' or '{')"},
        {LIST "{compute: 1us, purpose: data parallel}", "3:29",
         "'data parallel' is no purpose: one word of letters, digits, '-' and '_', up to 40"},
        {LIST "{compute: 1us, purpose: ''}", "3:30",
         "'' is no purpose: one word of letters, digits, '-' and '_', up to 40"},
        {LIST "{do: [" SIX("a") ", " SIX("b") ", " SIX("c") "]}", "3:502", "more than 15 purposes"},
        {"ranks: 8\nsamples: rank\nprogram: []", "2:10", "the number cannot depend on 'rank'"},
        {"ranks: 8\ntokens: 0\nprogram: []", "2:9", "0 is outside 1 .. 4398046511104"},
        {"ranks: 8\niterations: 1us\nprogram: []", "2:13", "a number is expected, found a time"},
        {"ranks: 8\ndimensions: 8\nprogram: []", "2:13", "1 to 6 sizes of a grid are expected here: [8, 4]"},
        {"ranks: 8\ndimensions: [1, 1, 2, 2, 2, 1, 1]\nprogram: []", "2:13",
         "1 to 6 sizes of a grid are expected here: [8, 4]"},
        {"ranks: 8\ndimensions: [9]\nprogram: []", "2:14", "9 is outside 1 .. 8"},
        {"ranks: 8\ndimensions: [ranks, 2]\nprogram: []", "2:13", "the product of the dimensions is not the 8 ranks"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hx_problem p = {.what = ""};
        char where[64];
        struct schedule *s = read_text(cases[i].text, 0, &p);
        snprintf(where, sizeof where, "x.yaml:%s", cases[i].place);
        if (s)
            fail_msg("is accepted: %s", cases[i].text);
        assert_int_equal(p.exit_code, HX_EXIT_CONFIG);
        if (strcmp(p.what, cases[i].what) != 0 || strcmp(p.where, where) != 0)
            fail_msg("%s\n%s: %s\nexpected: %s: %s", cases[i].text, p.where, p.what, where, cases[i].what);
    }
}

/* Cut at each byte: an error or a schedule, never a crash. */
static void a_file_that_is_cut_does_no_harm(void **state)
{
    (void)state;
    char text[] = "ranks: 4\nparameters: {a: 1us, b: (rank + 1) % ranks}\ngroups: {row: {size: 2}}\nprogram:\n"
                  "  - ranks: \"rank % 2 == 0\"\n    repeat: 10\n    do:\n"
                  "      - {compute: a, name: \"x{rank}\"}\n      - {send: 3, to: b, after: [\"x{rank}\"]}\n"
                  "      - for: {i: 0..3}\n        together:\n          - {collective: gather, root: 1, bytes: i, "
                  "group: row}\n";
    for (size_t length = strlen(text); length > 0; length--) {
        struct hx_problem p = {.what = ""};
        text[length] = '\0';
        struct schedule *s = read_text(text, 0, &p);
        assert_true(s || (p.what[0] && strncmp(p.where, "x.yaml:", 7) == 0));
        schedule_close(s);
    }
}

/* ---- the format ---- */

static void a_file_is_found_by_its_first_key(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is;
    } cases[] = {{"ranks: 4\n", true},
                 {"# text\n\n--- \nprogram: []", true},
                 {"rank: 3", true},
                 {"\xef\xbb\xbf# x\n  ranks: 3", true},
                 {"{ranks: 2, program: []}", true},
                 {"num_ranks 4\n", false},
                 {"<algo name=\"x\">", false},
                 {"{\"a\": 1}", false},
                 {"HYBRID_DLRM 3\n", false},
                 {"", false},
                 {"# only a comment", false},
                 {"ranks", false}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        if (schedule_yaml.is((const uint8_t *)cases[i].text, strlen(cases[i].text)) != cases[i].is)
            fail_msg("%s", cases[i].text);
}

static void the_examples_are_schedules(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        uint32_t ranks;
        uint64_t operations;
    } cases[] = {{"examples/schedules/ping-pong.schedule.yaml", 2, 6},
                 {"examples/schedules/pipeline.schedule.yaml", 4, 160},
                 {"examples/schedules/data-parallel.schedule.yaml", 8, 112},
                 {"examples/schedules/pipeline-data.schedule.yaml", 16, 656}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct schedule_read_options options = {.ranks = 0};
        struct schedule_notes notes;
        struct hx_problem p;
        struct schedule *s = schedule_read(cases[i].path, &options, &notes, &p);
        if (!s) {
            fail_msg("%s: %s", p.where, p.what);
            return;
        }
        assert_int_equal(schedule_ranks(s), cases[i].ranks);
        assert_int_equal(s->head->operations, cases[i].operations);
        schedule_close(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_of_too_many_turns_is_refused_before_it_begins),
        cmocka_unit_test(a_list_is_in_its_order),
        cmocka_unit_test(an_all_to_all_has_shares),
        cmocka_unit_test(statements_of_together_are_at_once),
        cmocka_unit_test(ranks_are_chosen_by_set_or_condition),
        cmocka_unit_test(a_statement_with_after_stands_aside),
        cmocka_unit_test(the_end_of_a_list_waits_for_all),
        cmocka_unit_test(a_repeat_is_one_operation_with_a_body),
        cmocka_unit_test(a_block_has_a_name),
        cmocka_unit_test(groups_are_lists_ranges_and_strides),
        cmocka_unit_test(a_block_has_a_purpose_for_those_without),
        cmocka_unit_test(a_file_says_work_and_grid),
        cmocka_unit_test(many_operations_before_many_are_joined),
        cmocka_unit_test(ranks_may_depend_on_parameters_or_be_given),
        cmocka_unit_test(parameters_have_other_values_by_option),
        cmocka_unit_test(errors_name_line_and_column),
        cmocka_unit_test(a_file_that_is_cut_does_no_harm),
        cmocka_unit_test(a_file_is_found_by_its_first_key),
        cmocka_unit_test(the_examples_are_schedules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
