/* runs.c - names of clocks, patterns and collectives (runs.h). */
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
    [HX_COLLECTIVES + HX_REDUCE] = "reduce",
    [HX_COLLECTIVES + HX_GATHER] = "gather",
    [HX_COLLECTIVES + HX_SCATTER] = "scatter",
    [HX_COLLECTIVES + HX_COLLECTIVE_ALL_TO_ALL] = "total-exchange",
    [HX_COLLECTIVES + HX_BARRIER] = "barrier",
    [HX_ALL_PATTERNS] = NULL,
};

const char *const hx_algorithm_names[HX_ALGORITHMS + 1] = {
    [HX_ALGORITHM_BEST] = "best",
    [HX_ALGORITHM_TREE + HX_BY_TREE] = "tree",
    [HX_ALGORITHM_TREE + HX_BY_RING] = "ring",
    [HX_ALGORITHM_TREE + HX_BY_RINGS] = "rings",
    [HX_ALGORITHM_TREE + HX_BY_TORUS] = "torus",
    [HX_ALGORITHM_TREE + HX_BY_DOUBLE_TREE] = "double-tree",
    [HX_ALGORITHM_TREE + HX_BY_CHAIN] = "chain",
    [HX_ALGORITHM_TREE + HX_BY_HALVING] = "halving",
    [HX_ALGORITHM_TREE + HX_BY_DOUBLING] = "doubling",
    [HX_ALGORITHM_TREE + HX_BY_SWING] = "swing",
    [HX_ALGORITHM_TREE + HX_BY_SWING_DOUBLING] = "swing-doubling",
    [HX_ALGORITHM_TREE + HX_BY_BRUCK] = "bruck",
    [HX_ALGORITHM_TREE + HX_BY_DIRECT] = "direct",
    [HX_ALGORITHM_TREE + HX_BY_PAIRWISE] = "pairwise",
    [HX_ALGORITHM_TREE + HX_BY_HIERARCHY] = "hierarchy",
    [HX_ALGORITHMS] = NULL,
};
const char *const *const hx_collective_algorithm_names = hx_algorithm_names + HX_ALGORITHM_TREE;

const char *const hx_collective_kind_names[HX_COLLECTIVE_KINDS + 1] = {
    [HX_BROADCAST] = "broadcast",   [HX_REDUCE_SCATTER] = "reduce-scatter",
    [HX_ALL_GATHER] = "all-gather", [HX_ALL_REDUCE] = "all-reduce",
    [HX_REDUCE] = "reduce",         [HX_GATHER] = "gather",
    [HX_SCATTER] = "scatter",       [HX_COLLECTIVE_ALL_TO_ALL] = "all-to-all",
    [HX_BARRIER] = "barrier",       [HX_COLLECTIVE_KINDS] = NULL,
};

const char *const hx_collective_type_names[HX_COLLECTIVE_TYPES + 1] = {
    [HX_FLOAT32] = "float32", [HX_FLOAT64] = "float64", [HX_FLOAT16] = "float16",     [HX_BFLOAT16] = "bfloat16",
    [HX_INT8] = "int8",       [HX_UINT8] = "uint8",     [HX_INT32] = "int32",         [HX_UINT32] = "uint32",
    [HX_INT64] = "int64",     [HX_UINT64] = "uint64",   [HX_COLLECTIVE_TYPES] = NULL,
};

const char *const hx_collective_operation_names[HX_COLLECTIVE_OPERATIONS + 1] = {
    [HX_SUM] = "sum", [HX_MAX] = "max", [HX_MIN] = "min", [HX_COLLECTIVE_OPERATIONS] = NULL};

const char *const hx_clock_names[HX_CLOCKS + 1] = {
    [HX_CLOCK_WALL] = "wall", [HX_CLOCK_VIRTUAL] = "virtual", [HX_CLOCKS] = NULL};
