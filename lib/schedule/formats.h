/* formats.h - the formats of schedules: one table, one file for each format, which opens with its grammar.
 *
 * A format is found by content, never by the file's name. Errors name file, line and column, or the byte in a binary
 * file, and what was expected there. Readers read in a stream or from a mapped file: files may have gigabytes. */
#ifndef SCHEDULE_FORMATS_H
#define SCHEDULE_FORMATS_H

#include "base/options/option.h"
#include "schedule/build.h"

#include <stdio.h>

/* Values that some formats leave open. Zero: not given. */
struct schedule_read_options {
    uint64_t ranks;            /* of formats without a number of ranks (layers, YAML with expressions) */
    const char *groups;        /* JSON file of process groups {"1": [ranks], ...}, of Chakra */
    double flops;              /* of a rank, for Chakra's roofline: operations a second */
    double memory_bandwidth;   /* bytes a second, as above */
    uint64_t tensor;           /* ranks that share a layer, of layers */
    uint64_t time_unit_ns;     /* of layers; 0: 1 */
    uint64_t message;          /* bytes of a vector, of formats that leave it open (MSCCL) */
    struct hx_option_list set; /* "NAME=VALUE" of parameters, of YAML */
};

/* Notes of a reader for the user; the verb prints them. */
struct schedule_notes {
    uint64_t skipped;      /* operations left out */
    char what[256];        /* these operations, "12 memory nodes"; "" if none */
    char annotations[512]; /* decisions of the reader, and checks that it left out; "" if none */
};

enum { SCHEDULE_SNIFF = 4096 /* bytes that a format sees to find itself */ };

struct schedule_format {
    const char *name; /* "goal" */
    const char *what; /* one line for people */
    /* Whether a file that begins with these bytes is of this format. Formats earlier in the table are asked first. */
    bool (*is)(const uint8_t *begin, size_t bytes);
    /* Returns a filled builder, or NULL and sets *problem. */
    struct schedule_builder *(*read)(const char *path, const struct schedule_read_options *options,
                                     struct schedule_notes *notes, struct hx_problem *problem);
    /* NULL: not written. Returns false and sets *problem if the format cannot express the schedule (collectives in
     * GOAL). */
    bool (*write)(const struct schedule *s, const char *path, struct hx_problem *problem);
};

extern const struct schedule_format *const schedule_formats[]; /* ends with NULL */
extern const struct schedule_format schedule_model;            /* schedule/training/model.h */

/* The format of a file, by its first bytes; NULL: none, or that of schedule_write(). */
const struct schedule_format *schedule_format_of(const char *path);
/* Whether a file's first bytes are those of a schedule. */
bool schedule_is_any(const char *path);

/* Reads a file of any format, or maps one of schedule_write(). Returns NULL and sets *problem. */
struct schedule *schedule_read(const char *path, const struct schedule_read_options *options,
                               struct schedule_notes *notes, struct hx_problem *problem);

#endif
