/* compare.h - comparisons of numbers for qsort(), ascending. */
#ifndef HXMESH_BASE_COMPARE_H
#define HXMESH_BASE_COMPARE_H

#include <stdint.h>

static inline int hx_compare_uint32(const void *a, const void *b)
{
    uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    return (one > other) - (one < other);
}

/* Neither may be NAN. */
static inline int hx_compare_double(const void *a, const void *b)
{
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

/* For structs: the first difference that is not 0 decides. */
static inline int hx_compare(uint64_t one, uint64_t other)
{
    return (one > other) - (one < other);
}

#endif
