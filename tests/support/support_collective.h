/* support_collective.h - the vectors of a collective and their judge: what everybody has before, and must have after.
 *
 * The judge adds up copies of the values in double; of the program it asks nothing but which pieces are whose, and that
 * these are the vector, each element once, it counts. Around vectors and staging lie elements that nobody may touch.
 * Memory is the lab's. */
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
    unsigned grid_columns, grid_rows; /* of the fabric that the rows and columns are chosen from */
    bool whole;                       /* values are whole numbers: sums are exact */
    bool scheduled;                   /* without vectors */
    uint64_t seed;
};

struct player {
    struct hx_collective c;
    struct hx_collective_config config;
    float *vector, *staging; /* within guards */
    float *before;           /* what the vector was */
    uint64_t sent_bytes;
};

struct ensemble {
    struct ensemble_plan plan;
    unsigned n;
    uint16_t *gx, *gy;
    struct player *player; /* row by row */
};

/* All players with their values. false: the program refuses this shape. */
bool ensemble_init(struct ensemble *e, const struct ensemble_plan *plan);

struct player *ensemble_player(const struct ensemble *e, unsigned gx, unsigned gy);

/* Fails the test unless all are done and have what they must have. */
void ensemble_validate(const struct ensemble *e);

#endif
