/* locality.c - traffic on the upper level of a job's networks (locality.h). */
#include "allocation/locality.h"

#include <stddef.h>

const char *const hx_locality_names[HX_LOCALITIES + 1] = {"none", "all-to-all", "all-reduce", NULL};

/* Ordered pairs of different places of a job along a dimension, and how many of them are on different leaves. */
static struct hx_upper_traffic pairs(const uint32_t *at, unsigned count, unsigned leaf)
{
    struct hx_upper_traffic t = {(double)count * (count - 1), 0};
    double together = 0;
    for (unsigned first = 0; first < count;) {
        unsigned end = first;
        while (end < count && at[end] / leaf == at[first] / leaf)
            end++;
        together += (double)(end - first) * (end - first - 1);
        first = end;
    }
    t.high = t.low - together;
    return t;
}

/* The same for neighbours on the ring through all places, in both directions. */
static struct hx_upper_traffic neighbours(const uint32_t *at, unsigned count, unsigned leaf)
{
    struct hx_upper_traffic t = {count > 1 ? 2.0 * count : 0, 0};
    for (unsigned i = 0; count > 1 && i < count; i++)
        t.high += at[i] / leaf != at[(i + 1) % count] / leaf ? 2 : 0;
    return t;
}

struct hx_upper_traffic hx_upper_traffic_of(const struct hx_placement *p, unsigned dimension, unsigned locality,
                                            const unsigned leaf[2])
{
    if (!leaf[dimension])
        return (struct hx_upper_traffic){0, 0};
    const uint32_t *at = dimension == 0 ? p->column : p->row;
    unsigned count = dimension == 0 ? p->shape.columns : p->shape.rows;
    if (locality == HX_NEAR_ALL_REDUCE)
        return neighbours(at, count, leaf[dimension]);
    /* Each pair of columns has traffic between all rows. Half of the traffic from another row crosses the source's row,
     * half the destination's. So each row network carries the pairs once for each row of the job. */
    unsigned others = dimension == 0 ? p->shape.rows : p->shape.columns;
    struct hx_upper_traffic t = pairs(at, count, leaf[dimension]);
    return (struct hx_upper_traffic){t.low * others, t.high * others};
}

double hx_upper_share(const struct hx_placement *p, unsigned locality, const unsigned leaf[2])
{
    struct hx_upper_traffic row = hx_upper_traffic_of(p, 0, locality, leaf);
    struct hx_upper_traffic column = hx_upper_traffic_of(p, 1, locality, leaf);
    double low = row.low * p->shape.rows + column.low * p->shape.columns;
    double high = row.high * p->shape.rows + column.high * p->shape.columns;
    return low > 0 ? high / low : 0;
}
