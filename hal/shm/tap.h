/* tap.h - taps on the ports of switches in shared memory: what a worker does so that frames reach a capture.
 *
 * A step of a switch with tapped ports is looked at just before it is committed: what it has seen for the first time
 * came in, what it has put into links goes out. Until the commit all of these packets belong to this worker, so their
 * bytes stand still. The hop-by-hop fields, which travel in descriptors here, are written into the copy as a wire would
 * show them; for a filter, which must see them, into the frame itself, where nobody else reads them.
 *
 * A capture may want all frames: then a switch does not step while its worker's ring has no room for what the step
 * could record. Its inputs fill up, credit does the rest.
 *
 * A switch without tapped ports has a NULL pointer, and that is all it costs. */
#ifndef SHM_TAP_H
#define SHM_TAP_H

#include "clock.h"
#include "hal/tap_ring.h"

enum { SHM_TAPS = 4 }; /* captures at a time */

struct hal_switch;
struct shm_worker;
struct bpf_insn;

/* One capture, as a worker sees it. Private copies: what the capturing process may change later is not believed. */
struct shm_tap {
    struct hx_tap *memory; /* NULL: none */
    uint64_t bytes;
    struct hx_tap_shape shape;
    struct hx_tap_count *counts;
    struct hx_tap_producer out;
    uint32_t *interface; /* [ports of all planes]: number + 1, 0: not tapped */
    struct bpf_insn *program;
};

struct shm_taps {
    struct shm_tap tap[SHM_TAPS];
    const struct shm_worker *worker;
    const struct shm_clock *clock;
    uint64_t started_ns; /* ids of frames count from here */
};

/* A switch with tapped ports. */
struct shm_tapped {
    struct shm_taps *taps;
    const struct hx_switch *sw;
    uint32_t first_port;      /* of its port 0, through all planes */
    uint64_t ports[SHM_TAPS]; /* tapped, bit by port */
    uint64_t needs[SHM_TAPS]; /* room in the ring before a step, in bytes; 0: does not wait for it */
    struct hx_tap_note *note; /* [port][VC][slot of the link]: of packets sent in this step. NULL: none wanted */
    uint32_t *came;  /* likewise, of packets that a step redirects: 1 + the via that they came with; 0: as they are */
    uint64_t seen[]; /* [ports]: lanes of arrivals that have been looked at */
};

/* Binds memory that another process offers as `fd` to a slot. `ports`: of all planes. Returns 0 or -errno: -EPROTO it
 * is no tap for this fabric, or its filter is no valid program. */
int shm_tap_attach(struct shm_taps *taps, unsigned slot, int fd, uint32_t ring, uint32_t ports);
void shm_tap_detach(struct shm_taps *taps, unsigned slot);

/* The size of the memory behind `fd`, if it can never shrink under who maps it; 0: it could. */
uint64_t shm_tap_sealed_size(int fd);

/* What taps want of a switch; NULL: nothing (or no memory). Call between steps, whenever taps have changed; the
 * answer is to be put into h->tap and freed with free(). */
struct shm_tapped *shm_tapped_new(struct shm_taps *taps, const struct hal_switch *h, const struct hx_switch *sw,
                                  uint32_t first_port);

/* Whether the switch may step: taps that it waits for have room for all that a step could record. */
bool shm_tap_has_room(const struct hal_switch *h);

/* Before the commit of a step. */
void shm_tap_step(const struct hal_switch *h);

/* The step is about to redirect a packet: it is recorded as it came. */
void shm_tap_redirects(const struct hal_switch *h, unsigned input, unsigned vc, uint16_t position);

/* The packet that goes next into this link comes from outside, not from the switch: says so in its note. */
void shm_tap_replayed(const struct hal_switch *h, unsigned output, unsigned vc);

/* The steps of switch.h, which write a note about each packet they send (noted.c). */
unsigned shm_noted_accelerator_step(struct hx_switch *sw);
unsigned shm_noted_router_step(struct hx_switch *sw);

#endif
