/* protobuf.c - reads the wire format of Protocol Buffers (protobuf.h). */
#include "schedule/protobuf.h"

enum { VARINT_BYTES = 10, MOST_NUMBER = (1 << 29) - 1 };

struct protobuf protobuf_of(const void *bytes, size_t length)
{
    const uint8_t *begin = bytes;
    return (struct protobuf){.at = begin, .end = length ? begin + length : begin};
}

struct protobuf protobuf_inside(const struct protobuf_field *f)
{
    return protobuf_of(f->bytes, f->type == PROTOBUF_BYTES ? f->length : 0);
}

static bool fail(struct protobuf *p)
{
    p->failed = true;
    return false;
}

bool protobuf_varint(struct protobuf *p, uint64_t *value)
{
    *value = 0;
    if (p->failed || p->at == p->end)
        return false;
    if (*p->at < 0x80) {
        *value = *p->at++;
        return true;
    }
    for (unsigned i = 0; i < VARINT_BYTES && p->at < p->end; i++) {
        uint8_t byte = *p->at++;
        if (i == VARINT_BYTES - 1 && byte > 1)
            break;
        *value |= (uint64_t)(byte & 0x7f) << 7 * i;
        if (byte < 0x80)
            return true;
    }
    return fail(p);
}

static bool read_fixed(struct protobuf *p, unsigned bytes, uint64_t *value)
{
    if ((size_t)(p->end - p->at) < bytes)
        return fail(p);
    for (unsigned i = 0; i < bytes; i++)
        *value |= (uint64_t)*p->at++ << 8 * i;
    return true;
}

static bool read_bytes(struct protobuf *p, struct protobuf_field *f)
{
    uint64_t length;
    if (!protobuf_varint(p, &length) || length > (size_t)(p->end - p->at))
        return fail(p);
    f->bytes = p->at;
    f->length = (size_t)length;
    p->at += length;
    return true;
}

bool protobuf_next(struct protobuf *p, struct protobuf_field *f)
{
    uint64_t key;
    if (!protobuf_varint(p, &key))
        return false;
    *f = (struct protobuf_field){.number = (uint32_t)(key >> 3), .type = (enum protobuf_type)(key & 7)};
    if (key >> 3 == 0 || key >> 3 > MOST_NUMBER)
        return fail(p);
    switch (f->type) {
    case PROTOBUF_VARINT:
        return protobuf_varint(p, &f->value) || fail(p);
    case PROTOBUF_FIXED64:
        return read_fixed(p, 8, &f->value);
    case PROTOBUF_FIXED32:
        return read_fixed(p, 4, &f->value);
    case PROTOBUF_BYTES:
        return read_bytes(p, f);
    default:
        return fail(p);
    }
}
