/* memif_rings.c - user side of a memif: maps the client's memory and moves frames through its rings (memif.h). */
#include "memif.h"
#include "memif_layout.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the offer ---- */

static bool is_current(const struct memif *m)
{
    return m->serial && atomic_load_explicit(&m->offer->serial, memory_order_acquire) == m->serial;
}

void memif_unmap(struct memif *m)
{
    for (unsigned i = 0; i < m->regions; i++)
        (void)munmap(m->region[i].base, m->region[i].size);
    *m = (struct memif){.offer = m->offer, .lost = m->lost};
}

bool memif_region_is_sealed(int fd)
{
    int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && (seals & F_SEAL_SHRINK);
}

bool memif_region_is_sound(int fd, uint64_t size)
{
    struct stat st;
    return memif_region_is_sealed(fd) && size > 0 && size <= INT64_MAX && fstat(fd, &st) == 0 &&
           (uint64_t)st.st_size >= size;
}

/* Maps the opener's descriptor through /proc. Its number may be of another file by then, so size and F_SEAL_SHRINK are
 * checked again. */
static bool map_region(struct memif *m, int opener, int descriptor, uint64_t size)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/fd/%d", opener, descriptor);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool sound = memif_region_is_sound(fd, size);
    void *base = sound ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    (void)close(fd);
    if (base == MAP_FAILED)
        return false;
    m->region[m->regions].base = base;
    m->region[m->regions++].size = size;
    return true;
}

/* Continues at the ring's tail, which this side moves. */
static bool take_ring(struct memif_queue *q, const struct memif *m, const struct memif_memory *memory,
                      unsigned direction)
{
    q->ring =
        (struct memif_ring *)(void *)(m->region[memory->ring[direction].region].base + memory->ring[direction].offset);
    q->mask = memory->ring[direction].mask;
    q->at = q->ring->tail;
    return q->ring->cookie == MEMIF_COOKIE;
}

static bool map(struct memif *m, const struct memif_memory *memory)
{
    for (unsigned i = 0; i < memory->regions; i++) {
        if (!map_region(m, memory->opener, memory->region[i].fd, memory->region[i].size))
            return false;
    }
    if (!take_ring(&m->in, m, memory, MEMIF_IN) || !take_ring(&m->out, m, memory, MEMIF_OUT))
        return false;
    m->in.ring->flags = MEMIF_NO_INTERRUPT;
    return true;
}

static void refuse(struct memif *m)
{
    atomic_store(&m->offer->refused, m->serial);
    memif_unmap(m);
}

bool memif_poll(struct memif *m)
{
    uint32_t serial = atomic_load_explicit(&m->offer->serial, memory_order_acquire);
    if (m->serial && m->serial == serial)
        return true;
    memif_unmap(m);
    if (!(serial & 1U) || atomic_load(&m->offer->refused) == serial)
        return false;
    const struct memif_memory memory = m->offer->memory;
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&m->offer->serial, memory_order_relaxed) != serial)
        return false; /* it changed meanwhile: retry later */
    m->serial = serial;
    if (map(m, &memory))
        return true;
    refuse(m);
    return false;
}

/* ---- rings ---- */

static uint16_t load(const uint16_t *index)
{
    return atomic_load_explicit((const _Atomic uint16_t *)(const void *)index, memory_order_acquire);
}

static void store(uint16_t *index, uint16_t value)
{
    atomic_store_explicit((_Atomic uint16_t *)(void *)index, value, memory_order_release);
}

static struct memif_descriptor *descriptor(const struct memif_queue *q, uint16_t at)
{
    return &q->ring->descriptor[at & q->mask];
}

/* Returns the buffer of a descriptor's copy; NULL: invalid. */
static uint8_t *buffer_of(const struct memif *m, const struct memif_descriptor *d)
{
    if (d->region >= m->regions)
        return NULL;
    uint64_t size = m->region[d->region].size;
    return d->length <= size && d->offset <= size - d->length ? m->region[d->region].base + d->offset : NULL;
}

/* Returns the entries up to a ring's head; refuses the connection if the head is invalid. */
static unsigned entries_ahead(struct memif *m, const struct memif_queue *q)
{
    if (!is_current(m))
        return 0;
    unsigned ahead = (uint16_t)(load(&q->ring->head) - q->at);
    if (ahead <= q->mask + 1U)
        return ahead;
    refuse(m);
    return 0;
}

/* ---- receive ---- */

/* Copies the next frame and returns its bytes, 0 if a piece is invalid. *entries: number of its descriptors. */
static uint32_t copy_in(struct memif *m, unsigned ahead, uint8_t *frame, uint32_t most, unsigned *entries)
{
    uint32_t bytes = 0;
    bool good = true;
    bool more = true;
    for (*entries = 0; more && *entries < ahead; ++*entries) {
        struct memif_descriptor *shared = descriptor(&m->in, (uint16_t)(m->in.at + *entries));
        const struct memif_descriptor d = *(const volatile struct memif_descriptor *)shared;
        const uint8_t *from = buffer_of(m, &d);
        uint32_t fits = d.length < most - bytes ? d.length : most - bytes;
        more = d.flags & MEMIF_NEXT;
        good = good && from;
        if (good)
            memcpy(frame + bytes, from, fits);
        bytes += good ? fits : 0;
        shared->flags = 0; /* the client of DPDK 22.11 sets NEXT but never clears it */
    }
    m->lost += !good || more;
    return good && !more ? bytes : 0;
}

uint32_t memif_receive(struct memif *m, uint8_t *frame, uint32_t most)
{
    unsigned ahead;
    while ((ahead = entries_ahead(m, &m->in)) > 0) {
        unsigned entries;
        uint32_t bytes = copy_in(m, ahead, frame, most, &entries);
        m->in.at = (uint16_t)(m->in.at + entries);
        store(&m->in.ring->tail, m->in.at);
        if (bytes)
            return bytes;
    }
    return 0;
}

/* ---- send ---- */

/* Copies a frame into the next buffers and returns their number. Returns 0 if they are too few, or if one is invalid:
 * then it refuses the connection. */
static unsigned copy_out(struct memif *m, unsigned free, const uint8_t *frame, uint32_t bytes)
{
    uint32_t done = 0;
    unsigned entries = 0;
    while (done < bytes && entries < free) {
        struct memif_descriptor *shared = descriptor(&m->out, (uint16_t)(m->out.at + entries));
        const struct memif_descriptor d = *(const volatile struct memif_descriptor *)shared;
        uint8_t *to = buffer_of(m, &d);
        if (!to || d.length == 0) {
            refuse(m);
            return 0;
        }
        uint32_t part = bytes - done < d.length ? bytes - done : d.length;
        memcpy(to, frame + done, part);
        done += part;
        shared->length = part;
        shared->flags = done < bytes ? MEMIF_NEXT : 0;
        entries++;
    }
    return done == bytes ? entries : 0;
}

bool memif_send(struct memif *m, const uint8_t *frame, uint32_t bytes)
{
    unsigned free = entries_ahead(m, &m->out);
    unsigned entries = free ? copy_out(m, free, frame, bytes) : 0;
    if (entries == 0)
        return false;
    m->out.at = (uint16_t)(m->out.at + entries);
    m->changed = true;
    return true;
}

void memif_flush(struct memif *m)
{
    if (!m->changed)
        return;
    store(&m->out.ring->tail, m->out.at);
    m->changed = false;
}
