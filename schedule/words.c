/* words.c - a hash table of texts (words.h). */
#include "schedule/words.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct schedule_word {
    size_t at; /* in the texts */
    uint32_t length, hash;
};

enum { FIRST_SLOTS = 256 };

/* FNV-1a. */
static uint32_t hash_of(const char *text, size_t length)
{
    uint32_t hash = 2166136261;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)text[i]) * 16777619;
    return hash ^ hash >> 15;
}

static bool is_word(const struct schedule_words *w, uint32_t number, const char *text, size_t length, uint32_t hash)
{
    const struct schedule_word *word = &w->word[number];
    return word->hash == hash && word->length == length && memcmp(w->text + word->at, text, length) == 0;
}

/* Doubles the slots; at least half of them are free then. */
static void grow_slots(struct schedule_words *w)
{
    free(w->slot);
    w->slots = w->slots ? 2 * w->slots : FIRST_SLOTS;
    w->slot = hx_allocate(w->slots, sizeof *w->slot);
    for (size_t i = 0; i < w->words; i++) {
        size_t at = w->word[i].hash & (w->slots - 1);
        while (w->slot[at])
            at = (at + 1) & (w->slots - 1);
        w->slot[at] = (uint32_t)i + 1;
    }
}

static void add(struct schedule_words *w, const char *text, size_t length, uint32_t hash)
{
    w->word = hx_grow(w->word, w->words, &w->room, sizeof *w->word);
    w->word[w->words++] = (struct schedule_word){w->text_bytes, (uint32_t)length, hash};
    for (size_t i = 0; i <= length; i++) {
        w->text = hx_grow(w->text, w->text_bytes, &w->text_room, 1);
        w->text[w->text_bytes++] = i < length ? text[i] : '\0';
    }
}

uint32_t schedule_words_number(struct schedule_words *w, const char *text, size_t length)
{
    uint32_t hash = hash_of(text, length);
    if (2 * w->words >= w->slots)
        grow_slots(w);
    size_t at = hash & (w->slots - 1);
    for (; w->slot[at]; at = (at + 1) & (w->slots - 1)) {
        if (is_word(w, w->slot[at] - 1, text, length, hash))
            return w->slot[at] - 1;
    }
    add(w, text, length, hash);
    w->slot[at] = (uint32_t)w->words;
    return w->slot[at] - 1;
}

const char *schedule_words_text(const struct schedule_words *w, uint32_t number)
{
    return w->text + w->word[number].at;
}

void schedule_words_free(struct schedule_words *w)
{
    HX_FREE(w->text, w->word, w->slot);
}
