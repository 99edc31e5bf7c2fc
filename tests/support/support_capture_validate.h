/* support_capture_validate.h - runs the verifier over a capture of the model (support_capture.h). */
#ifndef HXMESH_TESTS_SUPPORT_CAPTURE_VALIDATE_H
#define HXMESH_TESTS_SUPPORT_CAPTURE_VALIDATE_H

#include "tests/support/support_capture.h"
#include "tools/verify/verify.h"

struct verdict {
    struct hx_findings_list found;
    struct hx_verify_counts counts;
    uint64_t copies;   /* copies that the verifier ascribes to links */
    size_t remembered; /* most crossings held at one time as candidates for a copy */
};

/* Opens a capture of the model as a file, and its capture index; the caller closes both. `keep`: NULL: every port. */
FILE *open_capture(const struct sim_capture *c, bool (*keep)(const char *name), struct hx_capture_index *capture_index);

/* Verifies the interfaces that `keep` chooses (NULL: all). partial: the capture is a part of a run. */
void validate_capture(const struct sim_capture *c, bool (*keep)(const char *name), bool partial,
                      struct verdict *verdict);

/* The count of the first note with this part; 0: none. */
uint64_t verdict_noted(const struct verdict *v, const char *part);

/* Verifies all interfaces; fails the test if anything is found. */
void require_good(const struct sim_capture *c, const char *what, unsigned seed, struct verdict *v);

#endif
