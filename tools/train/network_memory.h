/* network_memory.h - times of collectives that estimates on one fabric have in common. Threads may share a memory.
 *
 * Each collective of a family of groups (network.h) is found once: a layout differs from another in a few families.
 * What is found does not depend on which thread finds it first. */
#ifndef HXMESH_TOOLS_TRAIN_NETWORK_MEMORY_H
#define HXMESH_TOOLS_TRAIN_NETWORK_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

struct network_memory;

struct network_memory *network_memory_new(void);
/* NULL is allowed. */
void network_memory_free(struct network_memory *m);

/* The number of a family of `count` groups of `size` hosts. placed: ranks have given places. */
uint32_t network_memory_family(struct network_memory *m, uint32_t size, uint32_t count, const uint32_t *host,
                               bool placed);

/* The number of a table of shares, 1 and up. */
uint32_t network_memory_shares(struct network_memory *m, const uint32_t *weight, uint32_t members);

/* A collective of a family: what is asked, and what has been found. No padding: the bytes are a key. */
enum network_asked { NETWORK_CHOICE /* of an algorithm */, NETWORK_TIME };
struct network_known {
    uint32_t family, root, shares;
    uint16_t kind, asked; /* enum network_asked */
    uint32_t algorithm;   /* enum hx_algorithm that is asked for */
    uint32_t none;        /* 0 */
    uint64_t bytes;
};
struct network_found {
    uint64_t ps;
    unsigned algorithm; /* enum hx_algorithm */
};
/* Returns false if it has not been found yet. */
bool network_memory_find(struct network_memory *m, const struct network_known *k, struct network_found *found);
void network_memory_keep(struct network_memory *m, const struct network_known *k, const struct network_found *found);

#endif
