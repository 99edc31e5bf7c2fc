/* arena.h - the shared memory of one running fabric: a named object in /dev/shm, sized and reserved at the start.
 *
 * The supervisor creates it (and holds its lock: an object nobody has locked was left by a killed run), workers inherit
 * the mapping. Everything inside is found by offset or by index, never by a
 * pointer: a process that attaches later has the mapping elsewhere.
 *
 * It is a new file of this user and of nobody else (0600): who may open it may also truncate it, which kills whoever
 * touches it (SIGBUS; files in /dev/shm cannot be sealed), and may write anything into it. What processes of a fabric
 * believe of what stands there: fabric-emu/live/fabric.h.
 *
 * An arena begins with words that say what follows (topology/metrics.h: struct hx_metrics_head), so that another process
 * needs nothing but the name. */
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
    char name[128]; /* "/hxmesh-NAME" as shm_open wants it */
};

/* Asked while memory is reserved, which takes a second for a few GiB: false ends it. share: 0 .. 1. */
struct shm_watch {
    bool (*go_on)(void *of, double share);
    void *of;
};

/* Creates, locks, reserves and maps the object; zero-filled. Returns 0 or -errno: -EEXIST a fabric of this name runs
 * (its lock is held), -EPERM what has this name is not a regular file of this user with one name, -ENOSPC not enough
 * memory in /dev/shm, -EINTR the watch said so, others as shm_open. An object of this user whose owner is dead is
 * replaced by a new one. Nothing is left behind on failure. */
int shm_arena_create(struct shm_arena *arena, const char *name, size_t bytes);
int shm_arena_create_watched(struct shm_arena *arena, const char *name, size_t bytes, const struct shm_watch *watch);

/* shm_arena_create_watched() for a run, which says why not. name NULL: the process number; smaller: what would take
 * less memory; watch NULL: nobody asks. */
bool shm_arena_open(struct shm_arena *arena, const char *name, size_t bytes, const char *smaller,
                    const struct shm_watch *watch, struct hx_problem *problem);

/* The NAME of an arena. */
static inline const char *shm_arena_name(const struct shm_arena *arena)
{
    return arena->name + sizeof "/" SHM_PREFIX - 1;
}

/* Maps the first `bytes` of the arena of another process that runs, for reading and writing. Returns 0 or -errno:
 * -ENOENT there is none of this name, -ESRCH its owner is dead, -EPERM as above, -EPROTO it is smaller than that,
 * others as shm_open. To be closed with shm_arena_close(arena, false). */
int shm_arena_attach(struct shm_arena *arena, const char *name, size_t bytes);

/* Maps all of the arena of another process that runs, for reading only. As shm_arena_attach; -EAGAIN: it is only just
 * being made. */
int shm_arena_read(struct shm_arena *arena, const char *name);

/* Whether nobody holds an object any more that was opened so. */
bool shm_arena_is_dead(int fd);

/* Calls `found` with the NAME of every object /dev/shm/hxmesh-NAME. Returns 0 or -errno. */
int shm_arena_each(void (*found)(const char *name, void *of), void *of);

/* For a process that the creator forked and that may outlive it: the same memory in the same place, without the
 * creator's lock, which goes with its descriptor and its mapping. Returns 0 or -errno. */
int shm_arena_reopen(struct shm_arena *arena);

/* Unmaps and, if `remove`, unlinks. Workers pass false. */
void shm_arena_close(struct shm_arena *arena, bool remove);

/* Removes the object of that name, if it is this user's and its owner is dead. Returns 0, also where there is none, or
 * -errno: -EEXIST somebody holds it. The arena may be closed. */
int shm_arena_remove_dead(const struct shm_arena *arena);

/* Sees to it that what this process has made under a name (as shm_open wants it) is removed when it ends by exit();
 * removes it now. */
void shm_remove_at_exit(const char *name);
void shm_remove(const char *name);

/* Removes every hxmesh object of this user in /dev/shm that nobody holds; calls `found` for each with what was done.
 * Returns how many were removed, or -errno. */
int shm_arena_clean(void (*found)(const char *name, bool removed, size_t bytes));

#endif
