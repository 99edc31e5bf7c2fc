/* injection.c - equal injection for several fabrics (tools/injection.h). */
#include "tools/injection.h"
#include "base/error.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define NEAR 1e-9

struct injection injection_of(const struct hx_fabric *g, unsigned planes, double gbps)
{
    struct injection i = {.links = hx_fabric_injection(g, gbps), .gbps = gbps, .planes = planes, .rate = 1};
    for (unsigned c = 0; c < g->link_classes; c++)
        i.has_rates = i.has_rates || g->link_class[c].gbps;
    return i;
}

/* Of one plane before rates are made equal, Gb/s. */
static double plane_of(const struct injection *i)
{
    return i->links * i->gbps;
}

double injection_total(const struct injection *i)
{
    return plane_of(i) * i->planes * i->rate;
}

double injection_link(const struct injection *i)
{
    return i->gbps * i->rate;
}

static bool is_near(double a, double b)
{
    return fabs(a - b) < NEAR * fmax(a, b);
}

unsigned injection_differs(const struct injection *all, unsigned count)
{
    unsigned i = 1;
    while (i < count && is_near(injection_total(&all[0]), injection_total(&all[i])))
        i++;
    return i < count ? i : count;
}

static double greatest_of(const struct injection *all, unsigned count)
{
    double most = 0;
    for (unsigned i = 0; i < count; i++)
        most = fmax(most, injection_total(&all[i]));
    return most;
}

/* Number of planes, at least `least`, that inject `gbps`; 0: none. */
static unsigned planes_for(const struct injection *i, double gbps, unsigned least, unsigned most)
{
    double planes = round(gbps / plane_of(i));
    bool fits = planes >= least && planes <= most && is_near(planes * plane_of(i), gbps);
    return fits ? (unsigned)planes : 0;
}

static bool all_reach(const struct injection *all, unsigned count, double gbps, unsigned most)
{
    unsigned i = 0;
    while (i < count && planes_for(&all[i], gbps, all[i].planes, most))
        i++;
    return i == count;
}

/* The least total that all can reach with whole planes; if there is none, the greatest one. */
static double least_common(const struct injection *all, unsigned count, unsigned most)
{
    const double greatest = greatest_of(all, count);
    for (unsigned planes = 1; planes <= most; planes++) {
        const double gbps = plane_of(&all[0]) * planes;
        if (gbps >= greatest * (1 - NEAR) && all_reach(all, count, gbps, most))
            return gbps;
    }
    return greatest;
}

/* Sets whole planes, and the rate for the rest. Returns whether the result is exact. */
static bool reach(struct injection *i, double gbps, unsigned most)
{
    const double planes = fmax(1, floor(gbps / plane_of(i) + NEAR));
    i->planes = planes > most ? most : (unsigned)planes;
    i->rate = gbps / (plane_of(i) * i->planes);
    if (is_near(i->rate, 1))
        i->rate = 1;
    return i->rate == 1 || !i->has_rates;
}

bool injection_equal(struct injection *all, unsigned count, unsigned most, double gbps)
{
    bool equal = true;
    const double goal = gbps > 0 ? gbps : least_common(all, count, most);
    for (unsigned i = 0; i < count; i++)
        equal = reach(&all[i], goal, most) && equal;
    return equal;
}

double injection_usd(const struct injection *i, struct hx_fabric *g, const struct hx_prices *prices)
{
    const unsigned bought = g->bought_planes;
    g->bought_planes = i->planes;
    const double usd = (double)hx_fabric_bill(g, prices, injection_link(i)).usd;
    g->bought_planes = bought;
    return prices->rates ? usd : usd * i->rate;
}

/* ---- fabrics of several that are run ---- */

struct injected injected_of(const char *name, const struct hx_spec *spec, uint64_t planes, const struct hx_timing *over)
{
    struct injected f = {.name = name, .timing = spec->timing};
    hx_timing_merge(&f.timing, over);
    f.timing = hx_timing_complete(&f.timing);
    f.injection = injection_of(hx_spec_fabric(spec), planes ? (unsigned)planes : spec->planes, (double)f.timing.link);
    return f;
}

static void warn(const struct injected *all, unsigned count)
{
    const double first = injection_total(&all->injection);
    for (unsigned i = 1; i < count; i++) {
        const double other = injection_total(&all[i].injection);
        if (fabs(other - first) < 1e-6 * first)
            continue;
        hx_warn(all[i].name,
                "its hosts inject %.6g Gb/s, those of %s %.6g: shares and times are not alike "
                "(--equal-injection makes them so)",
                other, all->name, first);
        return;
    }
}

static bool is_whole(double value)
{
    return fabs(value - round(value)) < 1e-6;
}

/* Gives links and crossbars the rate. Dies unless the links' is a whole number. */
static void take_rate(struct injected *f, bool simulated)
{
    const double link = injection_link(&f->injection);
    if (f->injection.rate == 1)
        return;
    if (!simulated || !is_whole(link) || link > HX_MOST_GBPS)
        hx_die(HX_EXIT_USAGE, "--equal-injection",
               "%s would need links of %.6g Gb/s, which %s (write the rates yourself, a run for each)", f->name, link,
               simulated ? "is not a whole number up to 10000" : "only --clock virtual has");
    f->timing.link = (uint64_t)llround(link);
    f->timing.crossbar = (uint64_t)ceil((double)f->timing.crossbar * f->injection.rate - 1e-6);
    f->timing.given |= HX_GIVEN_LINK | HX_GIVEN_CROSSBAR;
}

void injected_settle(struct injected *all, unsigned count, const struct injection_wish *wish, bool simulated)
{
    if (!wish->equal) {
        warn(all, count);
        return;
    }
    struct injection *of = hx_allocate(count, sizeof *of);
    for (unsigned i = 0; i < count; i++)
        of[i] = all[i].injection;
    if (!injection_equal(of, count, HX_MAX_PLANES, wish->gbps))
        hx_die(HX_EXIT_USAGE, "--equal-injection",
               "fabrics with link rates of their own cannot be made equal by up to %d planes", HX_MAX_PLANES);
    for (unsigned i = 0; i < count; i++) {
        all[i].injection = of[i];
        take_rate(&all[i], simulated);
    }
    free(of);
}

void injected_add(const struct injected *f, struct hx_arguments *a)
{
    hx_arguments_add(a, "--planes=%u", f->injection.planes);
    if (f->injection.rate == 1)
        return;
    hx_arguments_add(a, "--link=%" PRIu64, f->timing.link);
    hx_arguments_add(a, "--crossbar=%" PRIu64, f->timing.crossbar);
}
