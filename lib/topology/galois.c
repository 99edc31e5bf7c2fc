/* galois.c - finite fields (topology/galois.h).
 *
 * A number m, read as a polynomial, defines a field by x^n = m if x is primitive: its powers are all elements except 0.
 * The first such m is taken. For n = 1, x is m itself. */
#include "topology/galois.h"

/* Returns the prime of which q is a power, and sets the exponent; 0: q is not a prime power. */
static unsigned prime_of(unsigned q, unsigned *exponent)
{
    unsigned p = 2;
    while (p < q && q % p != 0)
        p++;
    *exponent = 0;
    for (; q > 1 && q % p == 0; q /= p)
        ++*exponent;
    return q == 1 && *exponent ? p : 0;
}

bool hx_is_prime_power(unsigned q)
{
    unsigned exponent;
    return prime_of(q, &exponent) != 0;
}

/* Returns a + times * b, digit by digit. */
static unsigned combine(const struct hx_galois *g, unsigned a, unsigned times, unsigned b)
{
    unsigned all = 0;
    for (unsigned place = 1; place < g->q; place *= g->p)
        all += (a / place + times * (b / place % g->p)) % g->p * place;
    return all;
}

static unsigned times_x(const struct hx_galois *g, unsigned a, unsigned m)
{
    unsigned top = g->q / g->p;
    return combine(g, a % top * g->p, a / top, m);
}

/* Fills in the powers of x. Returns false if they do not reach all elements except 0. */
static bool take_powers(struct hx_galois *g, unsigned m)
{
    unsigned power = 1;
    for (unsigned i = 0; i < g->q - 1; i++) {
        if (power == 0 || (power == 1 && i > 0))
            return false;
        g->power[i] = power;
        g->logarithm[power] = i;
        power = times_x(g, power, m);
    }
    return power == 1;
}

bool hx_galois_make(struct hx_galois *g, unsigned q)
{
    *g = (struct hx_galois){.q = q};
    if (q < 2 || q > HX_GALOIS_MOST || (g->p = prime_of(q, &g->n)) == 0)
        return false;
    unsigned m = 1;
    while (m < q && !take_powers(g, m))
        m++;
    return m < q;
}

unsigned hx_galois_sum(const struct hx_galois *g, unsigned a, unsigned b)
{
    return combine(g, a, 1, b);
}

unsigned hx_galois_difference(const struct hx_galois *g, unsigned a, unsigned b)
{
    return combine(g, a, g->p - 1, b);
}

unsigned hx_galois_product(const struct hx_galois *g, unsigned a, unsigned b)
{
    return a && b ? g->power[(g->logarithm[a] + g->logarithm[b]) % (g->q - 1)] : 0;
}

unsigned hx_nearest_size(unsigned n, bool (*is_size)(unsigned n))
{
    for (unsigned away = 0;; away++) {
        if (n >= away && is_size(n - away))
            return n - away;
        if (is_size(n + away))
            return n + away;
    }
}
