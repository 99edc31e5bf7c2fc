/* tap.h - captures under the virtual clock: what a worker does so that frames reach a file in the order of simulated
 * time.
 *
 *     virtual_transmit, virtual_inject -- pending, a heap -- flush -- ring (hal/tap_ring.h) --> the writer
 *
 * When a switch puts a packet on a link, both ends of the link are recorded at once: outbound here, when its first bit
 * goes onto the link, and inbound at the far port, when its first block has arrived there (its input latency before it
 * may be routed). Both times lie ahead, so records wait in a heap until the window they belong to is over; what comes
 * later is not before that. What a link loses (fault.h) is not recorded as inbound, what it repeats is so twice. At
 * LOCAL a packet is inbound when its injection begins and outbound when its tail is delivered.
 *
 * Simulated time waits for the writer: nothing is dropped while there is one. Records of one time come by their rank
 * (hal/tap_ring.h), then by interface, and in the order in which the one worker that makes them made them. So the file
 * does not depend on the number of workers. What waits is what links carry within about a microsecond.
 *
 * Who owns what: everything is a copy. The heap and its slots are the worker's own, the ring is shared with the writer,
 * counts are shared with all workers. */
#ifndef VIRTUAL_TAP_H
#define VIRTUAL_TAP_H

#include "hal/tap_ring.h"
#include "hxmesh/switch.h"

struct bpf_insn;
struct hal_endpoint;
struct hal_switch;

/* A record that waits for its time. */
struct virtual_tap_entry {
    uint64_t time;  /* ps */
    uint64_t where; /* rank, interface */
    uint64_t order; /* in which it was made */
    uint32_t slot;
};

struct virtual_tap {
    const uint32_t *interface; /* [links], by the number of what leaves by the port: number + 1; 0: not captured */
    struct hx_tap_count *counts;
    const struct bpf_insn *program; /* NULL: every frame passes */
    struct hx_tap_producer out;
    const _Atomic uint32_t *gave_up; /* of struct hx_tap */
    uint32_t snaplen;
    bool annotate;
    bool payload; /* frames carry all of it */
    uint64_t order;
    /* What waits: */
    struct virtual_tap_entry *heap;
    uint32_t count, limit;
    uint8_t *slots;
    uint32_t stride;
    uint32_t *freed; /* stack */
    uint32_t freed_count, fresh;
};

/* Reserves room; all but `heap` and what follows it has been set. */
void virtual_tap_open(struct virtual_tap *t);

/* A switch puts a packet on a link, or gives it to its endpoint: at `time`, ps. Call before anything is changed. vc: of
 * the input. What comes of it by a link that has faults is told apart. */
void virtual_tap_sent(struct hal_switch *h, unsigned output, unsigned input, unsigned vc, const struct hx_desc *d,
                      uint64_t time);
/* A packet comes to the far end of that output's link, where it may be routed at `ready`, ps. */
void virtual_tap_comes(const struct hal_switch *h, unsigned output, const struct hx_desc *d, uint64_t ready,
                       uint64_t birth);
/* An endpoint injects a packet. */
void virtual_tap_injected(const struct hal_endpoint *h, unsigned plane, const struct hx_desc *d, uint64_t time);

/* Hands over what is before `end`, ps: the worker makes no such records any more. Waits for room. */
void virtual_tap_flush(struct virtual_tap *t, uint64_t end);

/* Why the packet takes this output (tap_note.c). */
void virtual_tap_note(struct hx_tap_note *n, struct hal_switch *h, unsigned output, unsigned input, unsigned vc,
                      const struct hx_desc *d);

#endif
