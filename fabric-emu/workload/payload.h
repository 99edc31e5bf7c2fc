/* payload.h - what messages carry so that every byte can be checked where it arrives: a sequence of words that both
 * ends compute from (seed, source, destination, message, packet). */
#ifndef PAYLOAD_H
#define PAYLOAD_H

#include <stdint.h>

struct payload_id {
    uint64_t seed;
    uint32_t source, destination; /* ranks */
    uint32_t message, packet;
};

void payload_write(const struct payload_id *id, uint8_t *to, unsigned bytes);

/* Bytes that differ from what payload_write wrote. */
unsigned payload_wrong_bytes(const struct payload_id *id, const uint8_t *from, unsigned bytes);

#endif
