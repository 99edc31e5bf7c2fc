/* rank_files.c - names of a trace's files (rank_files.h). */
#include "schedule/rank_files.h"
#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

char *rank_files_path(const struct rank_files *files, uint32_t rank)
{
    char *path = NULL;
    int length = files->behind
                     ? asprintf(&path, "%.*s%" PRIu32 "%s", (int)files->before, files->path, rank, files->behind)
                     : asprintf(&path, "%s", files->path);
    if (length < 0)
        hx_die(HX_EXIT_ENVIRONMENT, files->path, "no memory");
    return path;
}

bool rank_files_have(const struct rank_files *files, uint32_t rank)
{
    char *path = rank_files_path(files, rank);
    const bool have = access(path, F_OK) == 0;
    free(path);
    return have;
}
