/* json.c - writes results as JSON (host/json.h). */
#include "host/json.h"
#include "host/error.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

enum { SIGNIFICANT_DIGITS = 9 };

static bool is_stdout(const char *path)
{
    return strcmp(path, "-") == 0;
}

FILE *hx_output_open(const char *path)
{
    FILE *out = is_stdout(path) ? stdout : fopen(path, "w");
    if (!out)
        hx_die(HX_EXIT_ENVIRONMENT, path, "cannot be written: %s", strerror(errno));
    return out;
}

void hx_output_close(FILE *out, const char *path)
{
    errno = 0;
    bool bad = fflush(out) != 0 || ferror(out);
    int reason = errno;
    if (!is_stdout(path) && fclose(out) != 0) {
        bad = true;
        reason = reason ? reason : errno;
    }
    if (bad)
        hx_die(HX_EXIT_ENVIRONMENT, is_stdout(path) ? "stdout" : path, "cannot be written: %s", strerror(reason));
}

void hx_json_write(json_t *value, const char *path)
{
    if (!value)
        hx_die(HX_EXIT_ENVIRONMENT, path, "out of memory for the JSON report");
    FILE *out = hx_output_open(path);
    json_dumpf(value, out, JSON_INDENT(2) | JSON_REAL_PRECISION(SIGNIFICANT_DIGITS));
    fputc('\n', out);
    hx_output_close(out, path);
    json_decref(value);
}

void hx_output_check(const char *path)
{
    if (!path || is_stdout(path) || access(path, W_OK) == 0)
        return;
    int error = errno;
    char folder[PATH_MAX];
    if (error == ENOENT && snprintf(folder, sizeof folder, "%s", path) < (int)sizeof folder) {
        if (access(dirname(folder), W_OK) == 0)
            return;
        error = errno;
    }
    hx_die(HX_EXIT_ENVIRONMENT, path, "cannot be written: %s", strerror(error));
}
