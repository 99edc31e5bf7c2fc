/* demand.c - sums over the demand of a job (tools/circuits/demand.h). */
#include "tools/circuits/demand.h"

#include "base/error.h"

#include <stdlib.h>

void circuits_demand_free(struct circuits_demand *d)
{
    for (unsigned e = 0; e < d->exchanges; e++)
        HX_FREE(d->exchange[e].scatter, d->exchange[e].gather);
    free(d->exchange);
}

double circuits_exchange_between(const struct circuits_exchange *e, uint32_t from, uint32_t to)
{
    return from == to ? 0 : e->all + (e->scatter ? e->scatter[from] : 0) + (e->gather ? e->gather[to] : 0);
}

double circuits_between(const struct circuits_demand *d, uint32_t from, uint32_t to)
{
    double bytes = 0;
    for (unsigned i = 0; i < d->exchanges; i++)
        bytes += circuits_exchange_between(&d->exchange[i], from, to);
    return bytes;
}

double circuits_each_sum(const struct circuits_demand *d,
                         void (*add)(void *of, uint32_t from, uint32_t to, double bytes), void *of)
{
    double steps = 0;
    for (unsigned i = 0; i < d->reduces; i++) {
        const struct circuits_reduce *r = &d->reduce[i];
        for (uint32_t k = 0; r->members > 1 && k < r->members; k++) {
            const uint32_t a = circuits_member(r, k), b = circuits_member(r, (k + 1) % r->members);
            add(of, a, b, circuits_each_way(r));
            add(of, b, a, circuits_each_way(r));
        }
        steps = r->bytes > 0 && circuits_steps(r) > steps ? circuits_steps(r) : steps;
    }
    return steps;
}

double circuits_exchanged(const struct circuits_demand *d)
{
    double bytes = 0; /* to, or from, one server each */
    for (unsigned i = 0; i < d->exchanges; i++) {
        const struct circuits_exchange *e = &d->exchange[i];
        for (uint32_t server = 0; server < d->servers; server++)
            bytes += e->all + (e->scatter ? e->scatter[server] : 0) + (e->gather ? e->gather[server] : 0);
    }
    return bytes * (d->servers - 1);
}

double circuits_reduced(const struct circuits_demand *d)
{
    double bytes = 0;
    for (unsigned i = 0; i < d->reduces; i++)
        bytes += circuits_steps(&d->reduce[i]) * d->reduce[i].bytes;
    return bytes;
}
