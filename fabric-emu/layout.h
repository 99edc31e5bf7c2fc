/* layout.h - the nodes and links of a fabric in the order everybody numbers them, and which worker owns what.
 *
 * Links of one plane: those leaving the ports of node 0, node 1, ... in their order (an accelerator's LOCAL leads to its
 * endpoint); then one from each accelerator's endpoint to its switch. A worker owns whole boards (all planes) and tree
 * switches: boards in contiguous runs, a row network with the boards in the middle of its line, column networks in turn. */
#ifndef LAYOUT_H
#define LAYOUT_H

#include "host/spec.h"

struct layout {
    uint32_t links;       /* of one plane */
    uint32_t *first_link; /* [nodes]: link leaving the node's port 0 */
    uint8_t *worker;      /* [nodes] */
    bool *dead;           /* [nodes]: on a failed board: has no firmware */
};

void layout_make(struct layout *l, const struct hx_spec *spec, const struct hx_geometry *g, unsigned workers);
void layout_free(struct layout *l);

unsigned layout_board_of(const struct hx_spec *spec, const struct hx_geometry *g, uint32_t accelerator);
uint16_t layout_job_of(const struct hx_spec *spec, const struct hx_geometry *g, uint32_t accelerator);

#endif
