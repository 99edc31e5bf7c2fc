/* tags.h - the tags that jobs of a spec do not have yet: those that say none get them, the lowest first. */
#ifndef HXMESH_SPEC_TAGS_H
#define HXMESH_SPEC_TAGS_H

#include "spec/spec.h"

struct hx_tags {
    uint8_t taken[(UINT16_MAX + 1) / 8]; /* a bit per tag */
    unsigned next;                       /* all below are taken */
};

/* Free are those that neither a board nor a job of the spec has. */
void hx_tags_make(struct hx_tags *t, const struct hx_spec *spec);

/* The lowest that is free, and is taken from then on; HX_NO_JOB: all are. */
uint16_t hx_tags_take(struct hx_tags *t);

#endif
