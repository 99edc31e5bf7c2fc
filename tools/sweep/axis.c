/* axis.c - parses lists and ranges of values (tools/sweep/sweep.h). */
#include "base/options/applies.h"
#include "tools/sweep/sweep.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MOST_TEXT = 256 };
#define SHARE_STEP 0.05

static const char too_many[] = "stands for more than 256 values";

const char *sweep_axis_name(const struct sweep_axis *axis)
{
    if (axis->set[0])
        return axis->set;
    return axis->option ? axis->option->name : "spec";
}

const struct sweep_axis *sweep_axis_of(const struct sweep *s, const char *name)
{
    for (unsigned i = 0; i < s->axes; i++)
        if (strcmp(sweep_axis_name(s->axis[i]), name) == 0)
            return s->axis[i];
    return NULL;
}

static bool is_number(const struct hx_option *o)
{
    return o && (o->kind == HX_OPTION_NUMBER || o->kind == HX_OPTION_BYTES || o->kind == HX_OPTION_DURATION ||
                 o->kind == HX_OPTION_REAL);
}

/* Parses a value as the option does. Returns an error, or NULL. */
static const char *read_value(const struct hx_option *o, const char *text, double *number, char *why)
{
    *number = 0;
    if (!o)
        return NULL;
    const char *wrong = hx_option_apply(o, text, why);
    if (!wrong && is_number(o))
        *number = o->kind == HX_OPTION_REAL ? *o->to.real : (double)*o->to.number;
    return wrong;
}

static const char *add_text(struct sweep_axis *axis, const char *text, char *why)
{
    if (axis->count == SWEEP_VALUES)
        return too_many;
    struct sweep_value *v = &axis->value[axis->count];
    const char *wrong = read_value(axis->option, text, &v->number, why);
    if (wrong)
        return wrong;
    if (strlen(text) >= SWEEP_VALUE)
        return "a value is longer than 95 letters";
    (void)snprintf(v->text, SWEEP_VALUE, "%s", text);
    axis->count++;
    return NULL;
}

static const char *add_number(struct sweep_axis *axis, double number, char *why)
{
    char text[SWEEP_VALUE];
    char exact[HX_VALUE_TEXT];
    uint64_t whole = (uint64_t)(number + 0.5);
    switch (axis->option->kind) {
    case HX_OPTION_REAL:
        (void)snprintf(text, sizeof text, "%.6g", number);
        break;
    case HX_OPTION_BYTES:
        (void)snprintf(text, sizeof text, "%s", hx_value_write_bytes(exact, whole));
        break;
    case HX_OPTION_DURATION:
        (void)snprintf(text, sizeof text, "%s", hx_value_write_duration(exact, whole));
        break;
    default:
        (void)snprintf(text, sizeof text, "%" PRIu64, whole);
    }
    return add_text(axis, text, why);
}

/* A count doubles from 1 on, also if it begins with none. */
static const char *add_doubling(struct sweep_axis *axis, double low, double high, char *why)
{
    const char *wrong = NULL;
    if (low <= 0 && axis->option->kind == HX_OPTION_NUMBER) {
        wrong = add_number(axis, 0, why);
        low = 1;
    }
    if (low <= 0)
        return "doubling 0 leads nowhere (begin above 0, or write for example 0..8/9 for nine values)";
    while (low < high && !wrong) {
        wrong = add_number(axis, low, why);
        low *= 2;
    }
    return wrong ? wrong : add_number(axis, high, why);
}

/* Adds shares in steps of SHARE_STEP. */
static const char *add_shares(struct sweep_axis *axis, double low, double high, char *why)
{
    const char *wrong = NULL;
    for (unsigned i = 0; !wrong && low + SHARE_STEP * i < high - SHARE_STEP / 1000; i++)
        wrong = add_number(axis, low + SHARE_STEP * i, why);
    return wrong ? wrong : add_number(axis, high, why);
}

static const char *add_range(struct sweep_axis *axis, char *low_text, char *high_text, char *why)
{
    char *steps_text = strchr(high_text, '/');
    double low;
    double high;
    uint64_t steps = 0;
    if (steps_text)
        *steps_text++ = '\0';
    const char *wrong = read_value(axis->option, low_text, &low, why);
    wrong = wrong ? wrong : read_value(axis->option, high_text, &high, why);
    if (wrong)
        return wrong;
    if (low > high)
        return "a range goes from the lower value to the higher (low..high)";
    bool shares = axis->option->kind == HX_OPTION_REAL && !axis->set[0];
    axis->doubling = !steps_text && !shares;
    wrong = steps_text ? hx_value_number(steps_text, 2, SWEEP_VALUES, &steps, why) : NULL;
    if (!wrong && low == high)
        return add_number(axis, low, why);
    if (!steps_text)
        return shares ? add_shares(axis, low, high, why) : add_doubling(axis, low, high, why);
    for (uint64_t i = 0; i < steps && !wrong; i++)
        wrong = add_number(axis, low + (high - low) * (double)i / (double)(steps - 1), why);
    return wrong;
}

static bool has_value(const struct sweep_axis *axis, const char *text)
{
    for (unsigned i = 0; i < axis->count; i++)
        if (strcmp(axis->value[i].text, text) == 0)
            return true;
    return false;
}

/* Adds every algorithm that is not there yet. */
static const char *add_algorithms(struct sweep_axis *axis, char *why)
{
    const char *wrong = NULL;
    axis->all = true;
    for (unsigned i = 0; hx_algorithm_names[i] && !wrong; i++)
        if (i != HX_ALGORITHM_BEST && !has_value(axis, hx_algorithm_names[i]))
            wrong = add_text(axis, hx_algorithm_names[i], why);
    return wrong;
}

static const char *add_part(struct sweep_axis *axis, char *part, char *why)
{
    if (axis->option->choices == hx_algorithm_names && strcmp(part, "all") == 0)
        return add_algorithms(axis, why);
    char *dots = is_number(axis->option) ? strstr(part, "..") : NULL;
    if (!dots)
        return add_text(axis, part, why);
    *dots = '\0';
    return add_range(axis, part, dots + 2, why);
}

const char *sweep_axis_add(struct sweep_axis *axis, const char *text, char *why)
{
    axis->numeric = is_number(axis->option);
    if (!axis->option)
        return add_text(axis, text, why);
    axis->doubling = axis->doubling || axis->option->kind == HX_OPTION_BYTES;
    for (;;) {
        char part[MOST_TEXT];
        size_t length = axis->set[0] ? sweep_set_length(text) : strcspn(text, ",");
        (void)snprintf(part, sizeof part, "%.*s", (int)length, text);
        const char *wrong = length < sizeof part ? add_part(axis, part, why) : "a value is longer than 255 letters";
        if (wrong || !text[length])
            return wrong;
        text += length + 1;
    }
}

/* ---- options for some runs only ---- */

static const char *const no_names[] = {NULL};

uint64_t sweep_mask(const struct sweep *s, unsigned run)
{
    uint64_t mask = HX_FOR_ANY_CLOCK | HX_FOR_ANY_PATTERN;
    for (unsigned i = 0; i < s->axes; i++) {
        bool clock = strcmp(sweep_axis_name(s->axis[i]), "clock") == 0;
        bool traffic = strcmp(sweep_axis_name(s->axis[i]), "traffic") == 0;
        const char *const *names = clock ? hx_clock_names : traffic ? hx_pattern_names : no_names;
        const char *text = sweep_value(s, run, i)->text;
        unsigned n = 0;
        while (names[n] && strcmp(names[n], text) != 0)
            n++;
        if (clock)
            mask = (mask & ~HX_FOR_ANY_CLOCK) | HX_FOR_CLOCK(n);
        if (traffic)
            mask = (mask & ~HX_FOR_ANY_PATTERN) | HX_FOR_PATTERN(names[n] ? n : hx_traffic_file_kind(text));
    }
    return mask;
}

static bool is_for(const struct sweep *s, unsigned run, unsigned axis)
{
    const struct hx_option *o = s->axis[axis]->option;
    return !o || hx_applies(o->applies, sweep_mask(s, run));
}

void sweep_find_applying(struct sweep *s)
{
    unsigned runs = sweep_count(s);
    for (unsigned i = 0; i < s->axes; i++) {
        const struct hx_option *o = s->axis[i]->option;
        unsigned with = 0;
        for (unsigned run = 0; o && o->applies && run < runs; run++)
            with += is_for(s, run, i);
        s->axis[i]->sometimes = with > 0 && with < runs;
    }
}

/* An option that applies to no run is passed to all, so that the run reports the error. */
bool sweep_applies(const struct sweep *s, unsigned run, unsigned axis)
{
    return !s->axis[axis]->sometimes || is_for(s, run, axis);
}

bool sweep_is_again(const struct sweep *s, unsigned run)
{
    for (unsigned i = 0; i < s->axes; i++)
        if (!sweep_applies(s, run, i) && sweep_value(s, run, i) != &s->axis[i]->value[0])
            return true;
    return false;
}

/* ---- combinations ---- */

unsigned sweep_count(const struct sweep *s)
{
    uint64_t runs = 1;
    for (unsigned i = 0; i < s->axes && runs <= SWEEP_RUNS; i++)
        runs *= s->axis[i]->count;
    return runs <= SWEEP_RUNS ? (unsigned)runs : SWEEP_RUNS + 1;
}

const struct sweep_value *sweep_value(const struct sweep *s, unsigned run, unsigned axis)
{
    for (unsigned i = s->axes - 1; i > axis; i--)
        run /= s->axis[i]->count;
    return &s->axis[axis]->value[run % s->axis[axis]->count];
}
