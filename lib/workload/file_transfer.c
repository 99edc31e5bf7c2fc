/* file_transfer.c - sends a file in chunks to all targets (transfer.h).
 *
 * A receiver compares each packet with the file, and hashes the chunks in order. At most HX_MOST_PEER_WINDOW chunks are
 * in flight, so as many buffers suffice for a file of any size. */
#include "workload/kinds.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct file_transfer {
    struct workload base;
    const struct transfer *t;
    uint64_t messages;                  /* to send */
    struct transfer_received *received; /* progress for other processes */
    EVP_MD_CTX *hash;                   /* NULL: no target, or an earlier incarnation has the whole file */
    uint64_t next;                      /* next chunk to hash */
    bool complete[HX_MOST_PEER_WINDOW];
    uint8_t *chunk[HX_MOST_PEER_WINDOW];
    int file; /* -1: not saved */
};

static struct file_transfer *file_transfer_of(struct workload *w)
{
    return (struct file_transfer *)w;
}

/* ---- sending ---- */

static bool is_over(const struct workload *w)
{
    return *w->begun >= ((const struct file_transfer *)w)->messages;
}

static bool message(const struct workload *w, uint64_t number, struct workload_message *m)
{
    const struct file_transfer *c = (const struct file_transfer *)w;
    if (number >= c->messages)
        return false;
    uint64_t chunk = number / c->t->target_count;
    *m = (struct workload_message){.to = c->t->targets[number % c->t->target_count],
                                   .tag = (uint32_t)chunk,
                                   .bytes = transfer_chunk_bytes(c->t, chunk),
                                   .number = number};
    return true;
}

static bool next(struct workload *w, uint64_t now, uint32_t refused, struct workload_message *m)
{
    (void)now;
    return !refused && message(w, *w->begun, m);
}

static void fill(const struct workload *w, const struct hx_send *s, uint32_t packet, uint8_t *to, unsigned bytes)
{
    const struct file_transfer *c = (const struct file_transfer *)w;
    if (bytes)
        memcpy(to, c->t->data + (uint64_t)s->tag * TRANSFER_CHUNK + (uint64_t)packet * HX_MAX_PAYLOAD, bytes);
}

/* ---- receiving ---- */

/* A restarted source repeats chunks that are here. A restarted receiver has missed some. */
static bool is_expected(const struct file_transfer *c, uint64_t chunk)
{
    return c->hash && chunk >= c->next && chunk < c->next + HX_MOST_PEER_WINDOW;
}

static uint64_t place(struct workload *w, const struct hx_header *h, const uint8_t *payload)
{
    struct file_transfer *c = file_transfer_of(w);
    uint64_t at = (uint64_t)h->offset * HX_MAX_PAYLOAD;
    if (c->hash && (h->tag >= transfer_chunks(c->t) || at + h->length > transfer_chunk_bytes(c->t, h->tag)))
        return h->length;
    if (!is_expected(c, h->tag) || h->length == 0)
        return 0;
    uint8_t *to = c->chunk[h->tag % HX_MOST_PEER_WINDOW] + at;
    memcpy(to, payload, h->length);
    const uint8_t *original = c->t->data + (uint64_t)h->tag * TRANSFER_CHUNK + at;
    uint64_t wrong = 0;
    if (memcmp(to, original, h->length) != 0) {
        for (unsigned i = 0; i < h->length; i++)
            wrong += to[i] != original[i];
    }
    return wrong;
}

static void take_in(struct file_transfer *c)
{
    uint64_t bytes = transfer_chunk_bytes(c->t, c->next);
    const uint8_t *data = c->chunk[c->next % HX_MOST_PEER_WINDOW];
    if (EVP_DigestUpdate(c->hash, data, bytes) != 1)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "SHA-256 failed");
    for (uint64_t done = 0; c->file >= 0 && done < bytes;) {
        ssize_t n = write(c->file, data + done, bytes - done);
        if (n < 0)
            hx_die(HX_EXIT_ENVIRONMENT, c->t->save, "cannot be written: %s", strerror(errno));
        done += (uint64_t)n;
    }
    c->received->bytes += bytes;
    c->complete[c->next % HX_MOST_PEER_WINDOW] = false;
    c->next++;
}

/* Hashes complete chunks in order; after the last one the digest is ready. */
static int event(struct workload *w, uint64_t now, const struct hx_event *e)
{
    (void)now;
    struct file_transfer *c = file_transfer_of(w);
    uint64_t chunks = transfer_chunks(c->t);
    if (e->type != HX_EVENT_RECEIVED || !is_expected(c, e->tag))
        return HX_OK;
    c->complete[e->tag % HX_MOST_PEER_WINDOW] = true;
    while (c->next < chunks && c->complete[c->next % HX_MOST_PEER_WINDOW])
        take_in(c);
    if (c->next == chunks && !atomic_load(&c->received->done)) {
        (void)EVP_DigestFinal_ex(c->hash, c->received->digest, NULL);
        atomic_store(&c->received->done, 1);
    }
    return HX_OK;
}

/* ---- start and end ---- */

static int open_saved(const struct transfer *t, uint32_t rank)
{
    struct hx_coordinate at = hx_coordinate_of(t->g, rank);
    const char *base = strrchr(t->path, '/');
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/a%u,%u.%s", t->save, at.addr_hi, at.addr_lo, base ? base + 1 : t->path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        hx_die(HX_EXIT_ENVIRONMENT, path, "cannot be written: %s", strerror(errno));
    return fd;
}

static void receive(struct file_transfer *c, uint32_t rank)
{
    c->received->bytes = 0; /* an earlier incarnation's memory is lost */
    c->hash = EVP_MD_CTX_new();
    if (!c->hash || EVP_DigestInit_ex(c->hash, EVP_sha256(), NULL) != 1)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "SHA-256 is not available");
    for (unsigned i = 0; i < HX_MOST_PEER_WINDOW; i++)
        c->chunk[i] = hx_allocate(1, TRANSFER_CHUNK);
    c->file = c->t->save ? open_saved(c->t, rank) : -1;
}

static void close_receiver(struct workload *w)
{
    struct file_transfer *c = file_transfer_of(w);
    for (unsigned i = 0; i < HX_MOST_PEER_WINDOW; i++)
        free(c->chunk[i]);
    EVP_MD_CTX_free(c->hash);
    if (c->file >= 0)
        (void)close(c->file);
}

static const struct workload_ops ops = {WORKLOAD_OPS(struct file_transfer), .message = message, .event = event,
                                        .close = close_receiver};

static size_t bytes_of(const struct workload_plan *plan, uint32_t rank)
{
    (void)plan;
    (void)rank;
    return sizeof(struct file_transfer);
}

static struct workload *make(const struct workload_plan *plan, uint32_t rank, const struct workload_memory *m)
{
    struct file_transfer *c = m->memory;
    struct transfer_received *received = m->received;
    *c = (struct file_transfer){
        .base = {.ops = &ops, .carries = true}, .t = plan->transfer, .received = received, .file = -1};
    c->messages = rank == c->t->source ? transfer_messages(c->t) : 0;
    if (transfer_is_target(c->t, rank) && !atomic_load(&received->done))
        receive(c, rank);
    return &c->base;
}

const struct workload_kind file_transfer_kind = {.bytes = bytes_of, .make = make};
