/* collective.h - collective operations of a group as a program beside an endpoint.
 *
 * Three modules, each without knowledge of the others:
 *
 *     group       `size` ranks in an order; a rank is its position, 0 .. size - 1. The platform maps positions to hosts
 *     algorithm   for a position and a step: the peers, the ranges sent and received, add or copy; no state
 *     engine      `struct hx_collective`: messages, tags, queues, chunks, staging, sums
 *
 * Data that flows. Each member holds a vector of elements. The program names the messages that may go to the endpoint,
 * and takes the endpoint's events; it calls no other module. The platform joins the two:
 *
 *     hx_collective_next -> hx_endpoint_send, hx_collective_take     hal_read_payload  -> hx_collective_fill
 *     HX_EVENT_SENT      -> hx_collective_sent                       hal_write_payload -> hx_collective_place
 *     HX_EVENT_RECEIVED  -> hx_collective_received
 *
 *     uint32_t refused = 0;
 *     while (hx_collective_next(c, refused, &m)) {
 *         if (hx_endpoint_send(ep, address of m.to, m.bytes, m.tag, cookie) == HX_OK)
 *             hx_collective_take(c, &m);
 *         else
 *             refused |= (uint32_t)1 << m.queue;
 *     }
 *
 * at the start, and after each step of the endpoint that brought an event (not within it). Without vector memory the
 * same messages go, and no payload is read or written. Several collectives may be in progress at one endpoint: each is
 * a `struct hx_collective` of its own, and brief tags leave room for its number.
 *
 * Structure. A vector is divided among stripes, which run side by side. A stripe is a sequence of phases. A phase is
 * one elementary algorithm along a line of the group: all of it, or the members that differ in one dimension. A phase
 * sends when all earlier ones of its stripe have received everything. So the stripes of a hierarchy are its pipeline:
 * they are in different dimensions at one time.
 *
 *     tree          binomial tree, chunk by chunk: 1 stripe
 *     double-tree   two binary trees, each with half of the vector; an inner node of one is a leaf of the other (Sanders,
 *                   Speck, Traeff 2009): 2 stripes
 *     chain         from member to member, chunk by chunk: 1 stripe
 *     ring          a ring in the order of the group, or a Hamiltonian cycle of a grid; both directions: 2 stripes
 *     rings         two edge-disjoint Hamiltonian cycles of a grid, both directions: 4 stripes
 *     torus         a hierarchy of rings on a grid (SC22, appendix D); half of the stripes begin with the rows, half with
 *                   the columns, each in both directions: 4 stripes
 *     halving       recursive halving and doubling (Thakur et al. 2005); other numbers than powers of two fold first
 *     doubling      recursive doubling of whole vectors: fewest steps
 *     swing         halving with distances 1, -1, 3, -5, ... on tori (De Sensi et al., NSDI'24): two stripes a dimension
 *     swing-doubling  the same with whole vectors
 *     bruck         circulant graph, any number of ranks (Bruck et al. 1997; Traeff 2023)
 *     direct        to every member at once
 *     pairwise      to one member after the other
 *     hierarchy     reduce-scatter over the dimensions, all-reduce in the last, all-gather back (Won et al. 2021); each
 *                   dimension by ring, halving, bruck or direct
 *
 * Segments are cut into chunks. A chunk is a message. On rings and trees it is forwarded when it arrives; in other
 * algorithms when the step is complete.
 *
 * Ownership. Reduce-scatter leaves some of the vector at each member, and all-gather begins with it: the pieces of
 * hx_collective_piece(). Together they cover each element once. The same of gather and scatter: the piece is segment
 * `position` of `size`. The rest of the vector holds partial sums after a reduction, and may hold anything before an
 * all-gather. An all-to-all takes the segment for each rank from the vector, and leaves the segments of each rank in
 * `staging`.
 *
 * Correctness. For every chunk at every member:
 *     1. A partial sum leaves only when all local contributions are added. The chunk is written next when its final
 *        value arrives.
 *     2. The final value exists only after the next member has received every byte of this partial sum. So when it
 *        overwrites the partial sum, no retransmission can need that.
 *     3. Contributions that may arrive early go to places of their own in `staging`, and are added in their turn. When a
 *        member sends the whole sum and receives another for the same elements (doubling), the new sum is in `staging`,
 *        and leaves from there. The last sum goes to the vector after all that left from it is acknowledged.
 *     4. So the algorithm alone decides the order of every sum: the same bits in every run.
 *
 * The endpoint places every byte once. If a member restarts, its sums are lost, and all must abandon the collective.
 *
 * Memory: the caller owns state, vector and staging, which outlive the program. One owner. */
#ifndef HXMESH_COLLECTIVE_H
#define HXMESH_COLLECTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "hxmesh/begin.h"

enum hx_collective_kind {
    HX_BROADCAST,
    HX_REDUCE_SCATTER,
    HX_ALL_GATHER,
    HX_ALL_REDUCE,
    HX_REDUCE,
    HX_GATHER,
    HX_SCATTER,
    HX_COLLECTIVE_ALL_TO_ALL, /* all-to-all */
    HX_BARRIER,
    HX_COLLECTIVE_KINDS
};

enum hx_collective_algorithm {
    HX_BY_TREE,
    HX_BY_RING,
    HX_BY_RINGS,
    HX_BY_TORUS,
    HX_BY_DOUBLE_TREE,
    HX_BY_CHAIN,
    HX_BY_HALVING,
    HX_BY_DOUBLING,
    HX_BY_SWING,
    HX_BY_SWING_DOUBLING,
    HX_BY_BRUCK,
    HX_BY_DIRECT,
    HX_BY_PAIRWISE,
    HX_BY_HIERARCHY,
    HX_COLLECTIVE_ALGORITHMS
};

/* Elements of a vector. Additions of the 16-bit types are done in float32, and each sum is rounded to nearest even. */
enum hx_collective_type {
    HX_FLOAT32,
    HX_FLOAT64,
    HX_FLOAT16,
    HX_BFLOAT16,
    HX_INT8,
    HX_UINT8,
    HX_INT32,
    HX_UINT32,
    HX_INT64,
    HX_UINT64,
    HX_COLLECTIVE_TYPES
};

enum hx_collective_operation { HX_SUM, HX_MAX, HX_MIN, HX_COLLECTIVE_OPERATIONS };

enum {
    HX_COLLECTIVE_DIMENSIONS = 6,
    HX_COLLECTIVE_STRIPES = 32,
    HX_COLLECTIVE_PHASES = 2 * HX_COLLECTIVE_DIMENSIONS - 1, /* of a stripe, in sequence */
    HX_COLLECTIVE_MAX_WINDOW = 32,
    HX_COLLECTIVE_MOST_RANKS = 1 << 20
};

struct hx_collective_dimension {
    uint32_t size;     /* ranks; 1 and up */
    uint8_t algorithm; /* hierarchy: HX_BY_RING, HX_BY_HALVING (size: a power of two), HX_BY_BRUCK or HX_BY_DIRECT */
};

struct hx_collective_config {
    uint64_t bytes;     /* vector: whole elements, at most 2^42; barrier: 0 */
    uint32_t chunk;     /* bytes of the largest message: an element and up; see hx_collective_chunk() */
    uint32_t size;      /* ranks of the group: 1 .. HX_COLLECTIVE_MOST_RANKS */
    uint32_t position;  /* of this rank: i0 + size0 * (i1 + size1 * ...) for places i in the dimensions */
    uint32_t root;      /* position; broadcast, reduce, gather, scatter */
    uint8_t kind;       /* enum hx_collective_kind */
    uint8_t algorithm;  /* enum hx_collective_algorithm */
    uint8_t type;       /* enum hx_collective_type */
    uint8_t operation;  /* enum hx_collective_operation */
    uint8_t window;     /* most messages in flight in a step: 1 .. 32; the endpoint allows its window a pair */
    uint8_t planes;     /* that carry messages: short segments are cut into as many, side by side; 0: one plane */
    uint8_t stripes;    /* hierarchy: 1 .. HX_COLLECTIVE_STRIPES; 0 and other algorithms: their own number */
    uint8_t dimensions; /* of the group; 0: one of `size`; rings and torus: 2, columns and rows */
    struct hx_collective_dimension dimension[HX_COLLECTIVE_DIMENSIONS];
    /* Exchange with a size for each pair: elements [outgoing[i], outgoing[i + 1]) of the vector are for position i, and
     * those of position i go to elements [incoming[i], incoming[i + 1]) of staging. [size + 1], in ascending order; the
     * own segment has one size in both. Both NULL: equal segments, of a vector with a multiple of `size` elements */
    const uint64_t *outgoing, *incoming;
};

/* A message that may be sent. */
struct hx_collective_send {
    uint32_t to;    /* position */
    uint32_t bytes; /* may be 0 */
    uint32_t tag;
    uint8_t queue; /* number below 32; a refused queue does not stop the others */
};

/* Set of numbers: all below `base`, and base + 1 + i for each bit i of `ahead`. */
struct hx_collective_track {
    uint32_t base;
    uint32_t ahead;
};

/* Messages of a step; of a ring: of all steps of a phase, since they have one peer in each
 * direction. Invariant: acked.base <= next <= acked.base + config.window. */
struct hx_collective_queue {
    struct hx_collective_track in, acked;
    uint32_t next;  /* message to send */
    uint32_t added; /* messages that are added or copied: all below */
    uint64_t aside; /* element of staging for early contributions */
};

/* Positions of a line: base + i * stride for member i. */
struct hx_collective_line {
    uint32_t base, stride;
};

/* Positions beside this rank in a ring. */
struct hx_collective_ring {
    uint32_t next, before;
};

/* Messages of a step, where all steps have one peer in each direction and share a queue. */
struct hx_collective_chunks {
    uint32_t elements, count; /* of a chunk; of chunks */
};

struct hx_collective_progress {
    uint32_t complete; /* steps with all messages arrived and added, from the first on */
    uint32_t cursor;   /* first step with messages to send */
};

/* A phase of a stripe: one elementary algorithm along a line. */
struct hx_collective_phase {
    uint64_t first, elements;   /* range of the vector */
    uint32_t size, place, root; /* of the line; place: of this rank */
    union {
        struct hx_collective_line line;
        struct hx_collective_ring ring; /* instead, of rings and chains */
    };
    uint32_t segments; /* of the range */
    uint32_t steps;    /* 0: nothing to do */
    uint32_t queue;    /* first queue */
    union {
        struct hx_collective_progress progress;
        struct hx_collective_chunks chunks; /* instead, of one queue */
    };
    uint8_t turn;                /* step to examine first, counted from the cursor */
    uint8_t method, kind, shape; /* of collective_parts.h */
    uint8_t mirrored;            /* the other direction */
    uint8_t dimension;           /* of the group; a line of all: HX_COLLECTIVE_DIMENSIONS */
};

struct hx_collective {
    struct hx_collective_config config;
    uint8_t *vector;
    uint8_t *staging;
    struct hx_collective_phase *phase; /* [stripes][phases] */
    struct hx_collective_queue *queue; /* [queues] */
    uint64_t left;                     /* messages to receive, and to be reported as sent */
    uint32_t queues;
    uint8_t stripes, phases;
    uint8_t phase_bits, queue_bits;           /* of a tag */
    uint8_t turn;                             /* stripe to examine first */
    uint8_t sending[HX_COLLECTIVE_STRIPES];   /* phase that sends */
    uint8_t receiving[HX_COLLECTIVE_STRIPES]; /* first phase that has not received everything */
};

/* Returns HX_OK, or HX_E_RANGE: a field outside its range, more messages than tags (use a larger chunk), or a kind,
 * number of ranks or grid that this algorithm does not have. */
int hx_collective_check(const struct hx_collective_config *config);

/* Bytes of an element. */
unsigned hx_collective_element(enum hx_collective_type type);

/* Returns the bytes of state, 8-byte aligned. */
uint64_t hx_collective_state(const struct hx_collective_config *config);

/* Returns the bytes of staging for this rank; 0: none. Not needed without a vector. */
uint64_t hx_collective_staging(const struct hx_collective_config *config);

/* Returns the messages that this rank sends. */
uint64_t hx_collective_messages(const struct hx_collective_config *config);

/* Returns the most peers that this rank sends to or receives from. */
uint32_t hx_collective_peers(const struct hx_collective_config *config);

/* What this rank sends and receives in a step of a phase of a stripe: for estimates. */
struct hx_collective_move {
    uint32_t to, from;       /* positions; UINT32_MAX: nothing is sent, or received */
    uint64_t sent, received; /* bytes */
    bool waits;    /* it begins when all earlier steps are complete; else when the data that it sends has arrived */
    bool forwards; /* what it sends arrived in an earlier step, chunk by chunk */
};
/* Returns the kind of the steps: that of the configuration; of a barrier, HX_ALL_REDUCE or HX_ALL_GATHER. */
enum hx_collective_kind hx_collective_kind_of_steps(const struct hx_collective_config *config);
unsigned hx_collective_stripes(const struct hx_collective_config *config);
unsigned hx_collective_phases(const struct hx_collective_config *config);
uint32_t hx_collective_steps(const struct hx_collective_config *config, unsigned stripe, unsigned phase);
/* After hx_collective_check(). step: below hx_collective_steps(). */
void hx_collective_move(const struct hx_collective_config *config, unsigned stripe, unsigned phase, uint32_t step,
                        struct hx_collective_move *move);

/* Initialises *c. `vector`, `staging`: 8-byte aligned; both NULL: messages without payload. The vector holds this
 * rank's values. HX_E_RANGE as above. */
int hx_collective_init(struct hx_collective *c, const struct hx_collective_config *config, void *state, void *vector,
                       void *staging);

/* Returns the bytes of a chunk that keeps links of 50 GB/s on `planes` planes busy with few messages. */
uint32_t hx_collective_chunk(const struct hx_collective_config *config, unsigned planes);

/* Finds the next message that may go of a queue that is not in `refused`. Returns false if there is none before
 * the next event. */
bool hx_collective_next(const struct hx_collective *c, uint32_t refused, struct hx_collective_send *send);

/* Notes that the endpoint took the message. */
void hx_collective_take(struct hx_collective *c, const struct hx_collective_send *send);

/* Notes that the peer has the message. HX_E_RANGE: it is not in flight. */
int hx_collective_sent(struct hx_collective *c, uint32_t tag);

/* Returns the bytes of a message to this rank that it adds to its own; 0: none, or there is no such message. */
uint64_t hx_collective_sums(const struct hx_collective *c, uint32_t tag);

/* Notes that a message is complete. HX_E_RANGE: none is due from this position. */
int hx_collective_received(struct hx_collective *c, uint32_t from, uint32_t tag);

/* Returns true if everything arrived, and everything sent was acknowledged. */
bool hx_collective_done(const struct hx_collective *c);

/* Writes `bytes` bytes of a message of this rank, from byte `offset` on (both whole elements). Writes nothing if
 * it has no such bytes. */
void hx_collective_fill(const struct hx_collective *c, uint32_t tag, uint64_t offset, void *to, uint32_t bytes);

/* Adds, copies or stages payload of an arriving message; each byte once, in any order. HX_E_RANGE: it is not within a
 * message that is due here. */
int hx_collective_place(struct hx_collective *c, uint32_t tag, uint64_t offset, const void *payload, uint32_t bytes);

/* Several collectives share an endpoint's tags: a brief tag has HX_COLLECTIVE_BRIEF_BITS bits, and the platform uses
 * the others to tell the collectives apart. It names one of the messages that are due: a step has at most `window` of
 * them in flight. hx_collective_use_brief(), called after hx_collective_init(), lowers the window to what brief tags
 * allow: HX_COLLECTIVE_BRIEF_WINDOW or more where it was larger. */
enum { HX_COLLECTIVE_BRIEF_BITS = 13, HX_COLLECTIVE_BRIEF_WINDOW = 4 };
void hx_collective_use_brief(struct hx_collective *c);
uint32_t hx_collective_brief(const struct hx_collective *c, uint32_t tag);
/* Finds the tag of a message that arrives from a position, or is in flight to one, by its brief tag. HX_E_RANGE: there
 * is no such step. */
int hx_collective_arriving(const struct hx_collective *c, uint32_t from, uint32_t brief, uint32_t *tag);
int hx_collective_leaving(const struct hx_collective *c, uint32_t to, uint32_t brief, uint32_t *tag);

/* Finds piece `index` of this rank's share after a reduce-scatter or scatter and before an all-gather or gather, in
 * bytes of the vector. Returns false if there is none. */
bool hx_collective_piece(const struct hx_collective *c, unsigned index, uint64_t *offset, uint64_t *bytes);

#include "hxmesh/end.h"

#endif
