/* log.h - the file into which a fabric in the background writes what it says.
 *
 * Each line begins with the time, UTC: "2026-11-27T14:15:25Z hxmesh: warning: ...". At LOG_BYTES the file becomes
 * FILE.1, in place of an older one, and a new one begins: what is kept is bounded. A file that is none (a FIFO, a
 * terminal) grows on. */
#ifndef LOG_H
#define LOG_H

#include "base/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum { LOG_BYTES = 1 << 20 };

struct log {
    char path[PATH_MAX];
    int fd;       /* -1: nothing is written */
    bool in_line; /* the last line has no end yet */
};

/* Where a fabric of this name has its log unless it is told another place: $XDG_STATE_HOME/hxmesh/NAME.log, or below
 * ~/.local/state. Makes the folders. */
bool log_place(char path[PATH_MAX], const char *name, struct hx_problem *problem);

/* Opens the file, to go on behind what it has. */
bool log_open(struct log *l, const char *path, struct hx_problem *problem);
/* What cannot be written is lost. */
void log_write(struct log *l, const char *text, size_t bytes);
void log_close(struct log *l);

#endif
