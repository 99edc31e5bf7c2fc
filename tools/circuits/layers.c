/* layers.c - layers of a strategy in rows (layers.h). */
#include "tools/circuits/layers.h"
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the length of a name without its number, and sets the number; 0: it has none. */
static size_t stem_of(const char *name, unsigned long *number)
{
    size_t length = strlen(name);
    while (length > 0 && name[length - 1] >= '0' && name[length - 1] <= '9')
        length--;
    *number = length > 0 && name[length - 1] == ' ' ? strtoul(name + length, NULL, 10) : 0;
    return *number ? length : strlen(name);
}

/* Whether layer b is the successor of layer a in a row. */
static bool follows(const struct circuits_strategy *s, uint32_t a, uint32_t b)
{
    const char *one = s->m->layer[a].name, *other = s->m->layer[b].name;
    unsigned long first, second;
    const size_t stem = stem_of(one, &first);
    return s->place[a].choice == s->place[b].choice && stem == stem_of(other, &second) && first > 0 &&
           second == first + 1 && strncmp(one, other, stem) == 0;
}

static bool begins_row(const struct circuits_strategy *s, uint32_t layer)
{
    for (uint32_t before = layer; before-- > 0;)
        if (follows(s, before, layer))
            return false;
    return true;
}

static uint32_t servers_of(const struct circuits_strategy *s, const struct circuits_layers *l)
{
    bool *has = hx_allocate(s->servers, sizeof *has);
    uint32_t count = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        const uint32_t server = s->place[l->layer[i]].server;
        count += !has[server];
        has[server] = true;
    }
    free(has);
    return count;
}

void circuits_layers_begin(struct circuits_layers *l, const struct circuits_strategy *s)
{
    *l = (struct circuits_layers){.layer = hx_allocate(s->m->layers, sizeof *l->layer)};
}

void circuits_layers_end(struct circuits_layers *l)
{
    free(l->layer);
}

bool circuits_layers_next(const struct circuits_strategy *s, struct circuits_layers *l)
{
    unsigned long last;
    while (l->next < s->m->layers && !begins_row(s, l->next))
        l->next++;
    if (l->next == s->m->layers)
        return false;
    l->count = 0;
    l->layer[l->count++] = l->next++;
    for (uint32_t i = l->next; i < s->m->layers; i++)
        if (follows(s, l->layer[l->count - 1], i))
            l->layer[l->count++] = i;
    const char *first = s->m->layer[l->layer[0]].name;
    (void)stem_of(s->m->layer[l->layer[l->count - 1]].name, &last);
    if (l->count > 1)
        (void)snprintf(l->name, sizeof l->name, "%s-%lu", first, last);
    else
        (void)snprintf(l->name, sizeof l->name, "%s", first);
    l->choice = s->place[l->layer[0]].choice;
    l->servers = l->choice == CIRCUITS_PLACED ? servers_of(s, l) : s->servers;
    return true;
}
