/* transfer.c - opens a file and chooses its targets (transfer.h). */
#include "workload/transfer.h"
#include "base/input.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* ---- chunks and targets ---- */

uint64_t transfer_chunks(const struct transfer *t)
{
    return t->bytes ? (t->bytes + TRANSFER_CHUNK - 1) / TRANSFER_CHUNK : 1;
}

uint64_t transfer_chunk_bytes(const struct transfer *t, uint64_t chunk)
{
    uint64_t left = t->bytes - chunk * TRANSFER_CHUNK;
    return left < TRANSFER_CHUNK ? left : TRANSFER_CHUNK;
}

void transfer_aim(struct transfer *t, const struct hx_spec *spec, const struct hx_fabric *g, uint32_t source,
                  uint32_t target)
{
    uint16_t job = layout_job_of(spec, source);
    t->g = g;
    t->source = source;
    t->targets = hx_allocate(g->hosts, sizeof *t->targets);
    for (uint32_t n = 1; n < g->hosts; n++) {
        uint32_t rank = (source + n) % g->hosts;
        bool meant = target == TRANSFER_ALL || target == rank;
        bool alive = !hx_spec_board_failed(spec, hx_spec_board_of(spec, rank));
        if (meant && alive && layout_job_of(spec, rank) == job)
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

bool transfer_is_identical(const struct transfer *t, const struct transfer_received *r)
{
    return atomic_load(&r->done) && r->bytes == t->bytes && memcmp(r->digest, t->digest, sizeof t->digest) == 0;
}

void transfer_hex(const uint8_t digest[32], char text[65])
{
    for (unsigned i = 0; i < 32; i++)
        (void)snprintf(text + (size_t)2 * i, 3, "%02x", digest[i]);
}
