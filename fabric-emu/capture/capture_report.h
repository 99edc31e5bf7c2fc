/* capture_report.h - the report of a capture. */
#ifndef CAPTURE_REPORT_H
#define CAPTURE_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct capture_report {
    char file[256];
    uint32_t interfaces;
    uint64_t received;  /* frames at the chosen ports */
    uint64_t accepted;  /* frames that passed the filter */
    uint64_t dropped;   /* of these, frames without room in the tap */
    uint64_t written;   /* frames in the file */
    uint64_t unwritten; /* frames that could not be written */
    uint64_t bytes;     /* of all files */
    uint64_t files;
    uint64_t broken; /* times that a ring was inconsistent */
    int error;       /* errno of the first failed write */
};

json_t *capture_report_json(const struct capture_report *r);
void capture_report_print(const struct capture_report *r);
/* Prints an error on stderr if frames were not written. Returns whether it did. */
bool capture_report_complain(const struct capture_report *r);

#endif
