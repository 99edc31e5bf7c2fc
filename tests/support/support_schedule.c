/* support_schedule.c - schedules of tests (support_schedule.h). */
#include "tests/support/support_schedule.h"
#include "base/input.h"
#include "tests/support/support_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_BYTES = 1 << 20 };

struct schedule *schedule_of(const void *content, size_t bytes, struct schedule_notes *notes,
                             struct hx_problem *problem)
{
    static const struct schedule_read_options none;
    *problem = (struct hx_problem){.exit_code = -1};
    return schedule_read(file_write("schedule", content, bytes), &none, notes, problem);
}

struct schedule *schedule_of_text(const char *text)
{
    struct schedule_notes notes;
    struct hx_problem problem;
    struct schedule *s = schedule_of(text, strlen(text), &notes, &problem);
    if (!s)
        fail_msg("%s: %s", problem.where, problem.what);
    return s;
}

static char *content_of(const char *path, size_t *bytes)
{
    struct hx_problem problem;
    char *content = NULL;
    assert_true(hx_input_read(path, MOST_BYTES, "test's file", &content, bytes, &problem));
    content[*bytes] = '\0';
    return content;
}

char *schedule_in_format(const struct schedule *s, const struct schedule_format *format, size_t *bytes)
{
    struct hx_problem problem;
    const char *path = file_path("written");
    assert_true(format->write(s, path, &problem));
    return content_of(path, bytes);
}

void assert_schedules_equal(const struct schedule *a, const struct schedule *b)
{
    size_t bytes[2];
    const char *path = file_path("compared");
    schedule_write(a, path);
    char *first = content_of(path, &bytes[0]);
    schedule_write(b, path);
    char *second = content_of(path, &bytes[1]);
    assert_int_equal(bytes[0], bytes[1]);
    assert_memory_equal(first, second, bytes[0]);
    free(first);
    free(second);
}
