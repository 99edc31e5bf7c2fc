/* annotations.h - what goes wrong while frames are captured, as a comment of the first frame that is written from its time
 * on. */
#ifndef CAPTURE_ANNOTATIONS_H
#define CAPTURE_ANNOTATIONS_H

#include <stddef.h>
#include <stdint.h>

struct capture_annotation {
    uint64_t time, at_ns; /* by the clock of the records, and since the start of the run */
    char *line;
};

/* Invariant: those before `next` are written, and times never decrease. */
struct capture_annotations {
    struct capture_annotation *annotation;
    size_t count, room, next;
    size_t first;   /* before it they need not be written again: a later file does not show what they speak of */
    uint64_t begun; /* when the file began: of what is older its frame says how long ago it was, in ms. 0: none is */
};

/* A fault began at `time`, which is at_ns after the start of the run; `line` as in a schedule. */
void capture_annotation_fault(struct capture_annotations *r, uint64_t time, uint64_t at_ns, const char *line);

/* Nothing is felt any more of what began before `time`. */
void capture_annotations_over(struct capture_annotations *r, uint64_t time);
/* A file begins at `time`: what may still be felt is to be told in it, too. */
void capture_annotations_again(struct capture_annotations *r, uint64_t time);

/* Takes those that are due at `time`, a line each, as many as `bytes` have room for, and one at least, cut if need be;
 * NULL: none is due. Returns text. */
const char *capture_annotations_take(struct capture_annotations *r, uint64_t time, char *text, size_t bytes);

void capture_annotations_free(struct capture_annotations *r);

#endif
