/* fault_links.c - links with faults, and the times at which the fabric learns of changes (fault_links.h). */
#include "fault_links.h"
#include "base/compare.h"
#include "base/error.h"

#include <stdlib.h>

static void note_epoch(struct fault_links *f, uint64_t ns, unsigned plane)
{
    f->epoch = hx_grow(f->epoch, f->epochs, &f->epochs_room, sizeof *f->epoch);
    f->epoch[f->epochs++] = (struct route_epoch){ns * 1000, 1U << plane};
}

/* The fabric knows of planned changes at once. */
static void note_epochs(struct fault_links *f, const struct hit_link *l)
{
    for (size_t i = 0; i < l->detected.count; i++)
        note_epoch(f, l->detected.of[i].ns + f->m->notify_ns, l->plane);
    for (size_t i = 0; i < l->planned.count; i++)
        note_epoch(f, l->planned.of[i].ns, l->plane);
}

static void note_link(void *of, unsigned plane, uint32_t node, unsigned port)
{
    struct fault_links *f = of;
    const struct model *m = f->m;
    struct hit_link l = {.plane = plane, .node = node, .port = port};
    l.change = hx_faults_of_link(m->faults, m->g, plane, node, port, &l.changes);
    if (!l.change)
        return;
    l.detected = link_times_detected(l.change, l.changes, m->detect_ns);
    l.planned = link_times_planned(l.change, l.changes);
    l.ports = link_times_of_either(&l.detected, &l.planned);
    note_epochs(f, &l);
    f->link = hx_grow(f->link, f->count, &f->room, sizeof *f->link);
    f->link[f->count++] = l;
}

static int by_at(const void *a, const void *b)
{
    const struct route_epoch *p = a;
    const struct route_epoch *q = b;
    return hx_compare(p->at, q->at);
}

struct fault_links fault_links_find(const struct model *m)
{
    const struct hx_fault_target all = {.place = HX_PLACE_ALL, .plane = HX_EVERY_PLANE};
    struct fault_links f = {.m = m};
    size_t count = 0;
    hx_fault_each_link(&all, m->g, note_link, &f);
    if (f.epochs)
        qsort(f.epoch, f.epochs, sizeof *f.epoch, by_at);
    for (size_t i = 0; i < f.epochs; i++) {
        if (count && f.epoch[count - 1].at == f.epoch[i].at)
            f.epoch[count - 1].planes |= f.epoch[i].planes;
        else
            f.epoch[count++] = f.epoch[i];
    }
    f.epochs = count;
    return f;
}

static int by_place(const void *a, const void *b)
{
    const struct hit_link *p = a;
    const struct hit_link *q = b;
    int node = hx_compare(p->node, q->node);
    int plane = hx_compare(p->plane, q->plane);
    return plane ? plane : node ? node : hx_compare(p->port, q->port);
}

const struct hit_link *fault_links_at(const struct fault_links *l, unsigned plane, uint32_t node, unsigned port)
{
    struct hx_end far = hx_fabric_far(l->m->g, node, port);
    bool first = hx_fabric_is_first_end(l->m->g, node, port);
    const struct hit_link wanted = {.plane = plane, .node = first ? node : far.node, .port = first ? port : far.port};
    return l->count ? bsearch(&wanted, l->link, l->count, sizeof wanted, by_place) : NULL;
}

static bool is_dead_at(const struct model *m, const struct hit_link *l, uint64_t ns)
{
    return link_times_shut(&l->planned, ns) || (ns >= m->notify_ns && link_times_shut(&l->detected, ns - m->notify_ns));
}

void fault_links_each_dead(const struct fault_links *l, size_t epoch, unsigned plane,
                           void (*each)(void *of, const struct hit_link *), void *of)
{
    uint64_t ns = l->epoch[epoch].at / 1000;
    for (size_t i = 0; i < l->count; i++)
        if (l->link[i].plane == plane && is_dead_at(l->m, &l->link[i], ns))
            each(of, &l->link[i]);
}
