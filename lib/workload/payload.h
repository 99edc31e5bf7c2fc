/* payload.h - payload that receivers can check byte by byte: words computed from (seed, source, destination, message,
 * packet). */
#ifndef PAYLOAD_H
#define PAYLOAD_H

#include "hxmesh/hal.h"

#include <stdint.h>

struct payload_id {
    uint64_t seed;
    uint32_t source, destination; /* ranks */
    uint32_t message, packet;
};

void payload_write(const struct payload_id *id, uint8_t *to, unsigned bytes);

/* Number of bytes that differ from payload_write(). */
unsigned payload_wrong_bytes(const struct payload_id *id, const uint8_t *from, unsigned bytes);

/* Writes payload of a packet that rank `own` sends to rank `to`. */
static inline void payload_fill(uint64_t seed, uint32_t own, uint32_t to, const struct hx_send *s, uint32_t packet,
                                uint8_t *data, unsigned bytes)
{
    const struct payload_id packet_id = {seed, own, to, s->message, packet};
    payload_write(&packet_id, data, bytes);
}

/* Number of wrong bytes in a packet that rank `own` received from rank `from`. */
static inline unsigned payload_check(uint64_t seed, uint32_t from, uint32_t own, const struct hx_header *h,
                                     const uint8_t *data)
{
    const struct payload_id packet_id = {seed, from, own, h->message, h->offset};
    return payload_wrong_bytes(&packet_id, data, h->length);
}

#endif
