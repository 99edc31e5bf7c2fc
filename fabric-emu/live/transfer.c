/* transfer.c - carrying a file (transfer.h). */
#include "transfer.h"
#include "host/input.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct transfer_receiver {
    const struct transfer *t;
    struct fab_accelerator *report;
    EVP_MD_CTX *hash;
    uint64_t next; /* chunk to hash next */
    bool complete[HX_PEER_WINDOW];
    uint8_t *chunk[HX_PEER_WINDOW];
    int file; /* -1: not saved */
};

void transfer_open(struct transfer *t, const char *path)
{
    t->path = path;
    struct hx_problem problem;
    struct stat st;
    FILE *in = hx_input_open(path, &problem);
    if (in && (fstat(fileno(in), &st) != 0 || !S_ISREG(st.st_mode)))
        hx_die(HX_EXIT_CONFIG, path, "is not a regular file");
    if (!in)
        hx_die_of(&problem);
    t->bytes = (uint64_t)st.st_size;
    if (t->bytes) {
        void *data = mmap(NULL, t->bytes, PROT_READ, MAP_PRIVATE, fileno(in), 0);
        if (data == MAP_FAILED)
            hx_die(HX_EXIT_ENVIRONMENT, path, "cannot be mapped: %s", strerror(errno));
        t->data = data;
    }
    (void)fclose(in);
    struct stat folder;
    if (t->save && (stat(t->save, &folder) != 0 || !S_ISDIR(folder.st_mode) || access(t->save, W_OK) != 0))
        hx_die(HX_EXIT_ENVIRONMENT, t->save, "is not a folder that can be written to");
    if (EVP_Digest(t->data, t->bytes, t->digest, NULL, EVP_sha256(), NULL) != 1)
        hx_die(HX_EXIT_ENVIRONMENT, path, "SHA-256 is not available");
}

void transfer_close(struct transfer *t)
{
    if (t->data)
        (void)munmap((void *)(uintptr_t)t->data, t->bytes);
    free(t->targets);
}

/* ---- who gets what ---- */

uint64_t transfer_chunks(const struct transfer *t)
{
    return t->bytes ? (t->bytes + TRANSFER_CHUNK - 1) / TRANSFER_CHUNK : 1;
}

uint64_t transfer_chunk_bytes(const struct transfer *t, uint64_t chunk)
{
    uint64_t left = t->bytes - chunk * TRANSFER_CHUNK;
    return left < TRANSFER_CHUNK ? left : TRANSFER_CHUNK;
}

void transfer_aim(struct transfer *t, const struct fab_fabric *f, uint32_t source, uint32_t target)
{
    uint16_t job = layout_job_of(&f->spec, &f->g, source);
    t->source = source;
    t->targets = hx_allocate(f->g.accelerators, sizeof *t->targets);
    for (uint32_t n = 1; n < f->g.accelerators; n++) {
        uint32_t rank = (source + n) % f->g.accelerators;
        bool meant = target == TRANSFER_ALL || target == rank;
        if (meant && !f->layout.dead[rank] && layout_job_of(&f->spec, &f->g, rank) == job)
            t->targets[t->target_count++] = rank;
    }
}

bool transfer_is_target(const struct transfer *t, uint32_t rank)
{
    for (uint32_t i = 0; i < t->target_count; i++) {
        if (t->targets[i] == rank)
            return true;
    }
    return false;
}

uint64_t transfer_messages(const struct transfer *t)
{
    return t->target_count * transfer_chunks(t);
}

uint32_t transfer_destination(const struct transfer *t, uint64_t message)
{
    return t->targets[message % t->target_count];
}

uint64_t transfer_chunk(const struct transfer *t, uint64_t message)
{
    return message / t->target_count;
}

void transfer_fill(const struct transfer *t, uint64_t chunk, uint32_t packet, uint8_t *to, unsigned bytes)
{
    if (bytes)
        memcpy(to, t->data + chunk * TRANSFER_CHUNK + (uint64_t)packet * HX_MAX_PAYLOAD, bytes);
}

/* ---- receiving ---- */

static int open_saved(const struct transfer *t, const struct fab_fabric *f, uint32_t rank)
{
    struct hx_place at = hx_place_of(&f->g, rank);
    const char *base = strrchr(t->path, '/');
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/a%u,%u.%s", t->save, at.gx, at.gy, base ? base + 1 : t->path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        hx_die(HX_EXIT_ENVIRONMENT, path, "cannot be written: %s", strerror(errno));
    return fd;
}

struct transfer_receiver *transfer_receiver_new(const struct transfer *t, const struct fab_fabric *f, uint32_t rank)
{
    struct transfer_receiver *r = hx_allocate(1, sizeof *r);
    r->t = t;
    r->report = &f->accelerator[rank];
    r->report->file_bytes = 0; /* a predecessor's are lost with its memory */
    r->hash = EVP_MD_CTX_new();
    if (!r->hash || EVP_DigestInit_ex(r->hash, EVP_sha256(), NULL) != 1)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "SHA-256 is not available");
    for (unsigned i = 0; i < HX_PEER_WINDOW; i++)
        r->chunk[i] = hx_allocate(1, TRANSFER_CHUNK);
    r->file = t->save ? open_saved(t, f, rank) : -1;
    return r;
}

void transfer_receiver_free(struct transfer_receiver *r)
{
    if (!r)
        return;
    for (unsigned i = 0; i < HX_PEER_WINDOW; i++)
        free(r->chunk[i]);
    EVP_MD_CTX_free(r->hash);
    if (r->file >= 0)
        (void)close(r->file);
    free(r);
}

/* A source that was started again repeats chunks that are here. One started again here has missed some. */
static bool is_expected(const struct transfer_receiver *r, uint64_t chunk)
{
    return chunk >= r->next && chunk < r->next + HX_PEER_WINDOW;
}

unsigned transfer_place(struct transfer_receiver *r, uint64_t chunk, uint32_t packet, const uint8_t *from,
                        unsigned bytes)
{
    uint64_t at = (uint64_t)packet * HX_MAX_PAYLOAD;
    if (chunk >= transfer_chunks(r->t) || at + bytes > transfer_chunk_bytes(r->t, chunk))
        return bytes;
    if (!is_expected(r, chunk))
        return 0;
    uint8_t *to = r->chunk[chunk % HX_PEER_WINDOW] + at;
    if (bytes == 0)
        return 0;
    memcpy(to, from, bytes);
    const uint8_t *original = r->t->data + chunk * TRANSFER_CHUNK + at;
    unsigned wrong = 0;
    if (memcmp(to, original, bytes) != 0) {
        for (unsigned i = 0; i < bytes; i++)
            wrong += to[i] != original[i];
    }
    return wrong;
}

static void take_in(struct transfer_receiver *r)
{
    uint64_t bytes = transfer_chunk_bytes(r->t, r->next);
    const uint8_t *data = r->chunk[r->next % HX_PEER_WINDOW];
    if (EVP_DigestUpdate(r->hash, data, bytes) != 1)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "SHA-256 failed");
    for (uint64_t done = 0; r->file >= 0 && done < bytes;) {
        ssize_t n = write(r->file, data + done, bytes - done);
        if (n < 0)
            hx_die(HX_EXIT_ENVIRONMENT, r->t->save, "cannot be written: %s", strerror(errno));
        done += (uint64_t)n;
    }
    r->report->file_bytes += bytes;
    r->complete[r->next % HX_PEER_WINDOW] = false;
    r->next++;
}

void transfer_complete(struct transfer_receiver *r, uint64_t chunk)
{
    if (!is_expected(r, chunk))
        return;
    r->complete[chunk % HX_PEER_WINDOW] = true;
    while (r->next < transfer_chunks(r->t) && r->complete[r->next % HX_PEER_WINDOW])
        take_in(r);
    if (r->next == transfer_chunks(r->t) && !atomic_load(&r->report->file_done)) {
        (void)EVP_DigestFinal_ex(r->hash, r->report->digest, NULL);
        atomic_store(&r->report->file_done, 1);
    }
}

void transfer_hex(const uint8_t digest[32], char text[65])
{
    for (unsigned i = 0; i < 32; i++)
        (void)snprintf(text + (size_t)2 * i, 3, "%02x", digest[i]);
}
