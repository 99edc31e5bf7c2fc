/* galois.h - finite fields GF(q), q = p^n a prime power: arithmetic for graphs such as Slim Fly and orthogonal fat
 * trees.
 *
 * Elements are the numbers 0 .. q-1: their digits in base p are the coefficients of a polynomial, the lowest first. So
 * 0 and 1 are themselves, and for a prime q this is arithmetic modulo q. */
#ifndef HXMESH_TOPOLOGY_GALOIS_H
#define HXMESH_TOPOLOGY_GALOIS_H

#include <stdbool.h>

enum { HX_GALOIS_MOST = 64 }; /* q: 2 .. this */

struct hx_galois {
    unsigned q, p, n;
    unsigned power[HX_GALOIS_MOST];     /* [0 .. q-2]: of a primitive element, power[0] = 1 */
    unsigned logarithm[HX_GALOIS_MOST]; /* [1 .. q-1]: power[logarithm[a]] == a */
};

/* Makes the field of q elements. Returns false if there is none. */
bool hx_galois_make(struct hx_galois *g, unsigned q);

bool hx_is_prime_power(unsigned q);

unsigned hx_galois_sum(const struct hx_galois *g, unsigned a, unsigned b);
unsigned hx_galois_difference(const struct hx_galois *g, unsigned a, unsigned b);
unsigned hx_galois_product(const struct hx_galois *g, unsigned a, unsigned b);

/* The number nearest to n, the lower of two, that is a size of a topology over a field. */
unsigned hx_nearest_size(unsigned n, bool (*is_size)(unsigned n));

#endif
