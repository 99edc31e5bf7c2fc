/* fast_forward_records.c - what collectives did, and what links carried (fast_forward_parts.h). */
#include "workload/fast_forward_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what links carried ---- */

static uint64_t *carried(const struct fast_forward *f, const struct kind *k, unsigned plane, uint32_t i)
{
    return f->config.carried(f->config.of, plane, k->port[i]);
}

static void note_links(const struct flight *l)
{
    const struct fast_forward *f = l->job->f;
    uint64_t *to = l->link;
    for (unsigned plane = 0; plane < f->g->planes; plane++) {
        for (uint32_t i = 0; i < l->kind->ports; i++, to += 2)
            memcpy(to, carried(f, l->kind, plane, i), 2 * sizeof *to);
    }
}

void records_add_links(const struct flight *l, double share)
{
    struct fast_forward *f = l->job->f;
    const uint64_t *from = l->by->link;
    share /= l->by->taken;
    for (unsigned plane = 0; plane < f->g->planes; plane++) {
        for (uint32_t i = 0; i < l->kind->ports; i++, from += 2) {
            uint64_t *to = carried(f, l->kind, plane, i);
            const uint64_t packets = (uint64_t)llround(share * (double)from[0]);
            to[0] += packets;
            to[1] += (uint64_t)llround(share * (double)from[1]);
            f->counts.hops += packets;
        }
    }
}

/* ---- records ---- */

/* The most by which the begins of a flight and a record differ: ps. Begins long before the last one are alike. */
static uint64_t distance(const struct flight *l, const struct record *r)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < l->kind->size; i++) {
        const uint64_t own = l->last - l->begin[i] < r->duration ? l->last - l->begin[i] : r->duration;
        const uint64_t other = r->begin[i] < r->duration ? r->begin[i] : r->duration;
        const uint64_t apart = own > other ? own - other : other - own;
        most = apart > most ? apart : most;
    }
    return most;
}

const struct record *records_nearest(const struct flight *l, unsigned taken, double *apart)
{
    const struct record *best = NULL;
    *apart = INFINITY;
    for (size_t i = 0; i < l->kind->records; i++) {
        const struct record *r = &l->kind->record[i];
        const double here = (double)distance(l, r) / (double)r->duration;
        if (here < *apart && r->taken >= taken) {
            *apart = here;
            best = r;
        }
    }
    return best;
}

void records_find_last(struct flight *l)
{
    l->last = 0;
    for (uint32_t i = 0; i < l->kind->size; i++)
        l->last = l->begin[i] > l->last ? l->begin[i] : l->last;
}

/* The most by which the ends of a flight differ from those that a record says, as a share of the duration. */
static double ends_apart(const struct flight *l, const struct record *r)
{
    double most = 0;
    for (uint32_t i = 0; i < l->kind->size; i++) {
        const double is = (double)l->end[i] - (double)l->last;
        most = fmax(most, fabs(is - (double)r->end[i]) / (double)r->duration);
    }
    return most;
}

static void audit(struct flight *l)
{
    double apart;
    const double most = ends_apart(l, records_nearest(l, PROVED, &apart));
    struct fast_forward *f = l->job->f;
    f->counts.audits++;
    f->counts.worst_audit = fmax(f->counts.worst_audit, most);
}

/* Adds what links carried in a flight. */
static void take_links(struct flight *l, uint64_t *sum)
{
    const size_t numbers = (size_t)l->job->f->g->planes * l->kind->ports * 2;
    uint64_t *begin = l->link;
    l->link = hx_allocate(numbers + 1, sizeof *l->link);
    note_links(l);
    for (size_t i = 0; i < numbers; i++)
        sum[i] += l->link[i] - begin[i];
    free(begin);
}

/* Whether a record with such begins has such ends. Packets may take other paths: the record has those of this flight,
 * too. */
static bool is_proved(struct flight *l)
{
    const double tolerance = l->job->f->config.tolerance;
    double apart;
    struct record *r = (struct record *)(uintptr_t)records_nearest(l, 1, &apart);
    if (!r || apart > tolerance || ends_apart(l, r) > tolerance)
        return false;
    take_links(l, r->link);
    r->taken++;
    return true;
}

static void keep_record(struct flight *l)
{
    const struct fast_forward *f = l->job->f;
    struct kind *k = l->kind;
    const size_t numbers = (size_t)f->g->planes * k->ports * 2;
    struct record r = {.begin = l->begin, .end = l->end, .carried = l->carried, .taken = 1};
    r.link = hx_allocate(numbers + 1, sizeof *r.link);
    take_links(l, r.link);
    for (uint32_t i = 0; i < k->size; i++) {
        r.begin[i] = l->last - r.begin[i];
        r.end[i] = r.end[i] > l->last ? r.end[i] - l->last : 0;
        r.duration = r.end[i] > r.duration ? r.end[i] : r.duration;
    }
    l->begin = l->end = NULL;
    l->carried = NULL;
    k->eligible = r.duration >= LEAST_DELAYS * f->config.delay;
    if (k->records == MOST_RECORDS) {
        HX_FREE(k->record[0].begin, k->record[0].end, k->record[0].carried, k->record[0].link);
        memmove(k->record, k->record + 1, --k->records * sizeof r);
    }
    k->record = hx_grow(k->record, k->records, &k->room, sizeof r);
    k->record[k->records++] = r;
}

void records_begin(struct flight *l)
{
    l->link = hx_allocate((size_t)l->job->f->g->planes * l->kind->ports * 2 + 1, sizeof *l->link);
    note_links(l);
}

bool records_end(struct flight *l)
{
    records_find_last(l);
    if (l->audited)
        audit(l);
    if (is_proved(l))
        return true;
    keep_record(l);
    return false;
}
