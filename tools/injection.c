/* injection.c - equal injection for several fabrics (tools/injection.h). */
#include "tools/injection.h"
#include "base/error.h"

#include <math.h>
#include <stdlib.h>

#define NEAR 1e-9

struct injection injection_of(const struct hx_fabric *g, unsigned planes, double gbps)
{
    struct injection i = {.links = hx_fabric_injection(g, gbps), .planes = planes, .rate = 1};
    for (unsigned c = 0; c < g->link_classes; c++)
        i.has_rates = i.has_rates || g->link_class[c].gbps;
    return i;
}

double injection_total(const struct injection *i)
{
    return i->links * i->planes * i->rate;
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

/* Number of planes that inject `links`; 0: none. */
static unsigned planes_for(const struct injection *i, double links, unsigned most)
{
    double planes = round(links / i->links);
    bool fits = planes >= i->planes && planes <= most && is_near(planes * i->links, links);
    return fits ? (unsigned)planes : 0;
}

static bool all_reach(const struct injection *all, unsigned count, double links, unsigned most)
{
    unsigned i = 0;
    while (i < count && planes_for(&all[i], links, most))
        i++;
    return i == count;
}

/* The least total that all can reach with whole planes; 0: none. */
static double least_common(const struct injection *all, unsigned count, unsigned most)
{
    double least = 0;
    double from = greatest_of(all, count) * (1 - NEAR);
    for (unsigned planes = 1; planes <= most; planes++) {
        double links = all[0].links * planes;
        if (links >= from && all_reach(all, count, links, most)) {
            least = links;
            break;
        }
    }
    return least;
}

/* Sets whole planes, and the rate for the rest. Returns whether the result is exact. */
static bool raise(struct injection *i, double links, unsigned most)
{
    double planes = floor(links / i->links + NEAR);
    i->planes = planes > most ? most : (unsigned)planes;
    i->rate = links / (i->links * i->planes);
    if (is_near(i->rate, 1))
        i->rate = 1;
    return i->rate == 1 || !i->has_rates;
}

bool injection_equal(struct injection *all, unsigned count, unsigned most, bool rates)
{
    double links = least_common(all, count, most);
    if (links == 0 && !rates)
        return false;
    bool equal = true;
    double greatest = greatest_of(all, count);
    for (unsigned i = 0; i < count; i++) {
        if (links > 0)
            all[i].planes = planes_for(&all[i], links, most);
        else
            equal = raise(&all[i], greatest, most) && equal;
    }
    return equal;
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

static double gbps_of(const struct injected *f)
{
    return injection_total(&f->injection) * (double)f->timing.link;
}

static void warn(const struct injected *all, unsigned count)
{
    for (unsigned i = 1; i < count; i++) {
        if (fabs(gbps_of(&all[i]) - gbps_of(all)) < 1e-6 * gbps_of(all))
            continue;
        hx_warn(all[i].name,
                "its hosts inject %.6g Gb/s, those of %s %.6g: shares and times are not alike "
                "(--equal-injection makes them so)",
                gbps_of(&all[i]), all->name, gbps_of(all));
        return;
    }
}

static bool is_whole(double value)
{
    return fabs(value - round(value)) < 1e-6;
}

/* Dies unless link and crossbar rates in Gb/s times the rate are whole numbers. */
static void check_rate(const struct injected *f, bool simulated)
{
    double link = (double)f->timing.link * f->injection.rate;
    if (f->injection.rate != 1 && (!simulated || !is_whole(link) || link > HX_MOST_GBPS))
        hx_die(HX_EXIT_USAGE, "--equal-injection",
               "%s would need links of %.6g Gb/s, which %s (write the rates yourself, a run for each)", f->name, link,
               simulated ? "is not a whole number up to 10000" : "only --clock virtual has");
}

void injected_settle(struct injected *all, unsigned count, bool equal, bool simulated)
{
    if (!equal) {
        warn(all, count);
        return;
    }
    struct injection *of = hx_allocate(count, sizeof *of);
    for (unsigned i = 0; i < count; i++)
        of[i] = all[i].injection;
    if (!injection_equal(of, count, HX_MAX_PLANES, true))
        hx_die(HX_EXIT_USAGE, "--equal-injection",
               "fabrics with link rates of their own cannot be made equal by up to %d planes", HX_MAX_PLANES);
    for (unsigned i = 0; i < count; i++) {
        all[i].injection = of[i];
        check_rate(&all[i], simulated);
    }
    free(of);
}

void injected_add(const struct injected *f, struct hx_arguments *a)
{
    const double rate = f->injection.rate;
    hx_arguments_add(a, "--planes=%u", f->injection.planes);
    if (rate == 1)
        return;
    hx_arguments_add(a, "--link=%.0f", (double)f->timing.link * rate);
    hx_arguments_add(a, "--crossbar=%.0f", ceil((double)f->timing.crossbar * rate));
}
