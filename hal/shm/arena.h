/* arena.h - the shared memory of one running fabric: a named object in /dev/shm, sized and reserved at the start.
 *
 * The supervisor creates it (and holds its lock: an object nobody has locked was left by a killed run), workers inherit
 * the mapping. Everything inside is found by offset or by index, never by a
 * pointer: a process that attaches later has the mapping elsewhere.
 *
 * An arena begins with words that say what follows (fabric-emu/live/fabric.h: struct fab_head), so that another process
 * needs nothing but the name. */
#ifndef SHM_ARENA_H
#define SHM_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHM_PREFIX "hxmesh-"

struct shm_arena {
    uint8_t *base;
    size_t bytes;
    int fd;
    char name[128]; /* "/hxmesh-NAME" as shm_open wants it */
};

/* Creates, locks, reserves and maps the object; zero-filled. Returns 0 or -errno: -EEXIST a fabric of this name runs
 * (its lock is held), -ENOSPC not enough memory in /dev/shm, others as shm_open. An object of that name whose
 * owner is dead is replaced. Nothing is left behind on failure. */
int shm_arena_create(struct shm_arena *arena, const char *name, size_t bytes);

/* Maps the first `bytes` of the arena of another process that runs, for reading and writing. Returns 0 or -errno:
 * -ENOENT there is none of this name, -ESRCH its owner is dead, -EPROTO it is smaller than that, others as shm_open. To
 * be closed with shm_arena_close(arena, false). */
int shm_arena_attach(struct shm_arena *arena, const char *name, size_t bytes);

/* Calls `found` with the NAME of every object /dev/shm/hxmesh-NAME. Returns 0 or -errno. */
int shm_arena_each(void (*found)(const char *name, void *of), void *of);

/* Unmaps and, if `remove`, unlinks. Workers pass false. */
void shm_arena_close(struct shm_arena *arena, bool remove);

/* Removes every hxmesh object in /dev/shm that nobody holds; calls `found` for each with what was done.
 * Returns how many were removed, or -errno. */
int shm_arena_clean(void (*found)(const char *name, bool removed, size_t bytes));

#endif
