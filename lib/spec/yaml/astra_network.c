/* astra_network.c - reads network files of ASTRA-sim (astra_network.h). */
#include "spec/yaml/astra_network.h"
#include "base/value.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define GBPS_OF_GB (8 * 1.073741824) /* Gb/s of 2^30 bytes a second */
#define MOST_APART 0.005             /* by which a rate in whole Gb/s may differ, as a share */
#define LEAST_NS   1                 /* of a link: the clock has no window without it */
#define MOST       1e9               /* of any number */

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

__attribute__((format(printf, 2, 3))) static void add_text(struct reading *r, const char *format, ...)
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

static const char *text_of(const struct hx_yaml_item *item)
{
    return item->text ? item->text : "";
}

static bool number_of(const struct reading *r, const struct hx_yaml_item *item, double least, double *number)
{
    char why[HX_WHY_TEXT];
    const char *wrong = hx_value_real(text_of(item), least, MOST, number, why);
    return !wrong || hx_yaml_fail(r->y, item, r->problem, "%s", wrong);
}

/* ---- dimensions ---- */

static bool write_dimensions(struct reading *r)
{
    static const char *const theirs[] = {"Ring", "FullyConnected", "Switch", NULL};
    static const char *const ours[] = {"Ring", "FC", "Switch"};
    const struct hx_yaml_item *count = hx_yaml_first(r->list[NPUS_COUNT]);
    for (const struct hx_yaml_item *item = hx_yaml_first(r->list[TOPOLOGY]); item;
         item = hx_yaml_next(r->list[TOPOLOGY], item), count = hx_yaml_next(r->list[NPUS_COUNT], count)) {
        char why[HX_WHY_TEXT];
        unsigned kind;
        uint64_t npus;
        const char *wrong = hx_value_choice(text_of(item), theirs, &kind, why);
        if (wrong)
            return hx_yaml_fail(r->y, item, r->problem, "%s", wrong);
        wrong = hx_value_number(text_of(count), 2, HX_MAX_HOSTS, &npus, why);
        if (wrong)
            return hx_yaml_fail(r->y, count, r->problem, "%s", wrong);
        add_text(r, "%s%s(%" PRIu64 ")", r->used ? "_" : "", ours[kind], npus);
    }
    return true;
}

/* Whole Gb/s. */
static bool rate_of(const struct reading *r, const struct hx_yaml_item *item, double *rate)
{
    double gb;
    if (!number_of(r, item, 0, &gb))
        return false;
    const double gbps = gb * GBPS_OF_GB;
    *rate = round(gbps);
    return fabs(*rate - gbps) <= MOST_APART * gbps ||
           hx_yaml_fail(r->y, item, r->problem,
                        "%s GB/s of 2^30 bytes are %.4g Gb/s: whole Gb/s are possible, within half a per cent",
                        item->text, gbps);
}

/* Whole ns. */
static bool latency_of(const struct reading *r, const struct hx_yaml_item *item, double *latency)
{
    if (!number_of(r, item, 0, latency))
        return false;
    *latency = fmax(LEAST_NS, round(*latency));
    return true;
}

/* Writes a key of the spec with a number for each dimension. */
static bool write_numbers(struct reading *r, const char *key, const struct hx_yaml_item *list,
                          bool (*of)(const struct reading *, const struct hx_yaml_item *, double *))
{
    const char *before = "=";
    add_text(r, " %s", key);
    for (const struct hx_yaml_item *item = hx_yaml_first(list); item; item = hx_yaml_next(list, item)) {
        double number;
        if (!of(r, item, &number))
            return false;
        add_text(r, "%s%.0f", before, number);
        before = ",";
    }
    return true;
}

bool astra_network_spec(const struct hx_yaml *y, char spec[HX_SPEC_BYTES], struct hx_problem *problem)
{
    struct reading r = {.y = y, .problem = problem, .spec = spec};
    return find_lists(&r) && check_lists(&r) && write_dimensions(&r) &&
           write_numbers(&r, "gbps", r.list[BANDWIDTH], rate_of) &&
           write_numbers(&r, "ns", r.list[LATENCY], latency_of);
}
