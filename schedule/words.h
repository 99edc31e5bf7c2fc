/* words.h - a set of texts, numbered from 0 in the order in which they came. About 20 bytes a text, and the text. */
#ifndef SCHEDULE_WORDS_H
#define SCHEDULE_WORDS_H

#include <stddef.h>
#include <stdint.h>

/* Zero is the empty set. */
struct schedule_words {
    char *text; /* all texts, each with a zero behind */
    struct schedule_word *word;
    uint32_t *slot; /* [slots]: number + 1, at the hash or the next free one behind; 0: free */
    size_t text_bytes, text_room, words, room, slots;
};

/* Returns the number of a text; adds it if it is new. length: 0 and up. Dies if there is no memory. */
uint32_t schedule_words_number(struct schedule_words *w, const char *text, size_t length);
/* A text by its number, zero-terminated; valid until a text is added. */
const char *schedule_words_text(const struct schedule_words *w, uint32_t number);
/* Frees the memory. */
void schedule_words_free(struct schedule_words *w);

#endif
