/* memory.c - makes the shared memory of a capture (memory.h). */
#include "fabric-emu/capture/memory.h"
#include "fabric-emu/capture/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uint32_t ring_bytes(uint64_t at_least)
{
    uint32_t bytes = HX_TAP_LEAST_RING;
    while (bytes < at_least && bytes < HX_TAP_MOST_RING)
        bytes *= 2;
    return bytes;
}

void *capture_share(uint64_t bytes, const char *name, int *fd)
{
    *fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (*fd < 0 || ftruncate(*fd, (off_t)bytes) != 0 ||
        fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return NULL;
    /* Populated, so that the datapath meets no page faults. */
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, *fd, 0);
    if (base == MAP_FAILED)
        return NULL;
    return base;
}

/* The largest number of tapped ports of a node; ports of a node are adjacent. */
static unsigned most_tapped(const struct capture_ports *p)
{
    unsigned most = 0;
    unsigned tapped = 0;
    for (uint32_t i = 0; i < p->interfaces; i++) {
        bool same = i && p->port[i].node == p->port[i - 1].node && p->port[i].plane == p->port[i - 1].plane;
        tapped = same ? tapped + 1 : 1;
        most = tapped > most ? tapped : most;
    }
    return most;
}

/* A datapath that waits for room must fit a whole step into an empty ring. */
static uint32_t ring_for(const struct capture_wish *wish, const struct hx_tap_shape *shape)
{
    uint64_t step = wish->wait_slots ? hx_tap_step_bytes(shape, most_tapped(wish->ports), wish->wait_slots) : 0;
    return ring_bytes(step > wish->ring_bytes ? step : wish->ring_bytes);
}

bool capture_memory_new(struct capture_memory *m, const struct capture_wish *wish, struct hx_problem *problem)
{
    struct capture_filter filter;
    *m = (struct capture_memory){.fd = -1};
    if (!capture_filter_compile(&filter, wish->filter, wish->option, problem))
        return false;
    m->shape = (struct hx_tap_shape){.rings = wish->rings,
                                     .ports = wish->ports->ports,
                                     .interfaces = wish->ports->interfaces,
                                     .program = filter.count,
                                     .snaplen = wish->snaplen,
                                     .annotate = wish->annotate,
                                     .waits = wish->wait_slots > 0};
    m->shape.ring_bytes = ring_for(wish, &m->shape);
    m->tap = capture_share(hx_tap_bytes(&m->shape), "hxmesh-tap", &m->fd);
    bool good = m->tap != NULL;
    if (good) {
        m->tap->magic = HX_TAP_MAGIC;
        m->tap->version = HX_TAP_VERSION;
        m->tap->shape = m->shape;
        if (filter.count)
            memcpy(hx_tap_program(m->tap), filter.program, (size_t)filter.count * sizeof *filter.program);
        memcpy(hx_tap_ports(m->tap, &m->shape), wish->ports->interface, m->shape.ports * sizeof(uint32_t));
    } else {
        (void)hx_fail(problem, HX_EXIT_ENVIRONMENT, NULL, "no %zu MiB of memory for the capture: %s",
                      (size_t)(hx_tap_bytes(&m->shape) >> 20), strerror(errno));
        capture_memory_free(m);
    }
    capture_filter_free(&filter);
    return good;
}

void capture_memory_keep(struct capture_memory *m)
{
    (void)madvise(m->tap, hx_tap_bytes(&m->shape), MADV_DONTFORK);
    (void)close(m->fd);
    m->fd = -1;
}

void capture_memory_free(struct capture_memory *m)
{
    if (m->tap)
        (void)munmap(m->tap, hx_tap_bytes(&m->shape));
    if (m->fd >= 0)
        (void)close(m->fd);
    *m = (struct capture_memory){.fd = -1};
}
