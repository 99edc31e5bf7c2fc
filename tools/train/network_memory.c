/* network_memory.c - times of collectives that are found once (network_memory.h). */
#include "tools/train/network_memory.h"
#include "base/blobs.h"
#include "base/error.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct network_memory {
    pthread_mutex_t lock; /* of all below */
    struct hx_blobs families;
    struct hx_blobs shares; /* tables of weights */
    struct hx_blobs keys;   /* struct network_known */
    struct network_found *found;
    size_t room;
};

struct network_memory *network_memory_new(void)
{
    struct network_memory *m = hx_allocate(1, sizeof *m);
    (void)pthread_mutex_init(&m->lock, NULL);
    return m;
}

void network_memory_free(struct network_memory *m)
{
    if (!m)
        return;
    (void)pthread_mutex_destroy(&m->lock);
    hx_blobs_free(&m->families);
    hx_blobs_free(&m->shares);
    hx_blobs_free(&m->keys);
    HX_FREE(m->found, m);
}

uint32_t network_memory_family(struct network_memory *m, uint32_t size, uint32_t count, const uint32_t *host,
                               bool placed)
{
    const size_t hosts = (size_t)size * count;
    uint32_t *key = hx_allocate(hosts + 2, sizeof *key);
    key[0] = size;
    key[1] = placed;
    memcpy(key + 2, host, hosts * sizeof *host);
    (void)pthread_mutex_lock(&m->lock);
    const uint32_t number = hx_blobs_add(&m->families, key, (hosts + 2) * sizeof *key);
    (void)pthread_mutex_unlock(&m->lock);
    free(key);
    return number;
}

uint32_t network_memory_shares(struct network_memory *m, const uint32_t *weight, uint32_t members)
{
    (void)pthread_mutex_lock(&m->lock);
    const uint32_t number = 1 + hx_blobs_add(&m->shares, weight, (size_t)members * members * sizeof *weight);
    (void)pthread_mutex_unlock(&m->lock);
    return number;
}

bool network_memory_find(struct network_memory *m, const struct network_known *k, struct network_found *found)
{
    (void)pthread_mutex_lock(&m->lock);
    const uint32_t number = hx_blobs_find(&m->keys, k, sizeof *k);
    if (number != HX_NO_BLOB)
        *found = m->found[number];
    (void)pthread_mutex_unlock(&m->lock);
    return number != HX_NO_BLOB;
}

void network_memory_keep(struct network_memory *m, const struct network_known *k, const struct network_found *found)
{
    (void)pthread_mutex_lock(&m->lock);
    const size_t known = m->keys.count;
    const uint32_t number = hx_blobs_add(&m->keys, k, sizeof *k);
    m->found = hx_grow(m->found, known, &m->room, sizeof *m->found);
    m->found[number] = *found;
    (void)pthread_mutex_unlock(&m->lock);
}
