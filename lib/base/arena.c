/* arena.c - creates, finds and removes the shared memory of a fabric (base/arena.h). */
#include "base/arena.h"
#include "base/huge.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

/* Objects that this process created and must remove, also if it ends early by exit(). */
struct created {
    struct created *next;
    char name[sizeof((struct shm_arena *)NULL)->name];
    pid_t owner; /* a forked worker must not remove it at exit() */
};
static struct created *created;

static void remove_created(void)
{
    for (const struct created *c = created; c; c = c->next) {
        if (c->owner == getpid())
            (void)shm_unlink(c->name);
    }
}

void shm_remove_at_exit(const char *name)
{
    static bool registered;
    registered = registered || atexit(remove_created) == 0;
    struct created *c = hx_allocate(1, sizeof *c);
    (void)snprintf(c->name, sizeof c->name, "%s", name);
    c->owner = getpid();
    c->next = created;
    created = c;
}

void shm_remove(const char *name)
{
    struct created **at = &created;
    (void)shm_unlink(name);
    while (*at && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    struct created *c = *at;
    if (c) {
        *at = c->next;
        free(c);
    }
}

/* Whether the open object still has that name: another process may unlink it between open and lock. */
static bool is_named(int fd, const char *name)
{
    struct stat of_fd;
    struct stat of_name;
    char path[NAME_MAX + 16];
    (void)snprintf(path, sizeof path, "/dev/shm%s", name);
    return fstat(fd, &of_fd) == 0 && stat(path, &of_name) == 0 && of_fd.st_ino == of_name.st_ino;
}

enum { TRIES = 20, BETWEEN_TRIES_NS = 1000000 };

/* Takes the lock for good. Waits for other processes, which hold it briefly to check the owner. */
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

/* Whether the open object is a file of this user with one name: no other user may truncate it or write to it. */
static int validate_owner(int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return -errno;
    return S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_nlink == 1 ? 0 : -EPERM;
}

/* Whether opening failed because the name is not a file of this user: a folder, a link, a socket. */
static bool is_other(int error)
{
    return error == EACCES || error == ELOOP || error == EISDIR || error == ENXIO || error == EINVAL;
}

/* Opens an existing object of this user. */
static int open_own(const char *name, int flags)
{
    int fd = shm_open(name, flags | O_CLOEXEC | O_NONBLOCK, 0); /* never waits, whatever it is */
    if (fd < 0)
        return is_other(errno) ? -EPERM : -errno;
    int error = validate_owner(fd);
    if (error)
        (void)close(fd);
    return error ? error : fd;
}

/* As shm_arena_remove_dead(), by the name for shm_open. */
static int remove_left(const char *name)
{
    int fd = open_own(name, O_RDWR);
    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    int error = lock(fd);
    if (!error && is_named(fd, name) && shm_unlink(name) != 0 && errno != ENOENT)
        error = -errno;
    (void)close(fd);
    return error;
}

/* Creates and locks a new object of this name, never an existing one. */
static int open_locked(const char *name)
{
    for (;;) {
        int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        int error = fd >= 0 ? lock(fd) : errno == EEXIST ? remove_left(name) : -errno;
        if (fd >= 0 && !error && is_named(fd, name))
            return fd;
        if (fd >= 0)
            (void)close(fd);
        if (error)
            return error;
    }
}

static bool has_room(int fd, size_t bytes)
{
    struct statvfs v;
    return fstatvfs(fd, &v) != 0 || v.f_blocks == 0 || bytes / v.f_frsize < v.f_bavail;
}

/* Reserves all of it, piece by piece. Returns 0 or errno. */
static int reserve(int fd, size_t bytes, const struct shm_watch *watch)
{
    const size_t piece = (size_t)64 << 20;
    int error = !has_room(fd, bytes) ? ENOSPC : ftruncate(fd, (off_t)bytes) != 0 ? errno : 0;
    for (size_t at = 0; at < bytes && !error; at += piece) {
        error = posix_fallocate(fd, (off_t)at, (off_t)(bytes - at < piece ? bytes - at : piece));
        if (!error && watch && !watch->go_on(watch->of, (double)at / (double)bytes))
            error = EINTR;
    }
    return error;
}

bool shm_arena_is_dead(int fd)
{
    if (flock(fd, LOCK_SH | LOCK_NB) != 0)
        return false;
    (void)flock(fd, LOCK_UN);
    return true;
}

int shm_arena_create_watched(struct shm_arena *arena, const char *name, size_t bytes, const struct shm_watch *watch)
{
    *arena = (struct shm_arena){.bytes = bytes, .fd = -1};
    if (snprintf(arena->name, sizeof arena->name, "/" SHM_PREFIX "%s", name) >= (int)sizeof arena->name)
        return -ENAMETOOLONG;
    int fd = open_locked(arena->name);
    if (fd < 0)
        return fd;
    int error = reserve(fd, bytes, watch);
    void *base = MAP_FAILED;
    if (error == 0) {
        base = mmap(hx_huge_place(bytes), bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        error = base == MAP_FAILED ? errno : 0;
    }
    if (error != 0) {
        (void)shm_unlink(arena->name);
        (void)close(fd);
        return -error;
    }
    arena->fd = fd;
    arena->base = base;
    shm_remove_at_exit(arena->name);
    return 0;
}

int shm_arena_create(struct shm_arena *arena, const char *name, size_t bytes)
{
    return shm_arena_create_watched(arena, name, bytes, NULL);
}

int shm_arena_reopen(struct shm_arena *arena)
{
    char path[32];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", arena->fd);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    void *base = mmap(arena->base, arena->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
    if (base == MAP_FAILED) {
        int error = errno;
        (void)close(fd);
        return -error;
    }
    (void)close(arena->fd);
    arena->fd = fd;
    arena->base = base;
    return 0;
}

bool shm_arena_open(struct shm_arena *arena, const char *name, size_t bytes, const char *smaller,
                    const struct shm_watch *watch, struct hx_problem *problem)
{
    char by_process[32];
    (void)snprintf(by_process, sizeof by_process, "%ld", (long)getpid());
    name = name ? name : by_process;
    if (*name == 0 || strchr(name, '/'))
        return hx_fail(problem, HX_EXIT_USAGE, "--name", "'%s' cannot name a fabric: it is empty or has a '/'", name);
    int error = shm_arena_create_watched(arena, name, bytes, watch);
    if (error == -EEXIST)
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, name, "a fabric of this name is running (choose another --name)");
    if (error == -EPERM)
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, name,
                       "/dev/shm%s is not a file of this user (choose another --name)", arena->name);
    if (error == -ENOSPC)
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, "/dev/shm",
                       "no room for %zu MiB of shared memory (%s, or `hxmesh clean`)", bytes >> 20, smaller);
    if (error == -EINTR)
        return hx_fail(problem, HX_EXIT_INTERRUPTED, NULL, "interrupted");
    return !error ||
           hx_fail(problem, HX_EXIT_ENVIRONMENT, "/dev/shm", "cannot create %s: %s", arena->name, strerror(-error));
}

void shm_arena_close(struct shm_arena *arena, bool remove)
{
    if (!arena->base)
        return;
    (void)munmap(arena->base, arena->bytes);
    if (remove)
        shm_remove(arena->name);
    (void)close(arena->fd);
    arena->base = NULL;
}

/* bytes 0: all. */
static int attach(struct shm_arena *arena, const char *name, size_t bytes, bool writing)
{
    *arena = (struct shm_arena){.fd = -1};
    if (snprintf(arena->name, sizeof arena->name, "/" SHM_PREFIX "%s", name) >= (int)sizeof arena->name)
        return -ENAMETOOLONG;
    int fd = open_own(arena->name, writing ? O_RDWR : O_RDONLY);
    if (fd < 0)
        return fd;
    struct stat st;
    int error = shm_arena_is_dead(fd) ? ESRCH : fstat(fd, &st) != 0 ? errno : 0;
    if (!error && (size_t)st.st_size < bytes)
        error = EPROTO;
    if (!error && st.st_size == 0)
        error = EAGAIN;
    arena->bytes = bytes ? bytes : error ? 0 : (size_t)st.st_size;
    void *base =
        error ? MAP_FAILED : mmap(NULL, arena->bytes, PROT_READ | (writing ? PROT_WRITE : 0), MAP_SHARED, fd, 0);
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

int shm_arena_attach(struct shm_arena *arena, const char *name, size_t bytes)
{
    return attach(arena, name, bytes, true);
}

int shm_arena_read(struct shm_arena *arena, const char *name)
{
    return attach(arena, name, 0, false);
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

int shm_arena_remove_dead(const struct shm_arena *arena)
{
    return remove_left(arena->name);
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
        int fd = open_own(name, O_RDWR);
        if (fd == -EPERM) /* another user's, or not a file */
            continue;
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
