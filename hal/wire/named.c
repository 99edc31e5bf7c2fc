/* named.c - named Unix sockets of this user (named.h). */
#include "named.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

uint64_t named_file(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISSOCK(st.st_mode) ? (uint64_t)st.st_ino : 0;
}

/* The file that bind() creates gets the socket's mode. */
static int new_socket(int type)
{
    int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || fchmod(fd, S_IRUSR | S_IWUSR) == 0)
        return fd;
    (void)close(fd);
    return -1;
}

static bool is_of_another_user(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && st.st_uid != geteuid();
}

/* connect() also refuses files that are no sockets. */
int named_remove_left(int type, const struct sockaddr_un *name)
{
    if (!named_file(name->sun_path) || is_of_another_user(name->sun_path))
        return 0;
    int fd = new_socket(type);
    bool refused = fd >= 0 && connect(fd, (const struct sockaddr *)name, sizeof *name) != 0 && errno == ECONNREFUSED;
    if (fd >= 0)
        (void)close(fd);
    return refused && unlink(name->sun_path) == 0;
}

static int give_name(int fd, int type, const struct sockaddr_un *name)
{
    int error = bind(fd, (const struct sockaddr *)name, sizeof *name) ? errno : 0;
    if (error == EADDRINUSE && is_of_another_user(name->sun_path))
        return EPERM;
    if (error == EADDRINUSE && named_remove_left(type, name))
        error = bind(fd, (const struct sockaddr *)name, sizeof *name) ? errno : 0;
    return error == EADDRINUSE && !named_file(name->sun_path) ? EEXIST : error;
}

int named_open(int type, const struct sockaddr_un *name)
{
    int fd = new_socket(type);
    int error = fd < 0 ? errno : give_name(fd, type, name);
    if (error && fd >= 0)
        (void)close(fd);
    return error ? -error : fd;
}
