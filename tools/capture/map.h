/* map.h - a hash table of small records, each beginning with its key; several records may have equal keys.
 *
 * Records move: a pointer is valid until the next call that adds or removes. Grows as needed; dies
 * (HX_EXIT_ENVIRONMENT) if memory runs out. */
#ifndef HXMESH_TOOLS_CAPTURE_MAP_H
#define HXMESH_TOOLS_CAPTURE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct hx_map {
    size_t key_bytes, record_bytes; /* key_bytes: a multiple of 8, padding inside it is zero */
    size_t count, slots;            /* slots: 0 or a power of two */
    uint32_t *tags;                 /* 0: the slot is empty; else part of the hash */
    uint8_t *records;
};

struct hx_map hx_map_make(size_t key_bytes, size_t record_bytes);
void hx_map_free(struct hx_map *m);

/* The first record with this key, or the next after a given one. NULL: none. */
void *hx_map_find(const struct hx_map *m, const void *key);
void *hx_map_find_next(const struct hx_map *m, const void *record);
/* Adds a record with this key, the rest zero. */
void *hx_map_add(struct hx_map *m, const void *key);
/* The first record with this key, added if there is none. */
void *hx_map_find_or_add(struct hx_map *m, const void *key);
void hx_map_remove(struct hx_map *m, void *record);

/* Iterates over all records in no particular order; *at begins with 0. NULL: the end. Neither add nor remove
 * meanwhile. */
void *hx_map_each(const struct hx_map *m, size_t *at);

/* Grows a full array: `count` of `*room` items of `bytes` bytes are in use. Returns an array with room for one more. */
void *hx_grown(void *array, uint32_t count, uint32_t *room, size_t bytes);

#endif
