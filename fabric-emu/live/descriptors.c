/* descriptors.c - raises the limit of open descriptors (descriptors.h). */
#include "descriptors.h"

#include <errno.h>
#include <sys/resource.h>

void descriptors_allow(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

const char *descriptors_advice(int error)
{
    return error == EMFILE || error == EBADF ? " (raise `ulimit -n`)" : "";
}
