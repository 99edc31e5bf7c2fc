/* input.c - opening files for reading (host/input.h). */
#include "host/input.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

bool hx_input_fail(const char *path, int error, struct hx_problem *problem)
{
    bool is_wrong_name =
        error == ENOENT || error == ENOTDIR || error == EISDIR || error == ENAMETOOLONG || error == ELOOP;
    return hx_fail(problem, is_wrong_name ? HX_EXIT_CONFIG : HX_EXIT_ENVIRONMENT, path, "cannot be read: %s",
                   strerror(error));
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
    FILE *in = fopen(path, "rb");
    if (!in)
        hx_input_fail(path, errno, problem);
    return in;
}
