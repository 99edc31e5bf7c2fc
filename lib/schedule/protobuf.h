/* protobuf.h - reads the wire format of Protocol Buffers, within bounds and without copies.
 *
 *     struct protobuf p = protobuf_of(bytes, length);
 *     struct protobuf_field f;
 *     while (protobuf_next(&p, &f))
 *         ...;
 *     if (p.failed)
 *         ...;
 *
 * A message is a sequence of fields. A field is a varint key, number << 3 | type, and a value. Groups (types 3 and 4)
 * are refused. Source: https://protobuf.dev/programming-guides/encoding/ */
#ifndef SCHEDULE_PROTOBUF_H
#define SCHEDULE_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum protobuf_type { PROTOBUF_VARINT = 0, PROTOBUF_FIXED64 = 1, PROTOBUF_BYTES = 2, PROTOBUF_FIXED32 = 5 };

/* A message, and the place of the next field. */
struct protobuf {
    const uint8_t *at, *end;
    bool failed; /* the message is not of the wire format */
};

struct protobuf_field {
    uint32_t number; /* 1 .. 2^29 - 1 */
    enum protobuf_type type;
    uint64_t value;       /* of a varint or fixed value */
    const uint8_t *bytes; /* of PROTOBUF_BYTES: string, message or packed list */
    size_t length;
};

struct protobuf protobuf_of(const void *bytes, size_t length);
/* The message, or the packed list, that is the value of a field. Empty unless the field has bytes. */
struct protobuf protobuf_inside(const struct protobuf_field *f);

/* Reads the next field. Returns false at the end, and if p->failed. */
bool protobuf_next(struct protobuf *p, struct protobuf_field *f);
/* Reads a varint, of a packed list. Returns false at the end, and if p->failed. */
bool protobuf_varint(struct protobuf *p, uint64_t *value);

/* The value of a sint32 or sint64. */
static inline int64_t protobuf_zigzag(uint64_t value)
{
    return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

#endif
