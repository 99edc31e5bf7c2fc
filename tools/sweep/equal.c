/* equal.c - injection bandwidth of a sweep's fabrics, and how to make it equal (tools/sweep/sweep.h). */
#include "tools/sweep/sweep.h"

#include <math.h>
#include <string.h>

void sweep_injection_add(struct sweep *s, const struct hx_spec *spec, uint64_t planes, const struct hx_timing *over)
{
    struct hx_timing timing = spec->timing;
    hx_timing_merge(&timing, over);
    timing = hx_timing_complete(&timing);
    unsigned i = s->fabrics++;
    s->injection[i] = injection_of(hx_spec_fabric(spec), planes ? (unsigned)planes : spec->planes, (double)timing.link);
    s->timing[i] = timing;
}

static const char *fabric_name(const struct sweep *s, unsigned i)
{
    return s->axis[0]->value[i].text;
}

static double gbps_of(const struct sweep *s, unsigned i)
{
    return injection_total(&s->injection[i]) * (double)s->timing[i].link;
}

static void warn(const struct sweep *s)
{
    for (unsigned i = 1; i < s->fabrics; i++) {
        if (fabs(gbps_of(s, i) - gbps_of(s, 0)) < 1e-6 * gbps_of(s, 0))
            continue;
        hx_warn(fabric_name(s, i),
                "its hosts inject %.6g Gb/s, those of %s %.6g: shares and times are not alike "
                "(--equal-injection makes them so)",
                gbps_of(s, i), fabric_name(s, 0), gbps_of(s, 0));
        return;
    }
}

static bool is_whole(double value)
{
    return fabs(value - round(value)) < 1e-6;
}

/* Dies unless link and crossbar rates in Gb/s times the rate are whole numbers. */
static void check_rate(const struct sweep *s, unsigned i)
{
    double rate = s->injection[i].rate;
    if (rate == 1)
        return;
    const struct sweep_axis *clock = sweep_axis_of(s, "clock");
    bool is_virtual = clock && clock->count == 1 && strcmp(clock->value[0].text, hx_clock_names[HX_CLOCK_VIRTUAL]) == 0;
    double link = (double)s->timing[i].link * rate;
    if (!is_virtual || !is_whole(link) || link > HX_MOST_GBPS)
        hx_die(HX_EXIT_USAGE, "--equal-injection",
               "%s would need links of %.6g Gb/s, which %s (write the rates yourself, a sweep for each)",
               fabric_name(s, i), link, is_virtual ? "is not a whole number up to 10000" : "only --clock virtual has");
}

static void refuse_beside(const struct sweep *s, const char *name, const char *option)
{
    if (sweep_axis_of(s, name))
        hx_die(HX_EXIT_USAGE, option, "is what --equal-injection sets: which of both?");
}

void sweep_injection_settle(struct sweep *s)
{
    if (!s->equal) {
        warn(s);
        return;
    }
    refuse_beside(s, "planes", "--planes");
    refuse_beside(s, "link", "--link");
    refuse_beside(s, "crossbar", "--crossbar");
    if (!injection_equal(s->injection, s->fabrics, HX_MAX_PLANES, true))
        hx_die(HX_EXIT_USAGE, "--equal-injection",
               "fabrics with link rates of their own cannot be made equal by up to %d planes", HX_MAX_PLANES);
    for (unsigned i = 0; i < s->fabrics; i++)
        check_rate(s, i);
}

unsigned sweep_fabric(const struct sweep *s, unsigned run)
{
    return (unsigned)(sweep_value(s, run, 0) - s->axis[0]->value);
}
