/* around.c - routes of a core's switch around dead links (around.h). */
#include "around.h"
#include "base/error.h"

#include <stdlib.h>

void around_open_notices(struct dpdk_notices *n, const struct node_config *c)
{
    rte_spinlock_init(&n->lock);
    n->dead_memory = hx_allocate(1, hx_dead_links_bytes(&c->g));
    n->memory = hx_allocate(1, hx_notices_bytes(&c->g));
    hx_dead_links_init(&n->dead, &c->g, n->dead_memory);
    hx_notices_init(&n->of, &c->g, &n->dead, n->memory);
}

void around_close_notices(struct dpdk_notices *n)
{
    HX_FREE(n->dead_memory, n->memory);
}

void core_around_open(struct core_around *a, struct dpdk_notices *n, const struct node_config *c)
{
    a->notices = n;
    a->config = c;
    a->boards.spec = &c->spec;
    a->dead_memory = hx_allocate(1, hx_dead_links_bytes(&c->g));
    hx_dead_links_init(&a->dead, &c->g, a->dead_memory);
    around_shared_open(&a->shared, c->spec.graph, &a->boards);
}

void core_around_close(struct core_around *a)
{
    around_node_end(&a->node);
    around_shared_close(&a->shared);
    job_boards_free(&a->boards);
    free(a->dead_memory);
}

bool core_around_changed(const struct core_around *a)
{
    return atomic_load_explicit(&a->notices->changes, memory_order_relaxed) != a->changes;
}

void core_around_build(struct core_around *a, uint64_t up, struct hx_blocked_boards blocked, struct hx_route *r,
                       void *tables)
{
    const struct node_config *c = a->config;
    dpdk_notices_lock(a->notices);
    hx_dead_links_copy(&a->dead, &a->notices->dead, &c->g);
    a->changes = a->notices->of.changes;
    dpdk_notices_unlock(a->notices);
    hx_route_build(r, &c->g, c->node, blocked, up, tables);
    r->vcs = (uint8_t)c->vcs;
    around_node_begin(&a->node, &a->shared, &a->dead, c->node, up, r, tables);
}
