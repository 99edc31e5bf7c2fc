/* plot_ticks.c - ticks at round numbers (base/plot_ticks.h). */
#include "base/plot_ticks.h"

#include <math.h>

enum { ABOUT = 6, MOST_POWERS = 9 };

/* The least of 1, 2, 5, 10, 20, ... (times any power of ten) that is not below `step`. */
static double round_up(double step)
{
    double power = pow(10, floor(log10(step)));
    double digit = step / power;
    static const double nice[] = {1, 2, 5, 10};
    unsigned i = 0;
    while (i < 3 && nice[i] < digit * (1 - 1e-9))
        i++;
    return nice[i] * power;
}

static struct plot_ticks linear(double least, double most, double least_step)
{
    double width = most - least;
    if (width <= 0)
        width = most != 0 ? fabs(most) : 1;
    double step = fmax(round_up(width / ABOUT), least_step);
    double first = floor(least / step + 1e-9);
    double last = fmax(ceil(most / step - 1e-9), first + 1);
    struct plot_ticks ticks = {.low = first * step, .high = last * step};
    for (; ticks.count < PLOT_MOST_TICKS && first + ticks.count <= last; ticks.count++)
        ticks.at[ticks.count] = (first + ticks.count) * step;
    return ticks;
}

static double base_of(enum plot_scale scale)
{
    return scale == PLOT_BINARY ? 2 : 10;
}

static struct plot_ticks powers(double base, double least, double most)
{
    double first = floor(log(least) / log(base) + 1e-9);
    double last = fmax(ceil(log(most) / log(base) - 1e-9), first + 1);
    double stride = fmax(1, ceil((last - first + 1) / MOST_POWERS));
    struct plot_ticks ticks = {.low = pow(base, first), .high = pow(base, last)};
    for (; ticks.count < PLOT_MOST_TICKS && first + ticks.count * stride <= last; ticks.count++)
        ticks.at[ticks.count] = pow(base, first + ticks.count * stride);
    return ticks;
}

bool plot_is_of_powers(enum plot_scale scale)
{
    return scale == PLOT_BINARY || scale == PLOT_DECADES;
}

struct plot_ticks plot_ticks(enum plot_scale scale, double least, double most)
{
    bool of_powers = plot_is_of_powers(scale);
    if (least > most) {
        least = of_powers ? 1 : 0;
        most = least + 1;
    }
    return of_powers ? powers(base_of(scale), least, most) : linear(least, most, scale == PLOT_WHOLE ? 1 : 0);
}

double plot_place(enum plot_scale scale, const struct plot_ticks *ticks, double value)
{
    if (plot_is_of_powers(scale))
        return (log(value) - log(ticks->low)) / (log(ticks->high) - log(ticks->low));
    return (value - ticks->low) / (ticks->high - ticks->low);
}
