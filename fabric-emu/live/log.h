/* log.h - log file of a fabric in the background.
 *
 * Each line begins with the UTC time: "2026-11-27T14:15:25Z hxmesh: warning: ...". At LOG_BYTES the file is renamed to
 * FILE.1, which replaces an older one, and a new one begins. A FIFO or terminal is never renamed. */
#ifndef LOG_H
#define LOG_H

#include "base/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum { LOG_BYTES = 1 << 20 };

struct log {
    char path[PATH_MAX];
    int fd;       /* -1: closed */
    bool in_line; /* the last line is incomplete */
};

/* Sets the default path: $XDG_STATE_HOME/hxmesh/NAME.log, or below ~/.local/state. Makes the folders. */
bool log_place(char path[PATH_MAX], const char *name, struct hx_problem *problem);

/* Opens the file to append. */
bool log_open(struct log *l, const char *path, struct hx_problem *problem);
/* Drops text on a write error. */
void log_write(struct log *l, const char *text, size_t bytes);
void log_close(struct log *l);

#endif
