/* search.c - search for rates (tools/bandwidth/search.h). */
#include "tools/bandwidth/search.h"
#include "tools/bandwidth/work.h"

#include <math.h>
#include <string.h>

struct search {
    unsigned dimensions;
    double budget;
    bandwidth_model *model;
    void *of;
    unsigned left; /* runs */
    double *rate;
    double best; /* seconds */
};

static unsigned power_of_three(unsigned n)
{
    return n == 0 ? 1 : 3 * power_of_three(n - 1);
}

/* Tries a step: the n-th digit to the base 3 says whether rate n falls (0), stays (1) or rises (2). */
static bool try_step(struct search *s, unsigned step, double factor)
{
    double rate[BANDWIDTH_DIMENSIONS], all = 0;
    for (unsigned d = 0; d < s->dimensions; d++, step /= 3) {
        rate[d] = s->rate[d] * (step % 3 == 0 ? 1 / factor : step % 3 == 2 ? factor : 1);
        all += rate[d];
    }
    for (unsigned d = 0; d < s->dimensions; d++)
        rate[d] *= s->budget / all;
    const double seconds = s->model(s->of, rate);
    s->left--;
    if (!(seconds < s->best))
        return false;
    s->best = seconds;
    memcpy(s->rate, rate, s->dimensions * sizeof *rate);
    return true;
}

double bandwidth_search(unsigned dimensions, double *rate, bandwidth_model *model, void *of, unsigned runs,
                        double first, double last)
{
    struct search s = {dimensions, 0, model, of, runs ? runs : 1000000, rate, model(of, rate)};
    const unsigned steps = power_of_three(dimensions);
    s.left--;
    for (unsigned d = 0; d < dimensions; d++)
        s.budget += rate[d];
    double factor = first;
    while (factor > last) {
        bool better = true;
        while (better && s.left > 0) {
            better = false;
            for (unsigned step = 0; step < steps && s.left > 0; step++)
                better |= try_step(&s, step, factor);
        }
        factor = sqrt(factor);
    }
    return s.best;
}
