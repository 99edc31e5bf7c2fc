/* map.c - open addressing with linear probing (tools/capture/map.h). */
#include "tools/capture/map.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 64 };

struct hx_map hx_map_make(size_t key_bytes, size_t record_bytes)
{
    return (struct hx_map){.key_bytes = key_bytes, .record_bytes = (record_bytes + 7) & ~(size_t)7};
}

void hx_map_free(struct hx_map *m)
{
    free(m->tags);
    free(m->records);
    *m = hx_map_make(m->key_bytes, m->record_bytes);
}

static uint32_t tag_of(const struct hx_map *m, const void *key)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < m->key_bytes; i += 8) {
        uint64_t word;
        memcpy(&word, (const uint8_t *)key + i, sizeof word);
        hash = (hash ^ word) * 0x9E3779B97F4A7C15U;
        hash ^= hash >> 32;
    }
    return (uint32_t)hash | 1U << 31;
}

static uint8_t *record_at(const struct hx_map *m, size_t slot)
{
    return m->records + slot * m->record_bytes;
}

static void *find_from(const struct hx_map *m, const void *key, uint32_t tag, size_t slot)
{
    for (size_t mask = m->slots - 1; m->tags[slot & mask]; slot++) {
        uint8_t *record = record_at(m, slot & mask);
        if (m->tags[slot & mask] == tag && memcmp(record, key, m->key_bytes) == 0)
            return record;
    }
    return NULL;
}

void *hx_map_find(const struct hx_map *m, const void *key)
{
    if (m->count == 0)
        return NULL;
    uint32_t tag = tag_of(m, key);
    return find_from(m, key, tag, tag & (m->slots - 1));
}

static size_t slot_of(const struct hx_map *m, const void *record)
{
    return (size_t)((const uint8_t *)record - m->records) / m->record_bytes;
}

void *hx_map_find_next(const struct hx_map *m, const void *record)
{
    size_t slot = slot_of(m, record);
    return find_from(m, record, m->tags[slot], slot + 1);
}

static size_t free_slot(const struct hx_map *m, uint32_t tag)
{
    size_t slot = tag & (m->slots - 1);
    while (m->tags[slot])
        slot = (slot + 1) & (m->slots - 1);
    return slot;
}

static void grow(struct hx_map *m)
{
    struct hx_map old = *m;
    m->slots = old.slots ? 2 * old.slots : FIRST_SLOTS;
    m->tags = hx_allocate(m->slots, sizeof *m->tags);
    m->records = hx_allocate(m->slots, m->record_bytes);
    for (size_t slot = 0; slot < old.slots; slot++) {
        if (!old.tags[slot])
            continue;
        size_t to = free_slot(m, old.tags[slot]);
        m->tags[to] = old.tags[slot];
        memcpy(record_at(m, to), record_at(&old, slot), m->record_bytes);
    }
    free(old.tags);
    free(old.records);
}

void *hx_map_add(struct hx_map *m, const void *key)
{
    if (m->slots == 0 || m->count * 4 >= m->slots * 3)
        grow(m);
    uint32_t tag = tag_of(m, key);
    size_t slot = free_slot(m, tag);
    m->tags[slot] = tag;
    m->count++;
    uint8_t *record = record_at(m, slot);
    memset(record, 0, m->record_bytes);
    memcpy(record, key, m->key_bytes);
    return record;
}

void *hx_map_find_or_add(struct hx_map *m, const void *key)
{
    void *record = hx_map_find(m, key);
    return record ? record : hx_map_add(m, key);
}

/* Moves back later records that a search would otherwise miss because of the gap. */
void hx_map_remove(struct hx_map *m, void *record)
{
    size_t mask = m->slots - 1;
    size_t gap = slot_of(m, record);
    for (size_t slot = (gap + 1) & mask; m->tags[slot]; slot = (slot + 1) & mask) {
        size_t home = m->tags[slot] & mask;
        if (((slot - home) & mask) < ((slot - gap) & mask))
            continue;
        m->tags[gap] = m->tags[slot];
        memcpy(record_at(m, gap), record_at(m, slot), m->record_bytes);
        gap = slot;
    }
    m->tags[gap] = 0;
    m->count--;
}

void *hx_map_each(const struct hx_map *m, size_t *at)
{
    while (*at < m->slots) {
        size_t slot = (*at)++;
        if (m->tags[slot])
            return record_at(m, slot);
    }
    return NULL;
}

void *hx_grown(void *array, uint32_t count, uint32_t *room, size_t bytes)
{
    if (count < *room)
        return array;
    uint32_t larger = *room ? 2 * *room : 64;
    void *copy = hx_allocate(larger, bytes);
    if (array)
        memcpy(copy, array, *room * bytes);
    free(array);
    *room = larger;
    return copy;
}
