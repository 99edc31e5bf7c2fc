/* collective_parts.h - what the files of the collective program (include/hxmesh/collective.h) share.
 *
 *     collective.c           the engine: messages, queues, progress
 *     collective_setup.c     the engine: state, staging, start, chunks
 *     collective_data.c      the engine: ranges of a message, payload, pieces
 *     collective_tags.c      tags and brief tags
 *     collective_plan.c      stripes and phases of each algorithm
 *     collective_ring.c      methods: segments around a ring
 *     collective_tree.c                trees
 *     collective_exchange.c            halving, doubling, swing
 *     collective_bruck.c               circulant graph
 *     collective_direct.c              to all others
 *     collective_cycles.c    Hamiltonian cycles of a torus
 *     collective_sum.c       types and operations
 *
 * A method is an elementary algorithm along a line. It answers for a phase and a step, and has no state. All members of
 * a line have the same number of steps, and a message has the same step at both ends.
 *
 * A tag: phase, queue of the phase, each in as many bits as the collective needs; number of the message in its queue.
 */
#ifndef HXMESH_COLLECTIVE_PARTS_H
#define HXMESH_COLLECTIVE_PARTS_H

#include "hxmesh/collective.h"

#include <stddef.h>

#define HX_NO_PEER UINT32_MAX

/* Segments of a phase's range, cyclic: `first`, first + 1, ..., after the last the first. */
struct hx_segments {
    uint32_t first, count;
};

enum hx_landing { HX_ADD, HX_COPY, HX_LAY_ASIDE };

/* What a chunk waits for before it leaves. */
enum hx_gate {
    HX_WHEN_COMPLETE, /* all steps before `of` are complete */
    HX_WHEN_THERE,    /* the chunk of the same number arrived in step `of` */
    HX_WHEN_ADDED     /* the same, and it is added */
};

/* Successive steps that exchange whole sums are a chain. The first sends the vector. Each adds what it sends to what
 * lies aside, and the next sends this. The last copies the sum to the vector, after the first's messages are
 * acknowledged. */
enum hx_chain { HX_CHAINED = 1, HX_CHAIN_BEGINS = 2, HX_CHAIN_ENDS = 4 };

/* A step at one member. */
struct hx_step {
    uint32_t to, from; /* positions; HX_NO_PEER: nothing is sent, or received */
    struct hx_segments out, in;
    uint8_t adds;  /* received elements are added; else copied */
    uint8_t first; /* adds: no contribution of another member is added earlier to these elements */
    uint8_t chain; /* enum hx_chain; 0: none */
    uint8_t gate;  /* enum hx_gate */
    uint32_t of;
};

struct hx_method {
    uint32_t (*steps)(const struct hx_collective_config *config, const struct hx_collective_phase *phase);
    void (*step)(const struct hx_collective_config *config, const struct hx_collective_phase *phase, uint32_t number,
                 struct hx_step *step);
    /* Segment that this rank has after a reduce-scatter and before an all-gather. */
    uint32_t (*own)(const struct hx_collective_config *config, const struct hx_collective_phase *phase);
    uint32_t span;   /* steps that may send at one time */
    bool one_queue;  /* one peer in each direction, and segments of one size */
    bool by_chunk;   /* sums are added chunk by chunk; else step by step */
    bool peer_tells; /* a phase has two steps with a peer at most: one in each half of its steps */
};

enum hx_method_name { HX_RING_METHOD, HX_TREE_METHOD, HX_EXCHANGE_METHOD, HX_BRUCK_METHOD, HX_DIRECT_METHOD };
extern const struct hx_method hx_ring_method, hx_tree_method, hx_exchange_method, hx_bruck_method, hx_direct_method;
const struct hx_method *hx_method_of(const struct hx_collective_phase *phase);

static inline uint32_t hx_queues_of(const struct hx_collective_phase *phase)
{
    return phase->steps && hx_method_of(phase)->one_queue ? 1 : phase->steps;
}

/* Shapes of a phase. */
enum hx_tree_shape { HX_BINOMIAL, HX_BINARY, HX_CYCLE, HX_GRID };
enum hx_exchange_shape { HX_BY_BITS, HX_BY_BITS_WHOLE, HX_BY_SWING_SHARES, HX_BY_SWING_WHOLE };
enum hx_direct_shape { HX_AT_ONCE, HX_IN_TURN };

/* Position of a member of a line. */
static inline uint32_t hx_member(const struct hx_collective_phase *phase, uint32_t place)
{
    return phase->line.base + place * phase->line.stride;
}

/* Returns the least k with 2^k >= n. */
static inline unsigned hx_log2_up(uint32_t n)
{
    return n <= 1 ? 0 : 32U - (unsigned)__builtin_clz(n - 1);
}
static inline bool hx_is_power_of_two(uint32_t n)
{
    return n && (n & (n - 1)) == 0;
}

/* ---- collective_plan.c ---- */

unsigned hx_plan_stripes(const struct hx_collective_config *config);
unsigned hx_plan_phases(const struct hx_collective_config *config);
/* Makes a phase without progress and queue. */
void hx_plan_phase(const struct hx_collective_config *config, unsigned stripe, unsigned k,
                   struct hx_collective_phase *phase);
/* Returns false if the algorithm does not have this kind, number of ranks or grid. */
bool hx_plan_exists(const struct hx_collective_config *config);
uint32_t hx_plan_size(const struct hx_collective_config *config, unsigned dimension); /* 1: no such dimension */
/* Place of a position in a dimension. */
uint32_t hx_plan_place(const struct hx_collective_config *config, uint32_t position, unsigned dimension);

/* ---- collective_cycles.c ---- */

struct hx_stand {
    uint32_t column, row;
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

/* ---- collective_data.c ---- */

/* Range of elements within a phase's, cyclic: after the last element follows the first. */
struct hx_range {
    uint64_t first, count;
};

/* A message: where it belongs, and what it has. */
struct hx_message {
    unsigned stripe, k; /* phase k of the stripe */
    struct hx_collective_phase *phase;
    struct hx_collective_queue *queue;
    uint32_t number; /* in its queue */
    uint32_t step;
    uint32_t index; /* chunk of the step */
    struct hx_step at;
};

uint64_t hx_elements(const struct hx_collective_config *config);
/* Elements of the segments; sending: of an exchange, those of the vector, else those of staging. */
struct hx_range hx_range_of(const struct hx_collective_config *config, const struct hx_collective_phase *phase,
                            struct hx_segments segments, bool sending);
/* Elements of a message that is sent. */
uint64_t hx_message_elements(const struct hx_collective *c, const struct hx_message *m);
/* Returns the number of chunks of `elements` elements, which may exceed 32 bits, and the elements of a chunk. */
uint64_t hx_divide(const struct hx_collective_config *config, uint64_t elements, uint32_t *chunk);
/* The same of a range of a phase. */
uint64_t hx_chunks(const struct hx_collective_config *config, const struct hx_collective_phase *phase,
                   struct hx_range range, uint32_t *chunk);
enum hx_landing hx_landing_of(const struct hx_message *m);
/* Elements of staging that a step needs, or all steps of one queue; 0: received elements are copied, or added at
 * once. */
uint64_t hx_aside_elements(const struct hx_collective_config *config, const struct hx_collective_phase *phase,
                           unsigned k, const struct hx_step *step);
/* Adds what lies aside of message `number` of a step: to the vector, or along its chain. */
void hx_add_aside(const struct hx_collective *c, const struct hx_message *m);

/* ---- collective.c ---- */

bool hx_track_has(const struct hx_collective_track *t, uint32_t number);
bool hx_track_is_due(const struct hx_collective_track *t, uint32_t number);
/* Finds message `number` of a queue of a phase. Returns false if there is no such step. */
bool hx_message_find(const struct hx_collective *c, uint32_t phase, uint32_t queue, uint32_t number,
                     struct hx_message *m);
/* Messages of a step in one direction. */
uint64_t hx_messages(const struct hx_collective_config *config, const struct hx_collective_phase *phase,
                     const struct hx_step *step, bool sending);

/* Completes what has arrived of a stripe, from its first phase that is not complete on. */
void hx_settle(struct hx_collective *c, unsigned stripe);
/* Ends phases of a stripe in which all is sent. */
void hx_advance(struct hx_collective *c, unsigned stripe);

/* ---- collective_tags.c ---- */

uint32_t hx_tag_of(const struct hx_collective *c, uint32_t phase, uint32_t queue, uint32_t number);
bool hx_tag_find(const struct hx_collective *c, uint32_t tag, struct hx_message *m);

/* ---- collective_direct.c ---- */

/* Finds the step in which a peer sends to this rank, or receives from it, in the first or second half of the steps.
 * Returns false if there is none. */
bool hx_direct_find(const struct hx_collective_config *config, const struct hx_collective_phase *phase, uint32_t peer,
                    unsigned half, bool sending, uint32_t *step);

/* ---- collective_sum.c ---- */

/* to[i] = to[i] combined with from[i]; neither need be aligned. */
void hx_combine(enum hx_collective_type type, enum hx_collective_operation operation, uint8_t *to, const uint8_t *from,
                uint64_t count);

#endif
