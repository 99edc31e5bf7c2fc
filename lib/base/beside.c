/* beside.c - finds a program in the folder of this one (base/beside.h). */
#include "base/beside.h"
#include "base/error.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool beside_path(const char *name, char *path, size_t bytes)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0)
        return false;
    self[length] = 0;
    int written = snprintf(path, bytes, "%s/%s", dirname(self), name);
    return written > 0 && (size_t)written < bytes;
}

void beside_run(const char *name, char **argv)
{
    char file[64];
    char path[PATH_MAX + 64];
    (void)snprintf(file, sizeof file, "hxmesh-%.40s", name);
    if (!beside_path(file, path, sizeof path))
        return;
    (void)execv(path, argv);
    if (errno != ENOENT)
        hx_die(HX_EXIT_ENVIRONMENT, path, "cannot be run: %s", strerror(errno));
}
