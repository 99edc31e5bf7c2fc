/* allocate.h - rates of the dimensions of a network, from a budget for each NPU: the three ways of Won et al. (2021).
 *
 *     EqualBW     the same for each dimension
 *     MessageBW   in proportion to the bytes that pass a dimension
 *     SmartBW     by model- and data-parallel communication, which come one after the other
 *
 * SmartBW. Model-parallel communication sends M bytes, data-parallel D. They have the rates x and y, each divided over
 * its dimensions in proportion to its bytes, so that they take M / x and D / y. A dimension of one of them has its
 * part. A shared one, with the shares p of M and q of D, has max(p x, q y). The rates add up to the budget B:
 *
 *     minimise M / x + D / y,  with  (1 - p) x + (1 - q) y + max(p x, q y) = B
 *
 * (with several shared dimensions, p and q are sums before the maximum, and each has a maximum of its own). With y = t
 * x, and a + b t the left side over x, the time is (M + D / t) (a + b t) / B. Here a and b change at the break t = p /
 * q of a shared dimension: below it the dimension is the model's, and a has p; above it b has q. Within a piece, the
 * derivative M b - D a / t^2 is zero at
 *
 *     t = sqrt(D a / (M b)).
 *
 * The time is convex in log t: M b t + D a / t and constants on each piece, a maximum of two at a break. So that point
 * is the minimum if it is within its piece; else a break is. With one shared dimension there are three cases:
 *
 *     p x > q y    x : y = sqrt(M) : sqrt(D / (1 - q))      a = 1,     b = 1 - q
 *     p x < q y    x : y = sqrt(M / (1 - p)) : sqrt(D)      a = 1 - p, b = 1
 *     p x = q y    x : y = q : p
 *
 * and without one the first with p = q = 0: x : y = sqrt(M) : sqrt(D). */
#ifndef HXMESH_TOOLS_BANDWIDTH_ALLOCATE_H
#define HXMESH_TOOLS_BANDWIDTH_ALLOCATE_H

#include "tools/bandwidth/work.h"

/* Bytes that pass each dimension in an iteration. */
struct bandwidth_load {
    unsigned dimensions;
    double model[BANDWIDTH_DIMENSIONS], data[BANDWIDTH_DIMENSIONS];
};
struct bandwidth_load bandwidth_load_of(const struct bandwidth_network *n, const struct bandwidth_work *w);

/* Each fills rate[dimensions], with the sum `budget`. A dimension without bytes has 0, except by EqualBW. */
void bandwidth_equal(const struct bandwidth_load *l, double budget, double *rate);
void bandwidth_message(const struct bandwidth_load *l, double budget, double *rate);
void bandwidth_smart(const struct bandwidth_load *l, double budget, double *rate);

#endif
