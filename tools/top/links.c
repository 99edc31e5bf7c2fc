/* links.c - the hottest links of a running fabric (tools/top/top.h). */
#include "tools/top/top.h"

/* Whether link `a` comes before `b`: by the current rate, and if equal by all packets. */
static bool is_before(const struct top *t, enum top_order order, uint32_t a, uint32_t b)
{
    if (order == TOP_BY_RATE && t->packets[a] != t->packets[b])
        return t->packets[a] > t->packets[b];
    return t->now.link[a].packets > t->now.link[b].packets;
}

static void insert(const struct top *t, enum top_order order, struct top_link *link, unsigned *count, unsigned most,
                   const struct top_link *new)
{
    if (*count == most && !is_before(t, order, new->number, link[most - 1].number))
        return;
    unsigned i = *count < most ? (*count)++ : most - 1;
    for (; i > 0 && is_before(t, order, new->number, link[i - 1].number); i--)
        link[i] = link[i - 1];
    link[i] = *new;
}

unsigned top_links(const struct top *t, enum top_order order, int plane, struct top_link *link, unsigned most)
{
    unsigned count = 0;
    uint32_t number = 0;
    for (unsigned p = 0; p < t->g.planes; p++) {
        for (uint32_t node = 0; node < t->g.nodes; node++) {
            for (unsigned port = 0; port < hx_fabric_ports(&t->g, node); port++, number++) {
                bool wanted = plane == TOP_ALL_PLANES || (unsigned)plane == p;
                if (!wanted || most == 0 || hx_fabric_far(&t->g, node, port).node == HX_NOWHERE)
                    continue;
                const struct top_link new = {node, (uint16_t)port, (uint8_t)p, number};
                insert(t, order, link, &count, most, &new);
            }
        }
    }
    return count;
}

double top_load(const struct top *t, uint32_t number)
{
    if (top_is_virtual(t))
        return t->load[number];
    return t->hottest > 0 ? t->packets[number] / t->hottest : 0;
}
