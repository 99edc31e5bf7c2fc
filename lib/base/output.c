/* output.c - files that appear whole, and a complete stdout (base/output.h). */
#include "base/output.h"
#include "base/create.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_OPEN = 8 };
#define CUT_OFF "could not be written to its end" /* an earlier write failed, its errno is lost */
static const char suffix[] = ".XXXXXX";

/* Files that are not complete. An entry with file NULL is free. */
static struct partial {
    FILE *file;
    char name[PATH_MAX];                   /* final name */
    char beside[PATH_MAX + sizeof suffix]; /* temporary name */
} partials[MOST_OPEN];
static pid_t owner;          /* process that may remove them; its children may not */
static bool stdout_reported; /* the error of stdout was reported */

bool hx_output_is_stdout(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

static struct partial *partial_of(const FILE *file)
{
    for (unsigned i = 0; i < MOST_OPEN; i++)
        if (partials[i].file == file)
            return &partials[i];
    return NULL;
}

/* Opens a temporary file beside `path`. Returns NULL if `path` must be written in place. */
static FILE *open_beside(const char *path)
{
    struct partial *p = partial_of(NULL);
    struct stat found;
    bool there = stat(path, &found) == 0;
    if (!p || (there && !S_ISREG(found.st_mode)) || strlen(path) >= sizeof p->name)
        return NULL;
    if (!there)
        (void)snprintf(p->name, sizeof p->name, "%s", path);
    else if (access(path, W_OK) != 0 || !realpath(path, p->name)) /* a link stays a link */
        return NULL;
    size_t length = strlen(p->name);
    memcpy(p->beside, p->name, length);
    memcpy(p->beside + length, suffix, sizeof suffix);
    int fd = mkstemp(p->beside);
    if (fd < 0)
        return NULL;
    mode_t mask = umask(0);
    (void)umask(mask);
    (void)fchmod(fd, there ? found.st_mode & 07777 : 0666 & ~mask);
    p->file = fdopen(fd, "w");
    hx_output_guard();
    return p->file;
}

FILE *hx_output_open(const char *path)
{
    if (hx_output_is_stdout(path))
        return stdout;
    FILE *out = open_beside(path);
    if (out)
        return out;
    int fd = hx_create(path);
    if (fd == -EINTR)
        hx_die(HX_EXIT_INTERRUPTED, path, "interrupted before it had a reader");
    out = fd < 0 ? NULL : fdopen(fd, "w");
    if (!out)
        hx_die(HX_EXIT_ENVIRONMENT, path, "cannot be written: %s", strerror(fd < 0 ? -fd : errno));
    return out;
}

/* Whether stdout has no reader, also if an earlier write failed and its errno is lost. */
static bool reader_left(void)
{
    struct pollfd is = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&is, 1, 0) == 1 && is.revents & (POLLERR | POLLHUP);
}

void hx_output_close(FILE *out, const char *path)
{
    struct partial *p = partial_of(out);
    errno = 0;
    bool bad = fflush(out) != 0 || ferror(out);
    int reason = errno;
    if (!hx_output_is_stdout(path) && fclose(out) != 0) {
        bad = true;
        reason = reason ? reason : errno;
    }
    if (p) {
        p->file = NULL;
        if (!bad && rename(p->beside, p->name) != 0) {
            bad = true;
            reason = errno;
        }
        if (bad)
            (void)unlink(p->beside);
    }
    stdout_reported = stdout_reported || (bad && hx_output_is_stdout(path));
    if (bad && hx_output_is_stdout(path) && (reason == EPIPE || reader_left()))
        exit(HX_EXIT_ENVIRONMENT); /* the reader closed the pipe: no message */
    const char *where = hx_output_is_stdout(path) ? "stdout" : path;
    if (bad && reason)
        hx_die(HX_EXIT_ENVIRONMENT, where, "cannot be written: %s", strerror(reason));
    if (bad)
        hx_die(HX_EXIT_ENVIRONMENT, where, CUT_OFF);
}

static void remove_partials(void)
{
    for (unsigned i = 0; i < MOST_OPEN && getpid() == owner; i++)
        if (partials[i].file)
            (void)unlink(partials[i].beside);
}

/* The reader of stdout closed the pipe: removes partial files, and ends the program as without a handler. */
static void on_broken_pipe(int number)
{
    remove_partials();
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static void end(void)
{
    if (getpid() != owner)
        return;
    remove_partials();
    errno = 0;
    if ((fflush(stdout) == 0 && !ferror(stdout)) || stdout_reported)
        return;
    if (errno == EPIPE || reader_left())
        _exit(HX_EXIT_ENVIRONMENT);
    if (errno)
        hx_complain("stdout", "cannot be written: %s", strerror(errno));
    else
        hx_complain("stdout", CUT_OFF);
    _exit(HX_EXIT_ENVIRONMENT);
}

/* Occupies closed standard descriptors, so that no file that is opened later takes their place. The replacements can be
 * neither read nor written, except stderr, which is discarded. */
static void hold_standard_descriptors(void)
{
    static const int modes[] = {[STDIN_FILENO] = O_WRONLY, [STDOUT_FILENO] = O_RDONLY, [STDERR_FILENO] = O_WRONLY};
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)             /* then it is the lowest free one, which open() takes */
            (void)open("/dev/null", modes[fd]); /* cppcheck-suppress leakReturnValNotUsed */
}

/* Nothing: a limit of file sizes then fails a write, as a full disk does. */
static void on_full_file(int signal)
{
    (void)signal;
}

void hx_output_guard(void)
{
    hold_standard_descriptors();
    struct sigaction found;
    if (owner != 0 || atexit(end) != 0)
        return;
    owner = getpid();
    if (sigaction(SIGPIPE, NULL, &found) == 0 && found.sa_handler == SIG_DFL)
        (void)signal(SIGPIPE, on_broken_pipe);
    (void)signal(SIGXFSZ, on_full_file); /* unlike SIG_IGN it ends at exec: programs of users keep the signal */
}

void hx_output_check(const char *path)
{
    struct stat is;
    if (!path || hx_output_is_stdout(path))
        return;
    if (!path[0])
        hx_die(HX_EXIT_USAGE, "''", "is no name of a file to write");
    bool folder_itself = stat(path, &is) == 0 && S_ISDIR(is.st_mode);
    if (!folder_itself && access(path, W_OK) == 0)
        return;
    int error = folder_itself ? EISDIR : errno;
    char folder[PATH_MAX];
    if (error == ENOENT && snprintf(folder, sizeof folder, "%s", path) < (int)sizeof folder) {
        if (access(dirname(folder), W_OK) == 0)
            return;
        error = errno;
    }
    hx_die(HX_EXIT_ENVIRONMENT, path, "cannot be written: %s", strerror(error));
}

/* Returns the full name of a file, existing or not: "./run.json" and "run.json" give the same. */
static bool full_name(const char *path, char name[PATH_MAX])
{
    char folder[PATH_MAX];
    char file[PATH_MAX];
    if (realpath(path, name))
        return true;
    if (snprintf(folder, sizeof folder, "%s", path) >= (int)sizeof folder || !realpath(dirname(folder), name))
        return false;
    (void)snprintf(file, sizeof file, "%s", path);
    size_t used = strlen(name);
    return snprintf(name + used, PATH_MAX - used, "/%s", basename(file)) < (int)(PATH_MAX - used);
}

/* Whether two paths name one file. Devices do not count: several outputs may share one. */
static bool is_one_file(const char *one, const char *other)
{
    struct stat a;
    struct stat b;
    char name[PATH_MAX];
    char other_name[PATH_MAX];
    if (stat(one, &a) == 0 && stat(other, &b) == 0)
        return a.st_dev == b.st_dev && a.st_ino == b.st_ino && !S_ISCHR(a.st_mode);
    return full_name(one, name) && full_name(other, other_name) && strcmp(name, other_name) == 0;
}

static void keep_apart(const struct hx_output *one, const struct hx_output *other)
{
    if (!one->path || !other->path)
        return;
    if (hx_output_is_stdout(one->path) && hx_output_is_stdout(other->path))
        hx_die(HX_EXIT_USAGE, one->option, "stdout has what %s writes: name a file for one of them", other->option);
    if (!hx_output_is_stdout(one->path) && !hx_output_is_stdout(other->path) && is_one_file(one->path, other->path))
        hx_die(HX_EXIT_USAGE, one->option, "'%s' is the file of %s too: one would overwrite the other", one->path,
               other->option);
}

void hx_outputs_apart(const struct hx_output *outputs, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        for (unsigned other = i + 1; other < count; other++)
            keep_apart(&outputs[i], &outputs[other]);
}

void hx_outputs_off(const char *read, const struct hx_output *outputs, unsigned count)
{
    for (unsigned i = 0; i < count && strcmp(read, "-") != 0; i++)
        if (outputs[i].path && !hx_output_is_stdout(outputs[i].path) && is_one_file(outputs[i].path, read))
            hx_die(HX_EXIT_USAGE, outputs[i].option, "'%s' is the file that is read, and would be overwritten",
                   outputs[i].path);
}
