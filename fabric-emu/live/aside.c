/* aside.c - messages that wait for a place (aside.h). */
#include "aside.h"
#include "host/error.h"

#include <stdlib.h>

void aside_put(struct aside *s, const struct workload_message *m)
{
    if (!s->message)
        s->message = hx_allocate(WORKLOAD_SENDS, sizeof *s->message);
    s->message[s->count++] = *m;
}

void aside_each(struct aside *s, bool (*takes)(void *of, const struct workload_message *m), void *of)
{
    unsigned left = 0;
    for (unsigned i = 0; i < s->count; i++) {
        if (!takes(of, &s->message[i]))
            s->message[left++] = s->message[i];
    }
    s->count = left;
}

void aside_free(struct aside *s)
{
    free(s->message);
    *s = (struct aside){.message = NULL};
}
