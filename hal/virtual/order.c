/* order.c - finds out whether the order of VCs matters in a grant (order.h). */
#include "order.h"

void virtual_order_grant(const struct virtual_sim_node *e, const struct virtual_node *n, unsigned output)
{
    unsigned vcs = 0;
    for (unsigned vc = 0; vc < HX_VCS; vc++)
        vcs += n->sw.wanted[vc] >> output & 1;
    if (vcs > 1)
        *virtual_order_turned(e->worker->order, e->index, n->hal.plane) = e->worker->now;
}
