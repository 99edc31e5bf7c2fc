/* beside.c - finds a program by where this one lies (host/beside.h). */
#include "host/beside.h"
#include "host/error.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void beside_run(const char *name, char **argv)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0)
        return;
    self[length] = 0;
    char path[PATH_MAX + 64];
    (void)snprintf(path, sizeof path, "%s/hxmesh-%.40s", dirname(self), name);
    (void)execv(path, argv);
    if (errno != ENOENT)
        hx_die(HX_EXIT_ENVIRONMENT, path, "cannot be run: %s", strerror(errno));
}
