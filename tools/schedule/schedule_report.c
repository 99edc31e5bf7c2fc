/* schedule_report.c - what is in a schedule (schedule_report.h). */
#include "tools/schedule/schedule_report.h"
#include "base/json.h"
#include "base/text.h"
#include "base/value.h"
#include "schedule/notes.h"
#include "schedule/purposes.h"
#include "schedule/walk.h"

#include <inttypes.h>
#include <stdio.h>

/* A repeat is no work of its own: only what it repeats counts as executed. */
static uint64_t executed(const struct schedule_summary *s)
{
    uint64_t all = 0;
    for (unsigned kind = 0; kind < SCHEDULE_KINDS; kind++) {
        if (kind != SCHEDULE_REPEAT)
            all = schedule_add(all, s->executed[kind]);
    }
    return all;
}

static uint64_t written(const struct schedule_summary *s)
{
    uint64_t all = 0;
    for (unsigned kind = 0; kind < SCHEDULE_KINDS; kind++)
        all += s->written[kind];
    return all;
}

/* ---- text ---- */

static const char *time_text(char text[HX_VALUE_TEXT], uint64_t ps)
{
    if (ps >= 1000 || ps == 0)
        return hx_value_print_duration(text, ps / 1000);
    (void)snprintf(text, HX_VALUE_TEXT, "%" PRIu64 " ps", ps);
    return text;
}

static void print_operations(const struct schedule_summary *s)
{
    printf("operations      %" PRIu64 " written, %" PRIu64 " executed, %" PRIu64 " dependencies\n", written(s),
           executed(s), s->dependencies);
    for (unsigned kind = 0; kind < SCHEDULE_KINDS; kind++) {
        if (s->written[kind])
            printf("  %-14s%" PRIu64 " written, %" PRIu64 " executed\n", schedule_kind_names[kind], s->written[kind],
                   s->executed[kind]);
    }
}

static void print_messages(const struct schedule_summary *s)
{
    char text[2][HX_VALUE_TEXT];
    if (s->pairs == 0)
        return;
    printf("messages        %" PRIu64 " between %" PRIu64 " pair%s of ranks, %s, the longest of %s\n", s->messages,
           s->pairs, hx_plural(s->pairs), hx_value_print_bytes(text[0], s->bytes),
           hx_value_print_bytes(text[1], s->longest_message));
    for (unsigned i = 0; i < s->top_senders; i++)
        printf("%-16srank %" PRIu32 ": %" PRIu64 " message%s, %s\n", i ? "" : "largest senders", s->sender[i].from,
               s->sender[i].messages, hx_plural(s->sender[i].messages),
               hx_value_print_bytes(text[0], s->sender[i].bytes));
    for (unsigned i = 0; i < s->top_pairs; i++)
        printf("%-16srank %" PRIu32 " to %" PRIu32 ": %" PRIu64 " message%s, %s\n", i ? "" : "largest pairs",
               s->pair[i].from, s->pair[i].to, s->pair[i].messages, hx_plural(s->pair[i].messages),
               hx_value_print_bytes(text[0], s->pair[i].bytes));
}

static void print_collectives(const struct schedule_summary *s)
{
    const char *before = "collectives     ";
    for (unsigned kind = 0; kind < HX_COLLECTIVE_KINDS; kind++) {
        if (s->collectives[kind] == 0)
            continue;
        printf("%s%" PRIu64 " %s", before, s->collectives[kind], hx_collective_kind_names[kind]);
        before = ", ";
    }
    if (s->executed[SCHEDULE_COLLECTIVE])
        printf(", one for each member\n");
    if (s->groups && s->smallest_group == s->largest_group)
        printf("groups          %" PRIu64 " of %" PRIu32 " rank%s\n", s->groups, s->largest_group,
               hx_plural(s->largest_group));
    else if (s->groups)
        printf("groups          %" PRIu64 " of %" PRIu32 " to %" PRIu32 " ranks\n", s->groups, s->smallest_group,
               s->largest_group);
}

static void print_depth(const struct schedule_summary *s)
{
    char text[2][HX_VALUE_TEXT];
    if (s->written[SCHEDULE_COMPUTE])
        printf("computing       %s over all ranks, at most %s (rank %" PRIu32 ")\n", time_text(text[0], s->compute_ps),
               time_text(text[1], s->rank_compute.amount), s->rank_compute.rank);
    printf("depth           %" PRIu64 " operation%s in a chain (rank %" PRIu32 ")\n", s->depth.amount,
           hx_plural(s->depth.amount), s->depth.rank);
    if (s->chain.amount)
        printf("longest chain   %s of computing (rank %" PRIu32 ")\n", time_text(text[0], s->chain.amount),
               s->chain.rank);
    printf("width           %" PRIu64 " operation%s at one depth (rank %" PRIu32 ")\n", s->width.amount,
           hx_plural(s->width.amount), s->width.rank);
}

/* What the schedule says of itself: grid, work, purposes. */
static void print_head(const struct schedule *s)
{
    for (unsigned i = 0; i < SCHEDULE_MOST_DIMENSIONS && s->head->dimension[i]; i++)
        printf("%s%" PRIu32, i ? " x " : "grid            ", s->head->dimension[i]);
    printf("%s", s->head->dimension[0] ? "\n" : "");
    schedule_work_print(s->head, 0, "training        ");
    for (unsigned i = 1; i < SCHEDULE_MOST_PURPOSES && s->head->purpose[i] != SCHEDULE_NO_NAME; i++)
        printf("%s%s", i > 1 ? ", " : "purposes        ", s->names + s->head->purpose[i]);
    printf("%s", s->head->purpose[1] != SCHEDULE_NO_NAME ? "\n" : "");
}

void summary_print(const struct summary_report *r)
{
    uint32_t ranks = schedule_ranks(r->schedule);
    printf("%s: %" PRIu32 " rank%s\n", r->path, ranks, hx_plural(ranks));
    print_head(r->schedule);
    print_operations(&r->summary);
    print_messages(&r->summary);
    print_collectives(&r->summary);
    print_depth(&r->summary);
    schedule_notes_print(&r->notes, "", 16);
    printf("matching        %s\n", r->unmatched ? "not complete" : "complete");
}

/* ---- JSON ---- */

static json_t *integer(uint64_t value)
{
    return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

static json_t *operations_json(const struct schedule_summary *s)
{
    json_t *all = json_pack("{s:o, s:o, s:o}", "written", integer(written(s)), "executed", integer(executed(s)),
                            "dependencies", integer(s->dependencies));
    for (unsigned kind = 0; kind < SCHEDULE_KINDS; kind++)
        json_object_set_new(
            all, schedule_kind_names[kind],
            json_pack("{s:o, s:o}", "written", integer(s->written[kind]), "executed", integer(s->executed[kind])));
    return all;
}

static json_t *messages_json(const struct schedule_summary *s)
{
    json_t *senders = json_array();
    json_t *pairs = json_array();
    for (unsigned i = 0; i < s->top_senders; i++)
        json_array_append_new(senders, json_pack("{s:o, s:o, s:o}", "rank", integer(s->sender[i].from), "messages",
                                                 integer(s->sender[i].messages), "bytes", integer(s->sender[i].bytes)));
    for (unsigned i = 0; i < s->top_pairs; i++)
        json_array_append_new(pairs, json_pack("{s:o, s:o, s:o, s:o}", "from", integer(s->pair[i].from), "to",
                                               integer(s->pair[i].to), "messages", integer(s->pair[i].messages),
                                               "bytes", integer(s->pair[i].bytes)));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "count", integer(s->messages), "bytes", integer(s->bytes),
                     "longest_bytes", integer(s->longest_message), "pairs", integer(s->pairs), "largest_senders",
                     senders, "largest_pairs", pairs);
}

static json_t *collectives_json(const uint64_t *by_kind)
{
    json_t *all = json_object();
    for (unsigned kind = 0; kind < HX_COLLECTIVE_KINDS; kind++)
        json_object_set_new(all, hx_collective_kind_names[kind], integer(by_kind[kind]));
    return all;
}

static json_t *most_json(const char *key, const struct schedule_most *most)
{
    return json_pack("{s:o, s:o}", key, integer(most->amount), "rank", integer(most->rank));
}

static void set_head(json_t *object, const struct schedule *s)
{
    json_t *dimensions = json_array();
    json_t *purposes = json_array();
    for (unsigned i = 0; i < SCHEDULE_MOST_DIMENSIONS && s->head->dimension[i]; i++)
        json_array_append_new(dimensions, integer(s->head->dimension[i]));
    for (unsigned i = 1; i < SCHEDULE_MOST_PURPOSES && s->head->purpose[i] != SCHEDULE_NO_NAME; i++)
        json_array_append_new(purposes, hx_json_text(s->names + s->head->purpose[i]));
    schedule_work_json(object, s->head);
    (void)json_object_set_new(object, "dimensions", dimensions);
    (void)json_object_set_new(object, "purposes", purposes);
}

json_t *summary_json(const struct summary_report *r)
{
    const struct schedule_summary *s = &r->summary;
    json_t *o = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:{s:o, s:o, s:o}, s:o, s:o, s:o, s:o, s:o, s:b, s:o}",
                          "file", hx_json_text(r->path), "ranks", integer(schedule_ranks(r->schedule)), "operations",
                          operations_json(s), "messages", messages_json(s), "collectives",
                          collectives_json(s->collectives), "collective_bytes", collectives_json(s->collective_bytes),
                          "groups", "count", integer(s->groups), "smallest", integer(s->smallest_group), "largest",
                          integer(s->largest_group), "compute_ps", integer(s->compute_ps), "largest_compute",
                          most_json("ps", &s->rank_compute), "depth", most_json("operations", &s->depth),
                          "longest_chain", most_json("ps", &s->chain), "width", most_json("operations", &s->width),
                          "matched", !r->unmatched, "unmatched", hx_json_text(r->unmatched));
    schedule_notes_json(o, &r->notes);
    set_head(o, r->schedule);
    return o;
}
