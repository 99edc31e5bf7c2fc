/* formats.c - the table of formats (formats.h). */
#include "schedule/formats.h"
#include "base/input.h"
#include "schedule/readers.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONGEST_PATH = 4096 };

const struct schedule_format *const schedule_formats[] = {&schedule_goal,
                                                          &schedule_goal_binary,
                                                          &schedule_chakra,
                                                          &schedule_kineto,
                                                          &schedule_layers,
                                                          &schedule_mpi,
                                                          &schedule_msccl,
                                                          &schedule_mscclpp,
                                                          &schedule_model,
                                                          &schedule_yaml, /* last: any file that begins with a key */
                                                          NULL};

static struct schedule *build(struct schedule_builder *b, const char *path, struct hx_problem *problem)
{
    return b ? schedule_build(b, path, problem) : NULL;
}

/* The format of a file that begins so; NULL: none, or our own. */
static const struct schedule_format *format_of(const uint8_t *begin, size_t bytes)
{
    for (const struct schedule_format *const *f = schedule_formats; *f; f++) {
        if ((*f)->is(begin, bytes))
            return *f;
    }
    return NULL;
}

/* The file that a path names: itself, or the first file of a Chakra trace. */
static const char *file_of(const char *path, char first[LONGEST_PATH])
{
    return access(path, F_OK) != 0 && chakra_first_file(path, first, LONGEST_PATH) ? first : path;
}

/* Reads a file's first bytes; returns their number. Reading a pipe would take its content away. */
static size_t begin_of(const char *path, uint8_t begin[SCHEDULE_SNIFF])
{
    char first[LONGEST_PATH];
    struct stat status;
    path = file_of(path, first);
    FILE *in = stat(path, &status) == 0 && S_ISREG(status.st_mode) ? fopen(path, "re") : NULL;
    if (!in)
        return 0;
    size_t bytes = fread(begin, 1, SCHEDULE_SNIFF, in);
    (void)fclose(in);
    return bytes;
}

const struct schedule_format *schedule_format_of(const char *path)
{
    uint8_t begin[SCHEDULE_SNIFF];
    return format_of(begin, begin_of(path, begin));
}

bool schedule_is_any(const char *path)
{
    uint8_t begin[SCHEDULE_SNIFF];
    size_t bytes = begin_of(path, begin);
    return schedule_is_file(begin, bytes) || format_of(begin, bytes);
}

struct schedule *schedule_read(const char *path, const struct schedule_read_options *options,
                               struct schedule_notes *notes, struct hx_problem *problem)
{
    uint8_t begin[SCHEDULE_SNIFF];
    char first[LONGEST_PATH];
    struct stat status;
    path = file_of(path, first);
    FILE *in = hx_input_open(path, problem);
    if (!in)
        return NULL;
    if (fstat(fileno(in), &status) == 0 && !S_ISREG(status.st_mode)) {
        (void)fclose(in);
        (void)hx_fail(problem, HX_EXIT_CONFIG, path,
                      "is no regular file, and a schedule is read twice (write it to a file)");
        return NULL;
    }
    size_t bytes = fread(begin, 1, sizeof begin, in);
    (void)fclose(in);
    *notes = (struct schedule_notes){0};
    if (schedule_is_file(begin, bytes))
        return schedule_open(path, problem);
    const struct schedule_format *format = format_of(begin, bytes);
    if (format)
        return build(format->read(path, options, notes, problem), path, problem);
    (void)hx_fail(problem, HX_EXIT_CONFIG, path,
                  "is no schedule in a known format (hxmesh schedule --formats lists them)");
    return NULL;
}
