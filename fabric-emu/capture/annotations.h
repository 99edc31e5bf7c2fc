/* annotations.h - faults and planned changes during a capture, as comments of the first frame at or after their time:
 *
 *     fault at 5 s: a0,0/E down for 1s
 *     change at 6 s: a0,0/N closed for 1s
 *     change followed after 2.1 ms: a0,0/N closed for 1s      live: all nodes route by it
 *
 * A live file names the age of what is older than its frame: of faults from before the file in ms, of changes
 * exactly. */
#ifndef CAPTURE_ANNOTATIONS_H
#define CAPTURE_ANNOTATIONS_H

#include <stddef.h>
#include <stdint.h>

enum capture_annotation_kind { CAPTURE_FAULT, CAPTURE_CHANGE, CAPTURE_CHANGE_FOLLOWED };

struct capture_annotation {
    enum capture_annotation_kind kind;
    uint64_t since; /* on the records' clock */
    uint64_t time;  /* the same, but not before the annotation before it */
    uint64_t at_ns; /* since the start of the run; CHANGE_FOLLOWED: since the change */
    char *line;
};

/* Invariant: those before `next` are written, and times never decrease. */
struct capture_annotations {
    struct capture_annotation *annotation;
    size_t count, room, next;
    size_t first;   /* annotations before it concern no later file */
    uint64_t begun; /* live: start of the file; 0: simulated, nothing is older than its frame */
};

/* Adds one of .kind, .since and .at_ns of `one`; `line` as in a schedule. */
void capture_annotation_add(struct capture_annotations *r, const struct capture_annotation *one, const char *line);

/* Faults before `time` have no more effect. */
void capture_annotations_over(struct capture_annotations *r, uint64_t time);
/* Starts a file at `time`: faults that may still have effect are annotated again. */
void capture_annotations_again(struct capture_annotations *r, uint64_t time);

/* Writes annotations due at `time` to text, a line each, as many as fit in `bytes`. At least one is written, cut if it
 * is too long. Returns text, or NULL if none is due. */
const char *capture_annotations_take(struct capture_annotations *r, uint64_t time, char *text, size_t bytes);

void capture_annotations_free(struct capture_annotations *r);

#endif
