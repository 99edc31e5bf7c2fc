/* galois.c - finite fields (topology/galois.h).
 *
 * A field is had from a number m, read as the polynomial that x^n is equal to, if the powers of x then are all elements
 * but 0: x is primitive. The first such m is taken. With n = 1, x is the number m. */
#include "topology/galois.h"

/* The prime whose power q is, and the exponent; 0: it is no prime power. */
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

/* a + times * b, digit by digit. */
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

/* Whether the powers of x come to 1 again not before all elements but 0 were there. */
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
