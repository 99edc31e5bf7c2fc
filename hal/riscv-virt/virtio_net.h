/* virtio_net.h - polled driver of a virtio network device on virtio-mmio (Virtual I/O Device specification 1.1: 2.6
 * split queues, 4.2.2 registers, 5.1 network device). No offloads; interrupts only end idle waits.
 *
 *     device --> receive queue --> virtio_net_arrived, virtio_net_taken  (in order, one at a time)
 *     device <-- send queue    <-- virtio_net_place, virtio_net_send, virtio_net_flush
 *
 * A frame has one buffer, with the device's header before it. The device owns a buffer from flush (or taken) until the
 * used ring returns it; the driver owns it otherwise. All buffers are in *d.
 *
 * Values from the device are checked: an invalid length or number panics, as memory may be corrupt. */
#ifndef HAL_VIRTIO_NET_H
#define HAL_VIRTIO_NET_H

#include "hxmesh/frame.h"

#include <stdbool.h>
#include <stdint.h>

enum { VIRTIO_SLOTS = 128, VIRTIO_NET_HEADER = 12 };

struct virtio_descriptor {
    uint64_t address;
    uint32_t bytes;
    uint16_t flags, next;
};

/* Invariant: entries offered and not returned: offered - seen <= VIRTIO_SLOTS. */
struct virtio_queue {
    struct virtio_descriptor descriptor[VIRTIO_SLOTS] __attribute__((aligned(16)));
    struct {
        uint16_t flags, index, ring[VIRTIO_SLOTS];
    } offered __attribute__((aligned(2)));
    struct {
        uint16_t flags, index;
        struct {
            uint32_t id, bytes;
        } ring[VIRTIO_SLOTS];
    } used __attribute__((aligned(4)));
    uint16_t seen;   /* used entries taken, modulo 2^16 */
    uint16_t staged; /* offered entries, some not yet announced to the device */
};

struct virtio_frame {
    uint8_t header[VIRTIO_NET_HEADER];
    uint8_t frame[HX_MAX_FRAME];
} __attribute__((aligned(8)));

struct virtio_net {
    volatile uint32_t *registers;
    struct virtio_queue in, out;
    struct virtio_frame in_frame[VIRTIO_SLOTS], out_frame[VIRTIO_SLOTS];
    uint16_t idle[VIRTIO_SLOTS]; /* buffers of out_frame owned by the driver */
    uint16_t idle_count;
};

/* Starts the device at the n-th place of the board; *d is all zero. Returns false if there is no network device. Panics
 * if the device refuses. */
bool virtio_net_start(struct virtio_net *d, unsigned place);

/* Returns the next received frame, valid until virtio_net_taken(); NULL: none. */
const uint8_t *virtio_net_arrived(struct virtio_net *d, uint32_t *bytes);
void virtio_net_taken(struct virtio_net *d);

/* Returns memory for the next frame to send, HX_MAX_FRAME bytes; NULL: the device owns all buffers. */
uint8_t *virtio_net_place(struct virtio_net *d);
/* Queues that frame, with its length. */
void virtio_net_send(struct virtio_net *d, uint32_t bytes);

/* Between arm and disarm, the device interrupts on arrival (board_virtio_wakes()). Arm returns false if a frame has
 * already arrived. */
bool virtio_net_arm(struct virtio_net *d);
void virtio_net_disarm(struct virtio_net *d);

/* Announces queued buffers to the device. */
void virtio_net_flush(struct virtio_net *d);

#endif
