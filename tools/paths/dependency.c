/* dependency.c - channels of a plane, and the search for a cycle (tools/paths/dependency.h). */
#include "tools/paths/dependency.h"

#include <stdlib.h>

void hx_channels_init(struct hx_channels *c, struct hx_plane *p)
{
    const struct hx_fabric *g = p->g;
    *c = (struct hx_channels){.g = g, .plane = p};
    c->first_link = hx_allocate((size_t)g->nodes + 1, sizeof *c->first_link);
    for (uint32_t node = 0; node < g->nodes; node++)
        c->first_link[node + 1] = c->first_link[node] + hx_fabric_ports(g, node);
    uint32_t links = c->first_link[g->nodes];
    c->count = links * HX_CHANNEL_VCS;
    c->far = hx_allocate(links, sizeof *c->far);
    c->successors = hx_allocate(c->count, sizeof *c->successors);
    c->used = hx_allocate(c->count, sizeof *c->used);
    for (uint32_t node = 0; node < g->nodes; node++) {
        for (uint32_t link = c->first_link[node]; link < c->first_link[node + 1]; link++)
            c->far[link] = hx_fabric_far(g, node, link - c->first_link[node]);
    }
}

void hx_channels_free(struct hx_channels *c)
{
    HX_FREE(c->first_link, c->far, c->successors, c->used);
    *c = (struct hx_channels){0};
}

uint32_t hx_channel_behind(const struct hx_channels *c, uint32_t node, unsigned input, unsigned vc, unsigned port)
{
    uint32_t link = c->first_link[node] + port;
    unsigned behind = hx_route_vc(hx_plane_route(c->plane, node), input, vc, port);
    return link * HX_CHANNEL_VCS + (behind < HX_CHANNEL_VCS ? behind : HX_CHANNEL_VCS - 1);
}

struct hx_channel hx_channel_of(const struct hx_channels *c, uint32_t channel)
{
    uint32_t link = channel / HX_CHANNEL_VCS;
    uint32_t low = 0;
    uint32_t high = c->g->nodes;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (c->first_link[middle] <= link)
            low = middle;
        else
            high = middle;
    }
    return (struct hx_channel){low, link - c->first_link[low], channel % HX_CHANNEL_VCS};
}

/* A depth-first search with its own stack: fabrics are too deep for a thread's. */
enum colour { WHITE, GREY, BLACK }; /* not visited; on the stack; finished */
struct frame {
    uint32_t channel;
    uint64_t left; /* ports still to follow */
};
struct search {
    const struct hx_channels *c;
    uint8_t *colour;
    struct frame *stack;
    uint32_t depth;
};

static void push(struct search *s, uint32_t channel)
{
    s->colour[channel] = GREY;
    s->stack[s->depth++] = (struct frame){channel, s->c->successors[channel]};
}

/* Copies the stack from `channel` to the top. Returns its length. */
static uint32_t cycle_from(const struct search *s, uint32_t channel, uint32_t **cycle)
{
    uint32_t first = s->depth - 1;
    while (s->stack[first].channel != channel)
        first--;
    uint32_t length = s->depth - first;
    *cycle = hx_allocate(length, sizeof **cycle);
    for (uint32_t i = 0; i < length; i++)
        (*cycle)[i] = s->stack[first + i].channel;
    return length;
}

static uint32_t search_from(struct search *s, uint32_t start, uint32_t **cycle)
{
    push(s, start);
    while (s->depth > 0) {
        struct frame *top = &s->stack[s->depth - 1];
        if (top->left == 0) {
            s->colour[top->channel] = BLACK;
            s->depth--;
            continue;
        }
        unsigned port = (unsigned)__builtin_ctzll(top->left);
        top->left &= top->left - 1;
        struct hx_end at = hx_channel_far(s->c, top->channel);
        uint32_t next = hx_channel_behind(s->c, at.node, at.port, top->channel % HX_CHANNEL_VCS, port);
        if (s->colour[next] == GREY)
            return cycle_from(s, next, cycle);
        if (s->colour[next] == WHITE)
            push(s, next);
    }
    return 0;
}

uint32_t hx_channels_cycle(const struct hx_channels *c, uint32_t **cycle)
{
    struct search s = {
        .c = c, .colour = hx_allocate(c->count, sizeof *s.colour), .stack = hx_allocate(c->count, sizeof *s.stack)};
    uint32_t length = 0;
    *cycle = NULL;
    for (uint32_t channel = 0; channel < c->count && length == 0; channel++)
        if (c->used[channel] && s.colour[channel] == WHITE)
            length = search_from(&s, channel, cycle);
    free(s.colour);
    free(s.stack);
    return length;
}
