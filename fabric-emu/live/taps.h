/* taps.h - who captures from a running fabric: slots in its control words, looked at by workers, watched by the
 * supervisor.
 *
 *     capturing process                   worker                              supervisor
 *     locks byte n of the arena
 *     writes its word into tap[n]    ->   opens the memory, taps its ports
 *     takes records out                   writes records
 *     clears the word                ->   unmaps the memory
 *     or dies (its lock is gone)                                         ->   clears the word
 *
 * The lock is one of fcntl(2), which the kernel takes from a dead process whatever killed it. A word names the process
 * and its descriptor of the memory, so that nothing has a name that could be left behind. */
#ifndef TAPS_H
#define TAPS_H

#include "fabric.h"

struct worker;

/* What a slot's word says; the serial tells one use of a slot from the next. */
static inline uint64_t slot_word(uint32_t serial, int pid, int fd)
{
    return (uint64_t)serial << 48 | (uint64_t)((uint32_t)fd & 0xFFFF) << 32 | (uint32_t)pid;
}

/* ---- capturing process ---- */

/* Slots: 0 .. SHM_TAPS - 1 of captures, then that of a replay. */
enum { SLOT_FEED = SHM_TAPS, SLOTS };

/* Takes a free slot of first .. last for memory `memory_fd` of this process. arena_fd: the arena's, never to be closed
 * before slot_release. Returns the slot, or -EBUSY: all are taken (*holder: by whom, one of them), or -errno. */
int slot_take(struct fab_control *control, int arena_fd, int first, int last, int memory_fd, int *netns_holder);
void slot_release(struct fab_control *control, int arena_fd, int slot);

/* ---- worker ---- */

/* The memory a word speaks of: a descriptor, or -1. */
int slot_open(uint64_t word);
/* Maps `bytes` of it, if it cannot shrink; else NULL. */
void *slot_map(int fd, size_t bytes);

/* Follows the slots: maps and unmaps, sets what each switch is to record. Call between steps, at the start and when
 * control->taps_changed is not what it was. */
void taps_follow(struct worker *w);
void taps_end(struct worker *w);

/* ---- supervisor ---- */

/* Clears the slots of processes that are gone. */
void taps_reap(struct fab_fabric *f);

#endif
