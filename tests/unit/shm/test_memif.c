/* test_memif.c - the server side of memif against the test's client: connections, and frames in both directions
 * (hal/wire/memif.h). */
#include "hxmesh/frame.h"
#include "tests/support/shm/support_memif.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void exchange(struct pair *p, uint32_t buffer_bytes)
{
    static const uint32_t sizes[] = {64, WIRE_MAX_FRAME, 65, 2048, 2049, 4096, 1};
    uint8_t sent[WIRE_MAX_FRAME];
    uint8_t got[WIRE_MAX_FRAME];
    uint16_t at = 0;
    memif_connect_client(p, buffer_bytes);
    for (unsigned n = 0; n < 20000; n++) { /* indices wrap at 2^16 where a frame takes several buffers */
        uint32_t bytes = sizes[n % (sizeof sizes / sizeof *sizes)];
        memif_make_frame(sent, bytes, n);
        assert_true(memif_client_send(&p->c, sent, bytes));
        assert_int_equal(wire_receive(&p->w, got), bytes);
        assert_memory_equal(got, sent, bytes);
        assert_int_equal(wire_receive(&p->w, got), 0);
        assert_true(wire_send(&p->w, sent, bytes));
        assert_int_equal(memif_client_take(&p->c, &at, got), 0);
        wire_flush(&p->w);
        assert_int_equal(memif_client_take(&p->c, &at, got), bytes);
        assert_memory_equal(got, sent, bytes);
    }
    assert_true(memif_poll_server(p));
    memif_client_close(&p->c);
    assert_false(memif_poll_server(p));
}

static void test_frames_pass_in_both_directions(void **state)
{
    exchange(*state, 8448);
}

static void test_a_frame_takes_several_small_buffers(void **state)
{
    exchange(*state, 2048);
}

static void test_a_full_ring_refuses_frames_and_loses_none(void **state)
{
    struct pair *p = *state;
    uint8_t frame[HX_MAX_FRAME];
    uint16_t at = 0;
    memif_connect_client(p, 2048);
    for (unsigned n = 0; n < ENTRIES; n++) {
        memif_make_frame(frame, 100, n);
        assert_true(wire_send(&p->w, frame, 100));
    }
    assert_false(wire_send(&p->w, frame, 100));
    wire_flush(&p->w);
    for (unsigned n = 0; n < ENTRIES - 2; n++) {
        uint8_t same[100];
        memif_make_frame(same, 100, n);
        assert_int_equal(memif_client_take(&p->c, &at, frame), 100);
        assert_memory_equal(frame, same, 100);
    }
    memif_make_frame(frame, 6145, 99); /* four buffers */
    assert_true(wire_send(&p->w, frame, 6145));
    assert_false(wire_send(&p->w, frame, 6145)); /* two are left, and stay as they are */
    assert_true(wire_send(&p->w, frame, 2048));
    wire_flush(&p->w);
    assert_int_equal(memif_client_take(&p->c, &at, frame), 100);
    assert_int_equal(memif_client_take(&p->c, &at, frame), 100);
    assert_int_equal(memif_client_take(&p->c, &at, frame), 6145);
    assert_int_equal(memif_client_take(&p->c, &at, frame), 2048);
    assert_int_equal(memif_client_take(&p->c, &at, frame), 0);
    memif_client_close(&p->c);
}

/* The successor of a killed user starts with the state of its fork, before the client connected. */
static void test_a_user_that_is_killed_has_a_successor(void **state)
{
    struct pair *p = *state;
    struct wire successor = p->w;
    uint8_t frame[HX_MAX_FRAME];
    uint8_t got[WIRE_MAX_FRAME];
    uint16_t at = 0;
    memif_connect_client(p, 2048);
    for (unsigned n = 0; n < 3; n++) {
        memif_make_frame(frame, 3000, n);
        assert_true(memif_client_send(&p->c, frame, 3000));
        assert_int_equal(wire_receive(&p->w, got), 3000);
        assert_true(wire_send(&p->w, frame, 3000));
    }
    wire_flush(&p->w);
    assert_true(wire_send(&p->w, frame, 64)); /* never flushed, so it is lost */
    memif_make_frame(frame, 5000, 7);
    assert_true(memif_client_send(&p->c, frame, 5000));
    assert_true(wire_poll(&successor));
    assert_int_equal(wire_receive(&successor, got), 5000);
    assert_memory_equal(got, frame, 5000);
    assert_true(wire_send(&successor, frame, 100));
    wire_flush(&successor);
    for (unsigned n = 0; n < 3; n++)
        assert_int_equal(memif_client_take(&p->c, &at, got), 3000);
    assert_int_equal(memif_client_take(&p->c, &at, got), 100);
    assert_memory_equal(got, frame, 100);
    assert_int_equal(memif_client_take(&p->c, &at, got), 0);
    assert_int_equal(memif_take_answer(&p->c), 0); /* the client receives no message */
    wire_drop(&successor);
    memif_client_close(&p->c);
}

static void test_both_sides_poll(void **state)
{
    struct pair *p = *state;
    memif_connect_client(p, 2048);
    assert_int_equal(p->c.to_server->flags, MEMIF_NO_INTERRUPT);
    memif_client_close(&p->c);
}

/* The user continues until the opener sees the end, and no access faults. */
static void test_a_client_that_leaves_is_released(void **state)
{
    struct pair *p = *state;
    uint8_t frame[64] = {0};
    memif_connect_client(p, 2048);
    memif_client_close(&p->c);
    assert_true(wire_poll(&p->w));
    assert_true(wire_send(&p->w, frame, sizeof frame));
    wire_serve(&p->w);
    assert_false(wire_send(&p->w, frame, sizeof frame));
    wire_flush(&p->w);
    assert_false(wire_poll(&p->w));
    assert_int_equal(p->w.memif.regions, 0);
}

static void test_a_second_client_is_refused_and_the_first_continues(void **state)
{
    struct pair *p = *state;
    struct client second;
    uint8_t frame[64] = {1};
    memif_connect_client(p, 2048);
    memif_client_open(&second, p->path, 2048, F_SEAL_SHRINK);
    assert_true(memif_poll_server(p));
    assert_int_equal(memif_take_answer(&second), MEMIF_DISCONNECT);
    assert_non_null(strstr(second.heard.disconnect.why, "another client"));
    assert_int_equal(memif_take_answer(&second), -1);
    assert_true(wire_send(&p->w, frame, sizeof frame));
    memif_client_close(&second);
    memif_client_close(&p->c);
    assert_false(memif_poll_server(p));
    memif_connect_client(p, 8448); /* a returning client is accepted */
    memif_client_close(&p->c);
}

static void test_without_a_client_nothing_passes(void **state)
{
    struct pair *p = *state;
    uint8_t frame[HX_MAX_FRAME] = {0};
    assert_false(memif_poll_server(p));
    assert_false(wire_send(&p->w, frame, 64));
    assert_int_equal(wire_receive(&p->w, frame), 0);
    wire_flush(&p->w);
}

static void test_a_frame_that_is_too_long_is_cut(void **state)
{
    struct pair *p = *state;
    uint8_t long_frame[WIRE_MAX_FRAME + 500];
    uint8_t frame[WIRE_MAX_FRAME];
    memif_connect_client(p, 16384);
    memif_make_frame(long_frame, sizeof long_frame, 3);
    assert_true(memif_client_send(&p->c, long_frame, sizeof long_frame));
    assert_int_equal(wire_receive(&p->w, frame), WIRE_MAX_FRAME);
    assert_memory_equal(frame, long_frame, WIRE_MAX_FRAME);
    memif_client_close(&p->c);
}

static void test_a_socket_has_one_listener_and_a_dead_one_is_replaced(void **state)
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

static void test_a_file_that_is_no_socket_stays(void **state)
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
    assert_int_equal(unlink(p->path), 0); /* and a file in the place of the socket stays */
    notes = fopen(p->path, "w");
    assert_non_null(notes);
    fclose(notes);
    wire_close(&p->w);
    assert_int_equal(unlink(p->path), 0);
    assert_int_equal(wire_open_memif(&p->w, p->path), 0);
}

static void test_a_socket_is_for_its_user_only(void **state)
{
    struct pair *p = *state;
    struct wire other;
    struct stat st;
    char path[64];
    snprintf(path, sizeof path, "%s/private", p->folder);
    mode_t before = umask(0);
    assert_int_equal(wire_open_memif(&other, path), 0);
    (void)umask(before);
    assert_int_equal(lstat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    wire_close(&other);
}

/* A symbolic link and a socket of another user's process are not taken over, and stay as they are. */
static void test_files_of_others_in_place_of_a_socket_stay(void **state)
{
    struct pair *p = *state;
    struct wire other;
    struct stat st;
    char path[64];
    char target[64];
    snprintf(path, sizeof path, "%s/planted", p->folder);
    snprintf(target, sizeof target, "%s/target", p->folder);
    assert_int_equal(symlink(target, path), 0);
    assert_int_equal(wire_open_memif(&other, path), -EEXIST);
    assert_int_equal(lstat(target, &st), -1); /* the target was not made */
    assert_int_equal(unlink(path), 0);
}

static void test_another_users_socket_is_refused(void **state)
{
    struct pair *p = *state;
    struct wire other;
    char path[64];
    if (geteuid() != 0)
        skip(); /* only root can give a file to another user */
    snprintf(path, sizeof path, "%s/planted", p->folder);
    assert_int_equal(mknod(path, S_IFSOCK | 0666, 0), 0); /* without a listener */
    assert_int_equal(chown(path, 65534, 65534), 0);
    assert_int_equal(wire_open_memif(&other, path), -EPERM);
    assert_int_equal(unlink(path), 0);
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
#define TEST(name) cmocka_unit_test_setup_teardown(name, memif_set_up, memif_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_frames_pass_in_both_directions),
        TEST(test_a_frame_takes_several_small_buffers),
        TEST(test_a_full_ring_refuses_frames_and_loses_none),
        TEST(test_a_user_that_is_killed_has_a_successor),
        TEST(test_both_sides_poll),
        TEST(test_a_client_that_leaves_is_released),
        TEST(test_a_second_client_is_refused_and_the_first_continues),
        TEST(test_without_a_client_nothing_passes),
        TEST(test_a_frame_that_is_too_long_is_cut),
        TEST(test_a_socket_has_one_listener_and_a_dead_one_is_replaced),
        TEST(test_a_file_that_is_no_socket_stays),
        TEST(test_a_socket_is_for_its_user_only),
        TEST(test_files_of_others_in_place_of_a_socket_stay),
        TEST(test_another_users_socket_is_refused),
        cmocka_unit_test(test_interfaces_are_refused_with_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
