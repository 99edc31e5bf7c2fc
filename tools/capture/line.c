/* line.c - breadth-first search along one dimension (tools/capture/line.h). */
#include "tools/capture/line.h"
#include "base/error.h"

#include <stdlib.h>

void hx_line_init(struct hx_line *l, unsigned side, unsigned boards, const struct hx_network *network)
{
    *l = (struct hx_line){.side = side, .accelerators = side * boards, .network = *network};
    l->places = l->accelerators + network->leaves + network->spines;
    l->from = hx_allocate(l->accelerators, sizeof(struct hx_reach *));
}

void hx_line_free(struct hx_line *l)
{
    for (unsigned i = 0; l->from && i < l->accelerators; i++)
        free(l->from[i]);
    free(l->from);
    *l = (struct hx_line){.from = NULL};
}

/* The uplinks of a leaf are spread over the spines in turn. */
static unsigned uplinks_to(const struct hx_network *n, unsigned spine)
{
    unsigned count = 0;
    for (unsigned uplink = spine; uplink < n->up; uplink += n->spines)
        count++;
    return count;
}

static struct hx_line_end nowhere(void)
{
    return (struct hx_line_end){.place = HX_NOWHERE};
}

static struct hx_line_end far_of_accelerator(const struct hx_line *l, uint32_t place, unsigned port)
{
    unsigned column = place % l->side;
    if (port == HX_LOW && column > 0)
        return (struct hx_line_end){place - 1, HX_HIGH};
    if (port == HX_HIGH && column + 1 < l->side)
        return (struct hx_line_end){place + 1, HX_LOW};
    unsigned edge = 2 * (place / l->side) + port;
    return (struct hx_line_end){l->accelerators + edge / l->network.down, edge % l->network.down};
}

static struct hx_line_end far_of_leaf(const struct hx_line *l, unsigned leaf, unsigned port)
{
    const struct hx_network *n = &l->network;
    if (port >= n->down) {
        unsigned uplink = port - n->down;
        if (uplink >= n->up)
            return nowhere();
        unsigned spine = uplink % n->spines;
        return (struct hx_line_end){l->accelerators + n->leaves + spine,
                                    leaf * uplinks_to(n, spine) + uplink / n->spines};
    }
    unsigned edge = leaf * n->down + port;
    if (edge >= n->ports)
        return nowhere();
    unsigned west = edge / 2 * l->side;
    return edge % 2 == HX_LOW ? (struct hx_line_end){west, HX_LOW} : (struct hx_line_end){west + l->side - 1, HX_HIGH};
}

static struct hx_line_end far_of_spine(const struct hx_line *l, unsigned spine, unsigned port)
{
    const struct hx_network *n = &l->network;
    unsigned cables = uplinks_to(n, spine);
    if (cables == 0 || port >= n->leaves * cables)
        return nowhere();
    return (struct hx_line_end){l->accelerators + port / cables, n->down + spine + port % cables * n->spines};
}

struct hx_line_end hx_line_far(const struct hx_line *l, uint32_t place, unsigned port)
{
    if (place < l->accelerators)
        return far_of_accelerator(l, place, port);
    unsigned at = place - l->accelerators;
    return at < l->network.leaves ? far_of_leaf(l, at, port) : far_of_spine(l, at - l->network.leaves, port);
}

unsigned hx_line_ports(const struct hx_line *l, uint32_t place)
{
    if (place < l->accelerators)
        return 2;
    unsigned at = place - l->accelerators;
    if (at < l->network.leaves)
        return (unsigned)l->network.down + l->network.up;
    return l->network.leaves * uplinks_to(&l->network, at - l->network.leaves);
}

/* Cables from `accelerator` to each place: without a crossing in [0 .. places-1], after one in [places ..
 * 2*places-1]. */
static uint16_t *search_layers(const struct hx_line *l, unsigned accelerator)
{
    uint16_t *cables = hx_allocate(2 * (size_t)l->places, sizeof *cables);
    uint32_t *queue = hx_allocate(2 * (size_t)l->places, sizeof *queue);
    for (unsigned i = 0; i < 2 * l->places; i++)
        cables[i] = UINT16_MAX;
    cables[accelerator] = 0;
    queue[0] = accelerator;
    for (size_t first = 0, last = 1; first < last; first++) {
        uint32_t at = queue[first] % l->places;
        bool crossed = queue[first] >= l->places;
        for (unsigned port = 0; port < hx_line_ports(l, at); port++) {
            struct hx_line_end end = hx_line_far(l, at, port);
            bool crosses = at < l->accelerators && end.place >= l->accelerators;
            if (end.place == HX_NOWHERE || (crossed && crosses))
                continue;
            uint32_t to = end.place + (crossed || crosses ? l->places : 0);
            if (cables[to] != UINT16_MAX)
                continue;
            cables[to] = (uint16_t)(cables[queue[first]] + 1U);
            queue[last++] = to;
        }
    }
    free(queue);
    return cables;
}

static struct hx_reach *search(const struct hx_line *l, unsigned accelerator)
{
    struct hx_reach *reach = hx_allocate(l->places, sizeof *reach);
    uint16_t *cables = search_layers(l, accelerator);
    for (unsigned i = 0; i < l->places; i++) {
        uint16_t before = cables[i];
        uint16_t behind = cables[l->places + i];
        reach[i] = (struct hx_reach){.cables = before < behind ? before : behind,
                                     .least_crossings = behind < before,
                                     .most_crossings = behind <= before};
    }
    free(cables);
    return reach;
}

struct hx_reach hx_line_reach(struct hx_line *l, unsigned accelerator, uint32_t place)
{
    if (!l->from[accelerator])
        l->from[accelerator] = search(l, accelerator);
    return l->from[accelerator][place];
}
