/* transfer.h - `hxmesh send`: one real file from one accelerator to one or all others, in messages of one chunk.
 *
 * The source copies chunks out of the mapped file. A receiver compares each packet with the file byte for byte as it
 * is placed, and hashes the chunks in order: at most two are under way (HX_PEER_WINDOW), so two chunk buffers a
 * receiver are enough, whatever the size of the file. */
#ifndef TRANSFER_H
#define TRANSFER_H

#include "fabric.h"

enum { TRANSFER_CHUNK = 256 * 1024 };

/* Prepared by the supervisor, inherited by the workers. */
struct transfer {
    const char *path;
    const uint8_t *data; /* the mapped file */
    uint64_t bytes;
    uint32_t source;   /* rank */
    uint32_t *targets; /* ranks */
    uint32_t target_count;
    const char *save;   /* folder to write what arrived to, or NULL */
    uint8_t digest[32]; /* SHA-256 of the file */
};

struct transfer_receiver; /* one a receiving accelerator */

/* Maps and hashes the file; dies with one line if it cannot be read. */
void transfer_open(struct transfer *t, const char *path);
void transfer_close(struct transfer *t);

enum { TRANSFER_ALL = UINT32_MAX };
/* Chooses who gets it: `target`, or TRANSFER_ALL accelerators of the source's job that are alive. */
void transfer_aim(struct transfer *t, const struct fab_fabric *f, uint32_t source, uint32_t target);

uint64_t transfer_chunks(const struct transfer *t);
uint64_t transfer_chunk_bytes(const struct transfer *t, uint64_t chunk);

/* Messages the source sends in all, and the `message`-th: which chunk to whom. Chunk by chunk over all targets. */
uint64_t transfer_messages(const struct transfer *t);
uint32_t transfer_destination(const struct transfer *t, uint64_t message);
uint64_t transfer_chunk(const struct transfer *t, uint64_t message);
bool transfer_is_target(const struct transfer *t, uint32_t rank);

void transfer_fill(const struct transfer *t, uint64_t chunk, uint32_t packet, uint8_t *to, unsigned bytes);

struct transfer_receiver *transfer_receiver_new(const struct transfer *t, const struct fab_fabric *f, uint32_t rank);
/* Returns the bytes that differ from the file. */
unsigned transfer_place(struct transfer_receiver *r, uint64_t chunk, uint32_t packet, const uint8_t *from,
                        unsigned bytes);
/* A chunk is complete. Once all are, the digest is in the accelerator's report. */
void transfer_complete(struct transfer_receiver *r, uint64_t chunk);
void transfer_receiver_free(struct transfer_receiver *r);

/* Folds SHA-256 of `bytes` bytes into 64 hexadecimal digits and a zero. */
void transfer_hex(const uint8_t digest[32], char text[65]);

#endif
