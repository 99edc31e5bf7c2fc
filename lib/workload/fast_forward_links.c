/* fast_forward_links.c - ports in use, and what links would have carried (fast_forward_parts.h). */
#include "hxmesh/frame.h"
#include "workload/fast_forward_parts.h"

#include <math.h>
#include <string.h>

enum { LAID = 1 /* examples that a load counts as that is laid on all paths evenly */ };

static void add_beside(struct flight *l, struct flight *other)
{
    l->beside = hx_grow(l->beside, l->besides, &l->besides_room, sizeof(struct flight *));
    l->beside[l->besides++] = other;
}

static void remove_from(struct flight **list, size_t *count, const struct flight *l)
{
    size_t at = 0;
    while (list[at] != l)
        at++;
    list[at] = list[--*count];
}

void links_take(struct flight *l)
{
    struct fast_forward *f = l->job->f;
    f->stamp++;
    for (uint32_t i = 0; i < l->kind->shape->ports; i++) {
        struct use *use = &f->use[l->kind->port[i]];
        for (size_t k = 0; k < use->flights; k++) {
            struct flight *other = use->flight[k];
            if (other->stamp != f->stamp) {
                other->stamp = f->stamp;
                add_beside(l, other);
                add_beside(other, l);
            }
        }
        use->flight = hx_grow(use->flight, use->flights, &use->room, sizeof(struct flight *));
        use->flight[use->flights++] = l;
    }
}

void links_leave(struct flight *l)
{
    struct fast_forward *f = l->job->f;
    for (uint32_t i = 0; i < l->kind->shape->ports; i++) {
        struct use *use = &f->use[l->kind->port[i]];
        remove_from(use->flight, &use->flights, l);
    }
    for (size_t i = 0; i < l->besides; i++)
        remove_from(l->beside[i]->beside, &l->beside[i]->besides, l);
    l->besides = 0;
}

bool links_have_messages(const struct flight *l)
{
    const struct fast_forward *f = l->job->f;
    bool any = false;
    for (uint32_t i = 0; i < l->kind->shape->ports && !any; i++)
        any = f->use[l->kind->port[i]].pairs > 0;
    return any;
}

/* ---- what links carry ---- */

/* The counts of a port in a plane: packets, blocks. */
static uint64_t *carried_by(const struct flight *l, unsigned plane, uint32_t i)
{
    const struct fast_forward *f = l->job->f;
    return f->config.carried(f->config.of, plane, l->kind->port[i]);
}

static size_t counts_of(const struct flight *l)
{
    return (size_t)l->job->f->g->planes * l->kind->shape->ports * 2;
}

void links_begin(struct flight *l)
{
    if (l->besides)
        return;
    l->link = hx_allocate(counts_of(l), sizeof *l->link);
    uint64_t *to = l->link;
    for (unsigned plane = 0; plane < l->job->f->g->planes; plane++) {
        for (uint32_t i = 0; i < l->kind->shape->ports; i++, to += 2)
            memcpy(to, carried_by(l, plane, i), 2 * sizeof *to);
    }
}

void links_end(struct flight *l)
{
    struct shape *s = l->kind->shape;
    if (!l->link || !l->whole || l->neighbours)
        return;
    if (!s->link)
        s->link = hx_allocate(counts_of(l), sizeof *s->link);
    const uint64_t *from = l->link;
    uint64_t *sum = s->link;
    s->measured++;
    for (unsigned plane = 0; plane < l->job->f->g->planes; plane++) {
        for (uint32_t i = 0; i < s->ports; i++, from += 2, sum += 2) {
            sum[0] += carried_by(l, plane, i)[0] - from[0];
            sum[1] += carried_by(l, plane, i)[1] - from[1];
        }
    }
}

/* What a port carries in a plane for a whole flight. */
struct load {
    double packets, blocks;
};

/* By its share of the bytes; all messages have the mean size. Packets but the last of a message are full. As many
 * acknowledgements, a block each, come the other way: links of a collective carry alike in both directions. */
static struct load laid(const struct flight *l, uint32_t i, const struct executor_carried *carried)
{
    const double share = l->kind->shape->form[i].bytes / (double)carried->bytes / l->job->f->g->planes;
    const double blocks = ceil((double)carried->bytes / (double)carried->messages / HX_BLOCK);
    return (struct load){share * (double)(carried->packets + carried->messages),
                         share * (double)carried->messages * (blocks + 1)};
}

/* Packets choose among equal paths by chance: what was measured counts the more, the more examples it is of. */
void links_add(const struct flight *l, double share, const struct executor_carried *carried)
{
    struct fast_forward *f = l->job->f;
    const struct shape *s = l->kind->shape;
    const uint64_t *from = s->link;
    if (!carried->messages || !carried->bytes)
        return;
    for (unsigned plane = 0; plane < f->g->planes; plane++) {
        for (uint32_t i = 0; i < s->ports; i++) {
            uint64_t *to = carried_by(l, plane, i);
            struct load load = laid(l, i, carried);
            if (from) {
                load.packets = (LAID * load.packets + (double)*from++) / (LAID + s->measured);
                load.blocks = (LAID * load.blocks + (double)*from++) / (LAID + s->measured);
            }
            to[0] += (uint64_t)llround(share * load.packets);
            to[1] += (uint64_t)llround(share * load.blocks);
            f->counts.hops += (uint64_t)llround(share * load.packets);
        }
    }
}
