/* support_collective.h - vectors of a collective, and a check of what each player must have at the end.
 *
 * The check adds up copies of the values one after the other, as integers. Of the program it asks only which pieces
 * each player owns, and checks that these cover the vector once. Guard bytes around vectors and staging must stay
 * untouched. Memory is of support_lab.h. */
#ifndef HXMESH_TESTS_SUPPORT_COLLECTIVE_H
#define HXMESH_TESTS_SUPPORT_COLLECTIVE_H

#include "hxmesh/collective.h"

#include <stddef.h>

struct ensemble_plan {
    struct hx_collective_config config; /* of position 0 */
    bool whole;                         /* small integers, so sums are exact */
    bool scheduled;                     /* without vectors */
    bool pairs;                         /* exchange: a size for each pair */
    uint64_t seed;
};

struct player {
    struct hx_collective c;
    struct hx_collective_config config;
    uint8_t *vector, *staging; /* between guards */
    uint8_t *before;           /* initial values of the vector */
    uint64_t vector_bytes, staging_bytes, state_bytes;
    uint64_t *outgoing, *incoming;
};

struct ensemble {
    struct ensemble_plan plan;
    unsigned n, element; /* players; bytes of an element */
    struct player *player;
};

/* Makes all players with their values. Returns false if the program refuses this config. */
bool ensemble_init(struct ensemble *e, const struct ensemble_plan *plan);

/* Bytes of the vector that the player has at the end: with all its pieces; of an exchange, staging. */
const uint8_t *ensemble_result(const struct player *p);

/* Fails the test unless all players are done and have their results. */
void ensemble_validate(const struct ensemble *e);

#endif
