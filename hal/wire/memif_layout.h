/* memif_layout.h - memif version 2 in memory and on its control socket: messages, rings, descriptors.
 *
 *     client ("slave": a DPDK net_memif with role=client)      server ("master": we, memif.h)
 *     connects to the socket (AF_UNIX, SOCK_SEQPACKET)    ->
 *                                                         <-   HELLO: supported features
 *     INIT: version, number, mode                         ->   ACK
 *     ADD_REGION + descriptor of memory, for each         ->   ACK
 *     ADD_RING + descriptor of an eventfd, for each       ->   ACK
 *     CONNECT                                             ->   CONNECTED
 *     either side: DISCONNECT with a reason, or the socket ends
 *
 * The client owns all memory. Every message is 128 bytes. Numbers are in host byte order. A ring:
 *
 *     line 0  cookie, flags, head          line 1  tail          from line 2 on  descriptors of 16 bytes
 *
 *     to the server (S2M)      client fills buffers, moves head; server empties them, moves tail
 *     to the client (M2S)      client offers buffers, moves head; server fills them, moves tail
 *
 * Indices are 16 bits and run freely. A frame longer than a buffer takes several; all but the last have the flag
 * NEXT. */
#ifndef MEMIF_LAYOUT_H
#define MEMIF_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

enum {
    MEMIF_COOKIE = 0x3E31F20,
    MEMIF_VERSION = 0x0200,
    MEMIF_MODE_ETHERNET = 0,
    MEMIF_MESSAGE_BYTES = 128,
    MEMIF_NAME_BYTES = 32,
    MEMIF_RING_TO_SERVER = 1, /* flag of ADD_RING */
    MEMIF_NEXT = 1,           /* flag of a descriptor: the frame continues in the next one */
    MEMIF_NO_INTERRUPT = 1    /* flag of a ring: its reader polls */
};

enum memif_message_type {
    MEMIF_ACK = 1,
    MEMIF_HELLO,
    MEMIF_INIT,
    MEMIF_ADD_REGION,
    MEMIF_ADD_RING,
    MEMIF_CONNECT,
    MEMIF_CONNECTED,
    MEMIF_DISCONNECT
};

struct memif_hello {
    char name[MEMIF_NAME_BYTES];
    uint16_t least_version, most_version;
    uint16_t last_region, last_to_client, last_to_server; /* highest indices */
    uint8_t most_log2_size;                               /* of a ring */
} __attribute__((packed));

struct memif_init {
    uint16_t version;
    uint32_t id;
    uint8_t mode;
    char secret[24];
    char name[MEMIF_NAME_BYTES];
} __attribute__((packed));

struct memif_add_region {
    uint16_t index;
    uint64_t size;
} __attribute__((packed));

struct memif_add_ring {
    uint16_t flags, index, region;
    uint32_t offset;
    uint8_t log2_size;
    uint16_t private_bytes;
} __attribute__((packed));

struct memif_disconnect {
    uint32_t code;
    char why[96];
} __attribute__((packed));

struct memif_message {
    uint16_t type;
    union {
        struct memif_hello hello;
        struct memif_init init;
        struct memif_add_region add_region;
        struct memif_add_ring add_ring;
        char interface[MEMIF_NAME_BYTES]; /* CONNECT, CONNECTED */
        struct memif_disconnect disconnect;
        uint8_t all[MEMIF_MESSAGE_BYTES - 2];
    };
} __attribute__((packed));
_Static_assert(sizeof(struct memif_message) == MEMIF_MESSAGE_BYTES && offsetof(struct memif_message, init.mode) == 8 &&
                   offsetof(struct memif_message, add_region.size) == 4 &&
                   offsetof(struct memif_message, add_ring.log2_size) == 12 &&
                   offsetof(struct memif_message, hello.most_log2_size) == 44,
               "messages have no gaps");

struct memif_descriptor {
    uint16_t flags, region;
    uint32_t length; /* of the buffer's content; offered to the server: of the buffer */
    uint32_t offset; /* from the region's start */
    uint32_t metadata;
};

struct memif_ring {
    uint32_t cookie;
    uint16_t flags;
    uint16_t head;
    uint8_t unused[56];
    uint16_t tail;
    uint8_t unused_too[62];
    struct memif_descriptor descriptor[];
};
_Static_assert(offsetof(struct memif_ring, tail) == 64 && sizeof(struct memif_ring) == 128 &&
                   sizeof(struct memif_descriptor) == 16,
               "a line for each writer");

#endif
