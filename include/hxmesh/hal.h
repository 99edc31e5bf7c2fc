/* hal.h - what a platform provides: three constants and the `static inline` functions of its hal_port.h.
 *
 * The include path (-Ihal/shm, -Ihal/loopback, ...) chooses the platform at compile time, so no call is indirect. Start
 * from hal/loopback/; docs/porting.md walks through it, with a program that checks any port against this page.
 *
 * Ownership. A packet buffer belongs to exactly one of: the platform's free buffers; an endpoint (between
 * hal_buffer_get and hal_inject, or hal_ejected and hal_buffer_put); a link (from hal_transmit or hal_inject until the
 * receiving switch releases the position, or the endpoint takes it).
 *
 * Commit. Other nodes see nothing of a step of a switch or endpoint before hal_commit / hal_endpoint_commit; then they
 * see all of it. A driver may send a committed step later, before its next work for the node, as hal/dpdk does. Under a
 * virtual clock a step takes no time, and each effect is seen when its time has come. (Where cores share a switch, as
 * in hal/dpdk, a packet handed to another core may leave earlier.) A platform that can stop within a step, as a kill
 * does in hal/shm, publishes all of a step at once or none of it.
 *
 * Units. A position counts packets of one (link, VC) modulo 2^16. Credit counts units: blocks of 256 B on real wires,
 * whole packets where a ring slot takes any packet; see hal_packet_credits. Lanes: 16 bits a VC in one 64-bit word, VC
 * 0 lowest; unused VCs are zero. See hxmesh/lanes.h.
 *
 * Threads. Only its owner calls functions of a switch (endpoint).
 *
 * ---- constants of the platform: enum { HAL_SPARSE, HAL_VCS_APART, HAL_SHARED }; ----
 *
 * HAL_SPARSE
 *     1: an accelerator's switch is called for one packet or one output. It follows the bits of hal_rx_pending() instead
 *     of examining each input, and asks for credit only of outputs that a packet may take. 0: a step finds bursts.
 * HAL_VCS_APART
 *     1: the VCs of an output share no credit, and a step may send on each. 0: an output takes one packet a step, of
 *     any VC.
 * HAL_SHARED
 *     1: other processes may overwrite what hal_arrival() returns. The switch reads it once and keeps next addresses of
 *     waiting packets. 0: it is stable until released or redirected.
 *
 * ---- for a switch (struct hal_switch) ----
 *
 * uint64_t hal_rx_pending(const struct hal_switch *)
 *     inputs that may have new packets, bit by input; UINT64_MAX where polling all is cheaper.
 * uint64_t hal_tx_ready(const struct hal_switch *)
 *     outputs that may have credit, bit by output; UINT64_MAX as above.
 * uint64_t hal_consumed(const struct hal_switch *, unsigned input)
 *     lanes: positions released so far, where windows begin.
 * uint64_t hal_arrived(struct hal_switch *, unsigned input)
 *     lanes: positions that have arrived, at most HX_WINDOW ahead of the released ones.
 * const struct hx_desc *hal_arrival(struct hal_switch *, unsigned input, unsigned vc, uint16_t position)
 *     descriptor at a position that has arrived, the same until its release. The pointer is valid within the step.
 * uint64_t hal_tx_credits(struct hal_switch *, unsigned output)
 *     lanes: credit less what this step has transmitted, each at most HX_MAX_ROOM; 0 for an output without a link, and
 *     while hal_output_is_busy().
 * unsigned hal_packet_credits(const struct hx_desc *)
 *     credit units of the packet, at least 1; of a descriptor that hal_arrival() returned.
 * unsigned hal_output_occupancy(struct hal_switch *, unsigned output)
 *     routers: credit units sent by the output, on all VCs, that the far end still holds, as far as is known here.
 * unsigned hal_vc_buffer(const struct hal_switch *)
 *     routers: credit units of a VC's buffer at the far end.
 * bool hal_output_is_busy(struct hal_switch *, unsigned output)
 *     true: the output transmits another packet, whatever its credit. false where transmission takes no time here.
 * void hal_stall(struct hal_switch *, const struct hx_desc *, enum hx_stall)
 *     counts a packet that begins to wait, and its cause.
 * bool hal_destination(struct hal_switch *, const struct hx_desc *, uint16_t *addr_hi, uint16_t *addr_lo)
 *     routers: destination of the packet's frame (hx_frame_destination). false: the descriptor has no frame.
 * void hal_redirect(struct hal_switch *, unsigned input, unsigned vc, uint16_t position, uint16_t addr_hi,
 *                   uint16_t addr_lo)
 *     routers: sets the next address of an arrived packet, also in what hal_arrival() returned for it. After a step
 *     that was cut short either address may stand there; both are right.
 * void hal_transmit(struct hal_switch *, unsigned output, unsigned output_vc, unsigned input, unsigned vc,
 *                   const struct hx_desc *)
 *     sends the packet of (input, vc) with the descriptor *d, which hal_arrival() returned, on the link's VC
 *     `output_vc`, which has credit: hx_desc_onward().
 * void hal_drop(struct hal_switch *, unsigned input, unsigned vc, const struct hx_desc *, enum hx_drop)
 *     frees the buffer and counts the reason. The packet came from (input, vc) and is not released yet.
 * void hal_release(struct hal_switch *, unsigned input, uint64_t tail, uint64_t seen, const uint64_t waiting[HX_VCS])
 *     of the positions before `seen`, those in `waiting` (bit position % 64) are held and all others have left;
 *     none before `tail` is held. Credit of one that left before others is back at once, or, as in a ring of slots,
 *     when `tail` has passed it.
 * void hal_commit(struct hal_switch *)
 *
 * ---- for an endpoint (struct hal_endpoint) ----
 *
 * unsigned hal_inject_room(struct hal_endpoint *, unsigned plane)      packets that the plane's switch takes now
 * unsigned hal_train(const struct hal_endpoint *)
 *     most packets that one descriptor may carry, a power of two up to 4. 1 on wires. A train is successive full packets
 *     of a message, of which the last may be shorter. Its frame has the header of the first one, with the length and CRC
 *     of the whole, and the payload of all. It waits until hal_inject_room() is at least its packets.
 * bool hal_buffer_get(struct hal_endpoint *, uint32_t *buffer, bool urgent)   urgent: may take the last ones, for
 *                                                                      acknowledgements
 * void hal_buffer_put(struct hal_endpoint *, uint32_t buffer)
 * uint8_t *hal_frame(struct hal_endpoint *, uint32_t buffer)           HX_MAX_FRAME bytes, header first; payload of a
 *                                                                      train
 * void hal_inject(struct hal_endpoint *, unsigned plane, const struct hx_desc *)
 * unsigned hal_ejected(struct hal_endpoint *, unsigned plane, struct hx_desc *burst, unsigned most)
 *     takes up to `most` packets delivered on the plane.
 * uint64_t hal_now(struct hal_endpoint *)                              nanoseconds, monotonic
 * uint32_t hal_crc32c(uint32_t crc, const void *, size_t)              as hx_crc32c, possibly faster
 * void hal_read_payload(struct hal_endpoint *, const struct hx_send *, uint32_t packet, uint8_t *to, unsigned bytes)
 *     writes the payload of one packet of a message to `to`.
 * void hal_write_payload(struct hal_endpoint *, const struct hx_header *, const uint8_t *payload)
 *     stores arriving payload; called once for each packet of a message, in any order.
 * void hal_event(struct hal_endpoint *, const struct hx_event *)       the only call upwards (endpoint.h)
 * void hal_endpoint_drop(struct hal_endpoint *, enum hx_drop)          counts
 * void hal_endpoint_commit(struct hal_endpoint *)
 * */
#ifndef HXMESH_HAL_H
#define HXMESH_HAL_H

#include "hxmesh/endpoint.h"
#include "hxmesh/frame.h"
#include "hxmesh/lanes.h"
#include "hxmesh/switch.h"

#endif
