/* table.c - open addressing with linear probing (table.h). */
#include "base/table.h"
#include "base/error.h"
#include "base/split_mix.h"

#include <stdbool.h>
#include <string.h>

enum { FIRST_SLOTS = 8 };

struct hx_table hx_table_make(size_t key_bytes, size_t record_bytes)
{
    return (struct hx_table){.key_bytes = key_bytes, .record_bytes = (record_bytes + 7) & ~(size_t)7};
}

void hx_table_free(struct hx_table *t)
{
    HX_FREE(t->tags, t->records);
    *t = hx_table_make(t->key_bytes, t->record_bytes);
}

static uint64_t word_at(const void *key, size_t at)
{
    uint64_t word;
    memcpy(&word, (const uint8_t *)key + at, sizeof word);
    return word;
}

static uint32_t tag_of(const struct hx_table *t, const void *key)
{
    uint64_t hash = 0;
    for (size_t at = 0; at < t->key_bytes; at += sizeof hash) {
        hash = (hash ^ word_at(key, at)) * SPLIT_MIX_STEP;
        hash ^= hash >> 32;
    }
    return (uint32_t)hash | 1U << 31;
}

static bool has_key(const struct hx_table *t, const void *record, const void *key)
{
    size_t at = 0;
    while (at < t->key_bytes && word_at(record, at) == word_at(key, at))
        at += sizeof(uint64_t);
    return at == t->key_bytes;
}

static uint8_t *record_at(const struct hx_table *t, size_t slot)
{
    return t->records + slot * t->record_bytes;
}

static void *find_from(const struct hx_table *t, const void *key, uint32_t tag, size_t slot)
{
    const size_t mask = t->slots - 1;
    for (slot &= mask; t->tags[slot]; slot = (slot + 1) & mask)
        if (t->tags[slot] == tag && has_key(t, record_at(t, slot), key))
            return record_at(t, slot);
    return NULL;
}

void *hx_table_find(const struct hx_table *t, const void *key)
{
    const uint32_t tag = tag_of(t, key);
    return t->count ? find_from(t, key, tag, tag) : NULL;
}

static size_t slot_of(const struct hx_table *t, const void *record)
{
    return (size_t)((const uint8_t *)record - t->records) / t->record_bytes;
}

void *hx_table_find_next(const struct hx_table *t, const void *record)
{
    size_t slot = slot_of(t, record);
    return find_from(t, record, t->tags[slot], slot + 1);
}

static size_t free_slot(const struct hx_table *t, uint32_t tag)
{
    size_t slot = tag & (t->slots - 1);
    while (t->tags[slot])
        slot = (slot + 1) & (t->slots - 1);
    return slot;
}

/* Begins behind an empty slot, so that records with equal keys keep their order. */
static void move_all(struct hx_table *to, const struct hx_table *from)
{
    size_t start = 0;
    while (from->tags[start])
        start++;
    for (size_t i = 1; i < from->slots; i++) {
        size_t slot = (start + i) & (from->slots - 1);
        if (!from->tags[slot])
            continue;
        size_t place = free_slot(to, from->tags[slot]);
        to->tags[place] = from->tags[slot];
        memcpy(record_at(to, place), record_at(from, slot), to->record_bytes);
    }
}

static void grow(struct hx_table *t)
{
    struct hx_table old = *t;
    t->slots = old.slots ? 2 * old.slots : FIRST_SLOTS;
    t->tags = hx_allocate(t->slots, sizeof *t->tags);
    t->records = hx_allocate(t->slots, t->record_bytes);
    if (old.slots)
        move_all(t, &old);
    HX_FREE(old.tags, old.records);
}

static void *add(struct hx_table *t, const void *key, uint32_t tag)
{
    if (t->slots == 0 || t->count * 4 >= t->slots * 3)
        grow(t);
    size_t slot = free_slot(t, tag);
    t->tags[slot] = tag;
    t->count++;
    uint8_t *record = record_at(t, slot);
    memset(record, 0, t->record_bytes);
    memcpy(record, key, t->key_bytes);
    return record;
}

void *hx_table_add(struct hx_table *t, const void *key)
{
    return add(t, key, tag_of(t, key));
}

void *hx_table_find_or_add(struct hx_table *t, const void *key)
{
    const uint32_t tag = tag_of(t, key);
    void *record = t->count ? find_from(t, key, tag, tag) : NULL;
    return record ? record : add(t, key, tag);
}

/* Moves back later records that a search would otherwise miss because of the gap. */
void hx_table_remove(struct hx_table *t, void *record)
{
    size_t mask = t->slots - 1;
    size_t gap = slot_of(t, record);
    for (size_t slot = (gap + 1) & mask; t->tags[slot]; slot = (slot + 1) & mask) {
        size_t home = t->tags[slot] & mask;
        if (((slot - home) & mask) < ((slot - gap) & mask))
            continue;
        t->tags[gap] = t->tags[slot];
        memcpy(record_at(t, gap), record_at(t, slot), t->record_bytes);
        gap = slot;
    }
    t->tags[gap] = 0;
    t->count--;
}

void *hx_table_each(const struct hx_table *t, size_t *at)
{
    while (*at < t->slots) {
        size_t slot = (*at)++;
        if (t->tags[slot])
            return record_at(t, slot);
    }
    return NULL;
}
