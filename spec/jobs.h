/* jobs.h - the jobs of a fabric: where each stands, and what it does, as `jobs:` of a file or --job says.
 *
 *     --job 'big: 4x4 all-reduce 16MiB'              name: size, traffic, bytes of a message or vector
 *     --job 'late: 6 permutation start=1ms count=4'  and any key of a file's job
 *
 * A job stands on boards (hosts, where there are no boards) that are named one by one, or it has a size and boards are
 * found for it: on a HammingMesh as sched/placement.h has it, elsewhere as sched/hosts.h has it. What
 * it does not say of its traffic is the run's. */
#ifndef HXMESH_SPEC_JOBS_H
#define HXMESH_SPEC_JOBS_H

#include "sched/hosts.h"
#include "sched/placement.h"
#include "spec/spec.h"

/* What is said of a job, as it is said. */
struct hx_job_values {
    const char *name, *size, *grid, *file; /* NULL: not said. file: of messages, which no job has of its own */
    uint64_t tag;                          /* 0: not said */
    uint64_t start_ns;
    unsigned place; /* enum hx_hosts_rule */
    unsigned given; /* enum hx_job_given */
    struct hx_settings settings;
};
enum hx_job_given { HX_GIVEN_PLACE = 1, HX_GIVEN_GRID = 2 };
extern const struct hx_job_values hx_job_defaults;

/* Entries of an option table, with the keys of a file; --job has the same words. */
/* clang-format off */
#define HX_JOB_OPTIONS(v) \
    {.key = "jobs[].name", .kind = HX_OPTION_STRING, .to.string = &(v)->name, \
     .help = "for reports and --only, with a letter in it; without it, the tag"}, \
    {.key = "jobs[].tag", .kind = HX_OPTION_NUMBER, .argument = "TAG", .to.number = &(v)->tag, .low = 1, \
     .high = UINT16_MAX, \
     .otherwise = "the next that is free", .help = "what its packets carry"}, \
    {.key = "jobs[].size", .kind = HX_OPTION_STRING, .argument = "N|CxR", .to.string = &(v)->size, \
     .help = "boards (hosts, of another fabric) that are to be found for it: how many, or columns x rows of them"}, \
    {.key = "jobs[].place", .kind = HX_OPTION_CHOICE, .argument = "HOW", .to.choice = &(v)->place, \
     .choices = hx_hosts_rule_names, \
     .help = "of another fabric than a HammingMesh: how hosts are found for a size", .given = &(v)->given, \
     .given_bit = HX_GIVEN_PLACE}, \
    {.key = "jobs[].grid", .kind = HX_OPTION_STRING, .argument = "CxR", .to.string = &(v)->grid, \
     .otherwise = "its columns and rows", .help = "logical columns x rows of its hosts for a collective: " \
     "exchanged, or folded", \
     .given = &(v)->given, .given_bit = HX_GIVEN_GRID, .applies = HX_FOR_COLLECTIVES}, \
    {.key = "jobs[].start", .kind = HX_OPTION_DURATION, .to.number = &(v)->start_ns, .low = 0, \
     .high = HX_MOST_DURATION, \
     .help = "when it begins, from the start of the run on"}, \
    {.key = "jobs[].traffic", .kind = HX_OPTION_CHOICE, .argument = "PATTERN", .to.choice = &(v)->settings.pattern, \
     .choices = hx_pattern_names, .file = &(v)->file, .file_choice = HX_FLOWS, .otherwise = "the run's", \
     .help = "what it sends", .given = &(v)->settings.given, .given_bit = HX_GIVEN_PATTERN}, \
    {.key = "jobs[].message", .kind = HX_OPTION_BYTES, .to.number = &(v)->settings.message, .low = 1, \
     .high = HX_MOST_MESSAGE, \
     .otherwise = "the run's", .help = "bytes of its messages, or of its vector", .given = &(v)->settings.given, \
     .given_bit = HX_GIVEN_MESSAGE}, \
    {.key = "jobs[].count", .kind = HX_OPTION_NUMBER, .to.number = &(v)->settings.count, .low = 1, \
     .high = HX_MOST_COUNT, \
     .otherwise = "the run's", .help = "messages to each of its destinations", .given = &(v)->settings.given, \
     .given_bit = HX_GIVEN_COUNT, \
     .applies = HX_FOR_MESSAGES, .instead = HX_RUNS_ONCE}, \
    {.key = "jobs[].algorithm", .kind = HX_OPTION_CHOICE, .argument = "HOW", .to.choice = &(v)->settings.algorithm, \
     .choices = hx_algorithm_names, .otherwise = "the run's", .help = "how its collective is done", \
     .given = &(v)->settings.given, .given_bit = HX_GIVEN_ALGORITHM, .applies = HX_FOR_COLLECTIVES}, \
    {.key = "jobs[].largest", .kind = HX_OPTION_FLAG, .to.flag = &(v)->settings.largest, .otherwise = "the run's", \
     .help = "of a HammingMesh: its collective runs on the largest sub-mesh of its boards that is whole", \
     .given = &(v)->settings.given, .given_bit = HX_GIVEN_LARGEST, .applies = HX_FOR_COLLECTIVES}
/* clang-format on */

/* Adds a job, without boards yet: returns it, or the one that has this tag already, of which only boards are added.
 * NULL: it cannot be; *bad says why, *key of which value. */
struct hx_job *hx_jobs_add(struct hx_spec *spec, const struct hx_job_values *v, const char **bad, const char **key);

/* A job that stands, or was asked for, on such a shape of boards and now gets another keeps its logical grid, unless it
 * has one of its own. */
void hx_job_keep_grid(struct hx_job *job, const struct hx_spec *spec, struct hx_shape was, struct hx_shape is);

/* Finds its boards, if it has a size, among those that no job has and that have not failed. NULL, or why there are
 * none. */
const char *hx_job_place(struct hx_spec *spec, struct hx_job *job);

/* Of a HammingMesh: the boards of a tag that have not failed are free in *b, all others taken. To be freed. HX_NO_JOB:
 * those that no job has. */
void hx_job_boards(struct hx_boards *b, const struct hx_spec *spec, uint16_t tag);

/* Of a HammingMesh: a job keeps the most of its boards that have not failed and are a sub-mesh; the others are idle.
 * HX_NO_JOB, where no job is named: all boards are the job, which is named where some are left out. */
void hx_job_keep_largest(struct hx_spec *spec, uint16_t tag);

/* The first key it has that is not for such traffic, and why, as "count: is for ..."; NULL: all are. What a job does
 * not say of its pattern is known when it runs. */
const char *hx_job_not_for(const struct hx_job *job, unsigned pattern);

/* Adds a job of a size and finds its boards. NULL: as above, or there is no room, with *key NULL; then it is not
 * added. */
struct hx_job *hx_jobs_add_placed(struct hx_spec *spec, const struct hx_job_values *v, const char **bad,
                                  const char **key);

/* Why this fabric can have no jobs; NULL: it can. */
const char *hx_jobs_impossible(const struct hx_spec *spec);

/* Adds and places the jobs of spec->said, and silences all but those of spec->only, by name or tag. */
bool hx_jobs_take_said(struct hx_spec *spec, struct hx_problem *problem);

/* "job 7" or "job 7 (big)". `text` has HX_JOB_TEXT bytes. Returns text. */
enum { HX_JOB_TEXT = 64 };
const char *hx_job_text(char *text, const struct hx_spec *spec, uint16_t tag);

#endif
