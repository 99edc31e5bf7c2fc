/* map.h - a hash table of small records, each beginning with its key; equal keys may stand in it side by side.
 *
 * Records are copied and move about: a pointer is good until the next call that adds or removes. Grows as it must; dies
 * (HX_EXIT_ENVIRONMENT) when there is no memory. */
#ifndef HXMESH_TOOLS_CAPTURE_MAP_H
#define HXMESH_TOOLS_CAPTURE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct hx_map {
    size_t key_bytes, record_bytes; /* key_bytes: a multiple of 8, and padding inside it is zero */
    size_t count, slots;            /* slots: 0 or a power of two */
    uint32_t *tags;                 /* 0: the slot is empty; else part of the hash */
    uint8_t *records;
};

struct hx_map hx_map_make(size_t key_bytes, size_t record_bytes);
void hx_map_free(struct hx_map *m);

/* The first record with this key, or, given one, the next; NULL: there is none. */
void *hx_map_find(const struct hx_map *m, const void *key);
void *hx_map_find_next(const struct hx_map *m, const void *record);
/* Adds a record with this key, the rest zero. */
void *hx_map_add(struct hx_map *m, const void *key);
/* The first record with this key, added if there is none. */
void *hx_map_get(struct hx_map *m, const void *key);
void hx_map_remove(struct hx_map *m, void *record);

/* All records in no particular order: *at begins with 0; NULL: that was the last. Not while adding or removing. */
void *hx_map_each(const struct hx_map *m, size_t *at);

/* An array of which `count` of `*room` items of `bytes` bytes are in use, with room for one more. */
void *hx_grown(void *array, uint32_t count, uint32_t *room, size_t bytes);

#endif
