/* histogram.h - counts of values over twelve decades in bins 3 % wide: 32 steps to each power of two. */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

enum { FAB_HISTOGRAM_STEPS = 32, FAB_HISTOGRAM_BINS = 40 * FAB_HISTOGRAM_STEPS };

struct fab_histogram {
    uint64_t count[FAB_HISTOGRAM_BINS];
    uint64_t most;
    uint64_t sum; /* of the values */
};

/* Returns the bin of a value. Values below 32 have a bin each; above, the five bits below the highest one choose the
 * step. */
static inline unsigned fab_histogram_bin(uint64_t value)
{
    if (value < FAB_HISTOGRAM_STEPS)
        return (unsigned)value;
    unsigned top = 63U - (unsigned)__builtin_clzll(value);
    unsigned bin = (top - 4) * FAB_HISTOGRAM_STEPS + (unsigned)(value >> (top - 5) & 31);
    return bin < FAB_HISTOGRAM_BINS ? bin : FAB_HISTOGRAM_BINS - 1;
}

/* Returns the least value of a bin. */
static inline uint64_t fab_histogram_value(unsigned bin)
{
    if (bin < FAB_HISTOGRAM_STEPS)
        return bin;
    return (uint64_t)(FAB_HISTOGRAM_STEPS + bin % FAB_HISTOGRAM_STEPS) << (bin / FAB_HISTOGRAM_STEPS - 1);
}

static inline void fab_histogram_add(struct fab_histogram *h, uint64_t value)
{
    h->count[fab_histogram_bin(value)]++;
    h->most = value > h->most ? value : h->most;
    h->sum += value;
}

bool fab_histogram_is_empty(const struct fab_histogram *h);
uint64_t fab_histogram_count(const struct fab_histogram *h);
/* Returns the value that a share of all values does not exceed; 0: empty. */
uint64_t fab_histogram_quantile(const struct fab_histogram *h, double share);
/* Returns the mean; 0: empty. */
uint64_t fab_histogram_mean(const struct fab_histogram *h);
void fab_histogram_merge(struct fab_histogram *into, const struct fab_histogram *from);

#endif
