/* memif.h - one memif connection, server side (memif_layout.h has the protocol, wire.h the use).
 *
 *     opener: memif_serve                         shared: struct memif_offer         user: memif_poll
 *     ALONE -- a client connects --> GREETED
 *     GREETED -- INIT, regions, rings, CONNECT --> CONNECTED  --- offer --->         maps regions; frames pass
 *     ALONE <-- DISCONNECT, end of the socket,     --- none --->                     unmaps them
 *               invalid values, or 2 s without CONNECT
 *     ALONE <------------------------------------------------- refused ----          an invalid index
 *
 * The opener owns the control socket and the descriptors of the client's memory; the user maps that memory and moves
 * frames. So the client does not notice when a user is killed and replaced: the rings hold the positions. (On a closed
 * socket DPDK 22.11 would unmap its memory while its cores read it.)
 *
 * Values from the client are checked before use. Regions must have F_SEAL_SHRINK (DPDK without zero-copy sets
 * it), so no access faults. Offsets, lengths and indices in rings are read once and compared with the regions. A
 * frame with a descriptor that points elsewhere is lost; an offered buffer elsewhere, or an invalid index, ends the
 * connection.
 *
 * One ring each way; both sides poll. A second client is refused. */
#ifndef MEMIF_H
#define MEMIF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { MEMIF_REGIONS = 8, MEMIF_MOST_LOG2_SIZE = 14, MEMIF_IN = 0, MEMIF_OUT = 1, MEMIF_RINGS = 2 };

/* Memory that a client provides. */
struct memif_memory {
    int32_t opener;   /* process */
    uint32_t regions; /* number of regions */
    struct {
        int32_t fd; /* descriptor within the opener */
        uint64_t size;
    } region[MEMIF_REGIONS];
    struct {
        uint16_t region; /* below regions; the ring is inside */
        uint16_t mask;   /* entries - 1 */
        uint32_t offset;
    } ring[MEMIF_RINGS];
};

/* Shared by opener and users. The opener writes `memory` only while there is no offer. */
struct memif_offer {
    _Atomic uint32_t serial;  /* odd: memory is offered. Grows with each offer and its end */
    _Atomic uint32_t refused; /* written by the user: serial of an invalid offer */
    struct memif_memory memory;
};

/* ---- opener and user: checks of memory ---- */

/* Returns true if the memory cannot shrink. */
bool memif_region_is_sealed(int fd);
/* Returns true if it also has at least `size` bytes. */
bool memif_region_is_sound(int fd, uint64_t size);

/* ---- the opener ---- */

enum memif_state { MEMIF_ALONE, MEMIF_GREETED, MEMIF_IS_CONNECTED };

#define MEMIF_HANDSHAKE_NS UINT64_C(2000000000)

struct memif_server {
    enum memif_state state;
    int socket;
    uint64_t greeted_ns;
    const char *why; /* why the last client was disconnected; NULL: it left, or there was none */
    bool has_ring[MEMIF_RINGS];
    struct memif_memory memory; /* incomplete until connected */
};

/* Handles events of the listening socket and the connection. now: ns of a monotonic clock. */
void memif_serve(struct memif_server *s, struct memif_offer *offer, int listener, uint64_t now);
/* Ends the connection and sends the client a reason; NULL: none. */
void memif_end(struct memif_server *s, struct memif_offer *offer, const char *why);

/* ---- the user ---- */

struct memif_queue {
    struct memif_ring *ring;
    uint16_t mask;
    uint16_t at; /* next entry to read or write */
};

struct memif {
    struct memif_offer *offer;
    uint32_t serial; /* of the mapped offer; 0: none */
    unsigned regions;
    bool changed; /* out.at moved since the last flush */
    struct {
        uint8_t *base;
        uint64_t size;
    } region[MEMIF_REGIONS];
    struct memif_queue in, out;
    uint64_t lost; /* frames with descriptors outside the regions */
};

/* Maps or unmaps memory as offered. Returns true if frames can pass. */
bool memif_poll(struct memif *m);
void memif_unmap(struct memif *m);

uint32_t memif_receive(struct memif *m, uint8_t *frame, uint32_t most);
bool memif_send(struct memif *m, const uint8_t *frame, uint32_t bytes);
void memif_flush(struct memif *m);

#endif
