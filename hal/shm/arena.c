/* arena.c - creating, finding and removing the shared memory of a fabric (arena.h). */
#include "arena.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* What this process has created and not removed yet: a program that ends early, by exit(), leaves nothing behind. */
static struct {
    char name[sizeof((struct shm_arena *)NULL)->name];
    pid_t owner; /* a forked worker that ends by exit() must not remove it */
} created;

static void remove_created(void)
{
    if (created.owner == getpid())
        (void)shm_unlink(created.name);
    created.owner = 0;
}

static void remove_at_exit(const struct shm_arena *arena)
{
    static bool registered;
    registered = registered || atexit(remove_created) == 0;
    memcpy(created.name, arena->name, sizeof created.name);
    created.owner = getpid();
}

/* Whether the open object is still the one of that name: another process may have unlinked it between open and lock. */
static bool is_named(int fd, const char *name)
{
    struct stat of_fd;
    struct stat of_name;
    char path[NAME_MAX + 16];
    (void)snprintf(path, sizeof path, "/dev/shm%s", name);
    return fstat(fd, &of_fd) == 0 && stat(path, &of_name) == 0 && of_fd.st_ino == of_name.st_ino;
}

enum { TRIES = 20, BETWEEN_TRIES_NS = 1000000 };

/* Locks for good. Who looks whether an owner lives holds its lock for a moment, too: that is waited for. */
static int lock(int fd)
{
    for (unsigned n = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; n++) {
        if (errno != EWOULDBLOCK || n == TRIES)
            return errno == EWOULDBLOCK ? -EEXIST : -errno;
        const struct timespec wait = {.tv_nsec = BETWEEN_TRIES_NS};
        (void)nanosleep(&wait, NULL);
    }
    return 0;
}

/* Opens and locks an object of this name, new or left over; -EEXIST if somebody holds it. */
static int open_locked(const char *name)
{
    for (;;) {
        int fd = shm_open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0)
            return -errno;
        int error = lock(fd);
        if (error) {
            (void)close(fd);
            return error;
        }
        if (is_named(fd, name))
            return fd;
        (void)close(fd);
    }
}

int shm_arena_create(struct shm_arena *arena, const char *name, size_t bytes)
{
    *arena = (struct shm_arena){.bytes = bytes, .fd = -1};
    if (snprintf(arena->name, sizeof arena->name, "/" SHM_PREFIX "%s", name) >= (int)sizeof arena->name)
        return -ENAMETOOLONG;
    int fd = open_locked(arena->name);
    if (fd < 0)
        return fd;
    int error = ftruncate(fd, 0) != 0 ? errno : posix_fallocate(fd, 0, (off_t)bytes);
    void *base = MAP_FAILED;
    if (error == 0) {
        base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        error = base == MAP_FAILED ? errno : 0;
    }
    if (error != 0) {
        (void)shm_unlink(arena->name);
        (void)close(fd);
        return -error;
    }
    arena->fd = fd;
    arena->base = base;
    remove_at_exit(arena);
    return 0;
}

void shm_arena_close(struct shm_arena *arena, bool remove)
{
    if (!arena->base)
        return;
    (void)munmap(arena->base, arena->bytes);
    if (remove) {
        (void)shm_unlink(arena->name);
        created.owner = 0;
    }
    (void)close(arena->fd);
    arena->base = NULL;
}

int shm_arena_attach(struct shm_arena *arena, const char *name, size_t bytes)
{
    *arena = (struct shm_arena){.bytes = bytes, .fd = -1};
    if (snprintf(arena->name, sizeof arena->name, "/" SHM_PREFIX "%s", name) >= (int)sizeof arena->name)
        return -ENAMETOOLONG;
    int fd = shm_open(arena->name, O_RDWR | O_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    struct stat st;
    bool dead = flock(fd, LOCK_SH | LOCK_NB) == 0;
    int error = dead ? ESRCH : fstat(fd, &st) != 0 ? errno : (size_t)st.st_size < bytes ? EPROTO : 0;
    void *base = error ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (!error && base == MAP_FAILED)
        error = errno;
    if (error) {
        (void)close(fd);
        return -error;
    }
    arena->fd = fd;
    arena->base = base;
    return 0;
}

int shm_arena_each(void (*found)(const char *name, void *of), void *of)
{
    DIR *dir = opendir("/dev/shm");
    if (!dir)
        return -errno;
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        if (strncmp(e->d_name, SHM_PREFIX, strlen(SHM_PREFIX)) == 0)
            found(e->d_name + strlen(SHM_PREFIX), of);
    }
    (void)closedir(dir);
    return 0;
}

int shm_arena_clean(void (*found)(const char *name, bool removed, size_t bytes))
{
    DIR *dir = opendir("/dev/shm");
    if (!dir)
        return -errno;
    int removed = 0;
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        if (strncmp(e->d_name, SHM_PREFIX, strlen(SHM_PREFIX)) != 0)
            continue;
        char name[NAME_MAX + 2];
        (void)snprintf(name, sizeof name, "/%s", e->d_name);
        int fd = shm_open(name, O_RDWR | O_CLOEXEC, 0);
        struct stat st = {0};
        bool ours = fd >= 0 && fstat(fd, &st) == 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && is_named(fd, name) &&
                    shm_unlink(name) == 0;
        if (found)
            found(e->d_name, ours, (size_t)st.st_size);
        removed += ours;
        if (fd >= 0)
            (void)close(fd);
    }
    (void)closedir(dir);
    return removed;
}
