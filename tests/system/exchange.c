/* exchange.c - a program on include/hxmesh/program.h for command line tests: exchanges messages of all sizes with other
 * hosts that run it too, and checks every byte, tag and the order.
 *
 *     exchange FABRIC HOST ROUNDS MOST PEER...     sizes up to MOST bytes; prints how many messages came, and exits 0
 *
 * FABRIC empty: the only running one. */
#include "hxmesh/program.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t sizes[] = {0,
                                 1,
                                 7,
                                 8159,
                                 8160,
                                 8161,
                                 16351,
                                 16352,
                                 16353,
                                 65536,
                                 262143,
                                 262144,
                                 262145,
                                 1048576,
                                 3000001,
                                 5000000,
                                 UINT64_C(1) << 26};
enum { SIZES = sizeof sizes / sizeof *sizes, EVENTS = 32, WAIT_MS = 20000 };

struct peer {
    uint32_t host;
    uint64_t sent, came, whole; /* messages: begun, announced or arrived, checked */
    uint64_t over;              /* sent messages that have ended */
};

static struct hx_program *program;
static struct peer peers[64];
static unsigned peer_count;
static uint64_t messages; /* to each and from each */
static uint64_t most;
static uint64_t in_flight;

/* A long message in flight, out or in; its context. */
struct buffer {
    bool lent; /* from hx_program_alloc() */
    uint64_t bytes, tag;
    uint8_t data[];
};

static uint64_t size_of(uint64_t number)
{
    uint64_t bytes = sizes[number % SIZES];
    return bytes < most ? bytes : most;
}

static uint64_t tag_of(uint32_t from, uint32_t to, uint64_t number)
{
    return (uint64_t)from << 48 | (uint64_t)to << 32 | number;
}

static uint8_t byte_of(uint64_t tag, uint64_t at)
{
    uint64_t x = (tag + at / 8 + 1) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint8_t)((x ^ x >> 29) >> at % 8 * 8);
}

static void fail(const char *what, uint32_t from, uint64_t tag)
{
    fprintf(stderr, "exchange: %s (from %u, tag %llx)\n", what, from, (unsigned long long)tag);
    exit(1);
}

static void check(uint32_t from, uint64_t tag, const uint8_t *data, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i++) {
        if (data[i] != byte_of(tag, i))
            fail("wrong byte", from, tag);
    }
}

static struct peer *peer_of(uint32_t host)
{
    for (unsigned i = 0; i < peer_count; i++) {
        if (peers[i].host == host)
            return &peers[i];
    }
    fail("from a stranger", host, 0);
    return NULL;
}

/* Every other buffer is in the fabric's memory. */
static struct buffer *buffer_for(uint64_t bytes, bool ours)
{
    struct buffer *b = ours ? hx_program_alloc(program, sizeof *b + bytes) : NULL;
    bool lent = b != NULL;
    if (!b)
        b = malloc(sizeof *b + bytes);
    if (!b)
        exit(2);
    b->lent = lent;
    b->bytes = bytes;
    return b;
}

static void free_buffer(struct buffer *b)
{
    if (b->lent)
        hx_program_free(program, b);
    else
        free(b);
}

static void begin(struct peer *p)
{
    uint64_t bytes = size_of(p->sent);
    struct buffer *b = buffer_for(bytes, p->sent % 2);
    b->tag = tag_of(hx_program_self(program), p->host, p->sent);
    for (uint64_t i = 0; i < bytes; i++)
        b->data[i] = byte_of(b->tag, i);
    int error = hx_program_send(program, p->host, b->tag, b->data, bytes, b);
    if (error && error != -EAGAIN)
        fail(strerror(-error), p->host, b->tag);
    if (error) {
        free_buffer(b);
        return;
    }
    p->sent++;
    in_flight++;
}

static void note_came(const struct hx_program_event *e)
{
    struct peer *p = peer_of(e->peer);
    if (e->tag != tag_of(e->peer, hx_program_self(program), p->came) || e->bytes != size_of(p->came))
        fail("out of order", e->peer, e->tag);
    p->came++;
}

static void take(const struct hx_program_event *e)
{
    struct buffer *b = e->context;
    switch (e->type) {
    case HX_PROGRAM_ARRIVED:
        note_came(e);
        check(e->peer, e->tag, e->data, e->bytes);
        peer_of(e->peer)->whole++;
        hx_program_release(program, e);
        break;
    case HX_PROGRAM_ANNOUNCED:
        note_came(e);
        b = buffer_for(e->bytes, e->tag % 2);
        if (hx_program_accept(program, e->ticket, b->data, e->bytes, b) != 0)
            fail("not accepted", e->peer, e->tag);
        break;
    case HX_PROGRAM_RECEIVED:
        check(e->peer, e->tag, b->data, e->bytes);
        peer_of(e->peer)->whole++;
        free_buffer(b);
        break;
    case HX_PROGRAM_SENT:
        peer_of(e->peer)->over++;
        in_flight--;
        free_buffer(b);
        break;
    case HX_PROGRAM_GONE:
        if (peer_of(e->peer)->whole < messages || peer_of(e->peer)->over < messages)
            fail("gone", e->peer, 0);
        break;
    default:
        fail(strerror(-e->error), e->peer, e->tag);
    }
}

static bool is_done(void)
{
    for (unsigned i = 0; i < peer_count; i++) {
        if (peers[i].sent < messages || peers[i].whole < messages)
            return false;
    }
    return in_flight == 0;
}

static void run(void)
{
    struct hx_program_event events[EVENTS];
    while (!is_done()) {
        for (unsigned i = 0; i < peer_count; i++) {
            if (peers[i].sent < messages && in_flight < 8)
                begin(&peers[i]);
        }
        int n = hx_program_poll(program, events, EVENTS);
        for (int i = 0; i < n; i++)
            take(&events[i]);
        int error = n ? n < 0 ? n : 0 : hx_program_wait(program, WAIT_MS);
        if (error)
            fail(strerror(-error), 0, 0);
    }
}

/* ---- one direction ---- */

enum { FLOOD = 2000 };

/* Sends, and waits while there is no room, without taking events until all is sent. */
static void flood(uint32_t to)
{
    static char byte;
    struct hx_program_event events[EVENTS];
    unsigned sent = 0;
    for (unsigned looks = 0; sent < FLOOD; looks++) {
        int error = hx_program_send(program, to, sent, &byte, 1, NULL);
        if (error == -EAGAIN)
            error = hx_program_wait(program, WAIT_MS);
        else
            sent++;
        if (error)
            fail(strerror(-error), to, sent);
    }
    for (unsigned over = 0; over < FLOOD;) {
        int n = hx_program_poll(program, events, EVENTS);
        over += n > 0 ? (unsigned)n : 0;
        int error = n ? n < 0 ? n : 0 : hx_program_wait(program, WAIT_MS);
        if (error)
            fail(strerror(-error), to, over);
    }
    printf("%u sent\n", sent);
}

/* Takes the messages of flood(). */
static void drain(void)
{
    struct hx_program_event events[EVENTS];
    unsigned came = 0;
    while (came < FLOOD) {
        int n = hx_program_poll(program, events, EVENTS);
        for (int i = 0; i < n; i++) {
            if (events[i].type != HX_PROGRAM_ARRIVED || events[i].tag != came++)
                fail("not what was sent", events[i].peer, events[i].tag);
            hx_program_release(program, &events[i]);
        }
        int error = n ? n < 0 ? n : 0 : hx_program_wait(program, WAIT_MS);
        if (error)
            fail(strerror(-error), 0, came);
    }
    printf("%u came\n", came);
}

static int one_way(const char *what, uint32_t peer)
{
    if (strcmp(what, "flood") == 0)
        flood(peer);
    else
        drain();
    /* The last acknowledgements are in flight. */
    (void)hx_program_wait(program, 100);
    hx_program_close(program);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    const char *fabric = *argv[1] ? argv[1] : NULL;
    int error = hx_program_open(&program, fabric, argv[2]);
    if (error) {
        fprintf(stderr, "exchange: %s of %s: %s\n", argv[2], fabric ? fabric : "any", strerror(-error));
        return 4;
    }
    printf("open\n");
    fflush(stdout);
    if (argc == 5)
        return one_way(argv[3], (uint32_t)strtoul(argv[4], NULL, 10));
    messages = strtoull(argv[3], NULL, 10) * SIZES;
    most = strtoull(argv[4], NULL, 10);
    for (int i = 5; i < argc; i++)
        peers[peer_count++].host = (uint32_t)strtoul(argv[i], NULL, 10);
    run();
    printf("%u: %llu messages from each of %u\n", hx_program_self(program), (unsigned long long)messages, peer_count);
    hx_program_close(program);
    return 0;
}
