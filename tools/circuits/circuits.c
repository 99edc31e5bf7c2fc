/* circuits.c - circuits between servers, and how they are joined (tools/circuits/circuits.h). */
#include "tools/circuits/circuits.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

void circuits_new(struct circuits *c, uint32_t servers, unsigned degree)
{
    *c = (struct circuits){.servers = servers, .degree = degree};
    c->circuit = hx_allocate((size_t)servers * degree / 2 + 1, sizeof *c->circuit);
    c->used = hx_allocate(servers, sizeof *c->used);
}

void circuits_free(struct circuits *c)
{
    HX_FREE(c->circuit, c->used);
}

struct circuits circuits_copy(const struct circuits *c)
{
    struct circuits copy;
    circuits_new(&copy, c->servers, c->degree);
    memcpy(copy.circuit, c->circuit, c->count * sizeof *c->circuit);
    memcpy(copy.used, c->used, c->servers * sizeof *c->used);
    memcpy(copy.ring, c->ring, c->rings * sizeof *c->ring);
    copy.count = c->count;
    copy.rings = c->rings;
    return copy;
}

unsigned circuits_used(const struct circuits *c, uint32_t server)
{
    return c->used[server];
}

bool circuits_add(struct circuits *c, uint32_t a, uint32_t b)
{
    if (a == b || c->used[a] == c->degree || c->used[b] == c->degree)
        return false;
    c->used[a]++;
    c->used[b]++;
    c->circuit[c->count++] = (struct circuit){a, b};
    return true;
}

unsigned circuits_strides_of(const struct circuits_ring *ring, unsigned rings, unsigned reduce, uint32_t *stride)
{
    unsigned count = 0;
    for (unsigned i = 0; i < rings; i++)
        if (ring[i].reduce == reduce)
            stride[count++] = ring[i].stride;
    if (count == 0)
        stride[count++] = 1;
    return count;
}

/* ---- joined ---- */

enum { NONE = UINT32_MAX };

/* A component of the servers that circuits join. */
struct component {
    uint32_t parent; /* a server of the same component; of the first one: itself */
    /* of the first one; NONE: there is none */
    uint32_t spare;   /* a server with a free interface */
    uint32_t last;    /* the last circuit */
    uint32_t closing; /* the last circuit that closes a cycle with those before it */
};

static uint32_t first_of(struct component *of, uint32_t server)
{
    while (of[server].parent != server)
        server = of[server].parent = of[of[server].parent].parent;
    return server;
}

static uint32_t later(uint32_t one, uint32_t other)
{
    if (one == NONE || other == NONE)
        return one == NONE ? other : one;
    return one > other ? one : other;
}

static void find_components(const struct circuits *c, struct component *of)
{
    for (uint32_t s = 0; s < c->servers; s++)
        of[s] = (struct component){s, c->used[s] < c->degree ? s : NONE, NONE, NONE};
    for (uint32_t i = 0; i < c->count; i++) {
        const uint32_t a = first_of(of, c->circuit[i].a), b = first_of(of, c->circuit[i].b);
        struct component *first = &of[a < b ? a : b], *joined = &of[a < b ? b : a];
        first->last = i;
        if (a == b) {
            first->closing = i;
            continue;
        }
        joined->parent = first->parent;
        first->spare = first->spare == NONE ? joined->spare : first->spare;
        first->closing = later(first->closing, joined->closing);
    }
}

/* Joins two components. One without a free interface has a cycle, if servers have two interfaces or more. */
static bool join(struct circuits *c, const struct component *one, const struct component *other)
{
    if (one->spare != NONE && other->spare != NONE)
        return circuits_add(c, one->spare, other->spare);
    if (other->spare != NONE)
        return join(c, other, one);
    if (other->closing == NONE)
        return false;
    struct circuit *opened = &c->circuit[other->closing];
    const uint32_t end = opened->b;
    if (one->last == NONE) { /* a server alone comes between both ends */
        opened->b = one->spare;
        c->used[one->spare]++;
        c->used[end]--;
        return circuits_add(c, one->spare, end);
    }
    struct circuit *exchanged = &c->circuit[one->last];
    opened->b = exchanged->b;
    exchanged->b = end;
    return true;
}

bool circuits_connect(struct circuits *c)
{
    struct component *of = hx_allocate(c->servers, sizeof *of);
    uint32_t other = 1;
    bool joined = true;
    while (joined && other < c->servers) {
        find_components(c, of);
        while (other < c->servers && first_of(of, other) == 0)
            other++;
        if (other < c->servers)
            joined = join(c, &of[0], &of[other]);
    }
    free(of);
    return joined;
}
