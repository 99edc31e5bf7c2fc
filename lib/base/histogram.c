/* histogram.c - reads histograms (histogram.h). */
#include "base/histogram.h"

bool fab_histogram_is_empty(const struct fab_histogram *h)
{
    unsigned bin = 0;
    while (bin < FAB_HISTOGRAM_BINS && h->count[bin] == 0)
        bin++;
    return bin == FAB_HISTOGRAM_BINS;
}

uint64_t fab_histogram_count(const struct fab_histogram *h)
{
    uint64_t all = 0;
    for (unsigned bin = 0; bin < FAB_HISTOGRAM_BINS; bin++)
        all += h->count[bin];
    return all;
}

uint64_t fab_histogram_mean(const struct fab_histogram *h)
{
    uint64_t all = fab_histogram_count(h);
    return all ? (h->sum + all / 2) / all : 0;
}

uint64_t fab_histogram_quantile(const struct fab_histogram *h, double share)
{
    uint64_t all = fab_histogram_count(h);
    uint64_t below = 0;
    for (unsigned bin = 0; bin < FAB_HISTOGRAM_BINS; bin++) {
        below += h->count[bin];
        if (h->count[bin] && (double)below >= share * (double)all)
            return fab_histogram_value(bin) < h->most ? fab_histogram_value(bin) : h->most;
    }
    return 0;
}

void fab_histogram_merge(struct fab_histogram *into, const struct fab_histogram *from)
{
    for (unsigned bin = 0; bin < FAB_HISTOGRAM_BINS; bin++)
        into->count[bin] += from->count[bin];
    into->most = from->most > into->most ? from->most : into->most;
    into->sum += from->sum;
}
