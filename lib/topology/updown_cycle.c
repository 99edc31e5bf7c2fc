/* updown_cycle.c - finds a cycle of the channel dependency graph of a single VC (topology/updown.h). */
#include "topology/updown.h"

#include <stdlib.h>
#include <string.h>

/* Channels, each known by the port that sends on it. */
struct links {
    const struct hx_fabric *f;
    const struct hx_updown *w;
    uint64_t *next;   /* [ports]: ports of the next router that a packet of this channel may wait for */
    uint32_t *path;   /* [ports]: channels, each of which waits for the next */
    uint32_t *sender; /* [ports]: routers */
    uint8_t *state;   /* [ports] */
    uint32_t *queue;  /* [routers] */
    uint8_t *reached; /* [routers] */
    uint32_t length;
};
enum { NEW, ON_PATH, DONE };

static uint32_t behind(const struct links *l, uint32_t router, unsigned port)
{
    return hx_fabric_far(l->f, l->f->hosts + router, port).node - l->f->hosts;
}

/* Adds the dependencies of packets from all hosts to one router. */
static void add_waits(struct links *l, const uint64_t *ports)
{
    uint32_t count = 0;
    for (uint32_t router = 0; router < l->w->routers; router++) {
        l->reached[router] = l->f->node[l->f->hosts + router].addr_hi != HX_NO_ADDRESS;
        if (l->reached[router])
            l->queue[count++] = router;
    }
    for (uint32_t at = 0; at < count; at++) {
        uint32_t router = l->queue[at];
        for (uint64_t left = ports[router]; left; left &= left - 1) {
            unsigned port = (unsigned)__builtin_ctzll(left);
            uint32_t far = behind(l, router, port);
            l->next[l->f->node[l->f->hosts + router].first_port + port] |= ports[far];
            if (!l->reached[far])
                l->queue[count++] = far;
            l->reached[far] = 1;
        }
    }
}

/* Extends the path while it leads to new channels. Returns true if it closes; l->path is then the cycle. */
static bool follow(struct links *l)
{
    while (l->length) {
        uint32_t link = l->path[l->length - 1];
        if (l->next[link] == 0) {
            l->state[link] = DONE;
            l->length--;
            continue;
        }
        unsigned port = (unsigned)__builtin_ctzll(l->next[link]);
        l->next[link] &= l->next[link] - 1;
        uint32_t far = l->f->port[link].far.node;
        uint32_t next = l->f->node[far].first_port + port;
        l->sender[next] = far - l->f->hosts;
        if (l->state[next] == ON_PATH) {
            uint32_t first = 0;
            while (l->path[first] != next)
                first++;
            l->length -= first;
            memmove(l->path, l->path + first, l->length * sizeof *l->path);
            return true;
        }
        if (l->state[next] == NEW) {
            l->state[next] = ON_PATH;
            l->path[l->length++] = next;
        }
    }
    return false;
}

static bool find_cycle(struct links *l)
{
    for (uint32_t router = 0; router < l->w->routers; router++) {
        const struct hx_fabric_node *node = &l->f->node[l->f->hosts + router];
        for (uint32_t link = node->first_port; link < node->first_port + node->ports; link++) {
            if (l->state[link] != NEW || l->next[link] == 0)
                continue;
            l->state[link] = ON_PATH;
            l->sender[link] = router;
            l->path[0] = link;
            l->length = 1;
            if (follow(l))
                return true;
        }
    }
    return false;
}

unsigned hx_updown_cycle(const struct hx_fabric *f, const struct hx_updown *w, uint32_t *routers, unsigned most)
{
    struct links l = {.f = f,
                      .w = w,
                      .next = hx_allocate(f->ports, sizeof *l.next),
                      .path = hx_allocate(f->ports, sizeof *l.path),
                      .sender = hx_allocate(f->ports, sizeof *l.sender),
                      .state = hx_allocate(f->ports, 1),
                      .queue = hx_allocate(w->routers, sizeof *l.queue),
                      .reached = hx_allocate(w->routers, 1)};
    for (uint32_t digit = 0; digit < w->digits; digit++)
        add_waits(&l, w->ports + (size_t)digit * w->routers);
    unsigned length = find_cycle(&l) ? l.length : 0;
    for (unsigned i = 0; i < length && i < most; i++)
        routers[i] = l.sender[l.path[i]];
    HX_FREE(l.next, l.path, l.sender, l.state, l.queue, l.reached);
    return length;
}
