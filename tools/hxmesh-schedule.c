/* hxmesh-schedule - what is in a schedule, whether it can end, and its conversion to another format. */
#include "base/options/options.h"
#include "base/output.h"
#include "schedule/formats.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct arguments {
    struct hx_common common;
    struct schedule_read_options read;
    uint64_t ranks;
    const char *write, *as;
    bool formats;
};

static void print_formats(void)
{
    for (const struct schedule_format *const *f = schedule_formats; *f; f++)
        printf("%-14s%s%s\n", (*f)->name, (*f)->what, (*f)->write ? " (also written)" : "");
}

/* Writes our own format, or the one that --as names. */
static void convert(const struct schedule *s, const struct arguments *a)
{
    struct hx_problem problem;
    if (!a->as) {
        schedule_write(s, a->write);
        return;
    }
    for (const struct schedule_format *const *f = schedule_formats; *f; f++) {
        if (strcmp((*f)->name, a->as) != 0 || !(*f)->write)
            continue;
        if (!(*f)->write(s, a->write, &problem))
            hx_die_of(&problem);
        return;
    }
    hx_die(HX_EXIT_USAGE, "--as", "no format '%s' is written (hxmesh schedule --formats lists them)", a->as);
}

static void parse(struct arguments *a, int argc, char **argv, const char **path)
{
    const struct hx_option options[] = {
        HX_OPTIONS_HEADING("Reading"),
        {.name = "ranks",
         .kind = HX_OPTION_NUMBER,
         .argument = "N",
         .to.number = &a->ranks,
         .low = 1,
         .high = SCHEDULE_MOST_RANKS,
         .help = "number of ranks, for formats that leave it open"},
        {.name = "message",
         .kind = HX_OPTION_BYTES,
         .to.number = &a->read.message,
         .low = 1,
         .high = SCHEDULE_MOST_BYTES,
         .help = "bytes of the vector, for formats that leave it open"},
        {.name = "groups",
         .kind = HX_OPTION_STRING,
         .argument = "FILE",
         .to.string = &a->read.groups,
         .help = "JSON file of process groups, {\"1\": [0, 1], ...}, for Chakra traces"},
        HX_OPTIONS_HEADING("Writing"),
        {.name = "write",
         .kind = HX_OPTION_STRING,
         .argument = "FILE",
         .to.string = &a->write,
         .help = "converts the schedule: hxmesh's own format, unless --as names another"},
        {.name = "as",
         .kind = HX_OPTION_STRING,
         .argument = "FORMAT",
         .to.string = &a->as,
         .help = "format of --write"},
        {.name = "formats", .kind = HX_OPTION_FLAG, .to.flag = &a->formats, .help = "lists the formats, and ends"},
        HX_OPTIONS_END};
    const struct hx_command command = {
        HX_PROGRAM("hxmesh schedule", "hxmesh-run"),
        .examples = {{"hxmesh schedule tree.goal", "ranks, operations and bytes of a schedule"}},
        .operands = "FILE",
        .most_operands = 1,
        .summary = "Shows and converts schedules of computing, messages and collectives.",
        .details = "A schedule is, for each rank, a partial order of operations. Its format is found by its content.",
        .options = options};
    int first = hx_options_parse(&command, argc, argv, &a->common);
    *path = first < argc ? argv[first] : NULL;
    a->read.ranks = (uint32_t)a->ranks;
    if (!*path && !a->formats)
        hx_die(HX_EXIT_USAGE, "FILE", "a schedule is wanted");
}

int main(int argc, char **argv)
{
    struct arguments a = {.ranks = 0};
    struct schedule_notes notes;
    struct hx_problem problem;
    const char *path;
    parse(&a, argc, argv, &path);
    if (a.formats) {
        print_formats();
        hx_output_close(stdout, "-");
        return HX_EXIT_DONE;
    }
    struct schedule *s = schedule_read(path, &a.read, &notes, &problem);
    if (!s)
        hx_die_of(&problem);
    if (a.write)
        convert(s, &a);
    printf("%" PRIu32 " ranks, %" PRIu64 " operations\n", schedule_ranks(s), s->head->operations);
    schedule_close(s);
    hx_output_close(stdout, "-");
    return HX_EXIT_DONE;
}
