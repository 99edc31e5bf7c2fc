/* simulation_report.h - reads the report of a run by keys, and notes the first one that is not there.
 *
 *     struct report_notes notes = {.missing = ""};
 *     struct report whole = report_open(json, &notes);
 *     struct report first = report_entry(&whole, "schedule", 0);
 *     seconds = report_number(&first, "computing_seconds.mean");
 *     if (notes.missing[0])       "schedule[0].computing_seconds.mean"
 *
 * A key may go through objects: "host.wall_seconds". What is missing reads as 0, "" or an empty list, so that a reader
 * asks for all it needs, and looks at the notes once. */
#ifndef HXMESH_TOOLS_SIMULATION_REPORT_H
#define HXMESH_TOOLS_SIMULATION_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { REPORT_KEY = 128 };

struct report_notes {
    char missing[REPORT_KEY]; /* the first key that was asked for and is not there; "": none */
};

/* An object of a report. */
struct report {
    const json_t *json; /* NULL: it is missing */
    struct report_notes *notes;
    char path[REPORT_KEY]; /* "jobs[2]"; "": the whole report */
};

struct report report_open(const json_t *json, struct report_notes *notes);

/* Notes the key unless it is there; null counts as there. */
void report_need(const struct report *r, const char *key);

double report_number(const struct report *r, const char *key);
/* Also null, which reads as NAN. */
double report_number_or_null(const struct report *r, const char *key);
const char *report_text(const struct report *r, const char *key);

/* Length of a list. */
size_t report_length(const struct report *r, const char *key);
/* An object of a list. */
struct report report_entry(const struct report *r, const char *key, size_t index);
/* A number of a list. */
double report_number_at(const struct report *r, const char *key, size_t index);

#endif
