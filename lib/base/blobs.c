/* blobs.c - a table of byte strings (blobs.h). */
#include "base/blobs.h"
#include "base/error.h"
#include "base/split_mix.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_BUCKETS = 64 };

static uint64_t hash_of(const uint8_t *data, size_t bytes)
{
    uint64_t hash = split_mix(bytes);
    for (; bytes >= sizeof hash; data += sizeof hash, bytes -= sizeof hash) {
        uint64_t word;
        memcpy(&word, data, sizeof word);
        hash = split_mix(hash ^ word);
    }
    uint64_t rest = 0;
    memcpy(&rest, data, bytes);
    return split_mix(hash ^ rest);
}

/* The bucket of a string, or the free one where it belongs. The table has buckets. */
static size_t find_bucket(const struct hx_blobs *t, const void *data, size_t bytes, uint64_t hash)
{
    size_t at = hash & t->bucket_mask;
    for (; t->bucket[at]; at = (at + 1) & t->bucket_mask) {
        const struct hx_blob *b = &t->blob[t->bucket[at] - 1];
        if (b->hash == hash && b->bytes == bytes && (bytes == 0 || memcmp(t->bytes + b->at, data, bytes) == 0))
            break;
    }
    return at;
}

static void grow_buckets(struct hx_blobs *t)
{
    size_t buckets = t->bucket ? 2 * (t->bucket_mask + 1) : FIRST_BUCKETS;
    free(t->bucket);
    t->bucket = hx_allocate(buckets, sizeof *t->bucket);
    t->bucket_mask = buckets - 1;
    for (size_t i = 0; i < t->count; i++) {
        size_t at = t->blob[i].hash & t->bucket_mask;
        while (t->bucket[at])
            at = (at + 1) & t->bucket_mask;
        t->bucket[at] = (uint32_t)i + 1;
    }
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
    if (!t->bucket)
        return HX_NO_BLOB;
    return t->bucket[find_bucket(t, data, bytes, hash_of(data, bytes))] - 1; /* a free bucket is 0: HX_NO_BLOB */
}

uint32_t hx_blobs_add(struct hx_blobs *t, const void *data, size_t bytes)
{
    uint64_t hash = hash_of(data, bytes);
    if (!t->bucket || 2 * (t->count + 1) > t->bucket_mask + 1)
        grow_buckets(t);
    size_t at = find_bucket(t, data, bytes, hash);
    if (t->bucket[at])
        return t->bucket[at] - 1;
    t->blob = hx_grow(t->blob, t->count, &t->room, sizeof *t->blob);
    t->blob[t->count] = (struct hx_blob){t->used, bytes, hash};
    append(t, data, bytes);
    t->bucket[at] = (uint32_t)++t->count;
    return (uint32_t)t->count - 1;
}

void hx_blobs_free(struct hx_blobs *t)
{
    HX_FREE(t->bytes, t->blob, t->bucket);
    *t = (struct hx_blobs){0};
}
