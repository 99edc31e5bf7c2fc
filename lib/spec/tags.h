/* tags.h - free tags of a spec: jobs without a tag get the lowest ones. */
#ifndef HXMESH_SPEC_TAGS_H
#define HXMESH_SPEC_TAGS_H

#include "spec/spec.h"

struct hx_tags {
    uint8_t taken[(UINT16_MAX + 1) / 8]; /* one bit for each tag */
    unsigned next;                       /* all tags below are taken */
};

/* Collects the tags of a spec's boards and jobs; all others are free. */
void hx_tags_make(struct hx_tags *t, const struct hx_spec *spec);

/* Takes the lowest free tag and returns it; HX_NO_JOB: none is free. */
uint16_t hx_tags_take(struct hx_tags *t);

#endif
