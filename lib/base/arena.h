/* arena.h - the shared memory of one running fabric: a named object in /dev/shm, sized and reserved at the start.
 *
 * The supervisor creates it and holds its lock; an object without a lock is a killed run's. Workers inherit the
 * mapping. Contents are found by offset or index, never by pointer, since other processes map it elsewhere.
 *
 * It is a new file of this user, mode 0600. Any user with access could write to it, or truncate it, which kills
 * every process that reads it (SIGBUS). fabric-emu/live/fabric.h has the validation of its contents.
 *
 * An arena begins with a head that describes the rest (topology/metrics.h: struct hx_metrics_head), so that other
 * processes need only the name. */
#ifndef HXMESH_BASE_ARENA_H
#define HXMESH_BASE_ARENA_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHM_PREFIX "hxmesh-"

struct shm_arena {
    uint8_t *base;
    size_t bytes;
    int fd;
    char name[128]; /* "/hxmesh-NAME", for shm_open */
};

/* Called while memory is reserved, which takes a second for a few GiB; false ends it. share: 0 .. 1. */
struct shm_watch {
    bool (*go_on)(void *of, double share);
    void *of;
};

/* Creates, locks, reserves and maps the object, filled with zeros. Replaces an object of this user with a dead owner.
 * Returns 0 or -errno: -EEXIST a fabric of this name runs (its lock is held), -EPERM the name is not a regular file of
 * this user with one link, -ENOSPC not enough memory in /dev/shm, -EINTR the watch ended it, others as shm_open. Leaves
 * nothing on failure. */
int shm_arena_create(struct shm_arena *arena, const char *name, size_t bytes);
int shm_arena_create_watched(struct shm_arena *arena, const char *name, size_t bytes, const struct shm_watch *watch);

/* As shm_arena_create_watched(), with an error message. name NULL: the process number; smaller: a hint how to use less
 * memory; watch NULL: none. Returns false and sets *problem on failure. */
bool shm_arena_open(struct shm_arena *arena, const char *name, size_t bytes, const char *smaller,
                    const struct shm_watch *watch, struct hx_problem *problem);

/* Returns the NAME of an arena. */
static inline const char *shm_arena_name(const struct shm_arena *arena)
{
    return arena->name + sizeof "/" SHM_PREFIX - 1;
}

/* Maps the first `bytes` of a running process's arena for reading and writing. Returns 0 or -errno: -ENOENT no such
 * name, -ESRCH its owner is dead, -EPERM as above, -EPROTO it is smaller, others as shm_open. Close it with
 * shm_arena_close(arena, false). */
int shm_arena_attach(struct shm_arena *arena, const char *name, size_t bytes);

/* Maps a running process's whole arena read-only. Returns as shm_arena_attach; -EAGAIN: its creation is in progress. */
int shm_arena_read(struct shm_arena *arena, const char *name);

/* Whether no process holds the lock of an open object. */
bool shm_arena_is_dead(int fd);

/* Calls `found` with the NAME of every object /dev/shm/hxmesh-NAME. Returns 0 or -errno. */
int shm_arena_each(void (*found)(const char *name, void *of), void *of);

/* Maps the same memory at the same place without the creator's lock, which belongs to its descriptor and mapping. For a
 * forked process that may outlive the creator. Returns 0 or -errno. */
int shm_arena_reopen(struct shm_arena *arena);

/* Unmaps and, if `remove`, unlinks. Workers pass false. */
void shm_arena_close(struct shm_arena *arena, bool remove);

/* Removes the object of an arena, open or closed, if it is this user's and its owner is dead. Returns 0, also if there
 * is none, or -errno: -EEXIST a process holds it. */
int shm_arena_remove_dead(const struct shm_arena *arena);

/* Registers a name (as for shm_open) for removal when this process ends by exit(), or removes it at once. */
void shm_remove_at_exit(const char *name);
void shm_remove(const char *name);

/* Removes every hxmesh object of this user in /dev/shm that no process holds. Calls `found` for each. Returns the
 * number removed, or -errno. */
int shm_arena_clean(void (*found)(const char *name, bool removed, size_t bytes));

#endif
