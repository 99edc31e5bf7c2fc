/* virtio_net.h - a polled driver of a virtio network device on virtio-mmio (Virtual I/O Device specification 1.1: 2.6
 * split queues, 4.2.2 registers, 5.1 network device), with no offloads, and interrupts for nothing but the end of a
 * nap.
 *
 *     device --> receive queue --> virtio_net_arrived, virtio_net_taken  (in order, one at a time)
 *     device <-- send queue    <-- virtio_net_place, virtio_net_send, virtio_net_flush
 *
 * A frame has one buffer, with the device's header before it. A buffer is the device's from flush (or taken) until it
 * comes back by the used ring; the other time it is the driver's. All of them lie in *d for good.
 *
 * What the device writes is checked: a length or a number beyond its range is a panic, for memory is not to be trusted
 * then. */
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

/* Invariant: entries that the driver has offered and the device has not given back: offered - seen <= VIRTIO_SLOTS. */
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
    uint16_t seen;   /* used entries taken in, modulo 2^16 */
    uint16_t staged; /* offered entries that the device is not told of yet */
};

struct virtio_frame {
    uint8_t header[VIRTIO_NET_HEADER];
    uint8_t frame[HX_MAX_FRAME];
} __attribute__((aligned(8)));

struct virtio_net {
    volatile uint32_t *registers;
    struct virtio_queue in, out;
    struct virtio_frame in_frame[VIRTIO_SLOTS], out_frame[VIRTIO_SLOTS];
    uint16_t idle[VIRTIO_SLOTS]; /* buffers of out_frame that are the driver's */
    uint16_t idle_count;
};

/* Starts the device at the n-th place of the board; *d is all zero. false: there is none, or not a network device. What
 * refuses to work ends in a panic. */
bool virtio_net_start(struct virtio_net *d, unsigned place);

/* The next frame that came: its bytes, and where it is until virtio_net_taken(). NULL: none has come. */
const uint8_t *virtio_net_arrived(struct virtio_net *d, uint32_t *bytes);
void virtio_net_taken(struct virtio_net *d);

/* Where the next frame to send is to be written, HX_MAX_FRAME bytes; NULL: the device has them all. */
uint8_t *virtio_net_place(struct virtio_net *d);
/* It has so many bytes now, and is to go. */
void virtio_net_send(struct virtio_net *d, uint32_t bytes);

/* From arm to disarm the device interrupts when a frame comes (board_virtio_wakes()). Arm returns false if one has come
 * already. */
bool virtio_net_arm(struct virtio_net *d);
void virtio_net_disarm(struct virtio_net *d);

/* Tells the device what there is for it. */
void virtio_net_flush(struct virtio_net *d);

#endif
