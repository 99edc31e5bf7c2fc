/* agenda.c - an agenda that has come to the end of its room (agenda.h). */
#include "agenda.h"

#include <string.h>

void virtual_agenda_begin_anew(struct virtual_agenda *a)
{
    unsigned count = virtual_agenda_count(a);
    uint64_t *begin = a->key + VIRTUAL_AGENDA_FIRST;
    memmove(begin, a->key + a->first, (count + 1) * sizeof *a->key); /* with what stands behind the last */
    a->first = VIRTUAL_AGENDA_FIRST;
    a->end = (uint16_t)(VIRTUAL_AGENDA_FIRST + count);
    a->limit = virtual_agenda_limit(a->room, count);
}
