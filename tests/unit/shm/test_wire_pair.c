/* test_wire_pair.c - a cable to a child process: frames complete and in order, none lost if the process is slow. */
#include "hal/wire/wire.h"
#include "hxmesh/frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static uint8_t frame[HX_MAX_FRAME], came[HX_MAX_FRAME + 1];

/* Frame `number`: its length and bytes follow from it. */
static uint32_t make(unsigned number)
{
    uint32_t bytes = 64 + number * 1021 % (HX_MAX_FRAME - 64 + 1);
    for (uint32_t i = 0; i < bytes; i++)
        frame[i] = (uint8_t)(number + i * 7);
    return bytes;
}

static void expect(unsigned number, ssize_t bytes)
{
    assert_int_equal(bytes, make(number));
    assert_memory_equal(came, frame, (size_t)bytes);
}

static void frames_without_room_are_refused_and_none_else_is_lost(void **state)
{
    struct wire w;
    int other;
    unsigned sent = 0;
    (void)state;
    assert_int_equal(wire_open_pair(&w, "a1,1/p0/E", &other), 0);
    assert_true(wire_poll(&w));
    while (wire_send(&w, frame, make(sent)))
        sent++;
    assert_in_range(sent, 1, 100000);
    for (unsigned number = 0; number < sent; number++)
        expect(number, recv(other, came, sizeof came, MSG_DONTWAIT));
    assert_int_equal(recv(other, came, sizeof came, MSG_DONTWAIT), -1);
    assert_true(wire_send(&w, frame, make(sent)));
    expect(sent, recv(other, came, sizeof came, MSG_DONTWAIT));
    (void)close(other);
    wire_close(&w);
}

static void frames_arrive_complete_and_in_order(void **state)
{
    struct wire w;
    int other;
    unsigned sent = 0;
    (void)state;
    assert_int_equal(wire_open_pair(&w, "a1,1/p0/E", &other), 0);
    assert_int_equal(wire_receive(&w, came), 0);
    uint32_t bytes = make(0);
    while (send(other, frame, bytes, MSG_DONTWAIT) == (ssize_t)bytes)
        bytes = make(++sent);
    for (unsigned number = 0; number < sent; number++)
        expect(number, wire_receive(&w, came));
    assert_int_equal(wire_receive(&w, came), 0);
    (void)close(other);
    wire_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_without_room_are_refused_and_none_else_is_lost),
        cmocka_unit_test(frames_arrive_complete_and_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
