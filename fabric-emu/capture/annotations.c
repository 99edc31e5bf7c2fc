/* annotations.c - annotations that wait for their frame (annotations.h). */
#include "fabric-emu/capture/annotations.h"
#include "base/error.h"
#include "base/value.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NS_PER_MS = 1000000 };

void capture_annotation_add(struct capture_annotations *r, const struct capture_annotation *one, const char *line)
{
    size_t bytes = strlen(line) + 1;
    struct capture_annotation kept = *one;
    kept.line = hx_allocate(1, bytes);
    memcpy(kept.line, line, bytes);
    kept.time =
        r->count && one->since < r->annotation[r->count - 1].time ? r->annotation[r->count - 1].time : one->since;
    r->annotation = hx_grow(r->annotation, r->count, &r->room, sizeof *r->annotation);
    r->annotation[r->count++] = kept;
}

void capture_annotations_over(struct capture_annotations *r, uint64_t time)
{
    while (r->first < r->count && r->annotation[r->first].time < time)
        r->first++;
}

void capture_annotations_again(struct capture_annotations *r, uint64_t time)
{
    r->begun = time;
    r->next = r->first < r->next ? r->first : r->next;
}

/* Returns the length of the text, even if it does not fit. */
static size_t print(const struct capture_annotations *r, const struct capture_annotation *one, uint64_t time,
                    char *text, size_t bytes)
{
    static const char *const heads[] = {[CAPTURE_FAULT] = "fault at",
                                        [CAPTURE_CHANGE] = "change at",
                                        [CAPTURE_CHANGE_FOLLOWED] = "change followed after"};
    char at[HX_VALUE_TEXT];
    char ago[sizeof ", 18446744073709551615ns ago"] = "";
    if (one->kind == CAPTURE_FAULT && one->time < r->begun)
        (void)snprintf(ago, sizeof ago, ", %" PRIu64 "ms ago", (time - one->time) / NS_PER_MS);
    else if (one->kind != CAPTURE_FAULT && r->begun && one->since < time)
        (void)snprintf(ago, sizeof ago, ", %" PRIu64 "ns ago", time - one->since);
    return (size_t)snprintf(text, bytes, "%s %s%s: %s", heads[one->kind], hx_value_print_duration(at, one->at_ns), ago,
                            one->line);
}

const char *capture_annotations_take(struct capture_annotations *r, uint64_t time, char *text, size_t bytes)
{
    size_t used = 0;
    for (; r->next < r->count && r->annotation[r->next].time <= time; r->next++) {
        size_t from = used ? used + 1 : 0; /* after a line feed */
        size_t left = from < bytes ? bytes - from : 0;
        size_t length = print(r, &r->annotation[r->next], time, text + (left ? from : 0), left);
        bool fits = length < left;
        if (!fits && used) {
            text[used] = '\0'; /* left for the next frame */
            break;
        }
        if (used)
            text[used] = '\n';
        used = fits ? from + length : bytes - 1; /* too long alone: cut it, or it would block the rest */
    }
    return used ? text : NULL;
}

void capture_annotations_free(struct capture_annotations *r)
{
    for (size_t i = 0; i < r->count; i++)
        free(r->annotation[i].line);
    free(r->annotation);
}
