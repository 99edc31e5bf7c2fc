/* allocate.c - EqualBW, MessageBW and SmartBW (tools/bandwidth/allocate.h). */
#include "tools/bandwidth/allocate.h"

#include <math.h>

struct bandwidth_load bandwidth_load_of(const struct bandwidth_network *n, const struct bandwidth_work *w)
{
    struct bandwidth_load l = {.dimensions = n->dimensions};
    for (unsigned i = 0; i < w->needs; i++) {
        double bytes[BANDWIDTH_DIMENSIONS];
        bandwidth_bytes(n, &w->need[i], bytes);
        for (unsigned d = 0; d < n->dimensions; d++)
            *(w->need[i].data ? &l.data[d] : &l.model[d]) += bytes[d];
    }
    return l;
}

static double sum(const double *value, unsigned count)
{
    double all = 0;
    for (unsigned i = 0; i < count; i++)
        all += value[i];
    return all;
}

void bandwidth_equal(const struct bandwidth_load *l, double budget, double *rate)
{
    for (unsigned d = 0; d < l->dimensions; d++)
        rate[d] = budget / l->dimensions;
}

void bandwidth_message(const struct bandwidth_load *l, double budget, double *rate)
{
    const double all = sum(l->model, l->dimensions) + sum(l->data, l->dimensions);
    if (all <= 0) {
        bandwidth_equal(l, budget, rate);
        return;
    }
    for (unsigned d = 0; d < l->dimensions; d++)
        rate[d] = budget * (l->model[d] + l->data[d]) / all;
}

/* ---- SmartBW ---- */

struct smart {
    const struct bandwidth_load *l;
    double model, data; /* M, D */
};

/* Rates of the dimensions for x = 1 and y = t. Returns their sum. */
static double rates_at(const struct smart *s, double t, double *rate)
{
    for (unsigned d = 0; d < s->l->dimensions; d++)
        rate[d] = fmax(s->l->model[d] / s->model, t * s->l->data[d] / s->data);
    return sum(rate, s->l->dimensions);
}

/* Times the budget: (M + D / t) (a + b t). */
static double time_at(const struct smart *s, double t)
{
    double rate[BANDWIDTH_DIMENSIONS];
    return (s->model + s->data / t) * rates_at(s, t, rate);
}

/* t with p = q t, at a dimension that both use; 0: only one does. */
static double break_of(const struct smart *s, unsigned d)
{
    const double p = s->l->model[d] / s->model, q = s->l->data[d] / s->data;
    return p > 0 && q > 0 ? p / q : 0;
}

/* Where the derivative of the piece at t is zero; t itself: nowhere. */
static double flat_of(const struct smart *s, double t)
{
    double a = 0, b = 0;
    for (unsigned d = 0; d < s->l->dimensions; d++) {
        const double p = s->l->model[d] / s->model, q = s->l->data[d] / s->data;
        if (p > q * t)
            a += p;
        else
            b += q;
    }
    return a > 0 && b > 0 ? sqrt(s->data * a / (s->model * b)) : t;
}

void bandwidth_smart(const struct bandwidth_load *l, double budget, double *rate)
{
    const struct smart s = {l, sum(l->model, l->dimensions), sum(l->data, l->dimensions)};
    if (s.model <= 0 || s.data <= 0) {
        bandwidth_message(l, budget, rate);
        return;
    }
    /* A piece is on each side of each break. Without breaks there is one piece. Points outside their piece are no
     * minimum, but they are no harm: the least time is taken. */
    enum { BESIDE = 3 };
    static const double beside[BESIDE] = {1, 1 - 1e-9, 1 + 1e-9};
    double best = flat_of(&s, 1);
    for (unsigned d = 0; d < l->dimensions; d++) {
        const double at = break_of(&s, d);
        for (unsigned i = 0; i < BESIDE && at > 0; i++) {
            const double t = i ? flat_of(&s, at * beside[i]) : at;
            if (time_at(&s, t) < time_at(&s, best))
                best = t;
        }
    }
    const double scale = budget / rates_at(&s, best, rate);
    for (unsigned d = 0; d < l->dimensions; d++)
        rate[d] *= scale;
}
