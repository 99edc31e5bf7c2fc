/* tap.h - captures under the virtual clock: how a worker writes frames in order of simulated time.
 *
 *     virtual_transmit, virtual_inject -- pending, a heap -- flush -- ring (hal/tap_ring.h) --> the writer
 *
 * When a switch puts a packet on a link, both ends are recorded at once. Outbound: the time of the first bit on the
 * link. Inbound: the arrival of the first block at the far port, the input latency before it may be routed. Both times
 * are in the future, so records wait in a heap until their window is over; later records are not earlier in time. A
 * packet lost on a link (fault.h) has no inbound record, a duplicated one has two. At LOCAL a packet is inbound when
 * its injection begins, and outbound when its tail is delivered.
 *
 * A train (hal_train() in hxmesh/hal.h) is recorded as its packets, each with a header, CRC and times of its own
 * (timing.h).
 *
 * Simulated time waits for the writer: frames are dropped only if it is gone. Records of one time are ordered by rank
 * (hal/tap_ring.h), then interface, then as the one worker made them. So the file does not depend on the number of
 * workers. The heap holds what links carry in about a microsecond.
 *
 * Over ranks the writer serves worker 0 alone. The others send their records to it by the channel, in the next window.
 * Worker 0 keeps them with its own until all of a window are there; counts follow at the end.
 *
 *     heap of a worker -- relay -- channel -- take -- heap of worker 0 -- flush -- ring --> the writer
 *
 * Ownership: all records are copies. Heap and slots belong to the worker, the ring is shared with the writer, counts
 * are shared with all workers of the machine. */
#ifndef VIRTUAL_TAP_H
#define VIRTUAL_TAP_H

#include "hal/tap_ring.h"
#include "hxmesh/switch.h"

#include "channel.h"

struct bpf_insn;
struct hal_endpoint;
struct hal_switch;

/* In place of a link: what a record of the channel carries. */
#define VIRTUAL_TAP_FRAME UINT32_MAX       /* a struct hx_tap_record */
#define VIRTUAL_TAP_COUNT (UINT32_MAX - 1) /* a struct virtual_tap_count */

/* What a worker counted at an interface. */
struct virtual_tap_count {
    uint64_t interface;
    uint64_t received, accepted; /* frames */
};

/* A pending record. */
struct virtual_tap_entry {
    uint64_t time;  /* ps */
    uint64_t where; /* rank, interface */
    uint64_t order; /* sequence number */
    uint32_t slot;
};

struct virtual_tap {
    const uint32_t *interface; /* [links], by the number of the outgoing link: interface + 1; 0: not captured */
    struct hx_tap_count *counts;
    const struct bpf_insn *program; /* NULL: no filter */
    struct hx_tap_producer out;
    const _Atomic uint32_t *gave_up; /* of struct hx_tap */
    uint32_t snaplen;
    uint32_t interfaces;
    bool annotate;
    bool payload; /* frames carry payload */
    uint64_t order;
    /* What waits: */
    struct virtual_tap_entry *heap;
    uint32_t count, limit;
    uint8_t *slots;
    uint32_t stride;
    uint32_t *freed; /* Pending records: */
    uint32_t freed_count, fresh;
    uint8_t *packet; /* room for the frame of one packet of a train */
};

/* Reserves memory. The caller sets all fields above `heap`. */
void virtual_tap_open(struct virtual_tap *t);

/* Records the packet of an arrival's slot, which a switch sends as *d, or delivers to its endpoint, at `time`, ps. Call
 * before any change of state. virtual_tap_comes() records the arrival behind a faulty link. */
void virtual_tap_sent(struct hal_switch *h, unsigned output, unsigned input, const struct virtual_slot *slot,
                      const struct hx_desc *d, uint64_t time);
/* Records the arrival of a packet at the far end of an output's link; it may be routed at `ready`, ps. */
void virtual_tap_comes(const struct hal_switch *h, unsigned output, const struct hx_desc *d, uint64_t ready,
                       uint64_t birth);
/* Records a packet that an endpoint injects. */
void virtual_tap_injected(const struct hal_endpoint *h, unsigned plane, const struct hx_desc *d, uint64_t time);

/* Hands over all records before `end`, ps; the worker makes no more of them. Waits for room. */
void virtual_tap_flush(struct virtual_tap *t, uint64_t end);

/* Sends all records before `end`, ps, to worker 0; the worker makes no more of them. */
void virtual_tap_relay(struct virtual_tap *t, struct virtual_channel *c, uint64_t end);
/* Sends the counts to worker 0, after the last record. */
void virtual_tap_relay_counts(const struct virtual_tap *t, struct virtual_channel *c);
/* Worker 0 takes what another one sent. */
void virtual_tap_take(struct virtual_tap *t, const struct virtual_record *r);
static inline bool virtual_tap_is_sent(const struct virtual_record *r)
{
    return r->data >= VIRTUAL_TAP_COUNT;
}

/* Notes the reason for this output (tap_note.c). */
void virtual_tap_note(struct hx_tap_note *n, struct hal_switch *h, unsigned output, unsigned input, unsigned vc,
                      const struct hx_desc *d);

#endif
