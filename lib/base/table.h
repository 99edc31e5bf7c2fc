/* table.h - an open hash table of small records, each beginning with its key; several records may have equal keys.
 *
 *     struct hx_table t = hx_table_make(sizeof(uint64_t), sizeof(struct record)); its first field: uint64_t key
 *     struct record *r = hx_table_find_or_add(&t, &key);
 *     hx_table_free(&t);
 *
 * Records move: a pointer is valid until the next call that adds or removes. The table owns its records, not what they
 * point to. It grows as needed; running out of memory ends the program. */
#ifndef HXMESH_BASE_TABLE_H
#define HXMESH_BASE_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* Invariant: at most three quarters of the slots are in use, and no slot is empty between a record and the slot of its
 * hash. */
struct hx_table {
    size_t key_bytes, record_bytes; /* key_bytes: a multiple of 8, padding inside it is zero */
    size_t count, slots;            /* slots: 0 or a power of two */
    uint32_t *tags;                 /* 0: the slot is empty; else part of the hash */
    uint8_t *records;
};

struct hx_table hx_table_make(size_t key_bytes, size_t record_bytes);
void hx_table_free(struct hx_table *t);

/* The first record with this key, or the next after a given one, in the order of adding. NULL: none. */
void *hx_table_find(const struct hx_table *t, const void *key);
void *hx_table_find_next(const struct hx_table *t, const void *record);
/* Adds a record with this key, the rest zero. */
void *hx_table_add(struct hx_table *t, const void *key);
/* The first record with this key, added if there is none. */
void *hx_table_find_or_add(struct hx_table *t, const void *key);
void hx_table_remove(struct hx_table *t, void *record);

/* Iterates over all records in no particular order; *at begins with 0. NULL: the end. Neither add nor remove
 * meanwhile. */
void *hx_table_each(const struct hx_table *t, size_t *at);

#endif
