/* hal.h - what a platform must give: three constants, and the functions a hal_port.h defines, all `static inline`.
 *
 * The platform is chosen at compile time by include path (-Ihal/shm, -Ihal/loopback, ...): firmware says
 * #include "hal_port.h", nothing goes through a pointer. hal/loopback/ is the example to start from;
 * docs/porting.md goes through it, with a program that tries any port against what is said here.
 *
 * Ownership. A packet buffer belongs to exactly one of: the platform's free buffers, an endpoint (between
 * hal_buffer_get and hal_inject, or hal_ejected and hal_buffer_put), or a link (from hal_transmit or hal_inject until
 * the receiving switch releases the position, or the endpoint takes it).
 *
 * Commit. Of what a step of a switch or an endpoint does, no other node sees anything before hal_commit /
 * hal_endpoint_commit, and then all of it is on its way. (Where several cores share a switch, as in hal/dpdk, what one
 * gives another to send may go sooner.) A platform whose steps can be cut short, as hal/shm is killed at any
 * instruction, shows it all at once there or not at all.
 *
 * Units. A position counts packets of one (link, VC) modulo 2^16. Room counts credit units: blocks of 256 B on
 * platforms with real wires, whole packets where a ring slot takes any packet; hal_packet_credits says how many a packet
 * needs. Lanes: 16 bits a VC in one 64-bit word, VC 0 lowest; those of VCs that the fabric has not are zero.
 * hxmesh/lanes.h counts with them.
 *
 * Threads. All functions of one switch (endpoint) are called by its owner only.
 *
 * ---- constants of the platform: enum { HAL_SPARSE, HAL_VCS_APART, HAL_SHARED }; ----
 *
 * HAL_SPARSE
 *     1: a step of an accelerator finds one or two packets; it then goes by the bits of hal_rx_pending() instead of looking at
 *     each input in turn, and asks for the room of those outputs alone that a packet may take. 0: it finds bursts.
 * HAL_VCS_APART
 *     1: the VCs of an output share no room. 0: they share it; then an output takes one packet a step, whatever its VC.
 * HAL_SHARED
 *     1: what hal_arrival() gives lies where another process may write at any time. A switch then reads it once, and keeps where a
 *     packet goes while that waits. 0: it stays as it is until it is released or redirected.
 *
 * ---- for a switch (struct hal_switch) ----
 *
 * uint64_t hal_rx_pending(const struct hal_switch *)
 *     inputs that may have brought something new, bit by input; UINT64_MAX where it costs more to know than to look.
 * uint64_t hal_tx_ready(const struct hal_switch *)
 *     outputs that may have room now, bit by output; UINT64_MAX likewise.
 * uint64_t hal_consumed(const struct hal_switch *, unsigned input)
 *     lanes: positions released so far; where windows begin.
 * uint64_t hal_arrived(struct hal_switch *, unsigned input)
 *     lanes: positions that have arrived. Never more than HX_WINDOW ahead of what was released.
 * const struct hx_desc *hal_arrival(struct hal_switch *, unsigned input, unsigned vc, uint16_t position)
 *     the descriptor at a position that has arrived and was not released; valid until then.
 * uint64_t hal_tx_credits(struct hal_switch *, unsigned output)
 *     lanes: room downstream less what this step has transmitted, each at most HX_MAX_ROOM. 0
 *     for an output without a link.
 * unsigned hal_packet_credits(const struct hx_desc *)
 *     credit units the packet takes, at least 1.
 * unsigned hal_output_occupancy(struct hal_switch *, unsigned output)
 *     routers: credit units that went by the output, on whatever VC, and have not left the far end as far as is known here.
 * unsigned hal_buffer(const struct hal_switch *)
 *     routers: credit units that a VC of a link has at its far end.
 * bool hal_destination(struct hal_switch *, const struct hx_desc *, uint16_t *d0, uint16_t *d1)
 *     routers: the destination that a packet's frame says (hx_frame_destination). false: the descriptor has no frame.
 * void hal_redirect(struct hal_switch *, unsigned input, unsigned vc, uint16_t position, uint16_t d0, uint16_t d1)
 *     routers: from now on the packet at a position that has arrived goes there; what hal_arrival() gave for it says so too. Where a
 *     step can be cut short the old address or the new one stands there afterwards, either of which is right.
 * void hal_transmit(struct hal_switch *, unsigned output, unsigned input, unsigned vc, const struct hx_desc *)
 *     sends a copy of the descriptor on the link's VC d->vc, which has room for it; the packet came from (input, vc).
 * void hal_drop(struct hal_switch *, unsigned input, unsigned vc, const struct hx_desc *, enum hx_drop)
 *     frees the buffer and counts the reason. The packet came from (input, vc) and is not released yet.
 * void hal_release(struct hal_switch *, unsigned input, uint64_t tail, uint64_t seen, const uint64_t waiting[HX_VCS])
 *     of the positions before `seen`, those in `waiting` (bit position % 64) are still held, all others have left;
 *     none before `tail` is held.
 * void hal_commit(struct hal_switch *)
 *
 * ---- for an endpoint (struct hal_endpoint) ----
 *
 * unsigned hal_inject_room(struct hal_endpoint *, unsigned plane)      packets the plane's switch takes now
 * bool hal_buffer_get(struct hal_endpoint *, uint32_t *buffer, bool urgent)   urgent: acknowledgements may use the last
 * void hal_buffer_put(struct hal_endpoint *, uint32_t buffer)
 * uint8_t *hal_frame(struct hal_endpoint *, uint32_t buffer)           HX_MAX_FRAME bytes, header first
 * void hal_inject(struct hal_endpoint *, unsigned plane, const struct hx_desc *)
 * unsigned hal_ejected(struct hal_endpoint *, unsigned plane, struct hx_desc *burst, unsigned most)
 *     takes up to `most` packets delivered on the plane.
 * uint64_t hal_now(struct hal_endpoint *)                              nanoseconds, never going back
 * uint32_t hal_crc32c(uint32_t crc, const void *, size_t)              as hx_crc32c, maybe faster
 * void hal_read_payload(struct hal_endpoint *, const struct hx_send *, uint32_t packet, uint8_t *to, unsigned bytes)
 *     writes the payload of one packet of a message.
 * void hal_write_payload(struct hal_endpoint *, const struct hx_header *, const uint8_t *payload)
 *     puts arriving payload where it belongs; called once for each packet of a message, in any order.
 * void hal_event(struct hal_endpoint *, const struct hx_event *)       the one way up (see endpoint.h)
 * void hal_endpoint_drop(struct hal_endpoint *, enum hx_drop)          counts
 * void hal_endpoint_commit(struct hal_endpoint *)
 */
#ifndef HXMESH_HAL_H
#define HXMESH_HAL_H

#include "hxmesh/endpoint.h"
#include "hxmesh/frame.h"
#include "hxmesh/lanes.h"
#include "hxmesh/switch.h"

#endif
