/* support_memif.c - a memif client for tests (support_memif.h). */
#include "support_memif.h"
#include "hal/wire/memif.h"
#include "topology/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

static void fill_ring(const struct client *c, struct memif_ring *ring, unsigned number)
{
    ring->cookie = MEMIF_COOKIE;
    for (unsigned i = 0; i < ENTRIES; i++) {
        ring->descriptor[i].length = c->buffer_bytes;
        ring->descriptor[i].offset = PAGE + (number * ENTRIES + i) * c->buffer_bytes;
    }
}

void memif_client_open(struct client *c, const char *path, uint32_t buffer_bytes, unsigned seals)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path, sizeof name.sun_path, "%s", path);
    *c = (struct client){.buffer_bytes = buffer_bytes, .bytes = PAGE + (uint64_t)2 * ENTRIES * buffer_bytes};
    c->socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);
    assert_int_equal(connect(c->socket, (struct sockaddr *)&name, sizeof name), 0);
    c->memory = memfd_create("client", MFD_ALLOW_SEALING);
    assert_int_equal(ftruncate(c->memory, (off_t)c->bytes), 0);
    if (seals)
        assert_int_equal(fcntl(c->memory, F_ADD_SEALS, seals), 0);
    c->base = mmap(NULL, c->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, c->memory, 0);
    assert_ptr_not_equal(c->base, MAP_FAILED);
    c->to_server = (struct memif_ring *)(void *)c->base;
    c->to_client = (struct memif_ring *)(void *)(c->base + memif_ring_bytes());
    fill_ring(c, c->to_server, 0);
    fill_ring(c, c->to_client, 1);
    for (unsigned i = 0; i < 2; i++)
        c->event[i] = eventfd(0, EFD_NONBLOCK);
}

void memif_client_close(struct client *c)
{
    munmap(c->base, c->bytes);
    close(c->memory);
    close(c->event[0]);
    close(c->event[1]);
    close(c->socket);
}

void memif_send_with(const struct client *c, const struct memif_message *message, const int *fds, unsigned count)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(MOST_PASSED * sizeof(int))];
    } control = {.bytes = {0}};
    struct iovec part = {(void *)(uintptr_t)message, sizeof *message};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    if (count > 0) {
        m.msg_control = control.bytes;
        m.msg_controllen = CMSG_SPACE(count * sizeof *fds);
        control.header = (struct cmsghdr){.cmsg_len = CMSG_LEN(count * sizeof *fds), SOL_SOCKET, SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.header), fds, count * sizeof *fds);
    }
    (void)sendmsg(c->socket, &m, MSG_NOSIGNAL);
}

void memif_send_message(const struct client *c, const struct memif_message *message, int fd)
{
    memif_send_with(c, message, &fd, fd >= 0);
}

int memif_take_answer(struct client *c)
{
    ssize_t n = recv(c->socket, &c->heard, sizeof c->heard, 0);
    return n == (ssize_t)sizeof c->heard ? c->heard.type : n < 0 && errno == EAGAIN ? 0 : -1;
}

int memif_set_up(void **state)
{
    static struct pair p;
    p = (struct pair){.folder = "/dev/shm/memif-XXXXXX"}; /* in memory: fuzzers start thousands of these */
    assert_non_null(mkdtemp(p.folder));
    snprintf(p.path, sizeof p.path, "%s/s", p.folder);
    assert_int_equal(wire_open_memif(&p.w, p.path), 0);
    *state = &p;
    return 0;
}

int memif_tear_down(void **state)
{
    struct pair *p = *state;
    wire_close(&p->w);
    assert_int_not_equal(access(p->path, F_OK), 0);
    assert_int_equal(rmdir(p->folder), 0);
    return 0;
}

struct memif_message memif_script(const struct client *c, unsigned step, int *fd)
{
    struct memif_message m = {.type = 0};
    *fd = -1;
    switch (step) {
    case 0:
        m.type = MEMIF_INIT;
        m.init.version = MEMIF_VERSION;
        break;
    case 1:
        m.type = MEMIF_ADD_REGION;
        m.add_region.size = c->bytes;
        *fd = c->memory;
        break;
    case 2:
    case 3:
        m.type = MEMIF_ADD_RING;
        m.add_ring.flags = step == 2 ? MEMIF_RING_TO_SERVER : 0;
        m.add_ring.offset = step == 2 ? 0 : (uint32_t)memif_ring_bytes();
        m.add_ring.log2_size = LOG2_SIZE;
        *fd = c->event[step - 2];
        break;
    default:
        m.type = MEMIF_CONNECT;
        break;
    }
    return m;
}

bool memif_poll_server(struct pair *p)
{
    wire_serve(&p->w);
    return wire_poll(&p->w);
}

int memif_shake_hands(struct pair *p, unsigned steps)
{
    int answer = MEMIF_ACK;
    (void)memif_poll_server(p);
    assert_int_equal(memif_take_answer(&p->c), MEMIF_HELLO);
    for (unsigned step = 0; step < steps; step++) {
        int fd;
        const struct memif_message m = memif_script(&p->c, step, &fd);
        memif_send_message(&p->c, &m, fd);
        (void)memif_poll_server(p);
        answer = memif_take_answer(&p->c);
    }
    return answer;
}

/* Offers all buffers, as DPDK's client does at its first poll. */
static void offer_all(struct client *c)
{
    for (unsigned i = 0; i < ENTRIES; i++)
        c->to_client->descriptor[i].length = c->buffer_bytes;
    c->to_client->head = (uint16_t)(c->to_client->tail + ENTRIES);
}

/* Whether the server accepted the client, or this process was stopped for longer than the limit of a handshake. */
static bool is_connected(struct pair *p, uint32_t buffer_bytes)
{
    uint64_t begun = hx_metrics_now();
    memif_client_open(&p->c, p->path, buffer_bytes, F_SEAL_SHRINK);
    if (memif_shake_hands(p, STEPS) == MEMIF_CONNECTED)
        return true;
    assert_true(hx_metrics_now() - begun > MEMIF_HANDSHAKE_NS);
    memif_client_close(&p->c);
    (void)memif_poll_server(p);
    return false;
}

void memif_connect_client(struct pair *p, uint32_t buffer_bytes)
{
    while (!is_connected(p, buffer_bytes))
        ; /* a rightful refusal; the client retries */
    assert_true(memif_poll_server(p));
    offer_all(&p->c);
}

void memif_make_frame(uint8_t *frame, uint32_t bytes, unsigned number)
{
    for (uint32_t i = 0; i < bytes; i++)
        frame[i] = (uint8_t)(i * 7 + number * 13 + (i >> 8));
}

bool memif_client_send(struct client *c, const uint8_t *frame, uint32_t bytes)
{
    unsigned need = (bytes + c->buffer_bytes - 1) / c->buffer_bytes;
    struct memif_ring *r = c->to_server;
    if (need > (unsigned)(ENTRIES - (uint16_t)(r->head - r->tail)))
        return false;
    for (unsigned i = 0; i < need; i++) {
        struct memif_descriptor *d = &r->descriptor[(uint16_t)(r->head + i) % ENTRIES];
        d->length = bytes > c->buffer_bytes ? c->buffer_bytes : bytes;
        d->flags = i + 1 < need ? MEMIF_NEXT : d->flags; /* as DPDK 22.11: set, never cleared */
        memcpy(c->base + d->offset, frame, d->length);
        frame += d->length;
        bytes -= d->length;
    }
    r->head = (uint16_t)(r->head + need);
    return true;
}

uint32_t memif_client_take(struct client *c, uint16_t *at, uint8_t *frame)
{
    struct memif_ring *r = c->to_client;
    uint32_t bytes = 0;
    bool more = *at != r->tail;
    while (more) {
        assert_int_not_equal(*at, r->tail);
        struct memif_descriptor *d = &r->descriptor[*at % ENTRIES];
        assert_true(d->length <= c->buffer_bytes);
        memcpy(frame + bytes, c->base + d->offset, d->length);
        bytes += d->length;
        more = d->flags & MEMIF_NEXT;
        d->length = c->buffer_bytes;
        ++*at;
    }
    r->head = (uint16_t)(*at + ENTRIES);
    return bytes;
}
