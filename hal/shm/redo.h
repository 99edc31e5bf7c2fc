/* redo.h - makes what a step does to shared memory happen as a whole, whatever instruction a kill -9 hits.
 *
 * All that decides who owns a buffer is a set of 64-bit words: heads and tails of rings, and which slots of a window
 * have left. A step writes descriptors into slots that no head has published yet, then
 *
 *     1. notes the new values of these words in the worker's record     (invisible)
 *     2. sets record->count                                             (the step has happened)
 *     3. stores the words, heads before tails                           (others see it)
 *     4. clears record->count
 *
 * If the process dies before 2, nothing has happened: every buffer is still where it was. After 2, whoever finds the
 * record does 3 and 4 again, which is harmless: each word has one writer, and that one is dead. Heads first: for a
 * moment a buffer may be seen in two rings, but only by its dead owner, never in none. */
#ifndef SHM_REDO_H
#define SHM_REDO_H

#include <stdatomic.h>
#include <stdint.h>

enum { SHM_REDO_ENTRIES = 512, SHM_REDO_GROUP = 4 };

struct shm_redo_entry {
    uint64_t offset; /* of a 64-bit word, in bytes from the arena's start */
    uint64_t value;
};

/* Lies in the arena, one a worker. Invariant: entries 0 .. count-1 are complete whenever count is not 0. */
struct shm_redo {
    _Atomic uint64_t count;
    uint64_t nowhere; /* takes what fills up the last group (shm_step_commit()) */
    uint64_t unused[6];
    struct shm_redo_entry entry[SHM_REDO_ENTRIES + SHM_REDO_GROUP - 1];
};

/* A step in the making; private to the worker. */
struct shm_step {
    uint8_t *arena;
    struct shm_redo *redo;
    unsigned count;
};

static inline void shm_write_entry(const struct shm_step *step, unsigned at, const uint64_t *word, uint64_t value)
{
    struct shm_redo_entry *e = &step->redo->entry[at];
    e->offset = (uint64_t)((const uint8_t *)word - step->arena);
    e->value = value;
}

static inline void shm_note(struct shm_step *step, const uint64_t *word, uint64_t value)
{
    shm_write_entry(step, step->count++, word, value);
}

static inline void shm_redo_store(uint8_t *arena, const struct shm_redo_entry *entry)
{
    _Atomic uint64_t *word = (_Atomic uint64_t *)(void *)(arena + entry->offset);
    atomic_store_explicit(word, entry->value, memory_order_release);
}

/* Step 3. The entries are the worker's own, just written, or a copy that was judged (fabric-emu/live/recover.c). */
static inline void shm_redo_apply(uint8_t *arena, const struct shm_redo_entry *entry, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        shm_redo_store(arena, &entry[i]);
}

/* Step 4. */
static inline void shm_redo_end(struct shm_redo *redo)
{
    atomic_store_explicit(&redo->count, 0, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst); /* the next step's entries are written behind this, not before */
}

/* Steps 2 to 4. How many words there are nobody can foresee, so they are stored in groups, the last filled up with
 * stores to `nowhere`: a processor foresees the number of groups. */
static inline void shm_step_commit(struct shm_step *step)
{
    const struct shm_step made = *step;
    const struct shm_redo_entry *entry = made.redo->entry;
    for (unsigned i = 0; i < SHM_REDO_GROUP - 1; i++)
        shm_write_entry(&made, made.count + i, &made.redo->nowhere, 0);
    atomic_store_explicit(&made.redo->count, made.count, memory_order_release);
    for (const struct shm_redo_entry *behind = entry + made.count; entry < behind; entry += SHM_REDO_GROUP) {
        shm_redo_store(made.arena, &entry[0]);
        shm_redo_store(made.arena, &entry[1]);
        shm_redo_store(made.arena, &entry[2]);
        shm_redo_store(made.arena, &entry[3]);
        _Static_assert(SHM_REDO_GROUP == 4, "one store a word");
    }
    shm_redo_end(made.redo);
    step->count = 0;
}

#endif
