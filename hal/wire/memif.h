/* memif.h - one memif connection, its server's side (memif_layout.h has the protocol; wire.h is how it is used).
 *
 *     opener: memif_serve                         shared: struct memif_offer         user: memif_poll
 *     ALONE -- somebody connects --> GREETED
 *     GREETED -- INIT, regions, rings, CONNECT --> CONNECTED  --- offer --->         maps regions; frames pass
 *     ALONE <-- DISCONNECT, the socket's end, a lie,           --- none --->         unmaps them
 *               or 2 s without CONNECT
 *     ALONE <------------------------------------------------- refused ----          an index that cannot be true
 *
 * The opener has the control socket and the descriptors of the client's memory, the user maps that memory and moves the
 * frames. So the client does not notice when a user is killed and another takes its place: where it is in the rings,
 * the rings say. (It would unmap its memory at once; DPDK 22.11 does that while its cores read it.)
 *
 * What the client says is checked before use. Its memory can be relied on: only regions that are sealed against
 * shrinking are taken, so that no access faults (DPDK without zero-copy seals). Offsets, lengths and indices in rings
 * are read once each and compared with the regions. A frame whose descriptor points elsewhere is lost; a buffer offered
 * elsewhere, or an index that cannot be true, ends the connection.
 *
 * One ring each way, and both sides poll. A second client is told that there is one already. */
#ifndef MEMIF_H
#define MEMIF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { MEMIF_REGIONS = 8, MEMIF_MOST_LOG2_SIZE = 14, MEMIF_IN = 0, MEMIF_OUT = 1, MEMIF_RINGS = 2 };

/* What a client has brought. */
struct memif_memory {
    int32_t opener;   /* process, */
    uint32_t regions; /* and how many regions: */
    struct {
        int32_t fd; /* its descriptor of each */
        uint64_t size;
    } region[MEMIF_REGIONS];
    struct {
        uint16_t region; /* below regions, and the ring is inside */
        uint16_t mask;   /* entries - 1 */
        uint32_t offset;
    } ring[MEMIF_RINGS];
};

/* In memory that opener and users share. The opener writes `memory` only while nothing is offered. */
struct memif_offer {
    _Atomic uint32_t serial;  /* odd: memory is offered. Grows with each offer and its end */
    _Atomic uint32_t refused; /* the user's: serial of an offer that turned out to be a lie */
    struct memif_memory memory;
};

/* ---- both: what memory is taken ---- */

/* It cannot shrink. */
bool memif_region_is_sealed(int fd);
/* And it is as large as its owner says. */
bool memif_region_is_sound(int fd, uint64_t size);

/* ---- the opener ---- */

enum memif_state { MEMIF_ALONE, MEMIF_GREETED, MEMIF_IS_CONNECTED };

#define MEMIF_HANDSHAKE_NS UINT64_C(2000000000)

struct memif_server {
    enum memif_state state;
    int socket;
    uint64_t greeted_ns;
    const char *why; /* the last client was sent away; NULL: it went, or there was none */
    bool has_ring[MEMIF_RINGS];
    struct memif_memory memory; /* as far as it has come */
};

/* Takes in what happened on the listening socket and the connection. now: ns of any clock that does not go back. */
void memif_serve(struct memif_server *s, struct memif_offer *offer, int listener, uint64_t now);
/* Ends the connection, with a reason for the client; NULL: it has one. */
void memif_end(struct memif_server *s, struct memif_offer *offer, const char *why);

/* ---- the user ---- */

struct memif_queue {
    struct memif_ring *ring;
    uint16_t mask;
    uint16_t at; /* next entry to be read or written */
};

struct memif {
    struct memif_offer *offer;
    uint32_t serial; /* of the offer that is mapped; 0: none */
    unsigned regions;
    bool changed; /* out.at has moved since the last flush */
    struct {
        uint8_t *base;
        uint64_t size;
    } region[MEMIF_REGIONS];
    struct memif_queue in, out;
    uint64_t lost; /* frames whose descriptors point elsewhere */
};

/* Follows the offer. Whether there is one, and frames can pass. */
bool memif_poll(struct memif *m);
void memif_unmap(struct memif *m);

uint32_t memif_receive(struct memif *m, uint8_t *frame, uint32_t most);
bool memif_send(struct memif *m, const uint8_t *frame, uint32_t bytes);
void memif_flush(struct memif *m);

#endif
