/* spec.h - the description of a fabric, from a spec string or a *.hxm.yaml file.
 *
 *     4x4 Hx2Mesh        x = 4, y = 4 boards of a = b = 2 accelerators        (case and spaces are free)
 *     3x2 H2x4Mesh       x = 3, y = 2 boards of a = 2 columns and b = 4 rows
 *     lab.hxm.yaml       a file: spec/yaml/spec_file.c lists its keys; examples/ has one with every key
 *
 * A loaded struct hx_spec owns memory: hx_spec_free(). Boards are numbered Y*x + X. */
#ifndef HXMESH_SPEC_SPEC_H
#define HXMESH_SPEC_SPEC_H

#include "base/error.h"
#include "base/options/applies.h"
#include "base/options/options.h"
#include "base/options/runs.h"
#include "hxmesh/collective.h"
#include "hxmesh/frame.h"
#include "hxmesh/geometry.h"
#include "schedule/formats.h"
#include "spec/capture_settings.h"
#include "spec/faults/settings.h"
#include "spec/spec_external.h"
#include "spec/timing.h"
#include "topology/topology.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    HX_DEFAULT_PLANES = 1,
    HX_DEFAULT_TAPER = 1,
    HX_LEAST_CREDITS = HX_PACKET_BLOCKS, /* blocks of buffer per link and VC: one packet to 256 KiB */
    HX_MOST_CREDITS = 1024,
    HX_DEFAULT_CREDITS = 512,
    HX_NO_JOB = 0 /* tag of boards without a job; jobs have 1 .. 65535 */
};

/* Choice among minimal paths. AUTO is X_FIRST (hx_route_order_x_first) for all-to-all and uniform traffic if hosts
 * forward; D_MOD_K (hx_fabric_order_d_mod_k) for all-to-all in common shifts if the fabric has it; else ADAPTIVE. */
enum hx_selection { HX_SELECT_AUTO, HX_SELECT_ADAPTIVE, HX_SELECT_X_FIRST, HX_SELECT_D_MOD_K, HX_SELECTIONS };
extern const char *const hx_selection_names[HX_SELECTIONS + 1];

/* Times of messages at a --rate: equal intervals, or exponential ones with that mean. */
enum hx_arrivals { HX_ARRIVALS_EVEN, HX_ARRIVALS_POISSON, HX_ARRIVALS };
extern const char *const hx_arrivals_names[HX_ARRIVALS + 1];

/* Sends of a rank of a schedule that begin together: one after the other, or all at once. OF_FORMAT: in order if the
 * schedule's format says so (GOAL). */
enum hx_sends { HX_SENDS_IN_ORDER, HX_SENDS_SHARED, HX_SENDS, HX_SENDS_OF_FORMAT = HX_SENDS };
extern const char *const hx_sends_names[HX_SENDS + 1];

enum hx_given {
    HX_GIVEN_PATTERN = 1 << 0,
    HX_GIVEN_MESSAGE = 1 << 1,
    HX_GIVEN_COUNT = 1 << 2,
    HX_GIVEN_DURATION = 1 << 3,
    HX_GIVEN_RATE = 1 << 4,
    HX_GIVEN_SEED = 1 << 5,
    HX_GIVEN_VERIFY = 1 << 6,
    HX_GIVEN_WORKERS = 1 << 7,
    HX_GIVEN_CLOCK = 1 << 8,
    HX_GIVEN_ALGORITHM = 1 << 9,
    HX_GIVEN_SELECT = 1 << 10,
    HX_GIVEN_SHIFTS = 1 << 11,
    HX_GIVEN_INJECTION_RATE = 1 << 12,
    HX_GIVEN_HOTSPOT = 1 << 13,
    HX_GIVEN_TARGET = 1 << 14,
    HX_GIVEN_WARM_UP = 1 << 15,
    HX_GIVEN_ARRIVALS = 1 << 16,
    HX_GIVEN_LARGEST = 1 << 17,
    HX_GIVEN_EAGER = 1 << 18,
    HX_GIVEN_OVERHEAD = 1 << 19,
    HX_GIVEN_OVERHEAD_BYTE = 1 << 20,
    HX_GIVEN_COMPUTE_SCALE = 1 << 21,
    HX_GIVEN_PLACE_OF_RANKS = 1 << 22,
    HX_GIVEN_RANKS = 1 << 23,
    HX_GIVEN_GROUPS = 1 << 24,
    HX_GIVEN_FLOPS = 1 << 25,
    HX_GIVEN_MEMORY_BANDWIDTH = 1 << 26,
    HX_GIVEN_TIME_UNIT = 1 << 27,
    HX_GIVEN_TENSOR = 1 << 28,
    HX_GIVEN_SET = 1 << 29,
    HX_GIVEN_TYPE = 1 << 30
};
#define HX_GIVEN_OPERATION (UINT64_C(1) << 31)
#define HX_GIVEN_SENDS     (UINT64_C(1) << 32)
#define HX_GIVEN_SUM_RATE  (UINT64_C(1) << 33)
#define HX_GIVEN_JITTER    (UINT64_C(1) << 34)
#define HX_GIVEN_STRAGGLER (UINT64_C(1) << 35)
#define HX_GIVEN_SHARES    (UINT64_C(1) << 36)
#define HX_GIVEN_FORWARD   (UINT64_C(1) << 37)
#define HX_GIVEN_AUDIT     (UINT64_C(1) << 38)

struct hx_settings {
    unsigned pattern;     /* enum hx_pattern */
    unsigned algorithm;   /* enum hx_algorithm, of a collective */
    unsigned type;        /* enum hx_collective_type, of its elements */
    unsigned operation;   /* enum hx_collective_operation */
    bool largest;         /* a collective uses the largest sub-mesh of its job (hx_job_keep_largest) */
    uint64_t message;     /* bytes of a message, or of a collective's vector: 1 .. HX_MOST_MESSAGE */
    uint64_t count;       /* messages to each destination of an accelerator; 0: as many as fit into the duration */
    uint64_t duration_ns; /* 0: until `count` messages are sent */
    uint64_t warm_up_ns;  /* start of the run that rates and latencies do not count */
    double rate;          /* offered load as a share of the injection bandwidth, above 0, up to 1 */
    unsigned arrivals;    /* enum hx_arrivals, at a rate below 1 */
    uint64_t seed;
    bool verify;                  /* check every byte of payload */
    uint64_t workers;             /* 0: one for each core */
    unsigned clock;               /* enum hx_clock */
    unsigned select;              /* enum hx_selection */
    double injection_rate;        /* injection rate as a share of injection bandwidth; 0: by the pattern */
    double fast_forward;          /* tolerance (workload/fast_forward.h); 0: all packets are simulated */
    uint64_t fast_forward_audit;  /* collectives that are compared */
    uint64_t shifts;              /* all-to-all: number of destinations of each host; 0: all others */
    double hotspot;               /* hotspot: share of messages to the targets */
    struct hx_coordinates target; /* incast, broadcast: one; hotspot: any number; none: the first host */
    const char *traffic_file;     /* of HX_FLOWS and HX_SCHEDULE */
    /* Of a schedule: */
    uint64_t eager;                    /* bytes of the longest send that ends before it has arrived;
                                        * SCHEDULE_MOST_BYTES: all */
    uint64_t overhead_ns;              /* of each message, at both ends */
    double overhead_byte;              /* ps of each further byte of it */
    double compute_scale;              /* factor of its computing times */
    double jitter;                     /* standard deviation of these, as a share */
    struct hx_option_list straggler;   /* "RANK=FACTOR": a rank's computing takes so many times as long */
    unsigned sends;                    /* enum hx_sends */
    double sum_rate;                   /* GB/s at which a host adds what arrives for a sum; 0: in no time */
    struct schedule_read_options read; /* what its file does not say; `message` stands above */
    const char *place;                 /* of its ranks, and of a collective's: a word or a file
                                        * (workload/schedule_plan.h); NULL: linear, or by the algorithm */
    const char *shares; /* of a total exchange: weights or a file (workload/shares_read.h); NULL: equal */
    uint64_t given;     /* enum hx_given: values given; the rest are defaults */
};

enum { HX_MOST_WORKERS = 64 /* processes of a fabric on a machine */, HX_MOST_RANKS = UINT16_MAX };
enum { HX_MOST_SIMULATED_HOURS = 10 };
#define HX_MOST_COUNT     ((uint64_t)1 << 32)
#define HX_MOST_FORWARD   0.5
#define HX_MOST_MESSAGE   ((uint64_t)1 << 44)
#define HX_MOST_SEED      ((uint64_t)INT64_MAX) /* a JSON report has signed integers */
#define HX_MOST_SIMULATED ((uint64_t)HX_MOST_SIMULATED_HOURS * 3600 * 1000000000U) /* ns, of the virtual clock */

extern const struct hx_settings hx_default_settings;

/* Whether computing of a schedule differs between ranks that do the same. */
static inline bool hx_settings_is_irregular(const struct hx_settings *s)
{
    return s->jitter > 0 || s->straggler.count > 0;
}
/* Whether packets finish X before they turn to Y. */
bool hx_settings_x_first(const struct hx_settings *s);
/* Whether each destination has one path. */
bool hx_settings_d_mod_k(const struct hx_settings *s, const struct hx_fabric *f);

/* Name of the traffic in reports: the pattern, or the file's name. */
const char *hx_settings_traffic(const struct hx_settings *s);

/* The pattern that a traffic file stands for: HX_SCHEDULE or HX_FLOWS, by its content. */
unsigned hx_traffic_file_kind(const char *path);
/* Whether --shares has weights, and no file of them. */
bool hx_shares_are_weights(const char *shares);

/* Kind of a run with these settings, for hx_applies(); and with only the given ones: any clock, any pattern. */
uint64_t hx_settings_run(const struct hx_settings *s);
uint64_t hx_settings_named(const struct hx_settings *s);

/* Copies the values given in `over`. Values that conflict with them get their defaults: a count against a duration, and
 * values that do not fit the clock or the pattern. */
void hx_settings_merge(struct hx_settings *into, const struct hx_settings *over);

/* A job; its boards have its tag (hx_spec_board_job). settings.given has its own values; the others are the run's. Made
 * by spec/jobs.h. */
/* bytes of a name, with the final zero; most hosts along a side of a grid */
enum { HX_JOB_NAME = 32, HX_JOB_SIDE = UINT16_MAX };
struct hx_job {
    char name[HX_JOB_NAME]; /* empty: none */
    uint16_t tag;
    unsigned size[2]; /* boards or hosts to find: columns, rows; 0: they are named; rows 0: any shape */
    unsigned place;   /* enum hx_hosts_rule */
    unsigned grid[2]; /* logical columns and rows of its hosts; 0: their physical ones */
    uint64_t start_ns;
    uint64_t given; /* enum hx_job_given */
    bool silent;    /* keeps its boards and sends nothing */
    struct hx_settings settings;
};

/* Settings of a job: the run's, overridden by the job's. NULL: the unnamed job. */
struct hx_settings hx_job_settings(const struct hx_settings *run, const struct hx_job *job);

struct hx_spec {
    char name[64];                      /* the file's `name`, else the canonical fabric ("4x4 Hx2Mesh") */
    char fabric[HX_SPEC_BYTES];         /* canonical spec string */
    char source[256];                   /* argument of the load, file name or spec string; named in errors */
    struct hx_fabric *graph;            /* NULL until hx_spec_build() */
    const struct hx_graph_text *told;   /* during hx_spec_build(): text of a graph's file; NULL: the file is read */
    unsigned a, b;                      /* HammingMesh: columns and rows of accelerators on a board; else 0 */
    unsigned x, y;                      /* HammingMesh: columns and rows of boards; else 0 */
    unsigned planes;                    /* 1 .. 4 */
    unsigned radix;                     /* ports of a tree switch */
    unsigned taper;                     /* down ports for each up port of a leaf */
    unsigned credits;                   /* blocks of buffer per link and VC; a multiple of HX_PACKET_BLOCKS */
    bool *failed;                       /* [boards]; NULL: none */
    uint16_t *job;                      /* [boards]: tag; NULL: all HX_NO_JOB, and all take part */
    struct hx_job *named;               /* [named_jobs], in the order of naming */
    unsigned named_jobs;                /* 0: none */
    struct hx_option_list said, only;   /* values of --job and --only; not owned */
    struct hx_external *external;       /* accelerators that run elsewhere, under the live clock */
    unsigned externals;                 /* entries of external */
    struct hx_settings settings;        /* the file's, over the defaults */
    struct hx_capture_settings capture; /* the file's; strings are owned */
    struct hx_fault_settings faults;    /* the file's; strings are owned */
    struct hx_timing timing;            /* the file's, for the virtual clock */
    /* Problems of keys that do not fit the default clock or pattern, in a file that names neither. A run dies of them
     * unless its command line names the clock or pattern. exit_code 0: none. */
    struct hx_problem of_default_clock, of_default_pattern;
};

/* Overrides of a loaded spec by options; 0: not given. */
struct hx_overrides {
    uint64_t planes, radix, taper, credits;
    const char *routing; /* topology/routing.h */
};
extern const struct hx_overrides hx_default_sizes; /* of a spec string */
/* Entries of an option table for overrides: `struct hx_option options[] = {HX_OVERRIDE_OPTIONS(&overrides), ...}`.
 * HX_CREDIT_OPTION is separate: only verbs that run a fabric have buffers. */
/* clang-format off */
#define HX_OVERRIDE_OPTIONS(o) \
    {.name = "planes", .key = "planes", .kind = HX_OPTION_NUMBER, .argument = "N", .to.number = &(o)->planes, \
     .low = 1, .high = HX_MAX_PLANES, .help = "planes: independent copies of the network", \
     .default_value = &hx_default_sizes.planes}, \
    {.name = "radix", .key = "radix", .kind = HX_OPTION_NUMBER, .argument = "N", .to.number = &(o)->radix, .low = 2, \
     .high = HX_MAX_RADIX, .help = "ports of a tree switch", .default_value = &hx_default_sizes.radix}, \
    {.name = "taper", .key = "taper", .kind = HX_OPTION_NUMBER, .argument = "N", .to.number = &(o)->taper, .low = 1, \
     .high = HX_MAX_TAPER, .help = "ports down per port up at the leaves of a two-level tree", \
     .default_value = &hx_default_sizes.taper}, \
    {.name = "routing", .key = "routing", .kind = HX_OPTION_STRING, .argument = "HOW", .to.string = &(o)->routing, \
     .help = "which paths packets take: minimal, valiant, ugal, ugal-threshold, or as ugal:n=4,c=2,t=0.1 " \
     "(docs/topologies.md)", .otherwise = "minimal"}
#define HX_CREDIT_OPTION(o) \
    {.name = "credits", .key = "credits", .kind = HX_OPTION_NUMBER, .argument = "BLOCKS", .to.number = &(o)->credits, \
     .low = HX_LEAST_CREDITS, .high = HX_MOST_CREDITS, \
     .help = "blocks of 256 B that a link buffers per VC, a multiple of 32", \
     .default_value = &hx_default_sizes.credits, .applies = HX_FOR_WALL, \
     .instead = "--buffer is what a link buffers under the virtual clock"}
#define HX_WORKERS_OPTION(number_) \
    {.name = "workers", .letter = 'w', .kind = HX_OPTION_NUMBER, .to.number = (number_), .low = 0, \
     .high = HX_MOST_WORKERS, .help = "worker processes; 0: one a core"}
#define HX_RUNS_ONCE         "it runs once, to its end"
#define HX_COUNT_OR_DURATION "a count and a duration: which of both? (0 is none)"
/* Entries for what a schedule's file does not say. s: struct hx_settings */
#define HX_SCHEDULE_READ_OPTIONS(s) \
    {.key = "traffic.ranks", HX_NUMBER("ranks", &(s)->read.ranks, 0, SCHEDULE_MOST_RANKS, \
                                       "schedule: number of ranks, for formats that leave it open"), \
     .otherwise = "the file's", HX_GIVEN_IN(s, HX_GIVEN_RANKS), .applies = HX_FOR_PATTERN(HX_SCHEDULE)}, \
    {.key = "traffic.groups", HX_STRING("groups", "FILE", &(s)->read.groups, \
                                        "schedule: JSON file of process groups, {\"1\": [0, 1], ...}, for Chakra " \
                                        "traces"), \
     .otherwise = "the trace's", HX_GIVEN_IN(s, HX_GIVEN_GROUPS), .applies = HX_FOR_PATTERN(HX_SCHEDULE)}, \
    {.key = "traffic.flops", HX_REAL("flops", &(s)->read.flops, 0, 1e21, \
                                     "schedule: operations a second of a rank: of a model's layers; in Chakra traces " \
                                     "computing then takes its time by num_ops, not its duration"), .argument = "N", \
     .otherwise = "the file's", \
     HX_GIVEN_IN(s, HX_GIVEN_FLOPS), .applies = HX_FOR_PATTERN(HX_SCHEDULE)}, \
    {.key = "traffic.memory_bandwidth", HX_REAL("memory-bandwidth", &(s)->read.memory_bandwidth, 0, 1e21, \
                                                "schedule: bytes a second of a rank's memory: a lower bound of that " \
                                                "time, by tensor_size"), .argument = "N", .otherwise = "none", \
     HX_GIVEN_IN(s, HX_GIVEN_MEMORY_BANDWIDTH), .applies = HX_FOR_PATTERN(HX_SCHEDULE)}, \
    {.key = "traffic.time_unit", HX_DURATION("time-unit", &(s)->read.time_unit_ns, 0, UINT64_C(1000000000), \
                                             "schedule: unit of times in a file of layers"), .otherwise = "1ns", \
     HX_GIVEN_IN(s, HX_GIVEN_TIME_UNIT), .applies = HX_FOR_PATTERN(HX_SCHEDULE)}, \
    {.key = "traffic.tensor_parallel", HX_NUMBER("tensor-parallel", &(s)->read.tensor, 0, SCHEDULE_MOST_RANKS, \
                                                 "schedule: neighbouring ranks that share a layer, in a file of " \
                                                 "layers"), \
     .argument = "N", .otherwise = "model_parallel_NPU_group of the file", HX_GIVEN_IN(s, HX_GIVEN_TENSOR), \
     .applies = HX_FOR_PATTERN(HX_SCHEDULE)}, \
    {HX_LIST("set", "NAME=VALUE", &(s)->read.set, \
             "schedule: another value of a parameter, in YAML; may be given several times"), \
     .otherwise = "the file's", \
     HX_GIVEN_IN(s, HX_GIVEN_SET), .applies = HX_FOR_PATTERN(HX_SCHEDULE)}
/* Entries for the settings, with the names of a file's keys: of traffic, and of the run. */
#define HX_TRAFFIC_OPTIONS(s) \
    {.name = "traffic", .key = "traffic.pattern", .letter = 't', .kind = HX_OPTION_CHOICE, .argument = "PATTERN", \
     .to.choice = &(s)->pattern, .choices = hx_pattern_names, .file = &(s)->traffic_file, .file_choice = HX_FLOWS, \
     .file_kind = hx_traffic_file_kind, .last_file_choice = HX_SCHEDULE, .help = "messages and their destinations; a " \
     "file lists messages, is a matrix of bytes (docs/traffic.md), or a schedule of operations (docs/schedules.md)", \
     HX_GIVEN_IN(s, HX_GIVEN_PATTERN)}, \
    {.name = "target", .key = "traffic.target", .kind = HX_OPTION_COORDINATES, .to.coordinates = &(s)->target, \
     .help = "receiver of incast traffic, or root of a collective; hotspot: once or more", \
     .otherwise = "the first host", HX_GIVEN_IN(s, HX_GIVEN_TARGET), .applies = HX_FOR_TARGET}, \
    {.name = "hotspot", .key = "traffic.hotspot", .kind = HX_OPTION_REAL, .argument = "SHARE", \
     .to.real = &(s)->hotspot, .real_low = 1e-6, .real_high = 1, \
     .help = "share of the messages that hotspot traffic sends to the targets", HX_GIVEN_IN(s, HX_GIVEN_HOTSPOT), \
     .applies = HX_FOR_PATTERN(HX_HOTSPOT)}, \
    {.name = "algorithm", .key = "traffic.algorithm", .kind = HX_OPTION_CHOICE, .argument = "HOW", \
     .to.choice = &(s)->algorithm, .choices = hx_algorithm_names, \
     .help = "how collectives are carried out (docs/collectives.md)", HX_GIVEN_IN(s, HX_GIVEN_ALGORITHM), \
     .applies = HX_FOR_COLLECTIVES | HX_FOR_PATTERN(HX_SCHEDULE)}, \
    {.name = "type", .key = "traffic.type", .kind = HX_OPTION_CHOICE, .argument = "TYPE", .to.choice = &(s)->type, \
     .choices = hx_collective_type_names, .help = "elements of a collective's vector", \
     HX_GIVEN_IN(s, HX_GIVEN_TYPE), .applies = HX_FOR_VECTORS}, \
    {.name = "operation", .key = "traffic.operation", .kind = HX_OPTION_CHOICE, .argument = "OPERATION", \
     .to.choice = &(s)->operation, .choices = hx_collective_operation_names, \
     .help = "how a reduction combines elements", HX_GIVEN_IN(s, HX_GIVEN_OPERATION), .applies = HX_FOR_REDUCTIONS}, \
    {.name = "largest", .key = "traffic.largest", .kind = HX_OPTION_FLAG, .negatable = true, .to.flag = &(s)->largest, \
     .help = "where boards of a HammingMesh failed, a collective runs on the largest sub-mesh that is whole", \
     HX_GIVEN_IN(s, HX_GIVEN_LARGEST), .applies = HX_FOR_COLLECTIVES}, \
    {.name = "message", .key = "traffic.message", .letter = 'm', .kind = HX_OPTION_BYTES, .to.number = &(s)->message, \
     .low = 1, .high = HX_MOST_MESSAGE, .help = "bytes of a message, or of a collective's vector, as 8192 or 1MiB", \
     HX_GIVEN_IN(s, HX_GIVEN_MESSAGE), .applies = HX_FOR_MESSAGES | HX_FOR_VECTORS | HX_FOR_PATTERN(HX_SCHEDULE), \
     .instead = "the file says how long each is"}, \
    {.name = "count", .key = "traffic.count", .letter = 'n', .kind = HX_OPTION_NUMBER, .to.number = &(s)->count, \
     .low = 0, .high = HX_MOST_COUNT, \
     .help = "messages to each of its destinations; 0: as many as fit into --duration", \
     HX_GIVEN_IN(s, HX_GIVEN_COUNT), .applies = HX_FOR_MESSAGES, .instead = HX_RUNS_ONCE}, \
    {.name = "shifts", .key = "traffic.shifts", .kind = HX_OPTION_NUMBER, .argument = "N", .to.number = &(s)->shifts, \
     .low = 0, .high = HX_MAX_ACCELERATORS, .help = "all-to-all: only so many of the others, by the same random " \
     "shifts for all, of a Slim Fly by phases (docs/traffic.md); 0: all", HX_GIVEN_IN(s, HX_GIVEN_SHIFTS), \
     .applies = HX_FOR_PATTERN(HX_ALL_TO_ALL)}, \
    {.name = "duration", .key = "traffic.duration", .letter = 'd', .kind = HX_OPTION_DURATION, \
     .to.number = &(s)->duration_ns, .low = 0, .high = HX_MOST_DURATION, \
     .help = "how long to send, as 30s, 500ms or 2m; 0: until --count is sent", HX_GIVEN_IN(s, HX_GIVEN_DURATION), \
     .applies = HX_FOR_MESSAGES | HX_FOR_PATTERN(HX_FLOWS), .instead = HX_RUNS_ONCE}, \
    {.name = "warm-up", .key = "traffic.warm_up", .kind = HX_OPTION_DURATION, .to.number = &(s)->warm_up_ns, .low = 0, \
     .high = HX_MOST_DURATION, \
     .help = "how much of --duration does not count in rates, shares, latencies and how busy links are", \
     HX_GIVEN_IN(s, HX_GIVEN_WARM_UP), .applies = HX_FOR_MESSAGES | HX_FOR_PATTERN(HX_FLOWS), \
     .instead = HX_RUNS_ONCE}, \
    {.name = "rate", .key = "traffic.rate", .kind = HX_OPTION_REAL, .argument = "SHARE", .to.real = &(s)->rate, \
     .real_low = 1e-6, .real_high = 1, .help = "share of its injection bandwidth that a host offers. Below 1 the " \
     "virtual clock counts latency from when a message is due; live it is from injection", \
     HX_GIVEN_IN(s, HX_GIVEN_RATE), .applies = HX_FOR_MESSAGES, .instead = "its messages go when it is their time"}, \
    {.name = "arrivals", .key = "traffic.arrivals", .kind = HX_OPTION_CHOICE, .argument = "HOW", \
     .to.choice = &(s)->arrivals, .choices = hx_arrivals_names, .help = "when messages are due at a --rate below 1: " \
     "at equal intervals, or at random as a Poisson process has them", HX_GIVEN_IN(s, HX_GIVEN_ARRIVALS), \
     .applies = HX_FOR_MESSAGES, .instead = "its messages go when it is their time"}, \
    {.name = "eager", .key = "traffic.eager", .kind = HX_OPTION_BYTES, .to.number = &(s)->eager, .low = 0, \
     .high = SCHEDULE_MOST_BYTES, .help = "schedule: the longest send that ends when it has begun; a " \
     "longer one asks first, and ends when it has arrived (rendezvous)", HX_GIVEN_IN(s, HX_GIVEN_EAGER), \
     .applies = HX_FOR_PATTERN(HX_SCHEDULE)}, \
    {.name = "overhead", .key = "traffic.overhead", .kind = HX_OPTION_DURATION, .to.number = &(s)->overhead_ns, \
     .low = 0, .high = HX_MOST_DURATION, \
     .help = "schedule: what each message costs its sender and its receiver (o of LogGOPS)", \
     HX_GIVEN_IN(s, HX_GIVEN_OVERHEAD), .applies = HX_FOR_PATTERN(HX_SCHEDULE)}, \
    {.name = "overhead-byte", .key = "traffic.overhead_byte", .kind = HX_OPTION_REAL, .argument = "PS", \
     .to.real = &(s)->overhead_byte, .real_low = 0, .real_high = 1e9, \
     .help = "schedule: what each further byte costs them, picoseconds (O of LogGOPS)", \
     HX_GIVEN_IN(s, HX_GIVEN_OVERHEAD_BYTE), .applies = HX_FOR_PATTERN(HX_SCHEDULE)}, \
    {.name = "compute-scale", .key = "traffic.compute_scale", .kind = HX_OPTION_REAL, .argument = "FACTOR", \
     .to.real = &(s)->compute_scale, .real_low = 0, .real_high = 1e6, \
     .help = "schedule: factor of its computing times", HX_GIVEN_IN(s, HX_GIVEN_COMPUTE_SCALE), \
     .applies = HX_FOR_PATTERN(HX_SCHEDULE)}, \
    {.name = "jitter", .key = "traffic.jitter", .kind = HX_OPTION_REAL, .argument = "SHARE", \
     .to.real = &(s)->jitter, .real_low = 0, .real_high = 1, \
     .help = "schedule: standard deviation of each computing time, as a share of it, drawn by the seed from a " \
     "lognormal distribution of the same mean", HX_GIVEN_IN(s, HX_GIVEN_JITTER), \
     .applies = HX_FOR_PATTERN(HX_SCHEDULE)}, \
    {HX_LIST("straggler", "RANK=FACTOR", &(s)->straggler, \
             "schedule: computing of this rank takes FACTOR times as long; may be given several times"), \
     .otherwise = "none", HX_GIVEN_IN(s, HX_GIVEN_STRAGGLER), .applies = HX_FOR_PATTERN(HX_SCHEDULE)}, \
    {.name = "sends", .key = "traffic.sends", .kind = HX_OPTION_CHOICE, .argument = "HOW", \
     .to.choice = &(s)->sends, .choices = hx_sends_names, .otherwise = "in-order of GOAL, else shared", \
     .help = "schedule: sends of a rank leave one after the other, or share its links evenly", \
     HX_GIVEN_IN(s, HX_GIVEN_SENDS), .applies = HX_FOR_PATTERN(HX_SCHEDULE)}, \
    {.name = "sum-rate", .key = "traffic.sum_rate", .kind = HX_OPTION_REAL, .argument = "GB/s", \
     .to.real = &(s)->sum_rate, .real_low = 0, .real_high = 1e6, \
     .help = "rate at which a host adds what arrives to a collective's sum; 0: in no time", \
     HX_GIVEN_IN(s, HX_GIVEN_SUM_RATE), .applies = HX_FOR_REDUCTIONS | HX_FOR_PATTERN(HX_SCHEDULE)}, \
    {.name = "place", .key = "traffic.place", .kind = HX_OPTION_STRING, \
     .argument = "linear|grid|AxBxC|fold|random|FILE", .to.string = &(s)->place, \
     .otherwise = "linear; a collective's algorithm may have another", \
     .help = "hosts of the ranks of a schedule or a collective, by number, along a walk over the fabric's grid, a " \
     "grid or the schedule's own (fold) folded onto it, by the seed, or a line for each", \
     HX_GIVEN_IN(s, HX_GIVEN_PLACE_OF_RANKS), .applies = HX_FOR_COLLECTIVES | HX_FOR_PATTERN(HX_SCHEDULE)}, \
    {.name = "shares", .key = "traffic.shares", .kind = HX_OPTION_STRING, .argument = "WEIGHT,...|FILE", \
     .to.string = &(s)->shares, .otherwise = "equal", \
     .help = "total-exchange: weights of what each host sends to the others, of all bytes; or a file with a line for " \
     "each host", HX_GIVEN_IN(s, HX_GIVEN_SHARES), \
     .applies = HX_FOR_PATTERN(HX_COLLECTIVES + HX_COLLECTIVE_ALL_TO_ALL)}, \
    HX_SCHEDULE_READ_OPTIONS(s), \
    {.name = "seed", .key = "traffic.seed", .kind = HX_OPTION_NUMBER, .to.number = &(s)->seed, .low = 0, \
     .high = HX_MOST_SEED, .help = "seed of everything random", HX_GIVEN_IN(s, HX_GIVEN_SEED)}, \
    {.name = "verify", .key = "traffic.verify", .kind = HX_OPTION_FLAG, .negatable = true, .to.flag = &(s)->verify, \
     .help = "check every payload byte at arrival; under the virtual clock only if it is said", \
     HX_GIVEN_IN(s, HX_GIVEN_VERIFY)}
#define HX_JOB_OPTION(spec) \
    {.name = "job", .kind = HX_OPTION_LIST, .argument = "JOB", .to.list = &(spec)->said, \
     .otherwise = "all boards are one", .help = "'NAME: SIZE [PATTERN [BYTES]] [KEY=VALUE ...]', a job for which " \
     "boards are found, with the keys that jobs of a file have (docs/jobs.md); may be given again"}
#define HX_JOB_LIST_OPTIONS(spec) HX_JOB_OPTION(spec), \
    {.name = "only", .kind = HX_OPTION_LIST, .argument = "NAME|TAG", .to.list = &(spec)->only, \
     .otherwise = "all send", \
     .help = "of all jobs only this one sends, the others keep their boards; may be given again"}
#define HX_CLOCK_OPTION(s) \
    {.name = "clock", .key = "clock", .kind = HX_OPTION_CHOICE, .argument = "CLOCK", .to.choice = &(s)->clock, \
     .choices = hx_clock_names, .help = "what time is", HX_GIVEN_IN(s, HX_GIVEN_CLOCK)}
#define HX_SETTINGS_OPTIONS(s) \
    HX_TRAFFIC_OPTIONS(s), \
    {.name = "workers", .key = "workers", .letter = 'w', .kind = HX_OPTION_NUMBER, .to.number = &(s)->workers, \
     .low = 0, .high = HX_MOST_WORKERS, .help = "worker processes; 0: one a core", HX_GIVEN_IN(s, HX_GIVEN_WORKERS)}, \
    HX_CLOCK_OPTION(s)
/* Ranks of MPI that simulate a run, in place of workers. */
struct hx_ranks {
    uint64_t count;       /* 0: none, workers */
    const char *hostfile; /* their machines; NULL: this one */
};
/* Entries for them. r: struct hx_ranks */
#define HX_RANKS_OPTIONS(r) \
    {HX_NUMBER("mpi", &(r)->count, 1, HX_MOST_RANKS, \
               "ranks of Open MPI, which simulate parts of the fabric in place of workers: on this machine, or on " \
               "those of --hostfile; the report is the same"), \
     .otherwise = "workers", .applies = HX_FOR_VIRTUAL, .instead = "live, cables join machines: docs/deployment.md"}, \
    {HX_STRING("hostfile", "FILE", &(r)->hostfile, \
               "machines for --mpi, a line for each: HOST slots=N (N ranks; without it 1); the first writes the " \
               "report"), \
     .applies = HX_FOR_VIRTUAL}
/* Tolerance of fast-forward. share: double * */
#define HX_FORWARD(share) \
    HX_REAL("fast-forward", share, 0, HX_MOST_FORWARD, \
            "of schedules: a collective takes what another one took, without packets, if that began alike beside the " \
            "same ones on such links. Their times may differ by this share, as 1%; 0: all packets are simulated"), \
    .argument = "SHARE"
/* Entries for the virtual clock only. */
#define HX_VIRTUAL_OPTIONS(s) \
    {.name = "select", .key = "select", .kind = HX_OPTION_CHOICE, .argument = "HOW", .to.choice = &(s)->select, \
     .choices = hx_selection_names, .help = "choice among minimal paths; auto: for all-to-all and uniform traffic " \
     "x-first where hosts forward, for all-to-all d-mod-k in a fat tree that is wired alike, else adaptive", \
     HX_GIVEN_IN(s, HX_GIVEN_SELECT), .applies = HX_FOR_VIRTUAL}, \
    {.name = "injection-rate", .alias = "pace", .key = "injection_rate", .kind = HX_OPTION_REAL, .argument = "SHARE", \
     .to.real = &(s)->injection_rate, .real_low = 0, .real_high = 1, .help = "share of its injection bandwidth at " \
     "which a host's packets follow each other (where hosts differ, of that of the fastest); 0: for all-to-all just " \
     "below what the cables carry, else 1", HX_GIVEN_IN(s, HX_GIVEN_INJECTION_RATE), .applies = HX_FOR_VIRTUAL}, \
    {HX_FORWARD(&(s)->fast_forward), .key = "fast_forward", HX_GIVEN_IN(s, HX_GIVEN_FORWARD), \
     .applies = HX_FOR_VIRTUAL}, \
    {.name = "fast-forward-audit", .key = "fast_forward_audit", .kind = HX_OPTION_NUMBER, .argument = "N", \
     .to.number = &(s)->fast_forward_audit, .low = 0, .high = HX_MOST_COUNT, .help = "the first N of these " \
     "collectives are simulated, and compared: if an end differs by more than the share, the run fails", \
     HX_GIVEN_IN(s, HX_GIVEN_AUDIT), .applies = HX_FOR_VIRTUAL}
/* clang-format on */

/* Loads the fabric named by `argument`, with a valid geometry. Dies with HX_EXIT_CONFIG (or HX_EXIT_ENVIRONMENT:
 * permission, memory) on an error. overrides may be NULL. */
void hx_spec_load(const char *argument, const struct hx_overrides *overrides, struct hx_spec *spec);
void hx_spec_free(struct hx_spec *spec);

/* As hx_spec_load(), and its steps below, but returns false on an error. */
bool hx_spec_try_load(const char *argument, const struct hx_overrides *overrides, struct hx_spec *spec,
                      struct hx_problem *problem);
/* Reads a spec string; all else gets its default. Does not build the graph. */
bool hx_spec_parse(const char *text, struct hx_spec *spec, struct hx_problem *problem);
/* Reads a file (spec/yaml/spec_file.c). */
bool hx_spec_read(const char *path, struct hx_spec *spec, struct hx_problem *problem);

/* Prints all keys of such a file, as HX_HELP_MARKDOWN or HX_HELP_MAN. */
void hx_spec_print_keys(enum hx_help_format format, FILE *out);

/* Sets the values given; does not check the geometry. */
bool hx_spec_override(struct hx_spec *spec, const struct hx_overrides *overrides, struct hx_problem *problem);

/* Rebuilds spec->graph. Returns false with the reason (line of 300 ports, radix 4, ...). */
bool hx_spec_build(struct hx_spec *spec, struct hx_problem *problem);
/* Rebuilds the graph with searched routes (an empty `fail=`), so that routes can be searched again when links fail. Not
 * for a HammingMesh. On an error *spec is unchanged. */
bool hx_spec_search_updown(struct hx_spec *spec, struct hx_problem *problem);
/* Gives a HammingMesh the escape VC, for routes around dead links (hxmesh/around.h). An external accelerator that runs
 * elsewhere has cables of the usual VCs: such a fabric keeps them. */
void hx_spec_add_escape_vc(struct hx_spec *spec);
const struct hx_fabric *hx_spec_fabric(const struct hx_spec *spec);
/* A HammingMesh's geometry; dies with HX_EXIT_CONFIG on another fabric, which `what` does not support. */
struct hx_geometry hx_spec_mesh(const struct hx_spec *spec, const char *what);

/* Units of jobs and failures: boards of a HammingMesh; on another fabric each host, by rank, counts as a board. */
bool hx_spec_board_failed(const struct hx_spec *spec, unsigned board);
uint16_t hx_spec_board_job(const struct hx_spec *spec, unsigned board);
unsigned hx_spec_boards(const struct hx_spec *spec);
/* [hx_spec_boards()]: boards that failed or have a job. The caller frees it. */
bool *hx_spec_taken(const struct hx_spec *spec);
/* Whether a board is idle: jobs are named, and it has none. */
bool hx_spec_board_idle(const struct hx_spec *spec, unsigned board);
/* The named job with a tag; NULL: none. */
const struct hx_job *hx_spec_job(const struct hx_spec *spec, uint16_t tag);
bool hx_spec_has_failures(const struct hx_spec *spec);

unsigned hx_spec_board_of(const struct hx_spec *spec, uint32_t host);
unsigned hx_spec_board_at(const struct hx_spec *spec, unsigned gx, unsigned gy);

/* Dies with HX_EXIT_CONFIG if accelerators run elsewhere, which `what` does not support. */
void hx_spec_refuse_external(const struct hx_spec *spec, const char *what);

/* Sets the bit of each board that packets of job `tag` must not enter (struct hx_blocked_boards of route.h): failed, or
 * another job's. bits: (boards + 7) / 8 bytes. Returns whether any is blocked. */
bool hx_spec_blocked_boards(const struct hx_spec *spec, uint16_t tag, uint8_t *bits);

/* Dies with HX_EXIT_USAGE if the coordinate is outside the fabric; `option` is the option's name ("--from"). */
void hx_spec_check_coordinate(const struct hx_spec *spec, const char *option, struct hx_coordinate at);

#endif
