/* memory.h - the memory a capture shares with the workers whose ports it taps (hal/tap_ring.h).
 *
 * It has no name anywhere: workers open it through /proc by process and descriptor, and it is gone with the last of
 * those who map it, whatever becomes of them. It is sealed, so that nobody can cut it off under a reader. */
#ifndef CAPTURE_MEMORY_H
#define CAPTURE_MEMORY_H

#include "fabric-emu/capture/ports.h"
#include "hal/tap_ring.h"

struct capture_memory {
    struct hx_tap *tap;
    struct hx_tap_shape shape;
    int fd;
};

/* What the memory is made for. */
struct capture_wish {
    const struct capture_ports *ports;
    uint32_t rings;      /* workers */
    uint64_t ring_bytes; /* of each; rounded up to a power of two */
    unsigned wait_slots; /* the datapath waits for room, and its links have so many slots per VC; 0: it does not wait */
    uint32_t snaplen;
    bool annotate;
    const char *filter; /* as libpcap reads it; NULL or empty: none */
    const char *option; /* the one that gave the filter, for errors */
};

/* Memory of that size to be shared with workers, zeroed and filled in; NULL: refused, errno says why. */
void *capture_share(uint64_t bytes, const char *name, int *fd);

/* false: the filter cannot be compiled, or there is not so much memory. */
bool capture_memory_new(struct capture_memory *m, const struct capture_wish *wish, struct hx_problem *problem);
/* From now on others have it only through a process that has the descriptor still: forks of this one do not inherit
 * it. */
void capture_memory_keep(struct capture_memory *m);
void capture_memory_free(struct capture_memory *m);

#endif
