/* layers.h - the layers of a strategy in rows: those of one name, one choice and successive numbers. */
#ifndef HXMESH_TOOLS_CIRCUITS_LAYERS_H
#define HXMESH_TOOLS_CIRCUITS_LAYERS_H

#include "tools/circuits/strategy.h"

#include <stdbool.h>

enum { CIRCUITS_LAYERS_NAME = 96 };

struct circuits_layers {
    uint32_t *layer; /* [count] numbers of layers */
    uint32_t count;
    char name[CIRCUITS_LAYERS_NAME]; /* "table 3", "table 1-64" */
    enum circuits_choice choice;
    uint32_t servers; /* that have one of them: placed; else all */
    uint32_t next;    /* first layer that is looked at for the next row */
};

/* Rows come in the order of their first layers. Begin before the first row, and end in any case. */
void circuits_layers_begin(struct circuits_layers *l, const struct circuits_strategy *s);
void circuits_layers_end(struct circuits_layers *l);
/* Goes on to the next row; returns false behind the last. */
bool circuits_layers_next(const struct circuits_strategy *s, struct circuits_layers *l);

#endif
