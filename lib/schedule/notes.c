/* notes.c - what a reader left out and decided, as text and JSON (notes.h). */
#include "schedule/notes.h"
#include "base/json.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>

void schedule_notes_print(const struct schedule_notes *notes, const char *indent, int width)
{
    if (notes->skipped)
        printf("%s%-*s%" PRIu64 " operation%s: %s\n", indent, width, "left out", notes->skipped,
               hx_plural(notes->skipped), notes->what);
    if (notes->annotations[0])
        printf("%s%-*s%s\n", indent, width, "note", notes->annotations);
}

void schedule_notes_json(json_t *object, const struct schedule_notes *notes)
{
    const uint64_t skipped = notes->skipped < INT64_MAX ? notes->skipped : INT64_MAX;
    (void)json_object_set_new(object, "left_out",
                              json_pack("{s:I, s:o}", "count", (json_int_t)skipped, "what", hx_json_text(notes->what)));
    (void)json_object_set_new(object, "annotations", hx_json_text(notes->annotations));
}
