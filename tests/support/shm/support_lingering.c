/* support_lingering.c - a descriptor that takes long to close (support_lingering.h). */
#include "tests/support/shm/support_lingering.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static void fill(int fd)
{
    static uint8_t bytes[65536];
    while (send(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0) {
    }
}

int lingering_open(int *peer)
{
    const struct linger linger = {.l_onoff = 1, .l_linger = LINGERING_S};
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr *at = (struct sockaddr *)&name;
    socklen_t length = sizeof name;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, at, sizeof name), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, at, &length), 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger), 0);
    *peer = connect(fd, at, sizeof name) == 0 ? accept4(listener, at, &length, SOCK_CLOEXEC) : -1;
    (void)close(listener);
    if (*peer < 0) {
        (void)close(fd);
        return -1;
    }
    fill(fd);
    return fd;
}
