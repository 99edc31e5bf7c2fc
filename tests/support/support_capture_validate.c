/* support_capture_validate.c - runs the verifier over a capture of the model (support_capture_validate.h). */
#include "tests/support/support_capture_validate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

FILE *open_capture(const struct sim_capture *c, bool (*keep)(const char *name), struct hx_capture_index *capture_index)
{
    FILE *file = tmpfile();
    struct hx_problem problem;
    assert_non_null(file);
    assert_true(sim_write(c, file, keep));
    rewind(file);
    if (!hx_capture_index_open_file(capture_index, file, "model", NULL, &problem))
        fail_msg("%s", problem.what);
    return file;
}

void validate_capture(const struct sim_capture *c, bool (*keep)(const char *name), bool partial,
                      struct verdict *verdict)
{
    struct hx_capture_index capture_index;
    FILE *file = open_capture(c, keep, &capture_index);
    struct hx_verify v;
    struct hx_problem problem;
    struct hx_capture_frame s;
    hx_verify_begin(&v, &capture_index, partial, false);
    *verdict = (struct verdict){.copies = 0};
    int more;
    while ((more = hx_capture_index_next(&capture_index, &s, &problem)) > 0) {
        hx_verify_frame(&v, &s);
        size_t remembered = v.copies.recent.count + v.copies.older.count;
        verdict->remembered = remembered > verdict->remembered ? remembered : verdict->remembered;
    }
    if (more < 0)
        fail_msg("%s", problem.what);
    hx_verify_end(&v);
    verdict->found = v.found;
    verdict->counts = v.counts;
    verdict->copies = v.copies.count;
    hx_verify_free(&v);
    hx_capture_index_close(&capture_index);
    (void)fclose(file);
}

uint64_t verdict_noted(const struct verdict *v, const char *part)
{
    char text[HX_FINDING_TEXT];
    for (unsigned i = 0; i < v->found.note_count; i++)
        if (strstr(hx_note_text(text, &v->found, i), part))
            return v->found.notes[i].count;
    return 0;
}

void require_good(const struct sim_capture *c, const char *what, unsigned seed, struct verdict *v)
{
    validate_capture(c, NULL, false, v);
    if (v->found.count)
        fail_msg("%s, seed %u: frame %llu: %s: %s", what, seed, (unsigned long long)v->found.kept[0].frame,
                 hx_rule_names[v->found.kept[0].rule], v->found.kept[0].what);
}
