/* redo.h - makes a step's changes to shared memory atomic under kill -9 at any instruction.
 *
 * A set of 64-bit words decides the owner of each buffer: heads and tails of rings, and `gone` bits. A step writes
 * descriptors into slots that no head has published, then
 *
 *     1. notes the new values of these words in the worker's record     (invisible)
 *     2. sets record->count                                             (the step has happened)
 *     3. stores the words, heads before tails                           (others see it)
 *     4. clears record->count
 *
 * If the process dies before 2, every buffer is where it was. If it dies later, the supervisor repeats 3 and 4. That is
 * harmless: each word has one writer, and that one is dead. Heads come first: a buffer may be in two rings for a short
 * time, but never in none, and only its dead owner sees both. */
#ifndef SHM_REDO_H
#define SHM_REDO_H

#include <stdatomic.h>
#include <stdint.h>

enum { SHM_REDO_ENTRIES = 512, SHM_REDO_GROUP = 4 };

struct shm_redo_entry {
    uint64_t offset; /* of a 64-bit word, bytes from the arena's start */
    uint64_t value;
};

/* In the arena, one per worker. Invariant: entries 0 .. count-1 are complete whenever count is not 0. */
struct shm_redo {
    _Atomic uint64_t count;
    uint64_t nowhere; /* target of the stores that pad the last group */
    uint64_t unused[6];
    struct shm_redo_entry entry[SHM_REDO_ENTRIES + SHM_REDO_GROUP - 1];
};

/* An uncommitted step; private to the worker. */
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

/* Step 3. The entries are the worker's own, or a validated copy (fabric-emu/live/recover.c). */
static inline void shm_redo_apply(uint8_t *arena, const struct shm_redo_entry *entry, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        shm_redo_store(arena, &entry[i]);
}

/* Step 4. */
static inline void shm_redo_end(struct shm_redo *redo)
{
    atomic_store_explicit(&redo->count, 0, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst); /* keeps the next step's entries behind this store */
}

/* Steps 2 to 4. The number of words is random, so it stores them in groups and pads the last with stores to `nowhere`:
 * the processor predicts the number of groups. */
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
