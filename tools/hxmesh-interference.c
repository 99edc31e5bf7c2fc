/* hxmesh-interference - measures how jobs on one fabric slow each other: each runs alone, then all together, in
 * simulated time. */
#include "base/error.h"
#include "base/json.h"
#include "base/output.h"
#include "spec/jobs.h"
#include "tools/interference/interference.h"

static struct hx_spec said;
static struct {
    const char *routing;
    uint64_t workers;
    double fast_forward;
} asked;

static int measure(const struct hx_spec *spec, const struct hx_common *common)
{
    struct hx_arguments arguments = {0};
    struct interference in;
    hx_arguments_add(&arguments, "--workers=%u", (unsigned)asked.workers);
    hx_arguments_add(&arguments, "--fast-forward=%g", asked.fast_forward);
    if (asked.routing)
        hx_arguments_add(&arguments, "--routing=%s", asked.routing);
    int code = interference_measure(&in, spec, &arguments, common->quiet);
    hx_arguments_free(&arguments);
    if (code != HX_EXIT_DONE)
        return code;
    if (common->json)
        hx_json_write(interference_json(&in), common->json);
    else
        interference_print(&in);
    interference_free(&in);
    return HX_EXIT_DONE;
}

int main(int argc, char **argv)
{
    static const struct hx_option options[] = {
        HX_JOB_OPTION(&said),
        {HX_STRING("routing", "HOW", &asked.routing, "which paths packets take, as in hxmesh run"),
         .otherwise = "as the fabric says"},
        {HX_NUMBER("workers", &asked.workers, 0, HX_MOST_WORKERS, "worker processes of a run; 0: one a core"),
         .letter = 'w'},
        {HX_FORWARD(&asked.fast_forward)},
        HX_OPTIONS_END};
    static const struct hx_command command = {
        HX_PROGRAM("hxmesh interference", "hxmesh-run hxmesh-allocate hxmesh-jobs"),
        .examples =
            {{"hxmesh interference \"8x8 Hx2Mesh\" --job 'a: 4x4 all-reduce 4MiB' --job 'b: 3x4 all-to-all 64KiB'",
              "two jobs on a HammingMesh"},
             {"hxmesh interference \"fat-tree hosts=256 radix=32 taper=2\" --job 'a: 64 all-reduce 4MiB "
              "place=random' --job 'b: 48 all-to-all 64KiB place=random'",
              "and where they share cables"}},
        HX_OPERANDS("SPEC|FILE", 1, 1),
        .failed = "a run failed",
        .summary = "Runs each job of a fabric alone and all together under the virtual clock, and says what they do to "
                   "each other.",
        .details =
            "Jobs are named by --job or by the file, as for hxmesh run. All keep their boards while one is alone. "
            "Slowdown is the time together over the time alone, from a job's start to its last packet. Links are "
            "those between switches that carry its packets, shared those that carry another job's too. Foreign "
            "packets left a host, or a router of hosts, that the job has not: on a HammingMesh there are none.",
        .options = options};
    struct hx_common common;
    struct hx_spec spec;
    struct hx_problem problem;
    int first = hx_options_parse(&command, argc, argv, &common);
    hx_output_check(common.json);
    hx_spec_load(argv[first], NULL, &spec);
    spec.said = said.said;
    if (!hx_jobs_take_said(&spec, &problem))
        hx_die_of(&problem);
    if (!spec.named_jobs)
        hx_die(HX_EXIT_USAGE, "--job", "is missing: %s names no job", argv[first]);
    if (spec.settings.duration_ns)
        hx_die(HX_EXIT_CONFIG, spec.source,
               "all jobs end with its traffic's duration: none can be slower (use a count)");
    int code = measure(&spec, &common);
    hx_spec_free(&spec);
    hx_output_close(stdout, "-");
    return code;
}
