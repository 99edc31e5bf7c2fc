/* stage.c - the queue of a VC (stage.h). */
#include "stage.h"

#include <string.h>

enum {
    UNIT = 64,
    MOST = (sizeof(struct staged) + HX_MAX_FRAME + UNIT - 1) / UNIT * UNIT, /* bytes of a packet */
    OF_BLOCK = (sizeof(struct staged) + HX_HEADER_BYTES + HX_BLOCK + UNIT - 1) / UNIT * UNIT
};

static uint32_t bytes_of(const struct hx_desc *d)
{
    return (uint32_t)(sizeof(struct staged) + HX_HEADER_BYTES + d->length + UNIT - 1) / UNIT * UNIT;
}

/* Less than one packet is wasted before the end; another one keeps full and empty apart. */
size_t stage_bytes(uint32_t blocks)
{
    return (size_t)blocks * OF_BLOCK + (size_t)2 * MOST;
}

void stage_init(struct stage *s, uint32_t blocks, void *memory)
{
    uint32_t size = (uint32_t)stage_bytes(blocks);
    *s = (struct stage){.memory = memory, .size = size, .end = size};
}

/* Returns the offset for `bytes` more; UINT32_MAX: no room. */
static uint32_t place_for(const struct stage *s, uint32_t bytes)
{
    if (s->last < s->first)
        return bytes < s->first - s->last ? s->last : UINT32_MAX;
    if (bytes <= s->size - s->last)
        return s->last;
    return bytes < s->first ? 0 : UINT32_MAX;
}

bool stage_put(struct stage *s, const struct hx_desc *d, const uint8_t *frame)
{
    uint32_t bytes = bytes_of(d);
    uint32_t at = place_for(s, bytes);
    if (at == UINT32_MAX)
        return false;
    if (at < s->last)
        s->end = s->last;
    struct staged *staged = (struct staged *)(void *)(s->memory + at);
    staged->d = *d;
    memcpy(staged->frame, frame, (size_t)HX_HEADER_BYTES + d->length);
    s->last = at + bytes;
    return true;
}

void stage_drop_first(struct stage *s)
{
    s->first += bytes_of(&stage_first(s)->d);
    if (s->first == s->last) {
        s->first = s->last = 0;
        s->end = s->size;
    } else if (s->first == s->end && s->last < s->first) {
        s->first = 0;
        s->end = s->size;
    }
}
