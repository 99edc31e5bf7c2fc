/* walk.c - the operations of a rank, one by one (walk.h). */
#include "schedule/walk.h"

#include <stdlib.h>

struct schedule_walk_body {
    uint32_t end;    /* number of the first operation behind it */
    uint64_t around; /* times that the repeat itself runs */
};

void schedule_walk_begin(struct schedule_walk *w, const struct schedule *s, uint32_t rank)
{
    *w = (struct schedule_walk){.operation = s->operation + s->first[rank], .times = 1};
    w->count = schedule_count(s, rank);
}

static void enter(struct schedule_walk *w)
{
    w->body = hx_grow(w->body, w->bodies, &w->room, sizeof *w->body);
    w->body[w->bodies++] = (struct schedule_walk_body){w->next + w->operation->peer, w->times};
    w->times = schedule_multiply(w->times, w->operation->amount);
}

bool schedule_walk_next(struct schedule_walk *w)
{
    if (w->next > 0 && w->operation->kind == SCHEDULE_REPEAT)
        enter(w);
    while (w->bodies && w->body[w->bodies - 1].end == w->next)
        w->times = w->body[--w->bodies].around;
    if (w->next == w->count)
        return false;
    w->operation += w->next > 0;
    w->number = w->next++;
    return true;
}

void schedule_walk_end(struct schedule_walk *w)
{
    free(w->body);
}

void schedule_find_repeats(const struct schedule *s, uint32_t rank, uint32_t *around)
{
    uint32_t current = SCHEDULE_NO_REPEAT;
    for (uint32_t i = 0; i < schedule_count(s, rank); i++) {
        while (current != SCHEDULE_NO_REPEAT && i >= schedule_next(s, rank, current))
            current = around[current];
        around[i] = current;
        current = schedule_at(s, rank, i)->kind == SCHEDULE_REPEAT ? i : current;
    }
}
