/* collective.h - broadcast, reduce-scatter, all-gather and all-reduce as a program beside an endpoint.
 *
 * Data that flows. The accelerators of a logical grid (columns x rows, any rows and columns of a fabric) hold a vector
 * of float32 each. The program says which messages may be handed to the endpoint now, and takes what the endpoint
 * reports; it calls nobody. The platform joins the two:
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
 * at the start, and whenever a step of the endpoint has brought an event (after that step, not within it). Without
 * vector memory the same messages go and nothing is read or written.
 *
 * Algorithms (Hoefler et al., SC22, section V-A2 and appendix D). Every directed ring is a stream with its own share of
 * the vector.
 *     tree    binomial tree, rank by rank; one stream, chunk by chunk
 *     ring    one Hamiltonian cycle of the grid, both directions: 2 streams
 *     rings   two edge-disjoint Hamiltonian cycles, both directions: 4 streams
 *     torus   2 streams reduce-scatter along rows, all-reduce along columns, all-gather along rows; 2 others at the
 *             same time with rows and columns exchanged
 * A stream's share is cut into as many segments as its ring has accelerators, a segment into chunks; a chunk is a
 * message, and goes on as soon as it has come. A broadcast goes along the streams as through a chain.
 *
 * Who owns what. Reduce-scatter leaves, and all-gather begins with, a part of the vector at each accelerator: the
 * pieces that hx_collective_piece() names. The pieces of all accelerators are the vector, each element once. The rest
 * of the vector holds partial sums after a reduce-scatter, and may hold anything before an all-gather.
 *
 * Nothing lost, nothing summed twice, nothing torn. What holds of every chunk at every accelerator:
 *   1. A partial sum leaves only when all that is to be added to it here has been added, and nothing is added to it
 *      afterwards: it is next written when its final value comes.
 *   2. The final value of a chunk exists only after the accelerator downstream has had every byte of the partial sum
 *      sent from here. So when it overwrites the partial, no repeat of that partial can still be needed.
 *   3. What may come before this accelerator is ready for it is not added at once: it is laid aside in `staging`, in
 *      a place of its own, and added when its turn has come. These are the partial sums of the second dimension of a
 *      torus while the first is not done, and those of all children in a tree but the first.
 *   4. So every element is summed in one order, which the algorithm alone decides: the same bits in every run.
 * It is the endpoint that sees to it that every byte is placed once. Should an accelerator be restarted, its sums are
 * lost, and the collective must be given up by all.
 *
 * Memory: the vector, the coordinates and `staging` are the caller's and outlive the program. One owner. */
#ifndef HXMESH_COLLECTIVE_H
#define HXMESH_COLLECTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "hxmesh/begin.h"

enum hx_collective_kind { HX_BROADCAST, HX_REDUCE_SCATTER, HX_ALL_GATHER, HX_ALL_REDUCE };
enum hx_collective_algorithm { HX_BY_TREE, HX_BY_RING, HX_BY_RINGS, HX_BY_TORUS };

enum {
    HX_COLLECTIVE_STREAMS = 4,
    HX_COLLECTIVE_PHASES = 3,    /* of a stream, one after the other */
    HX_COLLECTIVE_CHILDREN = 20, /* of a node in the tree: up to 2^20 accelerators */
    HX_COLLECTIVE_LANES = HX_COLLECTIVE_CHILDREN + 1,
    HX_COLLECTIVE_MAX_WINDOW = 32,
    HX_COLLECTIVE_PEERS = 2 * HX_COLLECTIVE_STREAMS * HX_COLLECTIVE_PHASES /* whom one talks with, at most */
};

struct hx_collective_config {
    uint64_t bytes;   /* of the vector: a multiple of 4, at most 2^42 */
    uint32_t chunk;   /* bytes of the largest message: 4 and up; hx_collective_chunk() proposes one */
    uint16_t columns; /* of the logical grid; columns * rows at most 2^20 */
    uint16_t rows;
    uint16_t column; /* where this accelerator stands in it */
    uint16_t row;
    uint16_t root_column; /* broadcast: who has the vector */
    uint16_t root_row;
    uint8_t kind;       /* enum hx_collective_kind */
    uint8_t algorithm;  /* enum hx_collective_algorithm */
    uint8_t window;     /* messages under way on a lane: 1 .. 32; the endpoint takes HX_PEER_WINDOW a pair */
    const uint16_t *gx; /* [columns] of a logical column, NULL: the same */
    const uint16_t *gy; /* [rows] of a logical row, NULL: the same */
};

/* A message that may be sent now. */
struct hx_collective_send {
    uint16_t gx, gy;
    uint32_t bytes; /* may be 0 */
    uint32_t tag;
    uint8_t lane; /* a peer of its own, or a direction: what is refused for one lane may still go on another */
};

/* What a directed ring (or chain) carries past this accelerator in one phase. Segment g are the elements
 * [g * elements / size, (g + 1) * elements / size) after `first`. */
struct hx_collective_part {
    uint64_t first;        /* element of the vector */
    uint64_t elements;     /* carried */
    uint32_t size;         /* accelerators in the ring = segments */
    uint32_t position;     /* of this one */
    uint32_t chunk;        /* elements */
    uint32_t chunks;       /* of a segment */
    uint32_t messages;     /* to receive, and to send */
    uint32_t reduces;      /* the first so many that come are added, the others copied */
    uint16_t to_gx, to_gy; /* next in the ring */
    uint16_t from_gx, from_gy;
    uint8_t shift; /* segment sent in step s: position - shift - s */
    bool to, from; /* chain: there is a next one, one before */
};

/* Numbers that have been reported: all before `base`, and base + 1 + i where bit i of `ahead` is set. */
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
    uint64_t left;    /* messages to come, and to be reported as sent */
    uint32_t rank;    /* tree: distance from the root */
    uint32_t reduced; /* tree: chunks to which all children's are added */
    uint8_t streams, phases, lanes, children;
    uint8_t turn; /* lane that is looked at first */
    struct hx_collective_track in[HX_COLLECTIVE_LANES];
    struct hx_collective_out out[HX_COLLECTIVE_LANES];
    struct hx_collective_part part[HX_COLLECTIVE_STREAMS][HX_COLLECTIVE_PHASES];
};

/* HX_OK, or HX_E_RANGE: a field outside its range, more messages than a tag can number (a larger chunk helps), or no
 * two edge-disjoint Hamiltonian cycles on such a grid (HX_BY_RINGS). */
int hx_collective_check(const struct hx_collective_config *config);

/* Bytes of staging that sums need at this accelerator (0: none). Only where there is a vector. */
uint64_t hx_collective_staging(const struct hx_collective_config *config);

/* `vector`, `staging`: 4-byte aligned; both NULL: the schedule alone. The vector holds this accelerator's values from
 * now on. HX_E_RANGE as above. */
int hx_collective_init(struct hx_collective *c, const struct hx_collective_config *config, float *vector,
                       float *staging);

/* A chunk that keeps a link of 50 GB/s busy, without more messages than that needs, on `planes` planes. */
uint32_t hx_collective_chunk(const struct hx_collective_config *config, unsigned planes);

/* The next message that may go now on a lane whose bit is not set in `refused`; false: none before the next event. */
bool hx_collective_next(const struct hx_collective *c, uint32_t refused, struct hx_collective_send *send);

/* It was handed to the endpoint. */
void hx_collective_take(struct hx_collective *c, const struct hx_collective_send *send);

/* The peer has all of it. HX_E_RANGE: no such message is under way. */
int hx_collective_sent(struct hx_collective *c, uint32_t tag);

/* All of it has come and was placed. HX_E_RANGE: no such message is due from (gx, gy). */
int hx_collective_received(struct hx_collective *c, unsigned gx, unsigned gy, uint32_t tag);

/* Everything has come, and everything sent has arrived. */
bool hx_collective_done(const struct hx_collective *c);

/* Writes `bytes` bytes of an own message, from its byte `offset` on (both multiples of 4). */
void hx_collective_fill(const struct hx_collective *c, uint32_t tag, uint64_t offset, void *to, uint32_t bytes);

/* Adds, copies or lays aside payload of an arriving message; each byte once, in any order. HX_E_RANGE: it does not lie
 * in a message that is due here. */
int hx_collective_place(struct hx_collective *c, uint32_t tag, uint64_t offset, const void *payload, uint32_t bytes);

/* Piece `index` of what this accelerator owns after a reduce-scatter and before an all-gather, in bytes of the vector;
 * false: it has no more. */
bool hx_collective_piece(const struct hx_collective *c, unsigned index, uint64_t *offset, uint64_t *bytes);

#include "hxmesh/end.h"

#endif
