/* injection.c - equal injection for several fabrics (tools/injection.h). */
#include "tools/injection.h"

#include <math.h>

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
