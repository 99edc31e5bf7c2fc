/* support_schedule.h - schedules of tests: from texts, and compared by the bytes of their files. */
#ifndef HXMESH_TESTS_SUPPORT_SCHEDULE_H
#define HXMESH_TESTS_SUPPORT_SCHEDULE_H

#include "schedule/formats.h"

/* Reads a file of this content, in a format that is found by it. NULL: *problem says why. */
struct schedule *schedule_of(const void *content, size_t bytes, struct schedule_notes *notes,
                             struct hx_problem *problem);
/* The same for a text that is right. */
struct schedule *schedule_of_text(const char *text);

/* Writes a schedule in a format and returns the file's content, for free(); *bytes: its length. */
char *schedule_in_format(const struct schedule *s, const struct schedule_format *format, size_t *bytes);

/* Asserts that schedule_write() writes the same of both. */
void assert_schedules_equal(const struct schedule *a, const struct schedule *b);

#endif
