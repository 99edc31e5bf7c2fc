/* tags.c - finds free tags (tags.h). */
#include "spec/tags.h"

static void mark(struct hx_tags *t, unsigned tag)
{
    t->taken[tag / 8] |= (uint8_t)(1U << tag % 8);
}

void hx_tags_make(struct hx_tags *t, const struct hx_spec *spec)
{
    *t = (struct hx_tags){.next = HX_NO_JOB + 1};
    for (unsigned board = 0; spec->job && board < hx_spec_boards(spec); board++)
        mark(t, spec->job[board]);
    for (unsigned i = 0; i < spec->named_jobs; i++)
        mark(t, spec->named[i].tag);
}

uint16_t hx_tags_take(struct hx_tags *t)
{
    while (t->next <= UINT16_MAX && t->taken[t->next / 8] >> t->next % 8 & 1)
        t->next++;
    return t->next <= UINT16_MAX ? (uint16_t)t->next++ : HX_NO_JOB;
}
