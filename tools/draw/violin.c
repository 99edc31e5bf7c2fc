/* violin.c - the outline of a violin plot (violin.h). */
#include "tools/draw/violin.h"

#include <math.h>

/* The bandwidth of the Gaussian kernel by Silverman's rule; above 0. */
static double width_of_bells(const double *value, unsigned count, double least, double most)
{
    double sum = 0, squares = 0;
    for (unsigned i = 0; i < count; i++) {
        sum += value[i];
        squares += value[i] * value[i];
    }
    double variance = squares / count - sum / count * (sum / count);
    double wide = 1.06 * sqrt(fmax(variance, 0)) * pow(count, -0.2);
    return fmax(wide, fmax((most - least) / VIOLIN_LEVELS, 1e-9));
}

static double density(const double *value, unsigned count, double at, double wide)
{
    double sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum += exp(-0.5 * (value[i] - at) / wide * (value[i] - at) / wide);
    return sum;
}

void violin_add(struct plot_series *s, double at, double width, const double *value, unsigned count)
{
    double least = INFINITY, most = -INFINITY, highest = 0, level[VIOLIN_LEVELS], dense[VIOLIN_LEVELS];
    if (!s || count == 0 || s->points + VIOLIN_POINTS > PLOT_MOST_POINTS)
        return;
    for (unsigned i = 0; i < count; i++) {
        least = fmin(least, value[i]);
        most = fmax(most, value[i]);
    }
    double wide = width_of_bells(value, count, least, most);
    for (unsigned i = 0; i < VIOLIN_LEVELS; i++) {
        level[i] = least + (most - least) * i / (VIOLIN_LEVELS - 1);
        dense[i] = density(value, count, level[i], wide);
        highest = fmax(highest, dense[i]);
    }
    for (unsigned i = 0; i < VIOLIN_LEVELS; i++)
        plot_point(s, at + width / 2 * dense[i] / highest, level[i]);
    for (unsigned i = VIOLIN_LEVELS; i-- > 0;)
        plot_point(s, at - width / 2 * dense[i] / highest, level[i]);
    plot_point(s, NAN, NAN);
}
