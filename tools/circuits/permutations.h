/* permutations.h - rings of a group by strides (Wang et al., "TopoOpt", NSDI 2023, section 4).
 *
 * Among k members a stride p with gcd(p, k) = 1 is a ring through all: member i to member i + p mod k. A duplex circuit
 * carries stride p one way and k - p the other. So a ring of circuits takes two interfaces of each member. */
#ifndef HXMESH_TOOLS_CIRCUITS_PERMUTATIONS_H
#define HXMESH_TOOLS_CIRCUITS_PERMUTATIONS_H

#include <stdbool.h>
#include <stdint.h>

/* TotientPerms: writes the strides below k that are coprime to k, 1 first, ascending; with `prime` only 1 and primes.
 * Room: k. Returns their number; for k = 1 it is 0. */
unsigned circuits_strides(uint32_t k, bool prime, uint32_t *stride);

/* SelectPermutations: of the ascending candidates[count] chooses up to d: the first, then each time, of those above the
 * last, the one nearest to x times the last, x = max(2, k^(1/d)); of two the lesser. It ends with the greatest
 * candidate. Returns how many were chosen. */
unsigned circuits_select(uint32_t k, const uint32_t *candidate, unsigned count, unsigned d, uint32_t *chosen);

#endif
