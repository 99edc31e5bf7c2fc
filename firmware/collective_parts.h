/* collective_parts.h - what the files of the collective program (include/hxmesh/collective.h) share.
 *
 *     collective.c         the program: tags, windows, data
 *     collective_rings.c   Hamiltonian cycles of a torus
 *     collective_walk.c    segments that move around rings: reduce-scatter, all-gather, all-reduce
 *     collective_spread.c  broadcasts along rings, as chains
 *     collective_tree.c    all collectives on the binomial tree
 *
 * A tag: 2 bits phase, 5 bits edge, 25 bits number of the message. The edge is the stream; in a tree, the bit in which
 * the ranks of child and parent differ. */
#ifndef HXMESH_COLLECTIVE_PARTS_H
#define HXMESH_COLLECTIVE_PARTS_H

#include "hxmesh/collective.h"

#include <stddef.h>

enum { HX_TAG_NUMBER_BITS = 25, HX_TAG_EDGE_BITS = 5, HX_COLLECTIVE_PARENT = HX_COLLECTIVE_CHILDREN };

struct hx_tag {
    uint32_t number;
    uint8_t phase, edge;
};

/* Range of elements of the vector. */
struct hx_range {
    uint64_t first, count;
};

enum hx_landing { HX_ADD, HX_COPY, HX_LAY_ASIDE };

/* A message that is due here. */
struct hx_arrival {
    struct hx_range range;
    struct hx_collective_track *in;
    enum hx_landing landing;
    uint64_t aside; /* LAY_ASIDE: element of the staging memory */
    uint16_t gx, gy;
};

/* ---- collective_rings.c ---- */

struct hx_stand {
    uint16_t column, row;
};

enum hx_cycle { HX_CYCLE_SINGLE, HX_CYCLE_FIRST, HX_CYCLE_SECOND };

/* Position in a ring, with its neighbours. */
struct hx_ring_stand {
    uint32_t size, position;
    struct hx_stand next, before;
};

/* Returns true if FIRST and SECOND exist on a torus of this shape; SINGLE always does. */
bool hx_cycles_exist(unsigned columns, unsigned rows);

void hx_cycle_find(unsigned columns, unsigned rows, enum hx_cycle cycle, struct hx_stand at,
                   struct hx_ring_stand *found);

/* ---- collective.c ---- */

struct hx_stand hx_collective_stand(const struct hx_collective_config *config);
unsigned hx_collective_gx(const struct hx_collective_config *config, unsigned column);
unsigned hx_collective_gy(const struct hx_collective_config *config, unsigned row);

/* Returns part `index` of `parts` nearly equal ones. */
struct hx_range hx_range_part(struct hx_range range, uint32_t index, uint32_t parts);

/* Sets the chunk for segments of at most `elements`: whole packets if a message has room for one. Returns the number of
 * chunks, which may exceed 32 bits. */
uint64_t hx_chunks(const struct hx_collective_config *config, uint64_t elements, uint32_t *chunk);

/* Returns chunk `index` of a segment; the last ones may be short or empty. */
struct hx_range hx_range_chunk(struct hx_range segment, uint32_t index, uint32_t chunk);

bool hx_track_has(const struct hx_collective_track *t, uint32_t number);

/* Adds staging to the vector. */
void hx_collective_add_aside(struct hx_collective *c, struct hx_range range, uint64_t aside);

/* ---- collective_walk.c, collective_spread.c: the streams ---- */

unsigned hx_streams(const struct hx_collective_config *config);

/* Finds the directed ring of a stream; level 1: the second dimension of a torus. */
void hx_stream_ring(const struct hx_collective_config *config, unsigned stream, unsigned level, struct hx_stand at,
                    struct hx_ring_stand *ring);
void hx_part_neighbours(const struct hx_collective_config *config, const struct hx_ring_stand *ring,
                        struct hx_collective_part *part);

/* Returns the elements of staging. */
uint64_t hx_walk_staging(const struct hx_collective_config *config);

/* Returns the number, within its lane, of a phase's first message. */
uint32_t hx_walk_first(const struct hx_collective *c, unsigned stream, unsigned phase);

int hx_walk_init(struct hx_collective *c);
void hx_walk_settle(struct hx_collective *c, unsigned stream);
bool hx_walk_ready(const struct hx_collective *c, unsigned lane, struct hx_tag *tag, struct hx_stand *to);
struct hx_range hx_walk_range(const struct hx_collective_part *part, uint32_t number, bool sending);
bool hx_walk_arrival(struct hx_collective *c, struct hx_tag tag, struct hx_arrival *a);
void hx_walk_received(struct hx_collective *c, struct hx_tag tag);

int hx_spread_init(struct hx_collective *c);
/* Returns the lane of a tag; c->lanes or more: it has none. */
unsigned hx_spread_lane(const struct hx_collective *c, struct hx_tag tag);
bool hx_spread_ready(const struct hx_collective *c, unsigned lane, struct hx_tag *tag, struct hx_stand *to);
struct hx_range hx_spread_range(const struct hx_collective_part *part, uint32_t number);
bool hx_spread_arrival(struct hx_collective *c, struct hx_tag tag, struct hx_arrival *a);

/* ---- collective_tree.c ---- */

/* Returns the elements of staging. */
uint64_t hx_tree_staging(const struct hx_collective_config *config);
int hx_tree_init(struct hx_collective *c);
unsigned hx_tree_lane(const struct hx_collective *c, struct hx_tag tag);
bool hx_tree_ready(const struct hx_collective *c, unsigned lane, struct hx_tag *tag, struct hx_stand *to);
struct hx_range hx_tree_range(const struct hx_collective *c, struct hx_tag tag, bool sending);
bool hx_tree_arrival(struct hx_collective *c, struct hx_tag tag, struct hx_arrival *a);
void hx_tree_received(struct hx_collective *c);

#endif
