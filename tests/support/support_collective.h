/* support_collective.h - vectors of a collective, and a check of what each player must have at the end.
 *
 * The check adds up copies of the values in double. Of the program it asks only which pieces each player owns, and
 * checks that these cover the vector once. Guard elements around vectors and staging must stay untouched. Memory is
 * of support_lab.h. */
#ifndef HXMESH_TESTS_SUPPORT_COLLECTIVE_H
#define HXMESH_TESTS_SUPPORT_COLLECTIVE_H

#include "hxmesh/collective.h"

#include <stddef.h>

struct ensemble_plan {
    enum hx_collective_kind kind;
    enum hx_collective_algorithm algorithm;
    unsigned columns, rows;
    uint64_t elements;
    uint32_t chunk;
    unsigned window;
    unsigned grid_columns, grid_rows; /* of the fabric that contains the rows and columns */
    bool whole;                       /* integers, so sums are exact */
    bool scheduled;                   /* without vectors */
    uint64_t seed;
};

struct player {
    struct hx_collective c;
    struct hx_collective_config config;
    float *vector, *staging; /* between guards */
    float *before;           /* initial values of the vector */
    uint64_t sent_bytes;
};

struct ensemble {
    struct ensemble_plan plan;
    unsigned n;
    uint16_t *gx, *gy;
    struct player *player; /* row by row */
};

/* Makes all players with their values. Returns false if the program refuses this shape. */
bool ensemble_init(struct ensemble *e, const struct ensemble_plan *plan);

struct player *ensemble_player(const struct ensemble *e, unsigned gx, unsigned gy);

/* Fails the test unless all players are done and have their results. */
void ensemble_validate(const struct ensemble *e);

#endif
