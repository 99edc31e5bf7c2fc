/* fuzz_memif.c - a memif client that sends and writes anything, one thing after the other: valid, changed or invented
 * messages, with memory, other descriptors, several or none; and any bytes in the shared memory while frames are
 * exchanged. No frame exceeds the largest size, no descriptor leaks, and the next client is served. libFuzzer's entry;
 * seeds in corpus/memif.
 *
 * An input is a list of actions, each a byte and its arguments:
 *
 *     0 step              the message of an honest client in that step
 *     1 step at value     the same with a byte changed
 *     2 step n            the same with n % 9 descriptors, some of memory
 *     3 at value          a byte of the rings
 *     4 index value       a head or tail: an index of 16 bits
 *     5 n                 a frame of about n/255 of the largest is sent, and the server sends one
 *     6                   the client disconnects and returns
 *     7 size flags        the same; its memory then has this size and these F_SEAL_* flags */
#include "hxmesh/frame.h"
#include "tests/fuzz/deeds.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/shm/support_memif.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_DEEDS = 64, BUFFER_BYTES = 2048, MOST_FRAMES = 64 };

/* ---- the server ---- */

static volatile uint8_t touched; /* the sanitizer watches these reads */

/* Polls as the opener and a user do in turn: a connected client may send, and receives a frame. */
static void serve(struct pair *p)
{
    static uint8_t frame[WIRE_MAX_FRAME];
    if (!memif_poll_server(p))
        return;
    for (unsigned n = 0; n < MOST_FRAMES; n++) {
        uint32_t bytes = wire_receive(&p->w, frame);
        require(bytes <= WIRE_MAX_FRAME);
        for (uint32_t i = 0; i < bytes; i++)
            touched = frame[i];
        if (bytes == 0)
            break;
    }
    (void)wire_send(&p->w, frame, (uint32_t)p->w.memif.out.at % WIRE_MAX_FRAME + 1);
    wire_flush(&p->w);
}

/* ---- actions ---- */

static void say(struct pair *p, struct input *in, bool changed)
{
    int fd;
    struct memif_message m = memif_script(&p->c, next(in) % STEPS, &fd);
    if (changed) {
        unsigned at = next(in) % sizeof m;
        ((uint8_t *)&m)[at] ^= next(in);
    }
    memif_send_message(&p->c, &m, fd);
}

static void say_with_many(struct pair *p, struct input *in)
{
    int fds[MOST_PASSED];
    int fd;
    struct memif_message m = memif_script(&p->c, next(in) % STEPS, &fd);
    unsigned count = next(in) % (MOST_PASSED + 1);
    for (unsigned i = 0; i < count; i++)
        fds[i] = i % 3 == 0 ? p->c.memory : i % 3 == 1 ? p->c.event[0] : p->c.socket;
    memif_send_with(&p->c, &m, fds, count);
}

static void write_byte(const struct pair *p, struct input *in)
{
    unsigned at = next(in) | (unsigned)next(in) << 8;
    p->c.base[at % (2 * memif_ring_bytes())] = next(in);
}

static void write_index(const struct pair *p, struct input *in)
{
    unsigned which = next(in);
    struct memif_ring *ring = which & 1 ? p->c.to_server : p->c.to_client;
    uint16_t *index = which & 2 ? &ring->tail : &ring->head;
    *index = (uint16_t)(*index + next(in) - 8U);
}

static void send(struct pair *p, struct input *in)
{
    uint32_t bytes = 1 + next(in) * (HX_MAX_FRAME - 1U) / UINT8_MAX;
    unsigned need = (bytes + BUFFER_BYTES - 1) / BUFFER_BYTES;
    struct memif_ring *r = p->c.to_server;
    for (unsigned i = 0; i < need; i++) { /* it wrote the places of buffers earlier */
        struct memif_descriptor *d = &r->descriptor[(uint16_t)(r->head + i) % ENTRIES];
        d->length = BUFFER_BYTES;
        d->flags = i + 1 < need ? MEMIF_NEXT : 0;
    }
    r->head = (uint16_t)(r->head + need);
}

static void come_anew(struct pair *p, uint32_t buffer_bytes, unsigned seals)
{
    memif_client_close(&p->c);
    serve(p);
    memif_client_open(&p->c, p->path, buffer_bytes, seals);
}

static void come_otherwise(struct pair *p, struct input *in)
{
    static const unsigned all[] = {0, F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_SHRINK | F_SEAL_GROW};
    uint32_t bytes = next(in) * 32U;
    come_anew(p, bytes, all[next(in) % 4]);
}

static void do_one(struct pair *p, struct input *in)
{
    switch (next(in) % 8) {
    case 0:
        say(p, in, false);
        break;
    case 1:
        say(p, in, true);
        break;
    case 2:
        say_with_many(p, in);
        break;
    case 3:
        write_byte(p, in);
        break;
    case 4:
        write_index(p, in);
        break;
    case 5:
        send(p, in);
        break;
    case 6:
        come_anew(p, BUFFER_BYTES, F_SEAL_SHRINK);
        break;
    default:
        come_otherwise(p, in);
    }
    serve(p);
}

/* ---- the end ---- */

/* An honest client is served after any other, and its frame arrives. */
static void validate_next(struct pair *p)
{
    static uint8_t sent[HX_MAX_FRAME];
    static uint8_t came[WIRE_MAX_FRAME];
    (void)memif_poll_server(p);
    require(p->w.server.state == MEMIF_ALONE);
    memif_connect_client(p, BUFFER_BYTES);
    memif_make_frame(sent, sizeof sent, 1);
    require(memif_client_send(&p->c, sent, sizeof sent));
    require(wire_receive(&p->w, came) == sizeof sent && memcmp(sent, came, sizeof sent) == 0);
    memif_client_close(&p->c);
    (void)memif_poll_server(p);
}

/* The lowest free descriptor. */
static int free_descriptor(void)
{
    int fd = dup(STDIN_FILENO);
    require(fd >= 0 && close(fd) == 0);
    return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, data + size};
    void *state;
    require(memif_set_up(&state) == 0);
    struct pair *p = state;
    int before = free_descriptor();
    memif_client_open(&p->c, p->path, BUFFER_BYTES, F_SEAL_SHRINK);
    serve(p);
    for (unsigned deeds = 0; deeds < MOST_DEEDS && in.at < in.end; deeds++)
        do_one(p, &in);
    memif_client_close(&p->c);
    validate_next(p);
    require(free_descriptor() == before);
    return memif_tear_down(&state);
}
