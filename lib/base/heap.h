/* heap.h - a binary heap in an array of the caller: the first item is before all others.
 *
 *     static bool is_before(const void *of, const void *a, const void *b) ...
 *     static const struct hx_heap_kind kind = {sizeof(struct event), is_before};
 *
 *     hx_heap_put(&kind, of, item, count++, &added);      the array has room for one more
 *     first = item[0];
 *     hx_heap_drop(&kind, of, item, count--);             takes the first out
 *
 * Items move, copied byte by byte. Where neither of two items is before the other, either may come first. All is
 * inline: with a constant `kind`, no call and no size is left to run time. */
#ifndef HXMESH_BASE_HEAP_H
#define HXMESH_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct hx_heap_kind {
    size_t bytes; /* of an item */
    /* Whether a comes out before b. `of`: what they refer to; the caller's. */
    bool (*is_before)(const void *of, const void *a, const void *b);
};

#define HX_HEAP_INLINE static inline __attribute__((always_inline))

HX_HEAP_INLINE void *hx_heap_at(const struct hx_heap_kind *k, void *items, size_t at)
{
    return (char *)items + at * k->bytes;
}

/* Adds a copy of an item to the `count` that are there. */
HX_HEAP_INLINE void hx_heap_put(const struct hx_heap_kind *k, const void *of, void *items, size_t count,
                                const void *item)
{
    size_t at = count;
    for (size_t parent; at && k->is_before(of, item, hx_heap_at(k, items, parent = (at - 1) / 2)); at = parent)
        memcpy(hx_heap_at(k, items, at), hx_heap_at(k, items, parent), k->bytes);
    memcpy(hx_heap_at(k, items, at), item, k->bytes);
}

/* Copies an item from elsewhere over the one at `at`, or lower. All below `at` is in order. */
HX_HEAP_INLINE void hx_heap_sink(const struct hx_heap_kind *k, const void *of, void *items, size_t count, size_t at,
                                 const void *item)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && k->is_before(of, hx_heap_at(k, items, child + 1), hx_heap_at(k, items, child));
        if (!k->is_before(of, hx_heap_at(k, items, child), item))
            break;
        memcpy(hx_heap_at(k, items, at), hx_heap_at(k, items, child), k->bytes);
    }
    memcpy(hx_heap_at(k, items, at), item, k->bytes);
}

/* Takes the first of `count` items out; count: at least 1. */
HX_HEAP_INLINE void hx_heap_drop(const struct hx_heap_kind *k, const void *of, void *items, size_t count)
{
    if (count > 1)
        hx_heap_sink(k, of, items, count - 1, 0, hx_heap_at(k, items, count - 1));
}

#endif
