/* notes.h - what a reader of a schedule left out and decided (formats.h), for reports. */
#ifndef SCHEDULE_NOTES_H
#define SCHEDULE_NOTES_H

#include "schedule/formats.h"

#include <jansson.h>

/* Prints a line "left out" and a line "note", if there is something to say. Each begins with `indent` and its word, in
 * a field of `width` characters. */
void schedule_notes_print(const struct schedule_notes *notes, const char *indent, int width);

/* Sets "left_out" and "annotations". */
void schedule_notes_json(json_t *object, const struct schedule_notes *notes);

#endif
