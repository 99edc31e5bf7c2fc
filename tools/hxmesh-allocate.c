/* hxmesh-allocate - finds a virtual sub-HammingMesh (SC22 section IV-A) for each job. Shows them as map, JSON or
 * runnable file. Also measures how full random job mixes make the fabric. */
#include "base/json.h"
#include "tools/allocate/defragment.h"
#include "tools/allocate/hosts.h"
#include "tools/allocate/jobs.h"
#include "tools/allocate/mixes.h"
#include "tools/allocate/rules.h"

#include <stdlib.h>

enum { MOST_JOBS = 4096, MOST_MIXES = 1000000 };
enum { GIVEN_STATE = 1 << 0, GIVEN_SEED = 1 << 1 }; /* bits of asked.given */

static struct {
    struct hx_overrides sizes;
    struct allocate_rules rules;
    uint64_t failed, mixes, seed, state;
    uint64_t given;
    bool sort, defragment;
    const char *fabric_file, *distribution, *csv, *moves;
} asked = {.seed = 1, .state = UINT64_C(1) << 30};

/* Places jobs on boards. Returns whether all found room. */
static bool place(struct hx_spec *spec, char *const *jobs, unsigned count, const char *json)
{
    struct allocation a;
    struct defragment d = {.jobs = 0};
    allocation_make(&a, spec, &asked.rules.placement, jobs, count);
    allocation_place(&a, asked.sort);
    if (asked.defragment)
        defragment_run(&d, &a, spec, asked.state);
    if (asked.moves)
        defragment_write_moves(&d, asked.moves);
    if (asked.fabric_file)
        allocation_write_file(&a, asked.fabric_file);
    json_t *report = json ? allocation_json(&a) : NULL;
    if (report && asked.defragment)
        (void)json_object_set_new(report, "defragment", defragment_json(&d, &a));
    if (report)
        hx_json_write(report, json);
    else if (!hx_output_is_stdout(asked.fabric_file) && !hx_output_is_stdout(asked.moves)) {
        allocation_print(&a);
        if (asked.defragment)
            defragment_print(&d, &a);
    }
    defragment_free(&d);
    bool all = allocation_placed(&a) == count;
    allocation_free(&a);
    return all;
}

/* The same on a fabric without boards. */
static bool place_hosts(struct hx_spec *spec, char *const *jobs, unsigned count, const char *json)
{
    struct hosts_allocation a;
    hosts_allocate(&a, spec, asked.rules.place, jobs, count);
    if (asked.fabric_file)
        hosts_write_file(&a, asked.fabric_file);
    if (json)
        hx_json_write(hosts_json(&a), json);
    else if (!hx_output_is_stdout(asked.fabric_file))
        hosts_print(&a);
    bool all = hosts_placed(&a) == count;
    hosts_free(&a);
    return all;
}

static void mix(const struct hx_spec *spec, const char *json)
{
    struct hx_job_sizes sizes;
    struct hx_problem problem;
    struct mixes m;
    bool *taken = hx_spec_taken(spec);
    unsigned left = 0;
    for (unsigned board = 0; board < hx_spec_boards(spec); board++)
        left += !taken[board];
    const struct hx_mix_rules rules = {.taken = taken,
                                       .columns = spec->x,
                                       .rows = spec->y,
                                       .failed = (unsigned)asked.failed,
                                       .sorted = asked.sort,
                                       .placement = asked.rules.placement};
    if (asked.failed >= left)
        hx_die(HX_EXIT_CONFIG, "--failed", "leaves none of the %u boards", left);
    if (!hx_job_sizes_load(&sizes, asked.distribution, &problem))
        hx_die_of(&problem);
    if (!hx_mix_has_jobs(&rules, &sizes))
        hx_die(HX_EXIT_CONFIG, asked.distribution,
               "of %ux%u boards jobs have at most half in each direction, and none of the sizes is so short (add "
               "smaller ones)",
               spec->x, spec->y);
    mixes_run(&m, &rules, &sizes, (unsigned)asked.mixes, asked.seed);
    if (asked.csv)
        mixes_write_csv(&m, asked.csv);
    if (json)
        hx_json_write(mixes_json(&m), json);
    else if (!hx_output_is_stdout(asked.csv))
        mixes_print(&m);
    mixes_free(&m);
    hx_job_sizes_free(&sizes);
    free(taken);
}

static void check_command(unsigned jobs)
{
    if (asked.mixes && jobs)
        hx_die(HX_EXIT_USAGE, "--mixes", "draws its jobs: name none");
    if (!asked.mixes && !jobs)
        hx_die(HX_EXIT_USAGE, NULL, "no job is named (write for example 6 or 3x2 behind the fabric, or --mixes)");
    const char *of_named = asked.fabric_file                    ? "--file"
                           : asked.defragment                   ? "--defragment"
                           : asked.rules.given & ALLOCATE_PLACE ? "--place"
                                                                : NULL;
    if (asked.mixes && of_named)
        hx_die(HX_EXIT_USAGE, of_named, "is for jobs that are named, not for --mixes");
    if (asked.moves && !asked.defragment)
        hx_die(HX_EXIT_USAGE, "--moves", "is for --defragment, which makes them");
    if (asked.given & GIVEN_STATE && !asked.defragment)
        hx_die(HX_EXIT_USAGE, "--state", "is for --defragment: what a job that moves takes along");
    const char *of_mixes = asked.csv                  ? "--csv"
                           : asked.distribution       ? "--sizes"
                           : asked.failed             ? "--failed"
                           : asked.given & GIVEN_SEED ? "--seed"
                                                      : NULL;
    if (!asked.mixes && of_mixes)
        hx_die(HX_EXIT_USAGE, of_mixes, "is for --mixes");
}

int main(int argc, char **argv)
{
    static const struct hx_option options[] = {
        HX_OPTIONS_HEADING("Rules"),
        ALLOCATE_RULE_OPTIONS(&asked.rules),
        {HX_FLAG("sort", &asked.sort, "place the largest job first")},
        ALLOCATE_PLACE_OPTION(&asked.rules),
        {HX_STRING("file", "FILE", &asked.fabric_file,
                   "write the fabric with its jobs, for hxmesh run, to FILE; - is stdout")},
        HX_OPTIONS_HEADING("Defragmentation"),
        {HX_FLAG("defragment", &asked.defragment,
                 "move jobs of the FILE where one finds no room, as few boards as can be found")},
        {HX_BYTES("state", &asked.state, 1, HX_MOST_MESSAGE,
                  "what each accelerator of a job takes along when it moves"),
         HX_GIVEN_IN(&asked, GIVEN_STATE)},
        {.name = "moves",
         .kind = HX_OPTION_STRING,
         .argument = "FILE",
         .to.string = &asked.moves,
         .help =
             "write the moves as messages, for hxmesh run --traffic FILE on the whole fabric, to FILE; - is stdout"},
        HX_OPTIONS_HEADING("Random mixes"),
        {HX_NUMBER("mixes", &asked.mixes, 0, MOST_MIXES,
                   "fill the fabric with random jobs so many times, and say how full it gets")},
        ALLOCATE_SIZES_OPTION(&asked.distribution),
        {HX_NUMBER("failed", &asked.failed, 0, UINT32_MAX, "boards that have failed, at random")},
        ALLOCATE_SEED_OPTION(&asked.seed, &asked.given, GIVEN_SEED, "of the first mix; each next one has one more"),
        ALLOCATE_CSV_OPTION(&asked.csv, "mix"),
        HX_OPTIONS_HEADING("Fabric"),
        HX_OVERRIDE_OPTIONS(&asked.sizes),
        HX_OPTIONS_END};
    static const struct hx_command command = {
        HX_PROGRAM("hxmesh allocate", "hxmesh-run hxmesh-check hxmesh-reproduce"),
        .examples = {{"hxmesh allocate \"8x8 Hx2Mesh\" 4x4 3x2 12 6", "boards for four jobs, and a map"},
                     {"hxmesh allocate \"8x8 Hx2Mesh\" 4x4 3x2 --file jobs.hxm.yaml", "a file for hxmesh run"},
                     {"hxmesh allocate \"64x64 Hx2Mesh\" --mixes 1000",
                      "how full 1,000 random mixes make a large cluster"}},
        .operands = "SPEC|FILE [JOB ...]",
        .failed = "a job found no room",
        .least_operands = 1,
        .most_operands = MOST_JOBS + 1,
        .summary =
            "Finds boards for jobs on a HammingMesh: for each a virtual sub-HammingMesh, rows of boards that have "
            "the same columns. On other fabrics, hosts.",
        .details =
            "A JOB is a number of boards, which then are as near to a square as they can be, or COLUMNSxROWS of them; "
            "on "
            "another fabric than a HammingMesh a number of hosts. "
            "Jobs are placed one after the other by the greedy rule of the paper's section IV-A: the first row that "
            "has "
            "enough free columns, and each further one with enough free columns in common with the rows taken "
            "before. Failed boards and jobs of a FILE stay where they are. In the map '#' is a failed board, '.' a "
            "free "
            "one, anything else the last digit or letter of a job.",
        .options = options};
    struct hx_common common;
    asked.rules = allocate_default_rules;
    int first = hx_options_parse(&command, argc, argv, &common);
    unsigned jobs = (unsigned)(argc - first) - 1;
    const struct hx_output outputs[] = {
        {"--json", common.json}, {"--file", asked.fabric_file}, {"--csv", asked.csv}, {"--moves", asked.moves}};
    struct hx_spec spec;
    bool all = true;
    check_command(jobs);
    hx_outputs_apart(outputs, sizeof outputs / sizeof *outputs);
    hx_spec_load(argv[first], &asked.sizes, &spec);
    if (spec.a || asked.mixes || asked.defragment)
        allocate_rules_settle(&asked.rules, &spec);
    allocate_rules_check(&asked.rules, &spec, asked.sort ? "--sort" : NULL);
    if (!spec.a)
        all = place_hosts(&spec, argv + first + 1, jobs, common.json);
    else if (asked.mixes)
        mix(&spec, common.json);
    else
        all = place(&spec, argv + first + 1, jobs, common.json);
    hx_spec_free(&spec);
    hx_output_close(stdout, "-");
    return all ? HX_EXIT_DONE : HX_EXIT_FAILED;
}
