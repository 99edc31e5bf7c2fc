/* fuzz_schedule.h - shared by the fuzzers of formats of schedules. */
#ifndef HXMESH_TESTS_FUZZ_FUZZ_SCHEDULE_H
#define HXMESH_TESTS_FUZZ_FUZZ_SCHEDULE_H

#include "schedule/formats.h"
#include "schedule/readers.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FUZZ_LONGEST = 4096 };

/* Writes the schedule in a format and reads it again: the same operations and dependencies. */
static inline void fuzz_written(const struct schedule *s, const struct schedule_format *format, const char *path)
{
    static const struct schedule_read_options none;
    struct schedule_notes notes = {0};
    struct hx_problem problem;
    require(format->write(s, path, &problem));
    struct schedule_builder *b = format->read(path, &none, &notes, &problem);
    require(b != NULL);
    struct schedule *again = schedule_build(b, path, &problem);
    require(again && again->head->operations == s->head->operations && again->head->followers == s->head->followers);
    for (uint64_t i = 0; i < s->head->operations; i++) {
        const struct schedule_operation *a = &s->operation[i];
        const struct schedule_operation *o = &again->operation[i];
        require(a->kind == o->kind && a->amount == o->amount && a->peer == o->peer && a->tag == o->tag &&
                a->stream == o->stream && a->waits == o->waits && a->follower == o->follower);
    }
    schedule_close(again);
}

/* Reads the input in this format: a schedule, which is written in both forms of GOAL, or one line of error. */
static inline void fuzz_schedule(const uint8_t *data, size_t size, const struct schedule_format *format)
{
    static const struct schedule_read_options none;
    struct schedule_notes notes = {0};
    struct hx_problem problem = {.what = ""};
    char path[64];
    if (size > FUZZ_LONGEST)
        return;
    (void)snprintf(path, sizeof path, "/tmp/hxmesh-fuzz-%d.schedule", (int)getpid());
    FILE *out = fopen(path, "wb");
    require(out && fwrite(data, 1, size, out) == size && fclose(out) == 0);
    struct schedule_builder *b = format->read(path, &none, &notes, &problem);
    struct schedule *s = b ? schedule_build(b, path, &problem) : NULL;
    if (s) {
        fuzz_written(s, &schedule_goal, path);
        fuzz_written(s, &schedule_goal_binary, path);
        schedule_close(s);
    } else {
        require(problem.exit_code != 0 && strncmp(problem.where, path, strlen(path)) == 0 && problem.what[0] &&
                !strchr(problem.what, '\n'));
    }
    require(unlink(path) == 0);
}

#endif
