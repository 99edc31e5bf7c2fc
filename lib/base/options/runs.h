/* runs.h - the kinds of runs: clocks, traffic patterns and collectives, with the same words in files and options.
 * Options state the runs that they apply to (base/options/applies.h). */
#ifndef HXMESH_BASE_OPTIONS_RUNS_H
#define HXMESH_BASE_OPTIONS_RUNS_H

#include "hxmesh/collective.h"

#include <stdint.h>

/* Traffic pattern. */
enum hx_pattern {
    HX_ALL_TO_ALL,        /* all to all by common shifts, consecutive ones far apart: balanced */
    HX_ALL_TO_ALL_RANDOM, /* all to all, each host in its own order */
    HX_UNIFORM,           /* a new random destination for every message */
    HX_PERMUTATION,       /* one fixed random partner */
    HX_BISECTION,         /* a random partner in the other half */
    HX_NEIGHBOUR,         /* the four neighbours on the logical torus */
    HX_INCAST,            /* all to one */
    HX_TORNADO,           /* nearly half the rows and columns of the job's grid further */
    HX_TRANSPOSE,         /* position after the grid, as a row-major matrix, is transposed: gx and gy swapped */
    HX_BIT_REVERSE,       /* partner by rank with its bits reversed */
    HX_HOTSPOT,           /* a share of all messages to a few hosts, the rest uniform */
    HX_NEIGHBOUR_3D,      /* the six neighbours on a torus of three dimensions over the hosts by rank */
    HX_WORST_CASE,        /* from router to router, with as many as possible on one link */
    HX_PATTERNS,
    HX_FLOWS = HX_PATTERNS, /* from a file; its word stands for all file names */
    HX_SCHEDULE,            /* operations from a file (schedule/schedule.h) */
    HX_COLLECTIVES,         /* from here on one vector for all: in the order of enum hx_collective_kind */
    HX_ALL_PATTERNS = HX_COLLECTIVES + HX_COLLECTIVE_KINDS
};
extern const char *const hx_pattern_names[HX_ALL_PATTERNS + 1]; /* ends with NULL */

/* Algorithm of a collective. BEST is the fastest by estimates (workload/collective_choice.h); the others are in the
 * order of enum hx_collective_algorithm. */
enum hx_algorithm {
    HX_ALGORITHM_BEST,
    HX_ALGORITHM_TREE,
    HX_ALGORITHMS = HX_ALGORITHM_TREE + HX_COLLECTIVE_ALGORITHMS
};
extern const char *const hx_algorithm_names[HX_ALGORITHMS + 1];

/* By enum hx_collective_algorithm and enum hx_collective_kind; end with NULL. */
extern const char *const *const hx_collective_algorithm_names;
extern const char *const hx_collective_kind_names[HX_COLLECTIVE_KINDS + 1];
/* By enum hx_collective_type and enum hx_collective_operation; end with NULL. */
extern const char *const hx_collective_type_names[HX_COLLECTIVE_TYPES + 1];
extern const char *const hx_collective_operation_names[HX_COLLECTIVE_OPERATIONS + 1];

enum hx_clock { HX_CLOCK_WALL, HX_CLOCK_VIRTUAL, HX_CLOCKS };
extern const char *const hx_clock_names[HX_CLOCKS + 1];

/* Masks: a bit for every clock and for every pattern. */
enum { HX_FIRST_PATTERN_BIT = 8 };
#define HX_FOR_CLOCK(clock)     (UINT64_C(1) << (clock))
#define HX_FOR_PATTERN(pattern) (UINT64_C(1) << (HX_FIRST_PATTERN_BIT + (pattern)))
#define HX_FOR_ANY_CLOCK        (HX_FOR_PATTERN(0) - 1)
#define HX_FOR_ANY_PATTERN      (~HX_FOR_ANY_CLOCK)
#define HX_FOR_WALL             HX_FOR_CLOCK(HX_CLOCK_WALL)
#define HX_FOR_VIRTUAL          HX_FOR_CLOCK(HX_CLOCK_VIRTUAL)
#define HX_FOR_MESSAGES         (HX_FOR_PATTERN(HX_PATTERNS) - HX_FOR_PATTERN(0))
#define HX_FOR_COLLECTIVES      (HX_FOR_PATTERN(HX_ALL_PATTERNS) - HX_FOR_PATTERN(HX_COLLECTIVES))
/* Collectives with a vector. */
#define HX_FOR_VECTORS (HX_FOR_COLLECTIVES & ~HX_FOR_PATTERN(HX_COLLECTIVES + HX_BARRIER))
/* Patterns with one target that the others send to, or receive from. */
#define HX_FOR_TARGET                                                                                                  \
    (HX_FOR_PATTERN(HX_INCAST) | HX_FOR_PATTERN(HX_HOTSPOT) | HX_FOR_PATTERN(HX_COLLECTIVES + HX_BROADCAST) |          \
     HX_FOR_PATTERN(HX_COLLECTIVES + HX_REDUCE) | HX_FOR_PATTERN(HX_COLLECTIVES + HX_GATHER) |                         \
     HX_FOR_PATTERN(HX_COLLECTIVES + HX_SCATTER))
/* Collectives that combine elements. */
#define HX_FOR_REDUCTIONS                                                                                              \
    (HX_FOR_PATTERN(HX_COLLECTIVES + HX_ALL_REDUCE) | HX_FOR_PATTERN(HX_COLLECTIVES + HX_REDUCE_SCATTER) |             \
     HX_FOR_PATTERN(HX_COLLECTIVES + HX_REDUCE))

#define HX_MOST_DURATION ((uint64_t)30 * 24 * 3600 * 1000000000U) /* ns: 30 days */

#endif
