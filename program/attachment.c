/* attachment.c - where everything lies in an attachment, and how a program comes by it (attachment.h). */
#include "program/attachment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096 };
static const char folder[] = "/dev/shm";
static const char prefix[] = "hxmesh-";

static uint32_t power_of_two(uint32_t at_least)
{
    uint32_t p = 1;
    while (p < at_least)
        p *= 2;
    return p;
}

static uint8_t *piece(uint8_t *base, size_t *at, size_t bytes)
{
    uintptr_t here = (uintptr_t)base + *at;
    *at = (*at + bytes + PAGE - 1) / PAGE * PAGE;
    return (uint8_t *)here; /* NOLINT(performance-no-int-to-ptr): there may be no base yet */
}

void attachment_lay_out(struct attachment *at, uint32_t hosts, uint8_t *base)
{
    size_t end = 0;
    at->hosts = hosts;
    at->slots = hosts * ATTACHMENT_SLOTS + ATTACHMENT_REGIONS;
    at->arrivals = power_of_two(at->slots);
    at->memory_bytes = (uint64_t)hosts * ATTACHMENT_SHORT * ATTACHMENT_SHORT_BYTES +
                       (uint64_t)hosts * ATTACHMENT_CONTROL * ATTACHMENT_CONTROL_BYTES +
                       (uint64_t)(ATTACHMENT_LANDINGS + ATTACHMENT_BOUNCE_PARTS) * ATTACHMENT_PART_BYTES +
                       (uint64_t)ATTACHMENT_BOUNCES * ATTACHMENT_SHORT_BYTES + ATTACHMENT_HEAP_BYTES;
#define PIECE(field, size) (at->field = (void *)piece(base, &end, (size)))
    PIECE(head, sizeof *at->head);
    PIECE(address, hosts * sizeof *at->address);
    PIECE(request, ATTACHMENT_REQUESTS * sizeof *at->request);
    PIECE(completion, ATTACHMENT_REQUESTS * sizeof *at->completion);
    PIECE(mail, hosts * sizeof *at->mail);
    PIECE(mailed, (hosts + 63) / 64 * sizeof *at->mailed);
    PIECE(slot, at->slots * sizeof *at->slot);
    PIECE(arrival, at->arrivals * sizeof *at->arrival);
    PIECE(memory, at->memory_bytes);
#undef PIECE
    at->bytes = end;
}

void attachment_ring(const struct attachment *at)
{
    atomic_fetch_add(&at->head->bell, 1);
    if (atomic_exchange(&at->head->waiting, 0))
        (void)syscall(SYS_futex, &at->head->bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* ---- who holds it ---- */

static struct flock lock_of(short type)
{
    return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
}

bool attachment_is_held(const struct attachment *at)
{
    struct flock lock = lock_of(F_WRLCK);
    return fcntl(at->fd, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

bool attachment_is_dead(const struct attachment *at)
{
    if (flock(at->fd, LOCK_SH | LOCK_NB) != 0)
        return false;
    (void)flock(at->fd, LOCK_UN);
    return true;
}

/* ---- finding one ---- */

/* Whether an object is of this host of this fabric: FABRIC.NUMBER.NAME. fabric or host NULL: of any; *other: of another one than those
 * before. */
static bool is_of(const char *object, const char *fabric, const char *host, char found[NAME_MAX + 1], bool *other)
{
    const char *name = strncmp(object, prefix, sizeof prefix - 1) == 0 ? object + sizeof prefix - 1 : NULL;
    const char *last = name ? strrchr(name, '.') : NULL;
    const char *number = last;
    while (number && number > name && *--number != '.')
        ;
    if (!number || number <= name || number + 1 == last)
        return false;
    size_t length = (size_t)(number - name);
    size_t digits = (size_t)(last - number - 1);
    if (fabric && (strlen(fabric) != length || strncmp(fabric, name, length) != 0))
        return false;
    bool is_host =
        !host || strcmp(last + 1, host) == 0 || (strlen(host) == digits && strncmp(host, number + 1, digits) == 0);
    if (!is_host)
        return false;
    *other = *found && (strlen(found) != length || strncmp(found, name, length) != 0);
    (void)snprintf(found, NAME_MAX + 1, "%.*s", (int)length, name);
    return true;
}

/* Puts the path of the object into *path. */
static int find(const char *fabric, const char *host, char path[PATH_MAX])
{
    char of[NAME_MAX + 1] = "";
    bool others = false;
    *path = '\0';
    DIR *dir = opendir(folder);
    if (!dir)
        return -errno;
    for (const struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        bool other = false;
        if (!is_of(e->d_name, fabric, host, of, &other))
            continue;
        others = others || other;
        (void)snprintf(path, PATH_MAX, "%s/%s", folder, e->d_name);
    }
    (void)closedir(dir);
    return others ? -ENOTUNIQ : *path ? 0 : -ENOENT;
}

int attachment_find(const char *fabric)
{
    char path[PATH_MAX];
    int error = find(fabric, NULL, path);
    return error == -ENOTUNIQ ? 0 : error;
}

/* What another process wrote is checked before use. */
static int judge(int fd, uint32_t *hosts, size_t bytes)
{
    struct stat st;
    struct attachment_head head;
    if (fstat(fd, &st) != 0)
        return -errno;
    if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
        return -EPERM;
    if (pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head || head.magic != ATTACHMENT_MAGIC ||
        head.version != ATTACHMENT_VERSION || head.host >= head.hosts || (size_t)st.st_size < bytes)
        return -EPROTO;
    *hosts = head.hosts;
    return 0;
}

static int map(struct attachment *at, int fd)
{
    uint32_t hosts = 0;
    int error = judge(fd, &hosts, 0);
    if (error)
        return error;
    attachment_lay_out(at, hosts, NULL);
    error = judge(fd, &hosts, at->bytes);
    if (error)
        return error;
    void *base = mmap(NULL, at->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED)
        return -errno;
    attachment_lay_out(at, hosts, base);
    return 0;
}

int attachment_open(struct attachment *at, const char *fabric, const char *host)
{
    char path[PATH_MAX];
    struct flock lock = lock_of(F_WRLCK);
    int error = find(fabric, host, path);
    if (error)
        return error;
    *at = (struct attachment){.fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
    if (at->fd < 0)
        return -errno;
    if (attachment_is_dead(at))
        error = -ENOENT;
    else if (fcntl(at->fd, F_OFD_SETLK, &lock) != 0)
        error = errno == EACCES || errno == EAGAIN ? -EBUSY : -errno;
    else
        error = map(at, at->fd);
    if (error)
        (void)close(at->fd);
    return error;
}

void attachment_close(struct attachment *at)
{
    (void)munmap(at->head, at->bytes);
    (void)close(at->fd);
}
