/* around.c - routes of a node around dead links (around.h). */
#include "around.h"
#include "hal/bare/bare.h"

static void *take_memory(void *of, size_t bytes)
{
    struct node_around *n = of;
    if (n->found_bytes - n->found_used < bytes)
        return NULL;
    void *at = n->found + n->found_used;
    n->found_used += (bytes + 7) & ~(size_t)7;
    return at;
}

static struct hx_blocked_boards blocked(void *of, uint32_t to)
{
    const struct node_around *n = of;
    (void)to; /* its switch lets packets of one job pass */
    return n->blocked;
}

void node_around_init(struct node_around *n, const struct config *c)
{
    const struct hx_geometry *g = &c->g;
    *n = (struct node_around){.blocked = {c->blocked}, .found_bytes = hx_around_result_bytes(g, c->rank, 1)};
    hx_dead_links_init(&n->dead, g, bare_take(hx_dead_links_bytes(g)));
    hx_notices_init(&n->notices, g, &n->dead, bare_take(hx_notices_bytes(g)));
    hx_around_search_init(&n->search, g, bare_take(hx_around_search_bytes(g)));
    n->notices.hold = CABLE_NOTICE_HOLD_NS;
    n->notices.period = CABLE_NOTICE_PERIOD_NS;
    n->copy = bare_take(hx_around_bytes(g, c->rank));
    n->found = bare_take(n->found_bytes);
    n->around = (struct hx_around){.g = g,
                                   .dead = &n->dead,
                                   .search = &n->search,
                                   .take = take_memory,
                                   .blocked = blocked,
                                   .of = n,
                                   .node = c->rank};
    n->links.grace_end = CABLE_SILENCE_NS;
    for (unsigned port = 0; port < HX_LOCAL; port++)
        n->links.all |= (uint64_t)(hx_far_end(g, c->rank, port).node != HX_NOWHERE) << port;
}

bool node_around_follow(struct node_around *n, uint32_t node, uint64_t up, uint64_t now)
{
    cable_notices_say(&n->notices, &n->links, node, up, now);
    return n->changes != n->notices.changes;
}

void node_around_begin(struct node_around *n, uint64_t up, struct hx_route *r, void *tables)
{
    n->found_used = 0;
    n->changes = n->notices.changes;
    n->around.up = up;
    hx_around_begin(&n->around, r, tables, n->copy);
}
