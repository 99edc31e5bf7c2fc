/* layout.h - numbers of a fabric's links, and the worker that owns each node.
 *
 * Links of one plane: first those that leave the ports of node 0, node 1, ... (an accelerator's LOCAL leads to its
 * endpoint); then one from each accelerator's endpoint to its switch.
 *
 * A worker owns whole groups in all planes. Groups of hosts are assigned in contiguous runs, groups of routers in turn.
 * On a HammingMesh a row network goes with the boards in the middle of its row, and column networks in turn. */
#ifndef LAYOUT_H
#define LAYOUT_H

#include "spec/spec.h"

struct layout {
    uint32_t links;       /* of one plane */
    uint32_t *first_link; /* [nodes]: link that leaves the node's port 0 */
    uint16_t *worker;     /* [nodes] */
    bool *dead;           /* [nodes]: on a failed board, without firmware */
    unsigned workers;
    unsigned groups; /* with hosts */
};

void layout_make(struct layout *l, const struct hx_spec *spec, const struct hx_fabric *g, unsigned workers);
void layout_free(struct layout *l);

uint16_t layout_job_of(const struct hx_spec *spec, uint32_t accelerator);

#endif
