/* test_memif_lies.c - the server side of memif against a silent or hostile client: refusals, and rings that their
 * owner may fill with anything (hal/wire/memif.h). */
#include "hxmesh/frame.h"
#include "tests/support/shm/support_lingering.h"
#include "tests/support/shm/support_memif.h"
#include "tests/support/support_arena.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* Takes the client's message of `step` and breaks it. */
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
LIE(outside, m->add_ring.offset = (uint32_t)(c->bytes - memif_ring_bytes() + 8))
LIE(far_outside, m->add_ring.offset = UINT32_MAX - 7)
LIE(odd, m->add_ring.offset = 2)
LIE(no_region, m->add_ring.region = 1)
LIE(huge, m->add_ring.log2_size = 60)
LIE(second_ring, m->add_ring.index = 1)
LIE(same_ring, m->add_ring.flags = MEMIF_RING_TO_SERVER)
LIE(no_cookie, c->to_client->cookie = 0)
LIE(too_early, m->type = MEMIF_CONNECT)
LIE(unknown, m->type = 77)

static void test_a_hostile_client_gets_an_error_and_is_dropped(void **state)
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
        memif_client_open(&p->c, p->path, 2048, F_SEAL_SHRINK);
        assert_int_equal(memif_shake_hands(p, lies[i].step), MEMIF_ACK);
        struct memif_message m = memif_script(&p->c, lies[i].step, &fd);
        lies[i].spoil(&p->c, &m, &fd);
        memif_send_message(&p->c, &m, fd);
        assert_false(memif_poll_server(p));
        assert_false(memif_poll_server(p));
        int answer = memif_take_answer(&p->c);
        answer = answer == MEMIF_CONNECTED ? memif_take_answer(&p->c) : answer; /* the user only sees the memory */
        if (answer != MEMIF_DISCONNECT || p->c.heard.disconnect.why[0] == 0 || memif_take_answer(&p->c) != -1)
            fail_msg("%s was not refused", lies[i].name);
        memif_client_close(&p->c);
    }
    memif_connect_client(p, 2048);
    memif_client_close(&p->c);
}

static void test_memory_that_may_shrink_is_not_mapped(void **state)
{
    struct pair *p = *state;
    memif_client_open(&p->c, p->path, 2048, F_SEAL_GROW);
    assert_int_equal(memif_shake_hands(p, 2), MEMIF_DISCONNECT);
    assert_non_null(strstr(p->c.heard.disconnect.why, "shrink"));
    memif_client_close(&p->c);
}

/* The opener's descriptor number of a region may be another file's when the user maps it. */
static void test_memory_is_checked_again_when_mapped(void **state)
{
    struct pair *p = *state;
    for (unsigned sealed = 0; sealed < 2; sealed++) {
        memif_client_open(&p->c, p->path, 2048, F_SEAL_SHRINK);
        wire_serve(&p->w);
        for (unsigned step = 0; step < STEPS; step++) {
            int fd;
            const struct memif_message m = memif_script(&p->c, step, &fd);
            memif_send_message(&p->c, &m, fd);
            wire_serve(&p->w);
        }
        int other = memfd_create("other", MFD_ALLOW_SEALING);
        assert_int_equal(ftruncate(other, (off_t)(sealed ? PAGE : p->c.bytes)), 0); /* too small; or it may shrink */
        assert_int_equal(pwrite(other, p->c.base, PAGE, 0), PAGE);                  /* but its rings are good */
        assert_int_equal(fcntl(other, F_ADD_SEALS, sealed ? F_SEAL_SHRINK : F_SEAL_GROW), 0);
        assert_true(dup2(other, p->w.server.memory.region[0].fd) >= 0);
        close(other);
        assert_false(wire_poll(&p->w));
        wire_serve(&p->w);
        assert_int_equal(p->w.server.state, MEMIF_ALONE);
        memif_client_close(&p->c);
    }
}

/* No descriptor from a client stays open, of any kind and any number at once. */
static void test_no_descriptor_leaks(void **state)
{
    enum { CONNECTIONS = 320 };
    struct pair *p = *state;
    unsigned before = arena_open_descriptors();
    for (unsigned n = 0; n < CONNECTIONS; n++) {
        int fd;
        memif_client_open(&p->c, p->path, 2048, F_SEAL_SHRINK);
        (void)memif_shake_hands(p, n % STEPS);
        const struct memif_message m = memif_script(&p->c, n % STEPS, &fd);
        const int fds[MOST_PASSED] = {p->c.memory,   p->c.event[0], p->c.event[1], p->c.memory,
                                      p->c.event[0], p->c.event[1], p->c.memory,   p->c.memory};
        memif_send_with(&p->c, &m, fds, 1 + n / STEPS % MOST_PASSED);
        memif_send_with(&p->c, &m, fds, 2);
        (void)memif_poll_server(p);
        memif_client_close(&p->c);
        (void)memif_poll_server(p);
        assert_int_equal(arena_open_descriptors(), before);
    }
    memif_connect_client(p, 2048);
    memif_client_close(&p->c);
}

static void test_a_silent_client_is_disconnected(void **state)
{
    struct pair *p = *state;
    struct client silent;
    uint64_t now = 1;
    memif_client_open(&silent, p->path, 2048, F_SEAL_SHRINK);
    memif_serve(&p->w.server, p->w.memif.offer, p->w.fd, now);
    assert_int_equal(memif_take_answer(&silent), MEMIF_HELLO);
    memif_serve(&p->w.server, p->w.memif.offer, p->w.fd, now + MEMIF_HANDSHAKE_NS);
    assert_int_equal(memif_take_answer(&silent), 0);
    memif_serve(&p->w.server, p->w.memif.offer, p->w.fd, now + MEMIF_HANDSHAKE_NS + 1);
    assert_int_equal(memif_take_answer(&silent), MEMIF_DISCONNECT);
    assert_int_equal(memif_take_answer(&silent), -1);
    assert_string_equal(p->w.server.why, "the handshake timed out");
    memif_connect_client(p, 2048);
    memif_serve(&p->w.server, p->w.memif.offer, p->w.fd, UINT64_MAX); /* a connected client may be silent */
    assert_true(wire_poll(&p->w));
    memif_client_close(&p->c);
    memif_client_close(&silent);
}

static void test_a_bad_descriptor_loses_only_its_frame(void **state)
{
    struct pair *p = *state;
    uint8_t frame[HX_MAX_FRAME];
    memif_connect_client(p, 2048);
    struct memif_descriptor *d = p->c.to_server->descriptor;
    d[0].region = 1;
    d[1].offset = (uint32_t)p->c.bytes - 10;
    d[1].length = 11;
    d[2].offset = UINT32_MAX;
    d[3].length = UINT32_MAX;
    d[4].flags = MEMIF_NEXT; /* the rest of the frame is missing */
    p->c.to_server->head = 5;
    assert_int_equal(wire_receive(&p->w, frame), 0);
    assert_int_equal(p->c.to_server->tail, 5);
    assert_int_equal(p->w.memif.lost, 5);
    memif_make_frame(frame, 64, 1);
    assert_true(memif_client_send(&p->c, frame, 64));
    assert_int_equal(wire_receive(&p->w, frame), 64);
    memif_client_close(&p->c);
}

static void test_an_impossible_index_ends_the_connection(void **state)
{
    struct pair *p = *state;
    uint8_t frame[HX_MAX_FRAME] = {0};
    memif_connect_client(p, 2048);
    p->c.to_server->head = ENTRIES + 1;
    assert_int_equal(wire_receive(&p->w, frame), 0);
    assert_false(memif_poll_server(p));
    assert_int_equal(memif_take_answer(&p->c), MEMIF_DISCONNECT);
    memif_client_close(&p->c);
    memif_connect_client(p, 2048);
    p->c.to_client->head = ENTRIES + 1;
    assert_false(wire_send(&p->w, frame, 64));
    assert_false(memif_poll_server(p));
    assert_int_equal(memif_take_answer(&p->c), MEMIF_DISCONNECT);
    memif_client_close(&p->c);
}

static void test_a_buffer_offered_elsewhere_ends_the_connection(void **state)
{
    struct pair *p = *state;
    uint8_t frame[64] = {0};
    memif_connect_client(p, 2048);
    p->c.to_client->descriptor[0].offset = (uint32_t)p->c.bytes - 2047;
    assert_false(wire_send(&p->w, frame, sizeof frame));
    assert_false(memif_poll_server(p));
    assert_int_equal(memif_take_answer(&p->c), MEMIF_DISCONNECT);
    memif_client_close(&p->c);
}

/* Neither an unexpected descriptor nor an expected one. */
static void test_lingering_descriptors_are_closed_without_delay(void **state)
{
    struct pair *p = *state;
    time_t begin = time(NULL);
    for (unsigned step = 0; step < 2; step++) {
        int peer;
        int other;
        int fd = lingering_open(&peer);
        if (fd < 0)
            skip();
        memif_client_open(&p->c, p->path, 2048, F_SEAL_SHRINK);
        assert_int_equal(memif_shake_hands(p, step), MEMIF_ACK);
        const struct memif_message m = memif_script(&p->c, step, &other);
        memif_send_message(&p->c, &m, fd);
        (void)close(fd);
        wire_serve(&p->w);
        assert_in_range(time(NULL) - begin, 0, LINGERING_S / 2);
        memif_client_close(&p->c);
        (void)close(peer);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, memif_set_up, memif_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_a_hostile_client_gets_an_error_and_is_dropped),
        TEST(test_memory_that_may_shrink_is_not_mapped),
        TEST(test_memory_is_checked_again_when_mapped),
        TEST(test_no_descriptor_leaks),
        TEST(test_a_silent_client_is_disconnected),
        TEST(test_a_bad_descriptor_loses_only_its_frame),
        TEST(test_an_impossible_index_ends_the_connection),
        TEST(test_a_buffer_offered_elsewhere_ends_the_connection),
        TEST(test_lingering_descriptors_are_closed_without_delay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
