/* prod_image - starts an image in QEMU with cables as hxmesh provides them, and sends it invalid frames: random bytes
 * of any length, frames with hxmesh types and random contents, its own frames back, unchanged or with a flipped bit.
 *
 *     prod_image FRAMES QEMU [ARGUMENT...]
 *
 * QEMU ARGUMENT...: the command without its cables. Prints the seed (HX_SEED), the image's output, and `answered 1`
 * if on each of four cables it sent a frame before and after the invalid ones; otherwise `answered 0`. Exits with
 * QEMU's code. */
#include "hxmesh/frame.h"
#include "tests/support/support_random.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CABLES = 4, MOST_ARGUMENTS = 64, LONGEST = HX_MAX_FRAME + 1000 };

static uint64_t seed;
static int cable[CABLES][2]; /* this program's, QEMU's */
static uint64_t came[CABLES];
static uint8_t last[CABLES][LONGEST];
static size_t last_bytes[CABLES];

/* Runs `command` with a device for each cable. */
_Noreturn static void become(char *const *command, int console)
{
    char netdev[CABLES][64];
    char device[CABLES][64];
    const char *list[MOST_ARGUMENTS];
    unsigned n = 0;
    while (n < MOST_ARGUMENTS - 4 * CABLES - 1 && command[n]) {
        list[n] = command[n];
        n++;
    }
    for (unsigned i = 0; i < CABLES; i++) {
        (void)snprintf(netdev[i], sizeof netdev[i], "dgram,id=c%u,local.type=fd,local.str=%d", i, cable[i][1]);
        (void)snprintf(device[i], sizeof device[i], "virtio-net-device,netdev=c%u,bus=virtio-mmio-bus.%u", i, i);
        list[n++] = "-netdev";
        list[n++] = netdev[i];
        list[n++] = "-device";
        list[n++] = device[i];
        (void)fcntl(cable[i][1], F_SETFD, 0);
    }
    list[n] = NULL;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)dup2(console, STDIN_FILENO);
    (void)fflush(stdout);
    (void)execvp(list[0], (char *const *)list);
    _exit(127);
}

static void read_all(unsigned i)
{
    ssize_t bytes;
    while ((bytes = recv(cable[i][0], last[i], sizeof last[i], MSG_DONTWAIT)) > 0) {
        last_bytes[i] = (size_t)bytes;
        came[i]++;
    }
}

static size_t make_frame(unsigned i, uint8_t *frame)
{
    size_t bytes = 1 + seeded_below(&seed, LONGEST);
    for (size_t at = 0; at < bytes; at++)
        frame[at] = (uint8_t)seeded_next(&seed);
    switch (seeded_below(&seed, 4)) {
    case 0:
        return bytes;
    case 1: /* a hxmesh type; often as short as a credit frame */
        bytes = seeded_below(&seed, 2) ? bytes : 72;
        frame[12] = 0x88;
        frame[13] = seeded_below(&seed, 2) ? 0xB5 : 0xB6;
        return bytes;
    default: /* its own frame, unchanged or with a flipped bit */
        if (last_bytes[i] == 0)
            return bytes;
        memcpy(frame, last[i], last_bytes[i]);
        if (seeded_below(&seed, 2))
            frame[seeded_below(&seed, last_bytes[i])] ^= (uint8_t)(1U << seeded_below(&seed, 8));
        return last_bytes[i];
    }
}

/* Frames without room are sent once there is some; if the image stops reading, this does not end. */
static void prod(unsigned long frames)
{
    static uint8_t frame[LONGEST];
    for (unsigned long n = 0; n < frames; n++) {
        unsigned i = seeded_below(&seed, CABLES);
        struct pollfd room = {.fd = cable[i][0], .events = POLLOUT};
        read_all(i);
        size_t bytes = make_frame(i, frame);
        while (send(cable[i][0], frame, bytes, MSG_DONTWAIT) < 0 && errno == EAGAIN) {
            (void)poll(&room, 1, 1000);
            read_all(i);
        }
    }
}

/* The image lives if it still sends: whether each cable brings one more frame. */
static bool await_frames(void)
{
    enum { PATIENCE_MS = 20000 };
    for (unsigned i = 0; i < CABLES; i++) {
        struct pollfd in = {.fd = cable[i][0], .events = POLLIN};
        read_all(i);
        uint64_t before = came[i];
        while (came[i] == before) {
            if (poll(&in, 1, PATIENCE_MS) <= 0)
                return false;
            read_all(i);
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    int console[2];
    int status = 0;
    if (argc < 3 || pipe2(console, O_CLOEXEC) != 0)
        return 2;
    seed = seeded_by(1);
    printf("HX_SEED=%" PRIu64 "\n", seed);
    (void)fflush(stdout);
    for (unsigned i = 0; i < CABLES; i++) {
        if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, cable[i]) != 0)
            return 2;
    }
    pid_t pid = fork();
    if (pid == 0)
        become(argv + 2, console[0]);
    bool answered = await_frames();
    if (answered) { /* an image that reads nothing is skipped, since prod() would not end */
        prod(strtoul(argv[1], NULL, 10));
        answered = await_frames();
    }
    if (write(console[1], "q", 1) != 1 || waitpid(pid, &status, 0) != pid)
        return 2;
    printf("answered %d\n", answered);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
