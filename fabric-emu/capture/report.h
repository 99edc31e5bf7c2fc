/* report.h - what a capture came to. */
#ifndef CAPTURE_REPORT_H
#define CAPTURE_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct capture_report {
    char file[256];
    uint32_t interfaces;
    uint64_t received;  /* frames that passed the ports */
    uint64_t accepted;  /* that the filter let through */
    uint64_t dropped;   /* of these, frames the tap had no room for */
    uint64_t written;   /* to the file */
    uint64_t unwritten; /* taken, but the file could not be written */
    uint64_t bytes;     /* of all files */
    uint64_t files;
    uint64_t broken; /* times that a ring made no sense */
    int error;       /* errno of the first failed write */
};

json_t *capture_report_json(const struct capture_report *r);
/* As a line of a run's report. */
void capture_report_print(const struct capture_report *r);
/* Complains on stderr if frames could not be written. Returns whether that was so. */
bool capture_report_complain(const struct capture_report *r);

#endif
