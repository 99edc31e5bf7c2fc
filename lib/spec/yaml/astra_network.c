/* astra_network.c - reads network files of ASTRA-sim (astra_network.h). */
#include "spec/yaml/astra_network.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GBPS_OF_GB (8 * 1.073741824) /* Gb/s of 2^30 bytes a second */
#define MOST_APART 0.005             /* by which a rate in whole Gb/s may differ, as a share */
#define LEAST_NS   1                 /* of a link: the clock has no window without it */

enum list { TOPOLOGY, NPUS_COUNT, BANDWIDTH, LATENCY, LISTS };
static const char *const keys[LISTS] = {
    [TOPOLOGY] = "topology", [NPUS_COUNT] = "npus_count", [BANDWIDTH] = "bandwidth", [LATENCY] = "latency"};

struct reading {
    const struct hx_yaml *y;
    const struct hx_yaml_item *list[LISTS];
    struct hx_problem *problem;
    char *spec;
    size_t used;
};

bool astra_network_is(const struct hx_yaml *y)
{
    return hx_yaml_find(y, keys[NPUS_COUNT]) != NULL;
}

__attribute__((format(printf, 2, 3))) static void write(struct reading *r, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int added = vsnprintf(r->spec + r->used, HX_SPEC_BYTES - r->used, format, arguments);
    va_end(arguments);
    r->used += (size_t)added < HX_SPEC_BYTES - r->used ? (size_t)added : HX_SPEC_BYTES - r->used - 1;
}

/* ---- lists ---- */

static bool is_known(const struct hx_yaml_item *item)
{
    bool known = false;
    for (unsigned i = 0; i < LISTS && !known; i++)
        known = strcmp(item->key, keys[i]) == 0;
    return known;
}

static bool find_lists(struct reading *r)
{
    for (unsigned i = 0; i < LISTS; i++) {
        r->list[i] = hx_yaml_find(r->y, keys[i]);
        if (!r->list[i]) {
            (void)hx_yaml_fail(r->y, NULL, r->problem, "%s is missing in this ASTRA-sim network", keys[i]);
            return false;
        }
    }
    return true;
}

/* No other key is there, and all lists are equally long. */
static bool check_lists(const struct reading *r)
{
    const struct hx_yaml *y = r->y;
    for (const struct hx_yaml_item *item = hx_yaml_first(y->items); item; item = hx_yaml_next(y->items, item)) {
        if (!is_known(item))
            return hx_yaml_fail_key(y, item, r->problem, "unknown key '%s' of an ASTRA-sim network", item->key);
    }
    for (unsigned i = 0; i < LISTS; i++) {
        const struct hx_yaml_item *list = r->list[i];
        if (list->shape != HX_YAML_LIST || !list->entries)
            return hx_yaml_fail(y, list, r->problem, "%s: a list with an entry for each dimension", keys[i]);
        if (list->entries != r->list[TOPOLOGY]->entries)
            return hx_yaml_fail(y, list, r->problem, "%s has %u entries, but topology has %u", keys[i], list->entries,
                                r->list[TOPOLOGY]->entries);
    }
    return true;
}

static bool number_of(const struct reading *r, const struct hx_yaml_item *item, double least, double *number)
{
    char *end = NULL;
    *number = item->text ? strtod(item->text, &end) : NAN;
    if (end && end != item->text && *end == '\0' && *number >= least && *number <= 1e9)
        return true;
    return hx_yaml_fail(r->y, item, r->problem, "'%s': a number of %g at least", item->text ? item->text : "", least);
}

/* ---- dimensions ---- */

static bool write_dimensions(struct reading *r)
{
    static const char *const theirs[] = {"Ring", "FullyConnected", "Switch"}, *const ours[] = {"Ring", "FC", "Switch"};
    const struct hx_yaml_item *count = hx_yaml_first(r->list[NPUS_COUNT]);
    for (const struct hx_yaml_item *item = hx_yaml_first(r->list[TOPOLOGY]); item;
         item = hx_yaml_next(r->list[TOPOLOGY], item), count = hx_yaml_next(r->list[NPUS_COUNT], count)) {
        double npus;
        unsigned i = 0;
        while (i < 3 && (!item->text || strcmp(item->text, theirs[i]) != 0))
            i++;
        if (i == 3)
            return hx_yaml_fail(r->y, item, r->problem, "'%s': Ring, FullyConnected and Switch are possible",
                                item->text ? item->text : "");
        if (!number_of(r, count, 2, &npus))
            return false;
        if (npus != floor(npus))
            return hx_yaml_fail(r->y, count, r->problem, "'%s': a whole number of NPUs", count->text);
        write(r, "%s%s(%.0f)", r->used ? "_" : "", ours[i], npus);
    }
    return true;
}

static bool write_rates(struct reading *r)
{
    write(r, " gbps=");
    for (const struct hx_yaml_item *item = hx_yaml_first(r->list[BANDWIDTH]); item;
         item = hx_yaml_next(r->list[BANDWIDTH], item)) {
        double gb;
        if (!number_of(r, item, 0, &gb))
            return false;
        const double gbps = gb * GBPS_OF_GB, whole = round(gbps);
        if (!(fabs(whole - gbps) <= MOST_APART * gbps))
            return hx_yaml_fail(r->y, item, r->problem,
                                "%s GB/s of 2^30 bytes are %.4g Gb/s: whole Gb/s are possible, within half a per cent",
                                item->text, gbps);
        write(r, "%s%.0f", r->spec[r->used - 1] == '=' ? "" : ",", whole);
    }
    return true;
}

static bool write_latencies(struct reading *r)
{
    write(r, " ns=");
    for (const struct hx_yaml_item *item = hx_yaml_first(r->list[LATENCY]); item;
         item = hx_yaml_next(r->list[LATENCY], item)) {
        double ns;
        if (!number_of(r, item, 0, &ns))
            return false;
        write(r, "%s%.0f", r->spec[r->used - 1] == '=' ? "" : ",", fmax(LEAST_NS, round(ns)));
    }
    return true;
}

bool astra_network_spec(const struct hx_yaml *y, char spec[HX_SPEC_BYTES], struct hx_problem *problem)
{
    struct reading r = {.y = y, .problem = problem, .spec = spec};
    return find_lists(&r) && check_lists(&r) && write_dimensions(&r) && write_rates(&r) && write_latencies(&r);
}
