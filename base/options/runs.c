/* runs.c - names of clocks and patterns (runs.h). */
#include "base/options/runs.h"

#include <stddef.h>

const char *const hx_pattern_names[HX_ALL_PATTERNS + 1] = {
    [HX_ALL_TO_ALL] = "all-to-all",
    [HX_ALL_TO_ALL_RANDOM] = "all-to-all-random",
    [HX_UNIFORM] = "uniform",
    [HX_PERMUTATION] = "permutation",
    [HX_BISECTION] = "bisection",
    [HX_NEIGHBOUR] = "neighbour",
    [HX_INCAST] = "incast",
    [HX_TORNADO] = "tornado",
    [HX_TRANSPOSE] = "transpose",
    [HX_BIT_REVERSE] = "bit-reverse",
    [HX_HOTSPOT] = "hotspot",
    [HX_NEIGHBOUR_3D] = "neighbour-3d",
    [HX_WORST_CASE] = "worst-case",
    [HX_FLOWS] = "FILE.csv",
    [HX_SCHEDULE] = "SCHEDULE",
    [HX_COLLECTIVES + HX_BROADCAST] = "broadcast",
    [HX_COLLECTIVES + HX_REDUCE_SCATTER] = "reduce-scatter",
    [HX_COLLECTIVES + HX_ALL_GATHER] = "all-gather",
    [HX_COLLECTIVES + HX_ALL_REDUCE] = "all-reduce",
    [HX_ALL_PATTERNS] = NULL,
};

const char *const hx_clock_names[HX_CLOCKS + 1] = {
    [HX_CLOCK_WALL] = "wall", [HX_CLOCK_VIRTUAL] = "virtual", [HX_CLOCKS] = NULL};
