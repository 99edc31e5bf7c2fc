/* annotations.h - faults during a capture, as comments of the first frame at or after their time. */
#ifndef CAPTURE_ANNOTATIONS_H
#define CAPTURE_ANNOTATIONS_H

#include <stddef.h>
#include <stdint.h>

struct capture_annotation {
    uint64_t time, at_ns; /* on the records' clock, and since the start of the run */
    char *line;
};

/* Invariant: those before `next` are written, and times never decrease. */
struct capture_annotations {
    struct capture_annotation *annotation;
    size_t count, room, next;
    size_t first;   /* annotations before it concern no later file */
    uint64_t begun; /* start of the file; older faults get their age in ms. 0: none is older */
};

/* Adds a fault that began at `time`, at_ns after the start of the run; `line` as in a schedule. */
void capture_annotation_fault(struct capture_annotations *r, uint64_t time, uint64_t at_ns, const char *line);

/* Faults before `time` have no more effect. */
void capture_annotations_over(struct capture_annotations *r, uint64_t time);
/* Starts a file at `time`: faults that may still have effect are annotated again. */
void capture_annotations_again(struct capture_annotations *r, uint64_t time);

/* Writes annotations due at `time` to text, a line each, as many as fit in `bytes`. At least one is written, cut if it
 * is too long. Returns text, or NULL if none is due. */
const char *capture_annotations_take(struct capture_annotations *r, uint64_t time, char *text, size_t bytes);

void capture_annotations_free(struct capture_annotations *r);

#endif
