/* path_states.h - what a packet's next hops depend on: its node and, by the turn mask, its input. Inputs of a node with
 * the same mask are one state. */
#ifndef HXMESH_TOPOLOGY_PATH_STATES_H
#define HXMESH_TOPOLOGY_PATH_STATES_H

#include "topology/tables.h"

struct hx_path_states {
    uint32_t count;
    uint32_t *first; /* [nodes]: first state of a node */
    uint32_t *start; /* [nodes]: state of a packet that starts there */
    uint32_t *node;  /* [count] */
    uint64_t *turn_mask;
    uint32_t *behind; /* [ports]: state that a port leads to; HX_NOWHERE: none */
};

void hx_path_states_take(struct hx_path_states *t, const struct hx_tables *tables);
void hx_path_states_free(struct hx_path_states *t);

#endif
