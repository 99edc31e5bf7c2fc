/* spec.h - everything a fabric is built from, out of a spec string or a *.hxm.yaml file.
 *
 *     4x4 Hx2Mesh        x = 4, y = 4 boards of a = b = 2 accelerators        (case and spaces are free)
 *     3x2 H2x4Mesh       x = 3, y = 2 boards of a = 2 columns and b = 4 rows
 *     lab.hxm.yaml       a file: spec_file.c lists its keys; examples/ has one with every key
 *
 * A struct hx_spec that was loaded owns memory: hx_spec_free. Boards are numbered Y*x + X. */
#ifndef HXMESH_HOST_SPEC_H
#define HXMESH_HOST_SPEC_H

#include "host/capture_settings.h"
#include "host/error.h"
#include "host/options.h"
#include "host/spec_external.h"
#include "host/timing.h"
#include "hxmesh/frame.h"
#include "hxmesh/geometry.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    HX_DEFAULT_PLANES = 1,
    HX_DEFAULT_TAPER = 1,
    HX_LEAST_CREDITS = HX_PACKET_BLOCKS, /* blocks of buffer per link and VC: one full packet .. 256 KiB */
    HX_MOST_CREDITS = 1024,
    HX_DEFAULT_CREDITS = 512,
    HX_NO_JOB = 0 /* tag of boards that no job names; jobs have 1 .. 65535 */
};

/* What is sent through a fabric and how it is run: the same words in a file and as options. */
enum hx_pattern {
    HX_ALL_TO_ALL,        /* everyone to everyone, all by the same shift, shifts far apart in turn: balanced */
    HX_ALL_TO_ALL_RANDOM, /* everyone to everyone, each in an order of its own */
    HX_UNIFORM,           /* a new random destination for every message */
    HX_PERMUTATION,       /* one random partner for good */
    HX_BISECTION,         /* a random partner in the other half */
    HX_NEIGHBOUR,         /* the four neighbours on the logical torus */
    HX_INCAST,            /* all to one */
    HX_PATTERNS,
    HX_COLLECTIVES = HX_PATTERNS, /* from here on one vector for all: in the order of enum hx_collective_kind */
    HX_ALL_PATTERNS = HX_COLLECTIVES + 4
};
extern const char *const hx_pattern_names[HX_ALL_PATTERNS + 1]; /* ends with NULL */

/* How a collective is done. BEST: two rings where a job's grid has two, else a torus, in a single line one ring; the
 * others in the order of enum hx_collective_algorithm. */
enum hx_algorithm { HX_ALGORITHM_BEST, HX_ALGORITHM_TREE, HX_ALGORITHMS = HX_ALGORITHM_TREE + 4 };
extern const char *const hx_algorithm_names[HX_ALGORITHMS + 1];

enum hx_clock { HX_CLOCK_WALL, HX_CLOCK_VIRTUAL, HX_CLOCKS };
extern const char *const hx_clock_names[HX_CLOCKS + 1];

/* Which of its minimal ways a packet may take (hx_route_order_x_first): AUTO is X_FIRST where everyone sends to everyone
 * (all-to-all, uniform), else ADAPTIVE. */
enum hx_selection { HX_SELECT_AUTO, HX_SELECT_ADAPTIVE, HX_SELECT_X_FIRST, HX_SELECTIONS };
extern const char *const hx_selection_names[HX_SELECTIONS + 1];

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
    HX_GIVEN_PACE = 1 << 12
};

struct hx_settings {
    unsigned pattern;     /* enum hx_pattern */
    unsigned algorithm;   /* enum hx_algorithm, of a collective */
    uint64_t message;     /* bytes of a message, or of a collective's vector: 1 .. HX_MOST_MESSAGE */
    uint64_t count;       /* messages to each destination of an accelerator; 0: as many as fit into the duration */
    uint64_t duration_ns; /* 0: until `count` messages are sent */
    double rate;          /* share of the injection bandwidth an accelerator offers: above 0, up to 1 */
    uint64_t seed;
    bool verify;      /* check every payload byte at arrival */
    uint64_t workers; /* 0: one a core */
    unsigned clock;   /* enum hx_clock */
    unsigned select;  /* enum hx_selection */
    double pace;      /* share of its injection bandwidth an accelerator's packets may take; 0: by the pattern */
    uint64_t shifts;  /* all-to-all: to how many of the others each one sends; 0: to all */
    unsigned given;   /* enum hx_given of what was said; the rest are defaults */
};

enum { HX_MOST_WORKERS = 256 };
#define HX_MOST_COUNT    ((uint64_t)1 << 32)
#define HX_MOST_MESSAGE  ((uint64_t)1 << 44)
#define HX_MOST_DURATION ((uint64_t)30 * 24 * 3600 * 1000000000U) /* ns: 30 days */

extern const struct hx_settings hx_default_settings;

/* Whether packets are done with X before they turn to Y. */
bool hx_settings_x_first(const struct hx_settings *s);

/* Takes over from `over` what was given there. */
void hx_settings_merge(struct hx_settings *into, const struct hx_settings *over);

struct hx_spec {
    char name[64];                      /* of the file's `name`, else the canonical fabric ("4x4 Hx2Mesh") */
    char fabric[64];                    /* canonical spec string */
    char source[256];                   /* the argument it came from: file name or spec string; what errors name */
    unsigned a, b;                      /* columns and rows of accelerators on a board */
    unsigned x, y;                      /* columns and rows of boards */
    unsigned planes;                    /* 1 .. 4 */
    unsigned radix;                     /* ports of a tree switch */
    unsigned taper;                     /* down ports per up port at a leaf */
    unsigned credits;                   /* blocks of buffer per link and VC; a multiple of HX_PACKET_BLOCKS */
    bool *failed;                       /* per board; NULL: none */
    uint16_t *job;                      /* tag per board; NULL: all HX_NO_JOB */
    struct hx_external *external;       /* accelerators that run elsewhere, in the live clock */
    unsigned externals;                 /* entries of external */
    struct hx_settings settings;        /* of the file, over the defaults */
    struct hx_capture_settings capture; /* of the file; its texts are the spec's own */
    struct hx_timing timing;            /* of the file, for the virtual clock */
};

/* What options may change of a loaded spec; 0: not given. */
struct hx_overrides {
    uint64_t planes, radix, taper, credits;
};
/* Entries of an option table for them: `struct hx_option options[] = {HX_OVERRIDE_OPTIONS(&overrides), ...}`.
 * HX_CREDIT_OPTION is apart because only what runs a fabric has buffers. */
/* clang-format off */
#define HX_OVERRIDE_OPTIONS(o) \
    {.name = "planes", .kind = HX_OPTION_NUMBER, .argument = "N", .to.number = &(o)->planes, .low = 1, \
     .high = HX_MAX_PLANES, .help = "planes: independent copies of the network, 1 to 4 (1)"}, \
    {.name = "radix", .kind = HX_OPTION_NUMBER, .argument = "N", .to.number = &(o)->radix, .low = 2, \
     .high = HX_MAX_RADIX, .help = "ports of a tree switch, 2 to 64 (64)"}, \
    {.name = "taper", .kind = HX_OPTION_NUMBER, .argument = "N", .to.number = &(o)->taper, .low = 1, \
     .high = HX_MAX_TAPER, .help = "ports down per port up at the leaves of a two-level tree, 1 to 63 (1)"}
#define HX_CREDIT_OPTION(o) \
    {.name = "credits", .kind = HX_OPTION_NUMBER, .argument = "BLOCKS", .to.number = &(o)->credits, \
     .low = HX_LEAST_CREDITS, .high = HX_MOST_CREDITS, \
     .help = "blocks of 256 B that a link buffers per VC, 32 to 1024, a multiple of 32 (512)"}
/* Entries for the settings, the same words as in a file: those of the traffic, and those of the run. */
#define HX_TRAFFIC_OPTIONS(s) \
    {.name = "traffic", .letter = 't', .kind = HX_OPTION_CHOICE, .argument = "PATTERN", .to.choice = &(s)->pattern, \
     .choices = hx_pattern_names, .help = "who sends to whom", .given = &(s)->given, .given_bit = HX_GIVEN_PATTERN}, \
    {.name = "algorithm", .kind = HX_OPTION_CHOICE, .argument = "HOW", .to.choice = &(s)->algorithm, \
     .choices = hx_algorithm_names, .help = "how broadcast, reduce-scatter, all-gather and all-reduce are done", \
     .given = &(s)->given, .given_bit = HX_GIVEN_ALGORITHM}, \
    {.name = "message", .letter = 'm', .kind = HX_OPTION_BYTES, .to.number = &(s)->message, .low = 1, \
     .high = HX_MOST_MESSAGE, .help = "bytes of a message, or of a collective's vector, as 8192 or 1MiB (64KiB)", \
     .given = &(s)->given, .given_bit = HX_GIVEN_MESSAGE}, \
    {.name = "count", .letter = 'n', .kind = HX_OPTION_NUMBER, .to.number = &(s)->count, .low = 0, \
     .high = HX_MOST_COUNT, .help = "messages to each of its destinations; 0: as many as fit into --duration (1)", \
     .given = &(s)->given, .given_bit = HX_GIVEN_COUNT}, \
    {.name = "shifts", .kind = HX_OPTION_NUMBER, .argument = "N", .to.number = &(s)->shifts, .low = 0, \
     .high = HX_MAX_ACCELERATORS, .help = "all-to-all: only so many of the others, the same random shifts for all; 0: all " \
     "(0)", .given = &(s)->given, .given_bit = HX_GIVEN_SHIFTS}, \
    {.name = "duration", .letter = 'd', .kind = HX_OPTION_DURATION, .to.number = &(s)->duration_ns, .low = 0, \
     .high = HX_MOST_DURATION, .help = "how long to send, as 30s, 500ms or 2m; 0: until --count is sent (0)", \
     .given = &(s)->given, .given_bit = HX_GIVEN_DURATION}, \
    {.name = "rate", .kind = HX_OPTION_REAL, .argument = "SHARE", .to.real = &(s)->rate, .real_low = 1e-6, \
     .real_high = 1, .help = "share of its injection bandwidth an accelerator offers, up to 1 (1)", \
     .given = &(s)->given, .given_bit = HX_GIVEN_RATE}, \
    {.name = "seed", .kind = HX_OPTION_NUMBER, .to.number = &(s)->seed, .low = 0, .high = UINT64_MAX, \
     .help = "seed of everything random (1)", .given = &(s)->given, .given_bit = HX_GIVEN_SEED}, \
    {.name = "verify", .kind = HX_OPTION_FLAG, .negatable = true, .to.flag = &(s)->verify, \
     .help = "check every payload byte at arrival (on)", .given = &(s)->given, .given_bit = HX_GIVEN_VERIFY}
#define HX_SETTINGS_OPTIONS(s) \
    HX_TRAFFIC_OPTIONS(s), \
    {.name = "workers", .letter = 'w', .kind = HX_OPTION_NUMBER, .to.number = &(s)->workers, .low = 0, \
     .high = HX_MOST_WORKERS, .help = "worker processes; 0: one a core (0)", .given = &(s)->given, \
     .given_bit = HX_GIVEN_WORKERS}, \
    {.name = "clock", .kind = HX_OPTION_CHOICE, .argument = "CLOCK", .to.choice = &(s)->clock, \
     .choices = hx_clock_names, .help = "what time is", .given = &(s)->given, .given_bit = HX_GIVEN_CLOCK}
/* Those that only the virtual clock knows. */
#define HX_VIRTUAL_OPTIONS(s) \
    {.name = "select", .kind = HX_OPTION_CHOICE, .argument = "HOW", .to.choice = &(s)->select, \
     .choices = hx_selection_names, .help = "which minimal ways packets take; auto: x-first for all-to-all and uniform " \
     "traffic, else adaptive", .given = &(s)->given, .given_bit = HX_GIVEN_SELECT}, \
    {.name = "pace", .kind = HX_OPTION_REAL, .argument = "SHARE", .to.real = &(s)->pace, .real_low = 0, .real_high = 1, \
     .help = "share of its injection bandwidth at which an accelerator's packets follow each other; 0: for all-to-all " \
     "just below what the cables carry, else 1 (0)", .given = &(s)->given, .given_bit = HX_GIVEN_PACE}
/* clang-format on */

/* Loads the fabric that `argument` names; dies with HX_EXIT_CONFIG (or HX_EXIT_ENVIRONMENT: permission, memory). What
 * it returns has a valid geometry. overrides may be NULL. */
void hx_spec_load(const char *argument, const struct hx_overrides *overrides, struct hx_spec *spec);
void hx_spec_free(struct hx_spec *spec);

/* The same, and each step of it, without dying. */
bool hx_spec_try_load(const char *argument, const struct hx_overrides *overrides, struct hx_spec *spec,
                      struct hx_problem *problem);
/* A spec string into a, b, x, y, fabric; everything else gets its default. */
bool hx_spec_parse(const char *text, struct hx_spec *spec, struct hx_problem *problem);
/* A file (spec_file.c). */
bool hx_spec_read(const char *path, struct hx_spec *spec, struct hx_problem *problem);

/* Changes what is given; the geometry is not looked at. */
bool hx_spec_override(struct hx_spec *spec, const struct hx_overrides *overrides, struct hx_problem *problem);

/* The geometry, or in words why there is none (line of 300 ports, radix 4, ...). */
bool hx_spec_try_geometry(const struct hx_spec *spec, struct hx_geometry *g, struct hx_problem *problem);
struct hx_geometry hx_spec_geometry(const struct hx_spec *spec);

bool hx_spec_board_failed(const struct hx_spec *spec, unsigned board);
uint16_t hx_spec_board_job(const struct hx_spec *spec, unsigned board);
unsigned hx_spec_boards(const struct hx_spec *spec);

/* Board of an accelerator. */
unsigned hx_spec_board_at(const struct hx_spec *spec, unsigned gx, unsigned gy);

/* Dies with HX_EXIT_CONFIG if accelerators run elsewhere, which `what` cannot do with. */
void hx_spec_refuse_external(const struct hx_spec *spec, const char *what);

/* Sets the bit of every board a packet of job `tag` may not land on (struct hx_barred of route.h): failed, or
 * another job's. bits: (boards + 7) / 8 bytes. Returns whether any is barred. */
bool hx_spec_barred(const struct hx_spec *spec, uint16_t tag, uint8_t *bits);

/* Dies with HX_EXIT_USAGE unless the coordinate lies in the fabric; `option` is named ("--from"). */
void hx_spec_check_coordinate(const struct hx_spec *spec, const char *option, struct hx_coordinate at);

#endif
