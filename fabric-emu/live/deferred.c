/* deferred.c - messages that wait for room (deferred.h). */
#include "deferred.h"
#include "base/error.h"

#include <stdlib.h>

void deferred_put(struct deferred *s, const struct workload_message *m)
{
    if (!s->message)
        s->message = hx_allocate(WORKLOAD_SENDS, sizeof *s->message);
    s->message[s->count++] = *m;
}

void deferred_each(struct deferred *s, bool (*takes)(void *of, const struct workload_message *m), void *of)
{
    unsigned left = 0;
    for (unsigned i = 0; i < s->count; i++) {
        if (!takes(of, &s->message[i]))
            s->message[left++] = s->message[i];
    }
    s->count = left;
}

void deferred_free(struct deferred *s)
{
    free(s->message);
    *s = (struct deferred){.message = NULL};
}
