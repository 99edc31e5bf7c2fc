/* memory.h - the memory that a capture shares with workers, to tap their ports (hal/tap_ring.h).
 *
 * It has no name: workers open it through /proc, by process and descriptor. It is freed with its last mapping. No
 * process can truncate it under a reader. */
#ifndef CAPTURE_MEMORY_H
#define CAPTURE_MEMORY_H

#include "fabric-emu/capture/ports.h"
#include "hal/tap_ring.h"

struct capture_memory {
    struct hx_tap *tap;
    struct hx_tap_shape shape;
    int fd;
};

struct capture_wish {
    const struct capture_ports *ports;
    uint32_t rings;      /* workers */
    uint64_t ring_bytes; /* of each; rounded up to a power of two */
    unsigned wait_slots; /* slots per VC of the links of a datapath that waits for room; 0: it does not wait */
    uint32_t snaplen;
    bool annotate;
    const char *filter; /* in libpcap's syntax; NULL or empty: none */
    const char *option; /* option that gave the filter, for errors */
};

/* Zeroed, populated memory to share with workers; NULL: refused, errno says why. */
void *capture_share(uint64_t bytes, const char *name, int *fd);

/* Makes the memory. Returns false if the filter does not compile, or memory is short. */
bool capture_memory_new(struct capture_memory *m, const struct capture_wish *wish, struct hx_problem *problem);
/* Forks of this process after this call do not inherit the descriptor; other processes open it only through a process
 * that has it. */
void capture_memory_keep(struct capture_memory *m);
void capture_memory_free(struct capture_memory *m);

#endif
