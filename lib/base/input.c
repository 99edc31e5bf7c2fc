/* input.c - opens files for reading (base/input.h). */
#include "base/input.h"
#include "base/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool hx_input_fail(const char *path, int error, struct hx_problem *problem)
{
    bool is_wrong_name =
        error == ENOENT || error == ENOTDIR || error == EISDIR || error == ENAMETOOLONG || error == ELOOP;
    return hx_fail(problem, is_wrong_name ? HX_EXIT_CONFIG : HX_EXIT_ENVIRONMENT, path, "cannot be read: %s",
                   strerror(error));
}

/* ---- pipes ---- */

static ssize_t read_pipe(void *of, char *to, size_t bytes)
{
    const int *fd = of;
    struct pollfd p = {.fd = *fd, .events = POLLIN};
    struct hx_signals_saved saved = {.blocked = false};
    bool waits = poll(&p, 1, 0) == 0;
    if (waits)
        hx_signals_unblock(&saved);
    ssize_t got = read(*fd, to, bytes);
    hx_signals_reblock(&saved);
    return got;
}

static int close_pipe(void *of)
{
    const int *fd = of;
    int result = close(*fd);
    free(of);
    return result;
}

/* Opens a pipe. Signals may end the process while it waits for a writer. */
static FILE *open_pipe(const char *path)
{
    struct hx_signals_saved saved;
    hx_signals_unblock(&saved);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    hx_signals_reblock(&saved);
    if (fd < 0)
        return NULL;
    int *of = hx_allocate(1, sizeof *of);
    *of = fd;
    return fopencookie(of, "rb", (cookie_io_functions_t){.read = read_pipe, .close = close_pipe});
}

bool hx_input_read(const char *path, size_t most, const char *what, char **text, size_t *bytes,
                   struct hx_problem *problem)
{
    FILE *in = hx_input_open(path, problem);
    if (!in)
        return false;
    char *buffer = hx_allocate(most + 1, 1);
    errno = 0;
    *bytes = fread(buffer, 1, most + 1, in);
    int reason = ferror(in) ? errno : 0;
    (void)fclose(in);
    if (reason || *bytes > most) {
        free(buffer);
        return reason ? hx_input_fail(path, reason, problem)
                      : hx_fail(problem, HX_EXIT_CONFIG, path, "larger than %zu MiB: this is no %s", most >> 20, what);
    }
    *text = buffer;
    return true;
}

FILE *hx_input_open(const char *path, struct hx_problem *problem)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        hx_input_fail(path, errno, problem);
        return NULL;
    }
    if (S_ISDIR(st.st_mode) || S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)) {
        hx_fail(problem, HX_EXIT_CONFIG, path, "is a %s, not a file", S_ISDIR(st.st_mode) ? "directory" : "device");
        return NULL;
    }
    FILE *in = S_ISFIFO(st.st_mode) ? open_pipe(path) : fopen(path, "rb");
    if (!in)
        hx_input_fail(path, errno, problem);
    return in;
}
