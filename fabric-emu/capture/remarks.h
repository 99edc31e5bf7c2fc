/* remarks.h - what goes wrong while frames are captured, as a comment of the first frame that is written from its time on. */
#ifndef CAPTURE_REMARKS_H
#define CAPTURE_REMARKS_H

#include <stddef.h>
#include <stdint.h>

struct capture_remark {
    uint64_t time; /* by the clock of the records */
    char *text;
};

/* Invariant: those before `next` are written, and times never decrease. */
struct capture_remarks {
    struct capture_remark *remark;
    size_t count, room, next;
};

/* A fault began at `time`, which is at_ns after the start of the run; `line` as in a schedule. */
void capture_remark_fault(struct capture_remarks *r, uint64_t time, uint64_t at_ns, const char *line);

/* Takes all that are due at `time`, a line each, cut at `bytes`; NULL: none is. Returns text. */
const char *capture_remarks_take(struct capture_remarks *r, uint64_t time, char *text, size_t bytes);

void capture_remarks_free(struct capture_remarks *r);

#endif
