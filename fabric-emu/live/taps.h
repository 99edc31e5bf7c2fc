/* taps.h - captures of a running fabric: slots in the control words, followed by workers and watched by the supervisor.
 *
 *     capturing process                   worker                              supervisor
 *     locks byte n of the arena
 *     writes its word into tap[n]    ->   opens the memory, taps its ports
 *     takes records out                   writes records
 *     clears the word                ->   unmaps the memory
 *     or dies (its lock is gone)                                         ->   clears the word
 *
 * It is an fcntl(2) lock, which the kernel frees however its process dies. A word names the process and its memory's
 * descriptor: no name can be left behind. */
#ifndef TAPS_H
#define TAPS_H

#include "fabric.h"

struct worker;

/* A slot's word; the serial tells its uses apart. */
static inline uint64_t slot_word(uint32_t serial, int pid, int fd)
{
    return (uint64_t)serial << 48 | (uint64_t)((uint32_t)fd & 0xFFFF) << 32 | (uint32_t)pid;
}

/* ---- capturing process ---- */

/* Slots: 0 .. SHM_TAPS - 1 for captures, then one for a replay. */
enum { SLOT_FEED = SHM_TAPS, SLOTS };

/* Takes a free slot of first .. last for this process's `memory_fd`. arena_fd must stay open until slot_release().
 * Returns the slot, -EBUSY: all are taken (*owner: process of one), or -errno. */
int slot_take(struct fab_control *control, int arena_fd, int first, int last, int memory_fd, int *owner);
void slot_release(struct fab_control *control, int arena_fd, int slot);

/* ---- worker ---- */

/* Opens the memory that a word names. Returns a descriptor or -1. */
int slot_open(uint64_t word);
/* Maps `bytes` of it. Returns NULL if it can shrink. */
void *slot_map(int fd, size_t bytes);

/* Follows the slots: maps and unmaps, and sets what each switch records. Call it between steps, at the start and when
 * control->taps_changed has changed. */
void taps_follow(struct worker *w);
void taps_end(struct worker *w);

/* ---- supervisor ---- */

/* Clears slots of dead processes. */
void taps_reap(struct fab_fabric *f);

#endif
