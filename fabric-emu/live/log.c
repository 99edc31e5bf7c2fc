/* log.c - writes the log of a fabric in the background (log.h). */
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Makes the folders of a path, up to its last '/'. */
static bool make_folders(char *path, struct hx_problem *problem)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool made = mkdir(path, 0700) == 0 || errno == EEXIST || errno == EISDIR || errno == EROFS;
        if (!made)
            (void)hx_fail(problem, HX_EXIT_ENVIRONMENT, path, "this folder cannot be made: %s", strerror(errno));
        *slash = '/';
        if (!made)
            return false;
    }
    return true;
}

bool log_place(char path[PATH_MAX], const char *name, struct hx_problem *problem)
{
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    bool is_set = state && state[0] == '/';
    if (!is_set && (!home || home[0] != '/'))
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, "HOME", "is not set: no place for a log is known");
    if (snprintf(path, PATH_MAX, "%s%s/hxmesh/%s.log", is_set ? state : home, is_set ? "" : "/.local/state", name) >=
        PATH_MAX)
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, is_set ? "XDG_STATE_HOME" : "HOME", "is too long for a path");
    return make_folders(path, problem);
}

static int open_file(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
}

bool log_open(struct log *l, const char *path, struct hx_problem *problem)
{
    *l = (struct log){.fd = -1};
    if ((size_t)snprintf(l->path, sizeof l->path, "%s", path) >= sizeof l->path)
        return hx_fail(problem, HX_EXIT_USAGE, "--log", "its path is too long");
    l->fd = open_file(path);
    return l->fd >= 0 || hx_fail(problem, HX_EXIT_ENVIRONMENT, path, "cannot be written: %s", strerror(errno));
}

static void put(const struct log *l, const char *text, size_t bytes)
{
    while (bytes > 0) {
        ssize_t written = write(l->fd, text, bytes);
        if (written <= 0)
            return;
        text += written;
        bytes -= (size_t)written;
    }
}

/* Begins a new file when this one is full. */
static void rotate(struct log *l)
{
    char old[PATH_MAX + 2];
    struct stat is;
    if (fstat(l->fd, &is) != 0 || !S_ISREG(is.st_mode) || is.st_size < LOG_BYTES)
        return;
    (void)snprintf(old, sizeof old, "%s.1", l->path);
    if (rename(l->path, old) != 0 && ftruncate(l->fd, 0) != 0)
        return;
    int fd = open_file(l->path);
    if (fd >= 0) {
        (void)close(l->fd);
        l->fd = fd;
    }
}

static void put_time(const struct log *l)
{
    char date[32];
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc))
        put(l, date, strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ ", &utc));
}

void log_write(struct log *l, const char *text, size_t bytes)
{
    while (l->fd >= 0 && bytes > 0) {
        const char *end = memchr(text, '\n', bytes);
        size_t length = end ? (size_t)(end - text) + 1 : bytes;
        if (!l->in_line) {
            rotate(l);
            put_time(l);
        }
        put(l, text, length);
        l->in_line = !end;
        text += length;
        bytes -= length;
    }
}

void log_close(struct log *l)
{
    if (l->fd >= 0)
        (void)close(l->fd);
    l->fd = -1;
}
