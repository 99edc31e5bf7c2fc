/* galois.h - finite fields GF(q), q = p^n a prime power: arithmetic for graphs that are made of them (Slim Fly,
 * orthogonal fat trees).
 *
 * Elements are the numbers 0 .. q-1: their digits to the base p are the coefficients of a polynomial, the lowest first.
 * So 0 and 1 are themselves, and where q is a prime this is arithmetic modulo q. */
#ifndef HXMESH_TOPOLOGY_GALOIS_H
#define HXMESH_TOPOLOGY_GALOIS_H

#include <stdbool.h>

enum { HX_GALOIS_MOST = 64 }; /* q: 2 .. this */

struct hx_galois {
    unsigned q, p, n;
    unsigned power[HX_GALOIS_MOST]; /* [0 .. q-2]: of a primitive element, power[0] = 1, power[1] itself where q > 2 */
    unsigned logarithm[HX_GALOIS_MOST]; /* [1 .. q-1]: power[logarithm[a]] == a */
};

/* false: there is no such field. */
bool hx_galois_make(struct hx_galois *g, unsigned q);

bool hx_is_prime_power(unsigned q);

unsigned hx_galois_sum(const struct hx_galois *g, unsigned a, unsigned b);
unsigned hx_galois_difference(const struct hx_galois *g, unsigned a, unsigned b);
unsigned hx_galois_product(const struct hx_galois *g, unsigned a, unsigned b);

#endif
