/* key.c - reads the key of a cable (base/key.h). */
#include "base/key.h"
#include "base/input.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIGITS = 2 * HX_AUTH_KEY_BYTES, MOST_TEXT = 256 };

/* Checks that no other user can read the key and forge, or write it and choose it. */
static bool is_private(int fd, const char *path, struct hx_problem *problem)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return hx_input_fail(path, errno, problem);
    if (!S_ISREG(st.st_mode))
        return hx_fail(problem, HX_EXIT_CONFIG, path, "is no file: a key is 32 hexadecimal digits in a file");
    if (st.st_uid != geteuid() && st.st_uid != 0)
        return hx_fail(problem, HX_EXIT_CONFIG, path, "belongs to another user, so the key is not secret");
    if (st.st_mode & (S_IRWXG | S_IRWXO))
        return hx_fail(problem, HX_EXIT_CONFIG, path, "is not for its user alone: its mode is %04o (chmod 600 %s)",
                       (unsigned)(st.st_mode & 07777), path);
    return true;
}

static unsigned digit(char c)
{
    return isdigit((unsigned char)c) ? (unsigned)(c - '0') : (unsigned)(tolower((unsigned char)c) - 'a') + 10;
}

/* Returns the only word of a text and sets its length; NULL: no word, or several. */
static const char *only_word(const char *text, size_t *length)
{
    static const char space[] = " \t\r\n";
    const char *word = text + strspn(text, space);
    *length = strcspn(word, space);
    return *length && word[*length + strspn(word + *length, space)] == 0 ? word : NULL;
}

static bool parse(struct hx_auth_key *key, const char *text)
{
    uint8_t bytes[HX_AUTH_KEY_BYTES] = {0};
    size_t length;
    const char *word = only_word(text, &length);
    if (!word || length != DIGITS)
        return false;
    for (unsigned i = 0; i < DIGITS; i++) {
        if (!isxdigit((unsigned char)word[i]))
            return false;
        bytes[i / 2] = (uint8_t)(bytes[i / 2] << 4 | digit(word[i]));
    }
    *key = hx_auth_key_of(bytes);
    return true;
}

bool hx_key_read(struct hx_auth_key *key, const char *path, struct hx_problem *problem)
{
    char text[MOST_TEXT + 1] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return hx_input_fail(path, errno, problem);
    bool good = is_private(fd, path, problem);
    ssize_t bytes = good ? read(fd, text, MOST_TEXT) : 0;
    if (bytes < 0)
        good = hx_input_fail(path, errno, problem);
    else if (good && (bytes == MOST_TEXT || strlen(text) != (size_t)bytes || !parse(key, text)))
        good = hx_fail(problem, HX_EXIT_CONFIG, path,
                       "holds no key: 32 hexadecimal digits (od -An -N16 -tx8 /dev/urandom | tr -d ' ')");
    (void)close(fd);
    return good;
}
