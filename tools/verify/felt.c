/* felt.c - times at which faults have effects (tools/verify/felt.h). */
#include "tools/verify/felt.h"
#include "hxmesh/frame.h"

#include <stdlib.h>
#include <string.h>

enum { KINDS = 32, PACKET_BITS = 8 * HX_MAX_PAYLOAD };

struct hx_felt_span {
    uint64_t at_ns;
    unsigned kinds;
    bool begins;
};

void hx_felt_free(struct hx_felt *f)
{
    free(f->step);
    free(f->span);
    *f = (struct hx_felt){.step = NULL};
}

unsigned hx_felt_kinds(const struct hx_fault *fault)
{
    const struct hx_impairment *i = &fault->impairs;
    if (fault->kind == HX_FAULT_KILLED)
        return HX_ALLOW_GAPS | HX_ALLOW_REROUTE | HX_ALLOW_STRANDED;
    if (fault->kind == HX_FAULT_CLOSED)
        return HX_ALLOW_REROUTE; /* a plan allows no loss */
    if (hx_fault_cuts(fault))
        return HX_ALLOW_LOSS | HX_ALLOW_ORDER | HX_ALLOW_REROUTE | HX_ALLOW_STRANDED | HX_ALLOW_STRETCH;
    unsigned kinds = fault->kind == HX_FAULT_IMPAIRS ? HX_ALLOW_STRETCH : 0;
    kinds |= i->loss ? HX_ALLOW_LOSS : 0;
    kinds |= i->corrupt ? HX_ALLOW_DAMAGE : 0;
    kinds |= i->duplicate ? HX_ALLOW_COPIES : 0;
    kinds |= i->delay_ns || i->reorder || i->rate ? HX_ALLOW_LATE : 0;
    bool disorders = kinds & ~(unsigned)(HX_ALLOW_STRETCH | HX_ALLOW_LATE) || i->reorder || i->delay_ns;
    return disorders ? kinds | HX_ALLOW_ORDER : kinds;
}

/* ---- tables ---- */

static uint64_t later(uint64_t time, uint64_t by)
{
    return time > UINT64_MAX - by ? UINT64_MAX : time + by;
}

static uint64_t earlier(uint64_t time, uint64_t by)
{
    return time > by ? time - by : 0;
}

static void note(struct hx_felt *f, uint64_t at_ns, unsigned kinds, bool begins)
{
    f->span = hx_grow(f->span, f->spans, &f->room, sizeof *f->span);
    f->span[f->spans++] = (struct hx_felt_span){at_ns, kinds, begins};
}

/* Both ends of the span are included. */
void hx_felt_add(struct hx_felt *f, uint64_t from_ns, uint64_t to_ns, unsigned kinds)
{
    if (!kinds || from_ns > to_ns)
        return;
    note(f, from_ns, kinds, true);
    if (to_ns != UINT64_MAX)
        note(f, to_ns + 1, kinds, false);
}

static int by_time(const void *a, const void *b)
{
    const struct hx_felt_span *p = a;
    const struct hx_felt_span *q = b;
    return (p->at_ns > q->at_ns) - (p->at_ns < q->at_ns);
}

/* Updates the number of spans of each kind; returns the kinds that have any. */
static unsigned counted(size_t count[KINDS], const struct hx_felt_span *s)
{
    unsigned kinds = 0;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        if (s->kinds >> kind & 1)
            count[kind] += s->begins ? 1 : (size_t)-1;
        kinds |= count[kind] ? 1U << kind : 0;
    }
    return kinds;
}

void hx_felt_make(struct hx_felt *f)
{
    size_t count[KINDS] = {0};
    if (f->spans)
        qsort(f->span, f->spans, sizeof *f->span, by_time);
    f->step = hx_allocate(f->spans, sizeof *f->step);
    for (size_t i = 0; i < f->spans; i++) {
        unsigned kinds = counted(count, &f->span[i]);
        bool is_last = i + 1 == f->spans || f->span[i + 1].at_ns != f->span[i].at_ns;
        if (is_last && (f->count ? f->step[f->count - 1].kinds : 0) != kinds)
            f->step[f->count++] = (struct hx_felt_step){f->span[i].at_ns, kinds, kinds};
    }
    for (size_t i = f->count; i-- > 1;)
        f->step[i - 1].since |= f->step[i].since;
    free(f->span);
    f->span = NULL;
    f->spans = f->room = 0;
}

/* The number of steps that begin at or before a time. */
static size_t begun(const struct hx_felt *f, uint64_t time_ns)
{
    size_t low = 0;
    for (size_t high = f->count; low < high;) {
        size_t middle = (low + high) / 2;
        if (f->step[middle].from_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

unsigned hx_felt_at(const struct hx_felt *f, uint64_t time_ns)
{
    size_t at = begun(f, time_ns);
    return at ? f->step[at - 1].kinds : 0;
}

unsigned hx_felt_since(const struct hx_felt *f, uint64_t time_ns)
{
    size_t at = begun(f, time_ns);
    return f->count ? f->step[at ? at - 1 : 0].since : 0;
}

/* ---- links ---- */

/* A time at which a fault begins or ends at a link. */
struct change {
    uint64_t at_ns, delay_ns;
    unsigned kinds;
    bool begins;
};

struct changes {
    const struct hx_faults *faults;
    struct change *of;
    size_t count, room;
    uint32_t least_rate; /* share of HX_FAULT_WHOLE */
};

static void put(struct changes *m, uint64_t at_ns, const struct hx_fault *fault, bool begins)
{
    m->of = hx_grow(m->of, m->count, &m->room, sizeof *m->of);
    m->of[m->count++] = (struct change){at_ns, fault->impairs.delay_ns, hx_felt_kinds(fault), begins};
}

static void put_fault(void *of, size_t i, uint64_t end_ns)
{
    struct changes *m = of;
    const struct hx_fault *fault = &m->faults->fault[i];
    if (!hx_felt_kinds(fault))
        return;
    put(m, fault->at_ns, fault, true);
    put(m, end_ns, fault, false);
    if (fault->impairs.rate && fault->impairs.rate < m->least_rate)
        m->least_rate = fault->impairs.rate;
}

static int by_change_time(const void *a, const void *b)
{
    const struct change *p = a;
    const struct change *q = b;
    return (p->at_ns > q->at_ns) - (p->at_ns < q->at_ns);
}

/* Time of a packet on the link at its least rate, without extra delay. */
static uint64_t transit_ns(const struct hx_fabric *g, const struct hx_port_at *link, uint32_t least_rate)
{
    const struct hx_link_class *c = hx_fabric_link(g, link->node, link->port);
    double gbps = hx_class_gbps(c, HX_LINK_GBPS) * least_rate / HX_FAULT_WHOLE;
    return (uint64_t)(PACKET_BITS / gbps) + (c->latency_ns == HX_LATENCY_OF_KIND ? 0 : c->latency_ns);
}

/* The state between two such times affects packets sent in between, and earlier packets that are still on the link. */
void hx_felt_add_link(struct hx_felt *f, const struct hx_faults *faults, const struct hx_fabric *g,
                      const struct hx_port_at *link, const struct hx_felt_margin *margin)
{
    struct changes m = {.faults = faults, .least_rate = HX_FAULT_WHOLE};
    size_t count[KINDS] = {0};
    uint64_t delay_ns = 0;
    uint64_t longest_ns = 0; /* greatest delay of packets that may still be on the link */
    uint64_t empty_ns = 0;   /* time by which these have left it */
    hx_faults_each_end(faults, g, link->plane, link->node, link->port, put_fault, &m);
    if (m.count)
        qsort(m.of, m.count, sizeof *m.of, by_change_time);
    uint64_t transit = m.count ? transit_ns(g, link, m.least_rate) : 0;
    for (size_t i = 0; i + 1 < m.count; i++) {
        const struct change *at = &m.of[i];
        uint64_t end_ns = m.of[i + 1].at_ns;
        unsigned kinds = counted(count, &(struct hx_felt_span){at->at_ns, at->kinds, at->begins});
        delay_ns += at->begins ? at->delay_ns : -at->delay_ns;
        if (end_ns == at->at_ns)
            continue;
        longest_ns = empty_ns < at->at_ns ? 0 : longest_ns;
        longest_ns = delay_ns > longest_ns ? delay_ns : longest_ns;
        hx_felt_add(f, earlier(at->at_ns, margin->before_ns + longest_ns + transit),
                    later(end_ns, margin->after_ns + delay_ns + transit), kinds);
        empty_ns = later(end_ns, delay_ns) > empty_ns ? later(end_ns, delay_ns) : empty_ns;
    }
    free(m.of);
}
