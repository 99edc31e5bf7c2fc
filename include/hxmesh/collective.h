/* collective.h - broadcast, reduce-scatter, all-gather and all-reduce as a program beside an endpoint.
 *
 * Data that flows. Each accelerator of a logical grid (columns x rows, any rows and columns of a fabric) holds a vector
 * of float32. The program names the messages that may go to the endpoint, and takes the endpoint's events; it calls no
 * other module. The platform joins the two:
 *
 *     hx_collective_next -> hx_endpoint_send, hx_collective_take     hal_read_payload  -> hx_collective_fill
 *     HX_EVENT_SENT      -> hx_collective_sent                       hal_write_payload -> hx_collective_place
 *     HX_EVENT_RECEIVED  -> hx_collective_received
 *
 *     uint32_t refused = 0;
 *     while (hx_collective_next(c, refused, &m)) {
 *         if (hx_endpoint_send(ep, m.gx, m.gy, m.bytes, m.tag, cookie) == HX_OK)
 *             hx_collective_take(c, &m);
 *         else
 *             refused |= (uint32_t)1 << m.lane;
 *     }
 *
 * at the start, and after each step of the endpoint that brought an event (not within it). Without vector memory the
 * same messages go, and no payload is read or written.
 *
 * Algorithms (Hoefler et al., SC22, section V-A2 and appendix D). Every directed ring is a stream with its own share of
 * the vector.
 *     tree    binomial tree by rank; one stream, chunk by chunk
 *     ring    one Hamiltonian cycle of the grid, both directions: 2 streams
 *     rings   two edge-disjoint Hamiltonian cycles, both directions: 4 streams
 *     torus   2 streams reduce-scatter along rows, all-reduce along columns, all-gather along rows; 2 others at the
 *             same time with rows and columns exchanged
 *
 * A stream's share has a segment for each accelerator of its ring. Segments are cut into chunks. A chunk is a message
 * and is forwarded as soon as it arrives. A broadcast follows the streams as chains.
 *
 * Ownership. Reduce-scatter leaves a part of the vector at each accelerator, and all-gather begins with it: the pieces
 * of hx_collective_piece(). Together they cover each element once. The rest of the vector holds partial sums after a
 * reduce-scatter, and may hold anything before an all-gather.
 *
 * Correctness. For every chunk at every accelerator:
 *     1. A partial sum leaves only when all local contributions are added. The chunk is written next when its final
 *        value arrives.
 *     2. The final value exists only after the next accelerator has received every byte of this partial sum. So when
 *        it overwrites the partial sum, no retransmission can need that.
 *     3. Contributions that may arrive early go to places of their own in `staging`, and are added in their turn:
 *        partial sums of a torus' second dimension while the first is not done, and those of all children of a tree
 *        node but the first.
 *     4. So the algorithm alone decides the order of every sum: the same bits in every run.
 *
 * The endpoint places every byte once. If an accelerator restarts, its sums are lost, and all must abandon the
 * collective.
 *
 * Memory: the caller owns the vector, the coordinates and `staging`, which outlive the program. One owner. */
#ifndef HXMESH_COLLECTIVE_H
#define HXMESH_COLLECTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "hxmesh/begin.h"

enum hx_collective_kind { HX_BROADCAST, HX_REDUCE_SCATTER, HX_ALL_GATHER, HX_ALL_REDUCE };
enum hx_collective_algorithm { HX_BY_TREE, HX_BY_RING, HX_BY_RINGS, HX_BY_TORUS };

enum {
    HX_COLLECTIVE_STREAMS = 4,
    HX_COLLECTIVE_PHASES = 3,    /* of a stream, in sequence */
    HX_COLLECTIVE_CHILDREN = 20, /* of a tree node: up to 2^20 accelerators */
    HX_COLLECTIVE_LANES = HX_COLLECTIVE_CHILDREN + 1,
    HX_COLLECTIVE_MAX_WINDOW = 32,
    HX_COLLECTIVE_PEERS = 2 * HX_COLLECTIVE_STREAMS * HX_COLLECTIVE_PHASES /* peers of an accelerator, at most */
};

struct hx_collective_config {
    uint64_t bytes;   /* vector: a multiple of 4, at most 2^42 */
    uint32_t chunk;   /* bytes of the largest message: 4 and up; see hx_collective_chunk() */
    uint16_t columns; /* logical grid; columns * rows at most 2^20 */
    uint16_t rows;
    uint16_t column; /* position of this accelerator */
    uint16_t row;
    uint16_t root_column; /* broadcast: source of the vector */
    uint16_t root_row;
    uint8_t kind;       /* enum hx_collective_kind */
    uint8_t algorithm;  /* enum hx_collective_algorithm */
    uint8_t window;     /* messages in flight on a lane: 1 .. 32; the endpoint allows HX_PEER_WINDOW a pair */
    const uint16_t *gx; /* [columns] gx of a logical column; NULL: the same */
    const uint16_t *gy; /* [rows] gy of a logical row; NULL: the same */
};

/* A message that may be sent. */
struct hx_collective_send {
    uint16_t gx, gy;
    uint32_t bytes; /* may be 0 */
    uint32_t tag;
    uint8_t lane; /* a peer or a direction; a refused lane does not stop the others */
};

/* Share of a directed ring (or chain) that passes this accelerator in one phase. Segment g: elements [g * elements /
 * size, (g + 1) * elements / size) after `first`. */
struct hx_collective_part {
    uint64_t first;        /* element of the vector */
    uint64_t elements;     /* number of elements */
    uint32_t size;         /* accelerators of the ring = segments */
    uint32_t position;     /* of this accelerator in the ring */
    uint32_t chunk;        /* elements */
    uint32_t chunks;       /* in a segment */
    uint32_t messages;     /* to receive, and to send */
    uint32_t reduces;      /* number of messages, from the first, that are added; later ones are copied */
    uint16_t to_gx, to_gy; /* next in the ring */
    uint16_t from_gx, from_gy;
    uint8_t shift; /* segment sent in step s: position - shift - s */
    bool to, from; /* chain: has a next, has a previous accelerator */
};

/* Set of numbers: all below `base`, and base + 1 + i for each bit i of `ahead`. */
struct hx_collective_track {
    uint32_t base;
    uint32_t ahead;
};

/* Messages of a lane, counted through all phases. Invariant: acked.base <= next <= acked.base + window. */
struct hx_collective_out {
    uint32_t next;
    uint8_t phase; /* of number `next` */
    struct hx_collective_track acked;
};

struct hx_collective {
    struct hx_collective_config config;
    float *vector;
    float *staging;
    uint64_t left;    /* messages to receive, and to be reported as sent */
    uint32_t rank;    /* tree: distance from the root */
    uint32_t reduced; /* tree: chunks with the sums of all children */
    uint8_t streams, phases, lanes, children;
    uint8_t turn; /* lane to examine first */
    struct hx_collective_track in[HX_COLLECTIVE_LANES];
    struct hx_collective_out out[HX_COLLECTIVE_LANES];
    struct hx_collective_part part[HX_COLLECTIVE_STREAMS][HX_COLLECTIVE_PHASES];
};

/* Returns HX_OK, or HX_E_RANGE: a field outside its range, more messages than tags (use a larger chunk), or no two
 * edge-disjoint Hamiltonian cycles on this grid (HX_BY_RINGS). */
int hx_collective_check(const struct hx_collective_config *config);

/* Returns the bytes of staging for this accelerator's sums; 0: none. Not needed without a vector. */
uint64_t hx_collective_staging(const struct hx_collective_config *config);

/* Initialises *c. `vector`, `staging`: 4-byte aligned; both NULL: messages without payload. The vector holds this
 * accelerator's values. HX_E_RANGE as above. */
int hx_collective_init(struct hx_collective *c, const struct hx_collective_config *config, float *vector,
                       float *staging);

/* Returns the bytes of a chunk that keeps links of 50 GB/s on `planes` planes busy with few messages. */
uint32_t hx_collective_chunk(const struct hx_collective_config *config, unsigned planes);

/* Finds the next message that may go on a lane that is not in `refused`. Returns false if there is none before
 * the next event. */
bool hx_collective_next(const struct hx_collective *c, uint32_t refused, struct hx_collective_send *send);

/* Notes that the endpoint took the message. */
void hx_collective_take(struct hx_collective *c, const struct hx_collective_send *send);

/* Notes that the peer has the message. HX_E_RANGE: it is not in flight. */
int hx_collective_sent(struct hx_collective *c, uint32_t tag);

/* Notes that a message is complete. HX_E_RANGE: none is due from (gx, gy). */
int hx_collective_received(struct hx_collective *c, unsigned gx, unsigned gy, uint32_t tag);

/* Returns true if everything arrived, and everything sent was acknowledged. */
bool hx_collective_done(const struct hx_collective *c);

/* Writes `bytes` bytes of a message of this accelerator, from byte `offset` on (both multiples of 4). */
void hx_collective_fill(const struct hx_collective *c, uint32_t tag, uint64_t offset, void *to, uint32_t bytes);

/* Adds, copies or stages payload of an arriving message; each byte once, in any order. HX_E_RANGE: it is not within a
 * message that is due here. */
int hx_collective_place(struct hx_collective *c, uint32_t tag, uint64_t offset, const void *payload, uint32_t bytes);

/* Several collectives share an endpoint's tags: a brief tag has HX_COLLECTIVE_BRIEF_BITS bits, and the platform uses
 * the others to tell the collectives apart. It names one of the messages that are due: a lane has at most
 * HX_COLLECTIVE_MAX_WINDOW of them in flight. */
enum { HX_COLLECTIVE_BRIEF_BITS = 13 };
uint32_t hx_collective_brief(uint32_t tag);
/* Finds the tag of a message that arrives, or that is in flight, by its brief tag. HX_E_RANGE: there is no such
 * stream. */
int hx_collective_arriving(const struct hx_collective *c, uint32_t brief, uint32_t *tag);
int hx_collective_leaving(const struct hx_collective *c, uint32_t brief, uint32_t *tag);

/* Finds piece `index` of this accelerator's part after a reduce-scatter and before an all-gather, in bytes of the
 * vector. Returns false if there is none. */
bool hx_collective_piece(const struct hx_collective *c, unsigned index, uint64_t *offset, uint64_t *bytes);

#include "hxmesh/end.h"

#endif
