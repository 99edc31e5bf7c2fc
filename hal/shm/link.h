/* link.h - one direction of a link in shared memory: a ring of descriptors for each VC.
 *
 *     line 0  producer's: heads      line 1  consumer's: tails, gone      then slots[VC][size]
 *
 * The free slots of a VC's ring are its credit, so credit cannot drift. The indices of all VCs (free running, 16 bit)
 * share one word: one store publishes a burst on every VC.
 *
 * Slots of a VC:    tail ............... head .......... tail + size
 *                   | held, or gone      | free            |
 *
 * A slot between tail and head holds a buffer, unless its bit in `gone` is set: the consumer sent it out of order. The
 * consumer moves slots from held to gone to free, the producer from free to held.
 *
 * Values of the other side are checked before use: a head more than `size` ahead of the tail is rejected. The other
 * side may write at any time, so the checks use a copy: shm_read_desc(). */
#ifndef SHM_LINK_H
#define SHM_LINK_H

#include "hxmesh/lanes.h"
#include "hxmesh/switch.h"

#include <stdalign.h>
#include <stdatomic.h>

enum { SHM_MAX_SLOTS = HX_WINDOW };

struct shm_link {
    alignas(64) uint64_t heads;         /* producer's, published by a redo step */
    alignas(64) uint64_t tails;         /* consumer's, published by a redo step */
    uint64_t gone[HX_VCS];              /* bit (position % 64) */
    alignas(64) struct hx_desc slots[]; /* [VCs of the fabric][size] */
};

static inline size_t shm_link_bytes(unsigned vcs, unsigned size)
{
    return sizeof(struct shm_link) + (size_t)vcs * size * sizeof(struct hx_desc);
}

/* Lanes: the slots of each VC's ring. */
static inline uint64_t shm_link_slots(unsigned vcs, unsigned size)
{
    return size * (HX_LANE_ONES >> (HX_LANE_BITS * (HX_VCS - vcs)));
}

/* Words that alias other types. */
typedef uint64_t __attribute__((may_alias)) shm_word;
typedef uint32_t __attribute__((may_alias)) shm_half_word;

/* Copies a slot of the other side; reads each word once. */
static inline struct hx_desc shm_read_desc(const struct hx_desc *slot)
{
    const volatile shm_word *from = (const volatile shm_word *)(const void *)slot;
    struct hx_desc d;
    shm_word *to = (shm_word *)(void *)&d;
    to[0] = from[0];
    to[1] = from[1];
    return d;
}

static inline uint64_t shm_load(const uint64_t *word)
{
    return atomic_load_explicit((const _Atomic uint64_t *)(const void *)word, memory_order_acquire);
}

#endif
