/* schedule.c - the lines of a schedule, and what they make of each link (faults.h). */
#include "host/faults/faults.h"
#include "host/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lines ---- */

size_t hx_faults_put(struct hx_faults *faults, const struct hx_fault *fault)
{
    size_t at = faults->count;
    faults->fault = hx_grow(faults->fault, faults->count, &faults->room, sizeof *faults->fault);
    for (; at > 0 && faults->fault[at - 1].at_ns > fault->at_ns; at--)
        faults->fault[at] = faults->fault[at - 1];
    faults->fault[at] = *fault;
    faults->count++;
    return at;
}

bool hx_faults_add(struct hx_faults *faults, const char *text, const char *where, const struct hx_fabric *f,
                   struct hx_problem *problem)
{
    for (const char *line = text; *line; line += strcspn(line, ";\n"), line += *line != '\0') {
        char one[HX_FAULT_TEXT * 2];
        struct hx_fault fault;
        struct hx_problem of_line;
        (void)snprintf(one, sizeof one, "%.*s", (int)strcspn(line, "#;\n"), line);
        if (one[strspn(one, " \t\r")] == '\0')
            continue;
        if (!hx_fault_parse(&fault, one, f, &of_line))
            return hx_fail(problem, of_line.exit_code, where, "'%.100s': %s", one + strspn(one, " \t"), of_line.what);
        (void)hx_faults_put(faults, &fault);
    }
    return true;
}

bool hx_faults_read(struct hx_faults *faults, const char *path, const struct hx_fabric *f, struct hx_problem *problem)
{
    struct hx_lines l;
    if (!hx_lines_open(&l, path, problem))
        return false;
    bool good = true;
    while (good && hx_lines_next(&l)) {
        struct hx_fault fault;
        struct hx_problem of_line;
        good = hx_fault_parse(&fault, l.text, f, &of_line) || hx_lines_fail(&l, NULL, "%s", of_line.what);
        if (good)
            (void)hx_faults_put(faults, &fault);
    }
    hx_lines_close(&l);
    return good && !l.failed;
}

void hx_faults_free(struct hx_faults *faults)
{
    free(faults->fault);
    *faults = (struct hx_faults){.count = 0};
}

/* ---- places ---- */

static bool in_group(const struct hx_fabric *f, uint32_t node, uint32_t group)
{
    return f->node[node].group == group && (!f->mesh.nodes || hx_is_host(f, node));
}

/* One end of it. */
static bool has_end(const struct hx_fault_target *t, const struct hx_fabric *f, uint32_t node, unsigned port)
{
    switch (t->place) {
    case HX_PLACE_ALL:
    case HX_PLACE_PLANE:
        return true;
    case HX_PLACE_GROUP:
        return in_group(f, node, t->index);
    case HX_PLACE_NODE:
        return t->index == node;
    case HX_PLACE_LINK:
        return t->index == node && t->port == port;
    case HX_PLACE_WORKER:
        break;
    }
    return false;
}

bool hx_fault_has_link(const struct hx_fault_target *t, const struct hx_fabric *f, unsigned plane, uint32_t node,
                       unsigned port)
{
    struct hx_end far = hx_fabric_far(f, node, port);
    if (far.node == HX_NOWHERE || (t->plane != HX_EVERY_PLANE && t->plane != plane))
        return false;
    return has_end(t, f, node, port) || has_end(t, f, far.node, far.port);
}

void hx_fault_each_link(const struct hx_fault_target *t, const struct hx_fabric *f,
                        void (*visit)(void *of, unsigned plane, uint32_t node, unsigned port), void *of)
{
    for (unsigned plane = 0; plane < f->planes; plane++) {
        for (uint32_t node = 0; node < f->nodes; node++) {
            for (unsigned port = 0; port < hx_fabric_ports(f, node); port++) {
                if (hx_fabric_is_first_end(f, node, port) && hx_fault_has_link(t, f, plane, node, port))
                    visit(of, plane, node, port);
            }
        }
    }
}

/* ---- what becomes of a link ---- */

/* A moment at which a fault begins, ends, or changes a flapping link. */
struct moment {
    uint64_t at_ns;
    size_t fault;
    bool begins;
};

struct moments {
    struct moment *of;
    size_t count, room;
};

static void note(struct moments *m, uint64_t at_ns, size_t fault, bool begins)
{
    m->of = hx_grow(m->of, m->count, &m->room, sizeof *m->of);
    m->of[m->count++] = (struct moment){at_ns, fault, begins};
}

/* Which link, of which plane. */
struct link {
    const struct hx_fabric *f;
    unsigned plane, port;
    uint32_t node;
};

static bool has_link(const struct hx_fault *fault, const struct link *l)
{
    return hx_fault_has_link(&fault->target, l->f, l->plane, l->node, l->port);
}

/* When a fault ends at a link: by its time, or by an "up" behind it in the schedule, which comes later. */
static uint64_t end_at(const struct hx_faults *faults, size_t fault, const struct link *l)
{
    const struct hx_fault *one = &faults->fault[fault];
    uint64_t end = one->for_ns ? one->at_ns + one->for_ns : UINT64_MAX;
    for (size_t i = fault + 1; i < faults->count && faults->fault[i].at_ns < end; i++)
        if (faults->fault[i].kind == HX_FAULT_UP && has_link(&faults->fault[i], l))
            return faults->fault[i].at_ns;
    return end;
}

/* Down for the first half of each period, until `end`. */
static void note_flaps(struct moments *m, const struct hx_fault *fault, size_t i, uint64_t end)
{
    uint64_t most = fault->at_ns + fault->period_ns * HX_MOST_FLAPS;
    end = end < most ? end : most;
    for (uint64_t at = fault->at_ns; at < end && at < HX_MOST_FAULT_TIME; at += fault->period_ns) {
        uint64_t back = at + fault->period_ns / 2;
        note(m, at, i, true);
        note(m, back < end ? back : end, i, false);
    }
}

static void note_fault(struct moments *m, const struct hx_faults *faults, size_t i, const struct link *l)
{
    const struct hx_fault *fault = &faults->fault[i];
    uint64_t end = end_at(faults, i, l);
    if (end <= fault->at_ns)
        return;
    if (fault->kind == HX_FAULT_FLAPS)
        note_flaps(m, fault, i, end);
    if (fault->kind != HX_FAULT_DOWN && fault->kind != HX_FAULT_IMPAIRS)
        return;
    note(m, fault->at_ns, i, true);
    if (end != UINT64_MAX)
        note(m, end, i, false);
}

static int by_time(const void *a, const void *b)
{
    const struct moment *p = a;
    const struct moment *q = b;
    if (p->at_ns != q->at_ns)
        return p->at_ns < q->at_ns ? -1 : 1;
    if (p->fault != q->fault)
        return p->fault < q->fault ? -1 : 1;
    return (int)p->begins - (int)q->begins;
}

static void add_share(uint32_t *into, uint32_t one)
{
    *into = one < HX_FAULT_WHOLE - *into ? *into + one : HX_FAULT_WHOLE;
}

static void add_state(struct hx_link_state *state, const struct hx_fault *fault)
{
    struct hx_impairment *into = &state->impairs;
    const struct hx_impairment *one = &fault->impairs;
    state->down = state->down || fault->kind != HX_FAULT_IMPAIRS;
    state->impaired = state->impaired || fault->kind == HX_FAULT_IMPAIRS;
    add_share(&into->loss, one->loss);
    add_share(&into->corrupt, one->corrupt);
    add_share(&into->duplicate, one->duplicate);
    add_share(&into->reorder, one->reorder);
    add_share(&into->credit_loss, one->credit_loss);
    into->rate = one->rate && (!into->rate || one->rate < into->rate) ? one->rate : into->rate;
    into->delay_ns += one->delay_ns;
}

/* Faults that hold at a moment, in no order: what they make of a link does not depend on one. */
struct holding {
    size_t *fault, count, room;
};

static void follow(struct holding *h, const struct moment *m)
{
    size_t at = 0;
    while (at < h->count && h->fault[at] != m->fault)
        at++;
    if (at < h->count)
        h->fault[at] = h->fault[--h->count];
    if (!m->begins)
        return;
    h->fault = hx_grow(h->fault, h->count, &h->room, sizeof *h->fault);
    h->fault[h->count++] = m->fault;
}

static struct hx_link_state state_of(const struct hx_faults *faults, const struct holding *h)
{
    struct hx_link_state state = {.down = false};
    for (size_t i = 0; i < h->count; i++)
        add_state(&state, &faults->fault[h->fault[i]]);
    return state;
}

struct hx_link_change *hx_faults_of_link(const struct hx_faults *faults, const struct hx_fabric *f, unsigned plane,
                                         uint32_t node, unsigned port, size_t *count)
{
    const struct link l = {f, plane, port, node};
    struct moments m = {.count = 0};
    struct holding h = {.count = 0};
    for (size_t i = 0; i < faults->count; i++)
        if (has_link(&faults->fault[i], &l))
            note_fault(&m, faults, i, &l);
    struct hx_link_change *change = m.count ? hx_allocate(m.count, sizeof *change) : NULL;
    if (m.count)
        qsort(m.of, m.count, sizeof *m.of, by_time);
    *count = 0;
    for (size_t i = 0; i < m.count; i++) {
        follow(&h, &m.of[i]);
        if (i + 1 < m.count && m.of[i + 1].at_ns == m.of[i].at_ns)
            continue;
        change[(*count)++] = (struct hx_link_change){m.of[i].at_ns, state_of(faults, &h), m.of[i].fault};
    }
    free(m.of);
    free(h.fault);
    return change;
}

uint64_t hx_fault_end_at(const struct hx_faults *faults, size_t fault, const struct hx_fabric *f, unsigned plane,
                         uint32_t node, unsigned port)
{
    return end_at(faults, fault, &(struct link){f, plane, port, node});
}

/* The last end of a fault at any of its links. */
struct last_end {
    const struct hx_faults *faults;
    const struct hx_fabric *f;
    size_t fault;
    uint64_t ns;
};

static void note_end(void *of, unsigned plane, uint32_t node, unsigned port)
{
    struct last_end *last = of;
    uint64_t ns = end_at(last->faults, last->fault, &(struct link){last->f, plane, port, node});
    last->ns = ns > last->ns ? ns : last->ns;
}

/* Until it goes on, by its time or as it is told to, or is killed, and started again. */
static uint64_t stopped_until(const struct hx_faults *faults, size_t fault)
{
    const struct hx_fault *one = &faults->fault[fault];
    uint64_t end = one->for_ns ? one->at_ns + one->for_ns : UINT64_MAX;
    for (size_t i = fault + 1; i < faults->count && faults->fault[i].at_ns < end; i++) {
        const struct hx_fault *later = &faults->fault[i];
        if ((later->kind == HX_FAULT_CONTINUED || later->kind == HX_FAULT_KILLED) &&
            later->target.index == one->target.index)
            return later->at_ns;
    }
    return end;
}

uint64_t hx_fault_end(const struct hx_faults *faults, size_t fault, const struct hx_fabric *f)
{
    const struct hx_fault *one = &faults->fault[fault];
    struct last_end last = {faults, f, fault, one->at_ns};
    if (one->kind == HX_FAULT_UP || one->kind == HX_FAULT_KILLED || one->kind == HX_FAULT_CONTINUED)
        return one->at_ns;
    if (one->kind == HX_FAULT_STOPPED)
        return stopped_until(faults, fault);
    hx_fault_each_link(&one->target, f, note_end, &last);
    return last.ns;
}
