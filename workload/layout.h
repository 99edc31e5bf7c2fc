/* layout.h - the nodes and links of a fabric in the order everybody numbers them, and which worker owns what.
 *
 * Links of one plane: those leaving the ports of node 0, node 1, ... in their order (an accelerator's LOCAL leads to
 * its endpoint); then one from each accelerator's endpoint to its switch. A worker owns whole groups (all planes),
 * those of hosts in contiguous runs, those of routers alone in turn; of a HammingMesh, a row network with the boards in
 * the middle of its line, column networks in turn. */
#ifndef LAYOUT_H
#define LAYOUT_H

#include "spec/spec.h"

struct layout {
    uint32_t links;       /* of one plane */
    uint32_t *first_link; /* [nodes]: link leaving the node's port 0 */
    uint8_t *worker;      /* [nodes] */
    bool *dead;           /* [nodes]: on a failed board: has no firmware */
    unsigned workers;
    unsigned groups; /* that have hosts */
};

void layout_make(struct layout *l, const struct hx_spec *spec, const struct hx_fabric *g, unsigned workers);
void layout_free(struct layout *l);

/* The worker that owns a group of hosts. */
unsigned layout_worker_of(const struct layout *l, unsigned group);

uint16_t layout_job_of(const struct hx_spec *spec, uint32_t accelerator);

#endif
