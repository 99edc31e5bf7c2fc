/* jobs.h - the jobs of a fabric: their boards and their traffic, from `jobs:` of a file or from --job.
 *
 *     --job 'big: 4x4 all-reduce 16MiB'              name: size, traffic, bytes of a message or vector
 *     --job 'late: 6 permutation start=1ms count=4'  and any key of a file's job
 *
 * A job has boards (hosts, on a fabric without boards) that are named, or a size. Boards for a size are found by
 * allocation/placement.h on a HammingMesh, and by allocation/hosts.h elsewhere. Values that a job does not give are the
 * run's. */
#ifndef HXMESH_SPEC_JOBS_H
#define HXMESH_SPEC_JOBS_H

#include "allocation/hosts.h"
#include "allocation/placement.h"
#include "spec/spec.h"

struct hx_job_values {
    const char *name, *size, *grid; /* NULL: not given */
    uint64_t tag;                   /* 0: not given */
    uint64_t start_ns;
    unsigned place; /* enum hx_hosts_rule */
    uint64_t given; /* enum hx_job_given */
    struct hx_settings settings;
};
enum hx_job_given { HX_GIVEN_PLACE = 1, HX_GIVEN_GRID = 2 };
extern const struct hx_job_values hx_job_defaults;

/* Entries of an option table, with the keys of a file; --job has the same names. */
/* clang-format off */
#define HX_JOB_OPTIONS(v) \
    {.key = "jobs[].name", .kind = HX_OPTION_STRING, .to.string = &(v)->name, \
     .help = "for reports and --only, with a letter in it; without it, the tag"}, \
    {.key = "jobs[].tag", .kind = HX_OPTION_NUMBER, .argument = "TAG", .to.number = &(v)->tag, .low = 1, \
     .high = UINT16_MAX, .otherwise = "the next that is free", .help = "what its packets carry"}, \
    {.key = "jobs[].size", .kind = HX_OPTION_STRING, .argument = "N|CxR", .to.string = &(v)->size, \
     .help = "boards (hosts, of another fabric) that are to be found for it: how many, or columns x rows of them"}, \
    {.key = "jobs[].place", .kind = HX_OPTION_CHOICE, .argument = "HOW", .to.choice = &(v)->place, \
     .choices = hx_hosts_rule_names, .help = "of another fabric than a HammingMesh: how hosts are found for a size", \
     HX_GIVEN_IN(v, HX_GIVEN_PLACE)}, \
    {.key = "jobs[].grid", .kind = HX_OPTION_STRING, .argument = "CxR", .to.string = &(v)->grid, \
     .otherwise = "its columns and rows", \
     .help = "logical columns x rows of its hosts for a collective: exchanged, or folded", \
     HX_GIVEN_IN(v, HX_GIVEN_GRID), .applies = HX_FOR_COLLECTIVES}, \
    {.key = "jobs[].start", .kind = HX_OPTION_DURATION, .to.number = &(v)->start_ns, .low = 0, \
     .high = HX_MOST_DURATION, .help = "when it begins, from the start of the run on"}, \
    {.key = "jobs[].traffic", .kind = HX_OPTION_CHOICE, .argument = "PATTERN", .to.choice = &(v)->settings.pattern, \
     .choices = hx_pattern_names, .file = &(v)->settings.traffic_file, .file_choice = HX_FLOWS, \
     .file_kind = hx_traffic_file_kind, .last_file_choice = HX_SCHEDULE, .otherwise = "the run's", \
     .help = "what it sends", HX_GIVEN_IN(&(v)->settings, HX_GIVEN_PATTERN)}, \
    {.key = "jobs[].message", .kind = HX_OPTION_BYTES, .to.number = &(v)->settings.message, .low = 1, \
     .high = HX_MOST_MESSAGE, .otherwise = "the run's", .help = "bytes of its messages, or of its vector", \
     HX_GIVEN_IN(&(v)->settings, HX_GIVEN_MESSAGE)}, \
    {.key = "jobs[].count", .kind = HX_OPTION_NUMBER, .to.number = &(v)->settings.count, .low = 1, \
     .high = HX_MOST_COUNT, .otherwise = "the run's", .help = "messages to each of its destinations", \
     HX_GIVEN_IN(&(v)->settings, HX_GIVEN_COUNT), .applies = HX_FOR_MESSAGES, .instead = HX_RUNS_ONCE}, \
    {.key = "jobs[].algorithm", .kind = HX_OPTION_CHOICE, .argument = "HOW", .to.choice = &(v)->settings.algorithm, \
     .choices = hx_algorithm_names, .otherwise = "the run's", .help = "how its collective is done", \
     HX_GIVEN_IN(&(v)->settings, HX_GIVEN_ALGORITHM), .applies = HX_FOR_COLLECTIVES}, \
    {.key = "jobs[].largest", .kind = HX_OPTION_FLAG, .to.flag = &(v)->settings.largest, .otherwise = "the run's", \
     .help = "of a HammingMesh: its collective runs on the largest sub-mesh of its boards that is whole", \
     HX_GIVEN_IN(&(v)->settings, HX_GIVEN_LARGEST), .applies = HX_FOR_COLLECTIVES}
/* clang-format on */

/* Why a job is not added. */
struct hx_job_refusal {
    const char *what; /* the reason; NULL: none */
    const char *key;  /* name of the value; NULL: there is no room */
    char text[HX_WHY_TEXT];
};

/* Adds a job without boards, or returns the job that has this tag. Returns NULL and fills *r on an error. */
struct hx_job *hx_jobs_add(struct hx_spec *spec, const struct hx_job_values *v, struct hx_job_refusal *r);

/* Keeps the logical grid of a job that gets another shape of boards, unless it has a grid of its own. */
void hx_job_keep_grid(struct hx_job *job, const struct hx_spec *spec, struct hx_shape was, struct hx_shape is);

/* Finds free boards for a job with a size. Returns the reason if there are none, or NULL. */
const char *hx_job_place(struct hx_spec *spec, struct hx_job *job, char *why);

/* On a HammingMesh: makes *b with the living boards of a tag free, and all others taken. HX_NO_JOB: boards of no job.
 * The caller frees *b. */
void hx_job_boards(struct hx_boards *b, const struct hx_spec *spec, uint16_t tag);

/* On a HammingMesh: reduces a job to the largest sub-mesh of its living boards; other boards become idle. HX_NO_JOB,
 * without named jobs: the job is all boards, and is named if some are left out. */
void hx_job_keep_largest(struct hx_spec *spec, uint16_t tag);

/* Returns the first key of the job that does not fit such traffic, and the reason, as "count: is for ..."; or NULL. A
 * pattern that the job does not give is checked when it runs. */
const char *hx_job_not_for(const struct hx_job *job, unsigned pattern, char *why);

/* Adds a job with a size and finds its boards. Returns NULL on an error as above, or without room; then no job is
 * added. */
struct hx_job *hx_jobs_add_placed(struct hx_spec *spec, const struct hx_job_values *v, struct hx_job_refusal *r);

/* Returns the reason why this fabric cannot have jobs, or NULL. */
const char *hx_jobs_impossible(const struct hx_spec *spec, char *why);

/* Adds and places the jobs of spec->said. If spec->only names jobs, silences all others. */
bool hx_jobs_take_said(struct hx_spec *spec, struct hx_problem *problem);

/* Writes "job 7" or "job 7 (big)" to `text` of HX_JOB_TEXT bytes. Returns text. */
enum { HX_JOB_TEXT = 64 };
const char *hx_job_text(char *text, const struct hx_spec *spec, uint16_t tag);

#endif
