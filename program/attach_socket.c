/* attach_socket.c - finds a fabric's attach socket and requests a host there (attach_socket.h). */
#include "program/attach_socket.h"
#include "hal/program/attachment.h"
#include "hal/wire/passing.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ANSWER_MS = 5000 };

/* ---- finding ---- */

/* True for a socket of this user. The folder lets only the owner remove a file, so the name stays this user's. */
static bool is_own(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISSOCK(st.st_mode) && st.st_uid == geteuid();
}

/* Connects to a socket. Returns -ENOENT if there is none, or no process has it open. */
static int connect_to(const struct sockaddr_un *name)
{
    if (!is_own(name->sun_path))
        return -ENOENT;
    int attach_socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (attach_socket < 0 || connect(attach_socket, (const struct sockaddr *)name, sizeof *name) == 0)
        return attach_socket < 0 ? -errno : attach_socket;
    int error = errno;
    (void)close(attach_socket);
    return error == ECONNREFUSED || error == EPROTOTYPE ? -ENOENT : -error;
}

static int connect_by_name(const char *fabric)
{
    struct sockaddr_un name;
    return attach_socket_name(&name, fabric) ? connect_to(&name) : -ENOENT;
}

static int connect_any(void)
{
    DIR *dir = opendir(ATTACH_SOCKET_FOLDER);
    if (!dir)
        return -errno;
    int found = -ENOENT;
    for (const struct dirent *e = readdir(dir); e && found != -ENOTUNIQ; e = readdir(dir)) {
        char fabric[NAME_MAX + 1];
        int attach_socket = -ENOENT;
        if (snprintf(fabric, sizeof fabric, "%.*s", (int)attach_socket_fabric(e->d_name),
                     e->d_name + strlen(ATTACH_SOCKET_PREFIX)) > 0)
            attach_socket = connect_by_name(fabric);
        if (attach_socket >= 0 && found >= 0) {
            (void)close(attach_socket);
            (void)close(found);
            found = -ENOTUNIQ;
        } else if (found < 0 && attach_socket != -ENOENT) {
            found = attach_socket;
        }
    }
    (void)closedir(dir);
    return found;
}

int attach_socket_find(const char *fabric)
{
    return fabric ? connect_by_name(fabric) : connect_any();
}

/* ---- requests ---- */

static bool send_request(int attach_socket, const char *host, int answers)
{
    struct attach_request question = {.magic = ATTACH_SOCKET_MAGIC, .version = ATTACHMENT_VERSION};
    const struct timeval longest = {.tv_sec = ANSWER_MS / 1000};
    if (snprintf(question.host, sizeof question.host, "%s", host) >= (int)sizeof question.host) {
        errno = ENOENT;
        return false;
    }
    (void)setsockopt(attach_socket, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
    return passing_send(attach_socket, &question, sizeof question, answers, 0);
}

/* Returns a passed descriptor or -errno. An end of file without reply means that the fabric ended. */
static int take_reply(int from)
{
    struct attach_reply answer = {.magic = 0};
    struct pollfd wait = {.fd = from, .events = POLLIN};
    int passed;
    if (poll(&wait, 1, ANSWER_MS) != 1)
        return -ETIMEDOUT;
    ssize_t bytes = passing_receive(from, &answer, sizeof answer, &passed, MSG_DONTWAIT);
    if (bytes == 0)
        return -ENOENT;
    bool good =
        bytes == (ssize_t)sizeof answer && answer.magic == ATTACH_SOCKET_MAGIC && answer.version == ATTACHMENT_VERSION;
    if (good && answer.error == 0 && passed >= 0)
        return passed;
    if (passed >= 0)
        (void)close(passed);
    return good && answer.error < 0 ? answer.error : -EPROTO;
}

int attach_socket_request(int attach_socket, const char *host, int *wakeup_fd)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return -errno;
    bool asked = send_request(attach_socket, host, pair[1]);
    int error = asked ? 0 : errno == EAGAIN ? -ETIMEDOUT : errno == ECONNREFUSED ? -ENOENT : -errno;
    (void)close(pair[1]);
    int answer = asked ? take_reply(pair[0]) : error;
    *wakeup_fd = answer < 0 ? answer : take_reply(pair[0]);
    (void)close(pair[0]);
    if (*wakeup_fd >= 0 || answer < 0)
        return answer;
    (void)close(answer);
    return *wakeup_fd;
}
