/* transfer.h - `hxmesh send`: one file from an accelerator to one or all others, in messages of one chunk.
 *
 * The source reads chunks from the mapped file; file_transfer.c is the receiver. */
#ifndef TRANSFER_H
#define TRANSFER_H

#include "hxmesh/endpoint.h"
#include "workload/layout.h"

#include <stdatomic.h>

enum { TRANSFER_CHUNK = 256 * 1024 };

/* Prepared by the supervisor, inherited by the workers. */
struct transfer {
    const char *path;
    const struct hx_fabric *g;
    const uint8_t *data; /* the mapped file */
    uint64_t bytes;
    uint32_t source;   /* rank */
    uint32_t *targets; /* ranks */
    uint32_t target_count;
    const char *save;   /* folder for received files, or NULL */
    uint8_t digest[32]; /* SHA-256 of the file */
};

/* A receiver's progress since its last restart. */
struct transfer_received {
    uint64_t bytes;     /* received in order */
    uint8_t digest[32]; /* SHA-256, when all bytes are received */
    _Atomic uint32_t done;
};

/* Maps and hashes the file; dies with one line if it cannot be read. */
void transfer_open(struct transfer *t, const char *path);
void transfer_close(struct transfer *t);

enum { TRANSFER_ALL = UINT32_MAX };
/* Chooses the targets: `target`, or TRANSFER_ALL living accelerators of the source's job. */
void transfer_aim(struct transfer *t, const struct hx_spec *spec, const struct hx_fabric *g, uint32_t source,
                  uint32_t target);

uint64_t transfer_chunks(const struct transfer *t);
uint64_t transfer_chunk_bytes(const struct transfer *t, uint64_t chunk);

/* Number of messages of the source: a chunk to each target, then the next chunk. */
uint64_t transfer_messages(const struct transfer *t);
bool transfer_is_target(const struct transfer *t, uint32_t rank);

bool transfer_is_identical(const struct transfer *t, const struct transfer_received *r);

/* Writes a SHA-256 digest as 64 hexadecimal digits and a zero. */
void transfer_hex(const uint8_t digest[32], char text[65]);

#endif
