/* test_memif.c - the server's side of memif against a client made here: what connects, what is refused, and frames
 * through rings whose owner may lie (hal/wire/memif.h). */
#include "hal/wire/memif_layout.h"
#include "hal/wire/wire.h"
#include "hxmesh/frame.h"

#include <dirent.h>
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

enum { LOG2_SIZE = 3, ENTRIES = 1 << LOG2_SIZE, PAGE = 4096 };

/* ---- a client ---- */

struct client {
    int socket, memory, event[2];
    uint32_t buffer_bytes;
    uint64_t bytes;
    uint8_t *base;
    struct memif_ring *to_server, *to_client;
    struct memif_message heard;
};

static size_t ring_bytes(void)
{
    return sizeof(struct memif_ring) + ENTRIES * sizeof(struct memif_descriptor);
}

static void fill_ring(const struct client *c, struct memif_ring *ring, unsigned number)
{
    ring->cookie = MEMIF_COOKIE;
    for (unsigned i = 0; i < ENTRIES; i++) {
        ring->descriptor[i].length = c->buffer_bytes;
        ring->descriptor[i].offset = PAGE + (number * ENTRIES + i) * c->buffer_bytes;
    }
}

static void client_open(struct client *c, const char *path, uint32_t buffer_bytes, unsigned seals)
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
    c->to_client = (struct memif_ring *)(void *)(c->base + ring_bytes());
    fill_ring(c, c->to_server, 0);
    fill_ring(c, c->to_client, 1);
    for (unsigned i = 0; i < 2; i++)
        c->event[i] = eventfd(0, EFD_NONBLOCK);
}

static void client_close(struct client *c)
{
    munmap(c->base, c->bytes);
    close(c->memory);
    close(c->event[0]);
    close(c->event[1]);
    close(c->socket);
}

enum { MOST_PASSED = 8 };

static void say_with(const struct client *c, const struct memif_message *message, const int *fds, unsigned count)
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

static void say(const struct client *c, const struct memif_message *message, int fd)
{
    say_with(c, message, &fd, fd >= 0);
}

/* The type of the next message, 0: none, -1: the socket's end. */
static int hear(struct client *c)
{
    ssize_t n = recv(c->socket, &c->heard, sizeof c->heard, 0);
    return n == (ssize_t)sizeof c->heard ? c->heard.type : n < 0 && errno == EAGAIN ? 0 : -1;
}

/* ---- both ---- */

struct pair {
    char folder[32], path[64];
    struct wire w;
    struct client c;
};

static int set_up(void **state)
{
    static struct pair p;
    p = (struct pair){.folder = "/tmp/hx-memif-XXXXXX"};
    assert_non_null(mkdtemp(p.folder));
    snprintf(p.path, sizeof p.path, "%s/s", p.folder);
    assert_int_equal(wire_open_memif(&p.w, p.path), 0);
    *state = &p;
    return 0;
}

static int tear_down(void **state)
{
    struct pair *p = *state;
    wire_close(&p->w);
    assert_int_not_equal(access(p->path, F_OK), 0);
    assert_int_equal(rmdir(p->folder), 0);
    return 0;
}

enum { STEPS = 5 };

/* What a client says in its step, 0 .. STEPS - 1. */
static struct memif_message script(const struct client *c, unsigned step, int *fd)
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
        m.add_ring.offset = step == 2 ? 0 : (uint32_t)ring_bytes();
        m.add_ring.log2_size = LOG2_SIZE;
        *fd = c->event[step - 2];
        break;
    default:
        m.type = MEMIF_CONNECT;
        break;
    }
    return m;
}

/* As the opener and the user do by turns. */
static bool look(struct pair *p)
{
    wire_serve(&p->w);
    return wire_poll(&p->w);
}

/* Says the first `steps` and hears the answers. Returns the type of the last one. */
static int shake_hands(struct pair *p, unsigned steps)
{
    int answer = MEMIF_ACK;
    (void)look(p);
    assert_int_equal(hear(&p->c), MEMIF_HELLO);
    for (unsigned step = 0; step < steps; step++) {
        int fd;
        const struct memif_message m = script(&p->c, step, &fd);
        say(&p->c, &m, fd);
        (void)look(p);
        answer = hear(&p->c);
    }
    return answer;
}

/* The client offers all its buffers, as DPDK's does at its first look. */
static void offer_all(struct client *c)
{
    for (unsigned i = 0; i < ENTRIES; i++)
        c->to_client->descriptor[i].length = c->buffer_bytes;
    c->to_client->head = (uint16_t)(c->to_client->tail + ENTRIES);
}

static void connect_client(struct pair *p, uint32_t buffer_bytes)
{
    client_open(&p->c, p->path, buffer_bytes, F_SEAL_SHRINK);
    assert_int_equal(shake_hands(p, STEPS), MEMIF_CONNECTED);
    assert_true(look(p));
    offer_all(&p->c);
}

static void make_frame(uint8_t *frame, uint32_t bytes, unsigned number)
{
    for (uint32_t i = 0; i < bytes; i++)
        frame[i] = (uint8_t)(i * 7 + number * 13 + (i >> 8));
}

/* Puts a frame into the ring to the server, in as many pieces as it takes. */
static bool client_send(struct client *c, const uint8_t *frame, uint32_t bytes)
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

/* Takes a frame out of the ring from the server and offers its buffers again. Returns its bytes, 0: none. */
static uint32_t client_take(struct client *c, uint16_t *at, uint8_t *frame)
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

/* ---- tests ---- */

static void exchange(struct pair *p, uint32_t buffer_bytes)
{
    static const uint32_t sizes[] = {64, HX_MAX_FRAME, 65, 2048, 2049, 4096, 1};
    uint8_t sent[HX_MAX_FRAME];
    uint8_t got[HX_MAX_FRAME];
    uint16_t at = 0;
    connect_client(p, buffer_bytes);
    for (unsigned n = 0; n < 20000; n++) { /* indices wrap around 2^16 where a frame takes several buffers */
        uint32_t bytes = sizes[n % (sizeof sizes / sizeof *sizes)];
        make_frame(sent, bytes, n);
        assert_true(client_send(&p->c, sent, bytes));
        assert_int_equal(wire_receive(&p->w, got), bytes);
        assert_memory_equal(got, sent, bytes);
        assert_int_equal(wire_receive(&p->w, got), 0);
        assert_true(wire_send(&p->w, sent, bytes));
        assert_int_equal(client_take(&p->c, &at, got), 0);
        wire_flush(&p->w);
        assert_int_equal(client_take(&p->c, &at, got), bytes);
        assert_memory_equal(got, sent, bytes);
    }
    assert_true(look(p));
    client_close(&p->c);
    assert_false(look(p));
}

static void test_frames_pass_both_ways(void **state)
{
    exchange(*state, 8448);
}

static void test_a_frame_takes_several_small_buffers(void **state)
{
    exchange(*state, 2048);
}

static void test_a_full_ring_takes_nothing_more_and_loses_nothing(void **state)
{
    struct pair *p = *state;
    uint8_t frame[HX_MAX_FRAME];
    uint16_t at = 0;
    connect_client(p, 2048);
    for (unsigned n = 0; n < ENTRIES; n++) {
        make_frame(frame, 100, n);
        assert_true(wire_send(&p->w, frame, 100));
    }
    assert_false(wire_send(&p->w, frame, 100));
    wire_flush(&p->w);
    for (unsigned n = 0; n < ENTRIES - 2; n++) {
        uint8_t same[100];
        make_frame(same, 100, n);
        assert_int_equal(client_take(&p->c, &at, frame), 100);
        assert_memory_equal(frame, same, 100);
    }
    make_frame(frame, 6145, 99); /* four buffers */
    assert_true(wire_send(&p->w, frame, 6145));
    assert_false(wire_send(&p->w, frame, 6145)); /* two are left, and stay as they were */
    assert_true(wire_send(&p->w, frame, 2048));
    wire_flush(&p->w);
    assert_int_equal(client_take(&p->c, &at, frame), 100);
    assert_int_equal(client_take(&p->c, &at, frame), 100);
    assert_int_equal(client_take(&p->c, &at, frame), 6145);
    assert_int_equal(client_take(&p->c, &at, frame), 2048);
    assert_int_equal(client_take(&p->c, &at, frame), 0);
    client_close(&p->c);
}

/* The successor of a killed user: what fork gave it before anybody was there. */
static void test_a_user_that_is_killed_has_a_successor(void **state)
{
    struct pair *p = *state;
    struct wire successor = p->w;
    uint8_t frame[HX_MAX_FRAME];
    uint8_t got[HX_MAX_FRAME];
    uint16_t at = 0;
    connect_client(p, 2048);
    for (unsigned n = 0; n < 3; n++) {
        make_frame(frame, 3000, n);
        assert_true(client_send(&p->c, frame, 3000));
        assert_int_equal(wire_receive(&p->w, got), 3000);
        assert_true(wire_send(&p->w, frame, 3000));
    }
    wire_flush(&p->w);
    assert_true(wire_send(&p->w, frame, 64)); /* never flushed: it is gone */
    make_frame(frame, 5000, 7);
    assert_true(client_send(&p->c, frame, 5000));
    assert_true(wire_poll(&successor));
    assert_int_equal(wire_receive(&successor, got), 5000);
    assert_memory_equal(got, frame, 5000);
    assert_true(wire_send(&successor, frame, 100));
    wire_flush(&successor);
    for (unsigned n = 0; n < 3; n++)
        assert_int_equal(client_take(&p->c, &at, got), 3000);
    assert_int_equal(client_take(&p->c, &at, got), 100);
    assert_memory_equal(got, frame, 100);
    assert_int_equal(client_take(&p->c, &at, got), 0);
    assert_int_equal(hear(&p->c), 0); /* the client has heard of nothing */
    wire_drop(&successor);
    client_close(&p->c);
}

static void test_both_sides_poll(void **state)
{
    struct pair *p = *state;
    connect_client(p, 2048);
    assert_int_equal(p->c.to_server->flags, MEMIF_NO_INTERRUPT);
    client_close(&p->c);
}

/* Until the opener has seen it the user goes on by itself, and nothing faults. */
static void test_a_client_that_goes_is_let_go(void **state)
{
    struct pair *p = *state;
    uint8_t frame[64] = {0};
    connect_client(p, 2048);
    client_close(&p->c);
    assert_true(wire_poll(&p->w));
    assert_true(wire_send(&p->w, frame, sizeof frame));
    wire_serve(&p->w);
    assert_false(wire_send(&p->w, frame, sizeof frame));
    wire_flush(&p->w);
    assert_false(wire_poll(&p->w));
    assert_int_equal(p->w.memif.regions, 0);
}

static void test_a_second_client_is_told_and_the_first_goes_on(void **state)
{
    struct pair *p = *state;
    struct client second;
    uint8_t frame[64] = {1};
    connect_client(p, 2048);
    client_open(&second, p->path, 2048, F_SEAL_SHRINK);
    assert_true(look(p));
    assert_int_equal(hear(&second), MEMIF_DISCONNECT);
    assert_non_null(strstr(second.heard.disconnect.why, "another client"));
    assert_int_equal(hear(&second), -1);
    assert_true(wire_send(&p->w, frame, sizeof frame));
    client_close(&second);
    client_close(&p->c);
    assert_false(look(p));
    connect_client(p, 8448); /* whoever comes back is taken */
    client_close(&p->c);
}

static void test_without_a_client_nothing_passes(void **state)
{
    struct pair *p = *state;
    uint8_t frame[HX_MAX_FRAME] = {0};
    assert_false(look(p));
    assert_false(wire_send(&p->w, frame, 64));
    assert_int_equal(wire_receive(&p->w, frame), 0);
    wire_flush(&p->w);
}

/* Takes the client's message of `step` and spoils it. */
struct lie {
    const char *name;
    unsigned step;
    void (*spoil)(struct client *, struct memif_message *, int *fd);
};

#define LIE(name, change)                                                                                              \
    static void name(struct client *c, struct memif_message *m, int *fd)                                               \
    {                                                                                                                  \
        (void)c, (void)m, (void)fd;                                                                                    \
        change;                                                                                                        \
    }
LIE(version, m->init.version = 0x0100)
LIE(mode, m->init.mode = 1)
LIE(no_memory, *fd = -1)
LIE(too_large, m->add_region.size += 1)
LIE(empty, m->add_region.size = 0)
LIE(out_of_order, m->add_region.index = 1)
LIE(not_memory, *fd = c->event[0])
LIE(outside, m->add_ring.offset = (uint32_t)(c->bytes - ring_bytes() + 8))
LIE(far_outside, m->add_ring.offset = UINT32_MAX - 7)
LIE(odd, m->add_ring.offset = 2)
LIE(no_region, m->add_ring.region = 1)
LIE(huge, m->add_ring.log2_size = 60)
LIE(second_ring, m->add_ring.index = 1)
LIE(same_ring, m->add_ring.flags = MEMIF_RING_TO_SERVER)
LIE(no_cookie, c->to_client->cookie = 0)
LIE(too_early, m->type = MEMIF_CONNECT)
LIE(unknown, m->type = 77)

static void test_a_client_that_lies_is_told_and_dropped(void **state)
{
    static const struct lie lies[] = {{"version", 0, version},
                                      {"mode", 0, mode},
                                      {"no memory", 1, no_memory},
                                      {"too large", 1, too_large},
                                      {"empty", 1, empty},
                                      {"out of order", 1, out_of_order},
                                      {"not memory", 1, not_memory},
                                      {"outside", 2, outside},
                                      {"far outside", 2, far_outside},
                                      {"odd", 2, odd},
                                      {"no region", 2, no_region},
                                      {"huge", 3, huge},
                                      {"second ring", 3, second_ring},
                                      {"same ring", 3, same_ring},
                                      {"no cookie", 4, no_cookie},
                                      {"too early", 3, too_early},
                                      {"unknown", 0, unknown}};
    struct pair *p = *state;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        int fd;
        client_open(&p->c, p->path, 2048, F_SEAL_SHRINK);
        assert_int_equal(shake_hands(p, lies[i].step), MEMIF_ACK);
        struct memif_message m = script(&p->c, lies[i].step, &fd);
        lies[i].spoil(&p->c, &m, &fd);
        say(&p->c, &m, fd);
        assert_false(look(p));
        assert_false(look(p));
        int answer = hear(&p->c);
        answer = answer == MEMIF_CONNECTED ? hear(&p->c) : answer; /* the user only sees what is in memory */
        if (answer != MEMIF_DISCONNECT || p->c.heard.disconnect.why[0] == 0 || hear(&p->c) != -1)
            fail_msg("%s was not refused", lies[i].name);
        client_close(&p->c);
    }
    connect_client(p, 2048);
    client_close(&p->c);
}

static void test_memory_that_may_shrink_is_not_mapped(void **state)
{
    struct pair *p = *state;
    client_open(&p->c, p->path, 2048, F_SEAL_GROW);
    assert_int_equal(shake_hands(p, 2), MEMIF_DISCONNECT);
    assert_non_null(strstr(p->c.heard.disconnect.why, "shrink"));
    client_close(&p->c);
}

/* The number by which the opener has a region may be another file's when the user looks for it. */
static void test_memory_is_looked_at_again_where_it_is_mapped(void **state)
{
    struct pair *p = *state;
    for (unsigned sealed = 0; sealed < 2; sealed++) {
        client_open(&p->c, p->path, 2048, F_SEAL_SHRINK);
        wire_serve(&p->w);
        for (unsigned step = 0; step < STEPS; step++) {
            int fd;
            const struct memif_message m = script(&p->c, step, &fd);
            say(&p->c, &m, fd);
            wire_serve(&p->w);
        }
        int other = memfd_create("other", MFD_ALLOW_SEALING);
        assert_int_equal(ftruncate(other, (off_t)(sealed ? PAGE : p->c.bytes)), 0); /* too small; or it may shrink */
        assert_int_equal(pwrite(other, p->c.base, PAGE, 0), PAGE); /* but its rings are as they should be */
        assert_int_equal(fcntl(other, F_ADD_SEALS, sealed ? F_SEAL_SHRINK : F_SEAL_GROW), 0);
        assert_true(dup2(other, p->w.server.memory.region[0].fd) >= 0);
        close(other);
        assert_false(wire_poll(&p->w));
        wire_serve(&p->w);
        assert_int_equal(p->w.server.state, MEMIF_ALONE);
        client_close(&p->c);
    }
}

static unsigned open_descriptors(void)
{
    unsigned count = 0;
    DIR *d = opendir("/proc/self/fd");
    assert_non_null(d);
    while (readdir(d))
        count++;
    closedir(d);
    return count;
}

/* Whatever a client passes, and however many at once, nothing of it stays. */
static void test_no_descriptor_stays(void **state)
{
    enum { CONNECTIONS = 320 };
    struct pair *p = *state;
    unsigned before = open_descriptors();
    for (unsigned n = 0; n < CONNECTIONS; n++) {
        int fd;
        client_open(&p->c, p->path, 2048, F_SEAL_SHRINK);
        (void)shake_hands(p, n % STEPS);
        const struct memif_message m = script(&p->c, n % STEPS, &fd);
        const int fds[MOST_PASSED] = {p->c.memory,   p->c.event[0], p->c.event[1], p->c.memory,
                                      p->c.event[0], p->c.event[1], p->c.memory,   p->c.memory};
        say_with(&p->c, &m, fds, 1 + n / STEPS % MOST_PASSED);
        say_with(&p->c, &m, fds, 2);
        (void)look(p);
        client_close(&p->c);
        (void)look(p);
        assert_int_equal(open_descriptors(), before);
    }
    connect_client(p, 2048);
    client_close(&p->c);
}

static void test_a_client_that_says_nothing_is_sent_away(void **state)
{
    struct pair *p = *state;
    struct client silent;
    uint64_t now = 1;
    client_open(&silent, p->path, 2048, F_SEAL_SHRINK);
    memif_serve(&p->w.server, p->w.memif.offer, p->w.fd, now);
    assert_int_equal(hear(&silent), MEMIF_HELLO);
    memif_serve(&p->w.server, p->w.memif.offer, p->w.fd, now + MEMIF_HANDSHAKE_NS);
    assert_int_equal(hear(&silent), 0);
    memif_serve(&p->w.server, p->w.memif.offer, p->w.fd, now + MEMIF_HANDSHAKE_NS + 1);
    assert_int_equal(hear(&silent), MEMIF_DISCONNECT);
    assert_int_equal(hear(&silent), -1);
    assert_string_equal(p->w.server.why, "it did not finish its handshake");
    connect_client(p, 2048);
    memif_serve(&p->w.server, p->w.memif.offer, p->w.fd, UINT64_MAX); /* one that did may be silent */
    assert_true(wire_poll(&p->w));
    client_close(&p->c);
    client_close(&silent);
}

static void test_a_descriptor_that_points_elsewhere_loses_its_frame_only(void **state)
{
    struct pair *p = *state;
    uint8_t frame[HX_MAX_FRAME];
    connect_client(p, 2048);
    struct memif_descriptor *d = p->c.to_server->descriptor;
    d[0].region = 1;
    d[1].offset = (uint32_t)p->c.bytes - 10;
    d[1].length = 11;
    d[2].offset = UINT32_MAX;
    d[3].length = UINT32_MAX;
    d[4].flags = MEMIF_NEXT; /* and the rest of it is nowhere */
    p->c.to_server->head = 5;
    assert_int_equal(wire_receive(&p->w, frame), 0);
    assert_int_equal(p->c.to_server->tail, 5);
    assert_int_equal(p->w.memif.lost, 5);
    make_frame(frame, 64, 1);
    assert_true(client_send(&p->c, frame, 64));
    assert_int_equal(wire_receive(&p->w, frame), 64);
    client_close(&p->c);
}

static void test_an_index_that_cannot_be_ends_the_connection(void **state)
{
    struct pair *p = *state;
    uint8_t frame[HX_MAX_FRAME] = {0};
    connect_client(p, 2048);
    p->c.to_server->head = ENTRIES + 1;
    assert_int_equal(wire_receive(&p->w, frame), 0);
    assert_false(look(p));
    assert_int_equal(hear(&p->c), MEMIF_DISCONNECT);
    client_close(&p->c);
    connect_client(p, 2048);
    p->c.to_client->head = ENTRIES + 1;
    assert_false(wire_send(&p->w, frame, 64));
    assert_false(look(p));
    assert_int_equal(hear(&p->c), MEMIF_DISCONNECT);
    client_close(&p->c);
}

static void test_a_buffer_offered_elsewhere_ends_the_connection(void **state)
{
    struct pair *p = *state;
    uint8_t frame[64] = {0};
    connect_client(p, 2048);
    p->c.to_client->descriptor[0].offset = (uint32_t)p->c.bytes - 2047;
    assert_false(wire_send(&p->w, frame, sizeof frame));
    assert_false(look(p));
    assert_int_equal(hear(&p->c), MEMIF_DISCONNECT);
    client_close(&p->c);
}

static void test_a_frame_that_is_too_long_is_cut(void **state)
{
    struct pair *p = *state;
    uint8_t long_frame[HX_MAX_FRAME + 500];
    uint8_t frame[HX_MAX_FRAME];
    connect_client(p, 16384);
    make_frame(long_frame, sizeof long_frame, 3);
    assert_true(client_send(&p->c, long_frame, sizeof long_frame));
    assert_int_equal(wire_receive(&p->w, frame), HX_MAX_FRAME);
    assert_memory_equal(frame, long_frame, HX_MAX_FRAME);
    client_close(&p->c);
}

static void test_one_listens_at_a_socket_and_what_the_dead_left_is_replaced(void **state)
{
    struct pair *p = *state;
    struct wire other;
    char too_long[200];
    assert_int_equal(wire_open_memif(&other, p->path), -EADDRINUSE);
    assert_int_equal(access(p->path, F_OK), 0);
    close(p->w.fd); /* as a killed process leaves it */
    p->w.fd = -1;
    assert_int_equal(wire_open_memif(&other, p->path), 0);
    p->w = other;
    memset(too_long, 'x', sizeof too_long);
    too_long[sizeof too_long - 1] = 0;
    assert_int_equal(wire_open_memif(&other, too_long), -ENAMETOOLONG);
    assert_int_equal(wire_open_memif(&other, "/nowhere/at/all"), -ENOENT);
}

static void test_a_file_that_is_no_socket_is_left_alone(void **state)
{
    struct pair *p = *state;
    struct wire other;
    char path[64], text[16] = "";
    snprintf(path, sizeof path, "%s/notes", p->folder);
    FILE *notes = fopen(path, "w+");
    assert_true(notes && fputs("keep me", notes) >= 0 && fflush(notes) == 0);
    assert_int_equal(wire_open_memif(&other, path), -EEXIST);
    assert_int_equal(wire_open_memif(&other, p->folder), -EEXIST);
    rewind(notes);
    assert_non_null(fgets(text, sizeof text, notes));
    assert_string_equal(text, "keep me");
    fclose(notes);
    assert_int_equal(unlink(path), 0);    /* it was there */
    assert_int_equal(unlink(p->path), 0); /* and what somebody put in the place of our socket stays */
    notes = fopen(p->path, "w");
    assert_non_null(notes);
    fclose(notes);
    wire_close(&p->w);
    assert_int_equal(unlink(p->path), 0);
    assert_int_equal(wire_open_memif(&p->w, p->path), 0);
}

static void test_interfaces_are_refused_with_the_reason(void **state)
{
    struct wire w;
    unsigned mtu = 0;
    (void)state;
    assert_int_equal(wire_open_packet(&w, "hx-not-there", &mtu), -ENODEV);
    assert_int_equal(wire_open_tap(&w, "a-name-of-20-letters", &mtu), -ENAMETOOLONG);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_frames_pass_both_ways),
        TEST(test_a_frame_takes_several_small_buffers),
        TEST(test_a_full_ring_takes_nothing_more_and_loses_nothing),
        TEST(test_a_user_that_is_killed_has_a_successor),
        TEST(test_both_sides_poll),
        TEST(test_a_client_that_goes_is_let_go),
        TEST(test_a_second_client_is_told_and_the_first_goes_on),
        TEST(test_without_a_client_nothing_passes),
        TEST(test_a_client_that_lies_is_told_and_dropped),
        TEST(test_memory_that_may_shrink_is_not_mapped),
        TEST(test_memory_is_looked_at_again_where_it_is_mapped),
        TEST(test_no_descriptor_stays),
        TEST(test_a_client_that_says_nothing_is_sent_away),
        TEST(test_a_descriptor_that_points_elsewhere_loses_its_frame_only),
        TEST(test_an_index_that_cannot_be_ends_the_connection),
        TEST(test_a_buffer_offered_elsewhere_ends_the_connection),
        TEST(test_a_frame_that_is_too_long_is_cut),
        TEST(test_one_listens_at_a_socket_and_what_the_dead_left_is_replaced),
        TEST(test_a_file_that_is_no_socket_is_left_alone),
        cmocka_unit_test(test_interfaces_are_refused_with_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
