/* chakra_circles.c - finds the strongly connected components of a rank's items, by Tarjan's algorithm without
 * recursion (R. Tarjan, Depth-first search and linear graph algorithms, SIAM J. Comput. 1, 1972). */
#include "schedule/chakra.h"

#include <stdlib.h>

/* A step of the search: an item and its next dependency. */
struct step {
    uint32_t item, next;
};

struct search {
    const struct chakra_rank *r;
    uint32_t *component; /* [items]; CHAKRA_NONE: not complete */
    uint32_t *order;     /* [items]: when it was met, from 1; 0: not met */
    uint32_t *low;       /* [items]: the earliest that it reaches */
    uint32_t *open;      /* items that belong to no complete component */
    struct step *step;
    uint32_t met, opened, steps, components;
};

static void meet(struct search *s, uint32_t item)
{
    s->order[item] = s->low[item] = ++s->met;
    s->open[s->opened++] = item;
    s->step[s->steps++] = (struct step){item, 0};
}

static void lower(struct search *s, uint32_t item, uint32_t to)
{
    if (to < s->low[item])
        s->low[item] = to;
}

/* Ends the search of an item: its component is complete if it reaches none that was met earlier. */
static void leave(struct search *s, uint32_t item)
{
    if (s->low[item] == s->order[item]) {
        uint32_t last;
        do {
            last = s->open[--s->opened];
            s->component[last] = s->components;
        } while (last != item);
        s->components++;
    }
    s->steps--;
    if (s->steps)
        lower(s, s->step[s->steps - 1].item, s->low[item]);
}

static void search_from(struct search *s, uint32_t start)
{
    meet(s, start);
    while (s->steps) {
        struct step *top = &s->step[s->steps - 1];
        const struct chakra_item *item = &s->r->item[top->item];
        if (top->next == item->data + item->control) {
            leave(s, top->item);
            continue;
        }
        uint64_t other = s->r->dependency[item->first + top->next++];
        if (other == CHAKRA_NONE)
            continue;
        if (!s->order[other])
            meet(s, (uint32_t)other);
        else if (s->component[other] == CHAKRA_NONE)
            lower(s, top->item, s->order[other]);
    }
}

uint32_t *chakra_components(const struct chakra_rank *r)
{
    struct search s = {.r = r,
                       .component = hx_allocate(r->items, sizeof *s.component),
                       .order = hx_allocate(r->items, sizeof *s.order),
                       .low = hx_allocate(r->items, sizeof *s.low),
                       .open = hx_allocate(r->items, sizeof *s.open),
                       .step = hx_allocate(r->items, sizeof *s.step)};
    for (uint32_t i = 0; i < r->items; i++)
        s.component[i] = CHAKRA_NONE;
    for (uint32_t i = 0; i < r->items; i++) {
        if (!s.order[i])
            search_from(&s, i);
    }
    HX_FREE(s.order, s.low, s.open, s.step);
    return s.component;
}
