/* verb_fault.c - `hxmesh fault`: adds faults to a running fabric. */
#include "base/json.h"
#include "base/options/options.h"
#include "fabric-emu/report/fault_report.h"
#include "request.h"
#include "verbs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FAULTS = 256 }; /* of one call */

static uint64_t number_in(const json_t *fault, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(fault, key));
}

static struct fault_report report_of(const json_t *fault)
{
    struct fault_report r = {.text = json_string_value(json_object_get(fault, "fault")),
                             .at_ns = number_in(fault, "at_ns"),
                             .cost.lost = number_in(fault, "lost"),
                             .cost.corrupted = number_in(fault, "corrupted"),
                             .hits = number_in(fault, "hits"),
                             .whole = json_is_integer(json_object_get(fault, "whole_after_ns"))};
    r.whole_ns = r.at_ns + number_in(fault, "whole_after_ns");
    return r;
}

static void print_count(const char *what, uint64_t count)
{
    if (count)
        printf("  %-14s %" PRIu64 "\n", what, count);
}

static struct fault_report report_of_change(const json_t *change)
{
    struct fault_report r = {.text = json_string_value(json_object_get(change, "change")),
                             .planned = true,
                             .at_ns = number_in(change, "at_ns"),
                             .whole = json_is_integer(json_object_get(change, "followed_after_ns"))};
    r.whole_ns = r.at_ns + number_in(change, "followed_after_ns");
    return r;
}

/* Prints the list as a report does. */
static void print_list(const json_t *answer)
{
    const json_t *faults = json_object_get(answer, "faults");
    const json_t *changes = json_object_get(answer, "changes");
    size_t count = json_array_size(faults);
    size_t all = count + json_array_size(changes);
    struct fault_report *begun = hx_allocate(all + 1, sizeof *begun);
    for (size_t i = 0; i < count; i++)
        begun[i] = report_of(json_array_get(faults, i));
    for (size_t i = count; i < all; i++)
        begun[i] = report_of_change(json_array_get(changes, i - count));
    if (count == 0)
        printf("no fault so far\n");
    fault_report_print(begun, all);
    print_count("earlier ones", number_in(answer, "left_out"));
    print_count("to come", number_in(answer, "to_come"));
    free(begun);
}

static void list(const struct attached *a, const struct hx_common *common)
{
    char *answer;
    int code = request_ask(a, "", &answer);
    json_t *faults = code == HX_EXIT_DONE ? json_loads(answer, 0, NULL) : NULL;
    if (!faults)
        hx_die(code ? code : HX_EXIT_FAILED, a->name, "%s", code ? answer : "its list of faults cannot be read");
    free(answer);
    if (common->json)
        hx_json_write(json_incref(faults), common->json);
    else if (!common->quiet)
        print_list(faults);
    json_decref(faults);
}

/* Checks a line before any line is sent. */
static void validate(const char *line)
{
    if (!line[strspn(line, " \t")])
        hx_die(HX_EXIT_USAGE, "FAULT", "'%s' says nothing: what is to go wrong? (such as 'a0,1/E down for 5s')", line);
    if (strlen(line) >= FAB_REQUEST_BYTES)
        hx_die(HX_EXIT_USAGE, "FAULT", "'%.32s...' is longer than %d bytes: split it into several", line,
               FAB_REQUEST_BYTES - 1);
}

static void ask(const struct attached *a, const char *line)
{
    char *answer;
    int code = request_ask(a, line, &answer);
    if (code)
        hx_die(code, line, "%s", answer);
    if (answer[0])
        hx_warn(line, "%s", answer);
    free(answer);
}

int verb_fault(int argc, char **argv)
{
    const char *name = NULL;
    bool lists = false;
    const struct hx_option options[] = {
        {HX_STRING("name", "FABRIC", &name, "of the fabric, as `hxmesh run --name` gave it"),
         .otherwise = "the only one that runs"},
        {HX_FLAG("list", &lists, "the faults so far: when, what each cost, and when traffic had recovered"),
         .letter = 'l'},
        HX_OPTIONS_END};
    const struct hx_command command = {
        HX_PROGRAM("hxmesh fault", "hxmesh-run hxmesh-top"),
        .examples = {{"hxmesh fault 'a0,1/E down for 5s'", "a link of a fabric that runs is cut for five seconds"},
                     {"hxmesh fault 'all loss=1% corrupt=0.1%'", "every link loses one packet in a hundred"},
                     {"hxmesh fault 'a0,1/E closed for 10s'", "a cable is drained and left out, and loses nothing"},
                     {"hxmesh fault --list", "what happened so far"}},
        HX_OPERANDS("[FAULT...]", 0, MOST_FAULTS),
        .summary = "Breaks links, boards, switches, planes or workers of a running fabric, or closes links as planned.",
        .details =
            "A fault is a line, TARGET WHAT [at TIME] [for TIME]; its times count from now. Targets are named as "
            "everywhere, a5,3/E, board1,2, spine2, plane1, worker0, or all.",
        .options = options};
    struct hx_common common;
    int first = hx_options_parse(&command, argc, argv, &common);
    if (first == argc && !lists)
        hx_die(HX_EXIT_USAGE, "FAULT", "is missing: what is to go wrong? (such as 'a0,1/E down for 5s', or --list)");
    for (int i = first; i < argc; i++)
        validate(argv[i]);
    struct hx_problem problem;
    struct attached a;
    if (!attach_open(&a, name, &problem))
        hx_die_of(&problem);
    for (int i = first; i < argc; i++)
        ask(&a, argv[i]);
    if (lists)
        list(&a, &common);
    attach_close(&a);
    return HX_EXIT_DONE;
}
