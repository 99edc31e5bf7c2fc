/* create.c - opens files for writing (base/create.h). */
#include "base/create.h"
#include "base/error.h"
#include "base/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>

static bool is_fifo(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISFIFO(st.st_mode);
}

/* Sleeps briefly. Returns whether an ending signal came, handled or, if blocked, taken here. */
static bool is_interrupted(void)
{
    static const struct timespec moment = {.tv_nsec = 20000000};
    sigset_t ending = hx_signals_ending();
    return sigtimedwait(&ending, NULL, &moment) > 0 || errno == EINTR;
}

/* Polls a FIFO until a reader opens it: a blocking open() would ignore blocked signals. */
static int await_reader(const char *path)
{
    bool said = false;
    for (;;) {
        int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        if (fd >= 0) {
            (void)fcntl(fd, F_SETFL, O_WRONLY);
            return fd;
        }
        if (errno != ENXIO)
            return -errno;
        if (!said)
            hx_warn(path, "waiting for a reader of this pipe");
        said = true;
        if (is_interrupted())
            return -EINTR;
    }
}

int hx_create(const char *path)
{
    if (is_fifo(path))
        return await_reader(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return -errno;
    return fd;
}
