/* rank_files.h - names of a trace's files, one a rank, that differ in the rank's number alone. */
#ifndef SCHEDULE_RANK_FILES_H
#define SCHEDULE_RANK_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A path, and where the rank's number stands in it. */
struct rank_files {
    const char *path;   /* not copied */
    size_t before;      /* bytes before the number */
    const char *behind; /* text behind the number; NULL: the path has none, and is that of all ranks */
};

/* Returns the path of a rank's file, for free(). */
char *rank_files_path(const struct rank_files *files, uint32_t rank);

bool rank_files_have(const struct rank_files *files, uint32_t rank);

#endif
