/* tap.h - taps on switch ports in shared memory: how a worker copies frames to a capture.
 *
 * A worker reads a step of a tapped switch just before its commit: newly seen packets came in, packets put into links
 * go out. Until the commit this worker owns them all, so their bytes are stable. Hop-by-hop fields travel in
 * descriptors; the worker writes them into the copy. For a filter it writes them into the frame itself, which no other
 * process reads.
 *
 * If a capture must have all frames, a switch does not step while the ring lacks room for the step's records. Its
 * inputs then fill, and credit stops the senders.
 *
 * A switch without tapped ports has a NULL pointer and no other cost. */
#ifndef SHM_TAP_H
#define SHM_TAP_H

#include "clock.h"
#include "hal/tap_ring.h"

enum { SHM_TAPS = 4 }; /* concurrent captures */

struct hal_switch;
struct shm_worker;
struct bpf_insn;

/* One capture, as a worker sees it. Private copies: the capturing process may change the originals. */
struct shm_tap {
    struct hx_tap *memory; /* NULL: none */
    uint64_t bytes;
    struct hx_tap_shape shape;
    struct hx_tap_count *counts;
    struct hx_tap_producer out;
    uint32_t *interface; /* [ports of all planes]: interface + 1; 0: not tapped */
    struct bpf_insn *program;
};

struct shm_taps {
    struct shm_tap tap[SHM_TAPS];
    const struct shm_worker *worker;
    const struct shm_clock *clock;
    uint64_t started_ns; /* epoch of frame ids, ns */
};

/* A switch with tapped ports. */
struct shm_tapped {
    struct shm_taps *taps;
    const struct hx_switch *sw;
    uint32_t first_port;      /* index of its port 0, over all planes */
    uint64_t ports[SHM_TAPS]; /* tapped, bit by port */
    uint64_t needs[SHM_TAPS]; /* bytes free in the ring before a step; 0: does not wait */
    struct hx_tap_note *note; /* [port][VC][slot of the link]: notes on packets sent in this step; NULL: none */
    uint32_t *came;  /* [port][VC][slot]: 1 + via of a redirected packet at arrival; 0: not redirected; NULL: no
                      * detours */
    uint64_t seen[]; /* [ports]: lanes of recorded arrivals */
};

/* Binds the memory behind `fd`, offered by another process, to a slot. `ports`: of all planes. Returns 0 or -errno;
 * -EPROTO: not a tap of this fabric, or an invalid filter. */
int shm_tap_attach(struct shm_taps *taps, unsigned slot, int fd, uint32_t ring, uint32_t ports);
void shm_tap_detach(struct shm_taps *taps, unsigned slot);

/* Size of the memory behind `fd`; 0 if it could shrink while mapped. */
uint64_t shm_tap_sealed_size(int fd);

/* State of a tapped switch; NULL: no port is tapped, or no memory. Call between steps, after each change of taps. The
 * caller stores it in h->tap and frees it with free(). */
struct shm_tapped *shm_tapped_new(struct shm_taps *taps, const struct hal_switch *h, const struct hx_switch *sw,
                                  uint32_t first_port);

/* True if every tap that requires all frames has room for a whole step. */
bool shm_tap_has_room(const struct hal_switch *h);

/* Records a step. Call before its commit. */
void shm_tap_step(const struct hal_switch *h);

/* Keeps the via of a packet before a step redirects it, so the record shows the packet as it came. */
void shm_tap_redirects(const struct hal_switch *h, unsigned input, unsigned vc, uint16_t position);

/* Notes that the next packet into this link comes from a replay, not from the switch. */
void shm_tap_replayed(const struct hal_switch *h, unsigned output, unsigned vc);

/* The steps of switch.h, with a note on each packet sent (noted.c). */
unsigned shm_noted_accelerator_step(struct hx_switch *sw);
unsigned shm_noted_router_step(struct hx_switch *sw);

#endif
