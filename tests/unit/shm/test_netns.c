/* test_netns.c - the kernel's answers to netlink requests. */
#include "fabric-emu/live/netns.h"

#include <errno.h>
#include <linux/netlink.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

struct answer {
    struct nlmsghdr header;
    struct nlmsgerr error;
};

/* Result of an answer of which this many bytes arrive; errno may be anything before. */
static int take_answer(const struct answer *answer, size_t bytes)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), 0);
    assert_int_equal(send(ends[1], answer, bytes, 0), bytes);
    errno = 0;
    int error = netns_ask(ends[0], "?", 1);
    (void)close(ends[0]);
    (void)close(ends[1]);
    return error;
}

static void an_incomplete_answer_is_an_error(void **state)
{
    (void)state;
    struct answer answer = {.header.nlmsg_type = NLMSG_ERROR};
    assert_int_equal(take_answer(&answer, sizeof answer), 0);
    for (size_t bytes = 0; bytes < sizeof answer; bytes++)
        assert_int_equal(take_answer(&answer, bytes), EPROTO);
    answer.error.error = -EPERM;
    assert_int_equal(take_answer(&answer, sizeof answer), EPERM);
    answer.header.nlmsg_type = NLMSG_DONE;
    assert_int_equal(take_answer(&answer, sizeof answer), EPROTO);
}

static void a_request_that_is_not_sent_has_its_error(void **state)
{
    (void)state;
    errno = 0;
    assert_int_equal(netns_ask(-1, "?", 1), EBADF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_incomplete_answer_is_an_error),
        cmocka_unit_test(a_request_that_is_not_sent_has_its_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
