/* support_annotation.h - faults as annotations of a capture. */
#ifndef HXMESH_TESTS_SUPPORT_ANNOTATION_H
#define HXMESH_TESTS_SUPPORT_ANNOTATION_H

#include "fabric-emu/capture/annotations.h"

/* Adds a fault that began at `time`, at_ns after the start of the run. */
static inline void annotate_fault(struct capture_annotations *r, uint64_t time, uint64_t at_ns, const char *line)
{
    capture_annotation_add(r, &(struct capture_annotation){CAPTURE_FAULT, .since = time, .at_ns = at_ns}, line);
}

#endif
