/* blobs.c - a table of byte strings (blobs.h). */
#include "base/blobs.h"
#include "base/error.h"
#include "base/split_mix.h"

#include <stdlib.h>
#include <string.h>

struct numbered {
    uint64_t hash;
    uint32_t number;
};

static uint32_t find(const struct hx_blobs *t, const void *data, size_t bytes, uint64_t hash)
{
    for (const struct numbered *n = hx_table_find(&t->numbers, &hash); n; n = hx_table_find_next(&t->numbers, n)) {
        const struct hx_blob *b = &t->blob[n->number];
        if (b->bytes == bytes && (bytes == 0 || memcmp(t->bytes + b->at, data, bytes) == 0))
            return n->number;
    }
    return HX_NO_BLOB;
}

static void append(struct hx_blobs *t, const void *data, size_t bytes)
{
    if (t->used + bytes > t->bytes_room) {
        size_t room = 2 * (t->used + bytes);
        uint8_t *more = hx_allocate(room, 1);
        if (t->used)
            memcpy(more, t->bytes, t->used);
        free(t->bytes);
        t->bytes = more;
        t->bytes_room = room;
    }
    if (bytes)
        memcpy(t->bytes + t->used, data, bytes);
    t->used += bytes;
}

uint32_t hx_blobs_find(const struct hx_blobs *t, const void *data, size_t bytes)
{
    return find(t, data, bytes, split_mix_bytes(0, data, bytes));
}

uint32_t hx_blobs_add(struct hx_blobs *t, const void *data, size_t bytes)
{
    const uint64_t hash = split_mix_bytes(0, data, bytes);
    const uint32_t known = find(t, data, bytes, hash);
    if (known != HX_NO_BLOB)
        return known;
    if (t->count == 0)
        t->numbers = hx_table_make(sizeof hash, sizeof(struct numbered));
    struct numbered *n = hx_table_add(&t->numbers, &hash);
    n->number = (uint32_t)t->count;
    t->blob = hx_grow(t->blob, t->count, &t->room, sizeof *t->blob);
    t->blob[t->count++] = (struct hx_blob){t->used, bytes};
    append(t, data, bytes);
    return n->number;
}

void hx_blobs_free(struct hx_blobs *t)
{
    hx_table_free(&t->numbers);
    HX_FREE(t->bytes, t->blob);
    *t = (struct hx_blobs){0};
}
