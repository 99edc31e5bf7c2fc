/* attachment.c - layout of an attachment, and how it is made, passed and held (attachment.h). */
#include "hal/program/attachment.h"
#include "base/powers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096 };

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
    at->arrivals = hx_power_of_two(at->slots);
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

/* The worker sets `asleep` before its last check; the caller publishes its work before it reads `asleep`. */
void attachment_wakeup(const struct attachment *at)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (!atomic_load_explicit(&at->head->asleep, memory_order_relaxed) || !atomic_exchange(&at->head->asleep, 0))
        return;
    (void)eventfd_write(at->wakeup_fd, 1);
}

/* ---- the holder's lock ---- */

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

/* ---- opening one ---- */

/* Checks memory of another process before use; with F_SEAL_SHRINK and F_SEAL_GROW its size is fixed. */
static int validate(int fd, uint32_t *hosts, size_t bytes)
{
    const int sealed = F_SEAL_SHRINK | F_SEAL_GROW;
    struct stat st;
    struct attachment_head head;
    int seals = fcntl(fd, F_GET_SEALS);
    if (fstat(fd, &st) != 0)
        return -errno;
    if (st.st_uid != geteuid())
        return -EPERM;
    if (seals < 0 || (seals & sealed) != sealed || pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head ||
        head.magic != ATTACHMENT_MAGIC || head.version != ATTACHMENT_VERSION || head.host >= head.hosts ||
        (size_t)st.st_size < bytes)
        return -EPROTO;
    *hosts = head.hosts;
    return 0;
}

static int map(struct attachment *at, int fd)
{
    uint32_t hosts = 0;
    int error = validate(fd, &hosts, 0);
    if (error)
        return error;
    attachment_lay_out(at, hosts, NULL);
    error = validate(fd, &hosts, at->bytes);
    if (error)
        return error;
    void *base = mmap(NULL, at->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED)
        return -errno;
    attachment_lay_out(at, hosts, base);
    return 0;
}

int attachment_hold(struct attachment *at, int fd, int wakeup_fd)
{
    struct flock lock = lock_of(F_WRLCK);
    *at = (struct attachment){.fd = fd, .wakeup_fd = wakeup_fd};
    if (fcntl(fd, F_OFD_SETLK, &lock) != 0)
        return errno == EACCES || errno == EAGAIN ? -EBUSY : -errno;
    return map(at, fd);
}

void attachment_close(struct attachment *at)
{
    (void)munmap(at->head, at->bytes);
    (void)close(at->fd);
    (void)close(at->wakeup_fd);
}

/* ---- making one ---- */

/* The size is fixed before it is shared. Pages are allocated when touched. */
static int make_memory(size_t bytes)
{
    int fd = memfd_create("hxmesh-attachment", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 ||
        (ftruncate(fd, (off_t)bytes) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0 &&
         flock(fd, LOCK_EX | LOCK_NB) == 0))
        return fd;
    int error = errno;
    (void)close(fd);
    errno = error;
    return -1;
}

int attachment_make(struct attachment *at, uint32_t hosts)
{
    attachment_lay_out(at, hosts, NULL);
    int fd = make_memory(at->bytes);
    int wakeup_fd = fd < 0 ? -1 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    void *base = wakeup_fd < 0 ? MAP_FAILED : mmap(NULL, at->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED) {
        int error = errno;
        if (fd >= 0)
            (void)close(fd);
        if (wakeup_fd >= 0)
            (void)close(wakeup_fd);
        *at = (struct attachment){.fd = -1, .wakeup_fd = -1};
        return -error;
    }
    at->fd = fd;
    at->wakeup_fd = wakeup_fd;
    attachment_lay_out(at, hosts, base);
    return 0;
}

int attachment_open_anew(const struct attachment *at)
{
    char path[32];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", at->fd);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    return fd;
}
