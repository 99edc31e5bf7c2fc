/* effects.c - a schedule of faults, and its effects on each link (faults.h). */
#include "base/compare.h"
#include "base/lines.h"
#include "spec/faults/faults.h"

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

/* Whether the target has this end of a link. */
static bool has_end(const struct hx_fault_target *t, const struct hx_fabric *f, uint32_t node, unsigned port)
{
    switch (t->place) {
    case HX_PLACE_ALL:
    case HX_PLACE_PLANE:
        return true;
    case HX_PLACE_GROUP:
        return in_group(f, node, t->index);
    case HX_PLACE_NODE:
        return t->index == node || (f->split_hosts && node == t->index + f->hosts && hx_is_host(f, t->index));
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

/* ---- changes of a link ---- */

/* Time at which a fault begins, ends, or toggles a flapping link. */
struct toggle {
    uint64_t at_ns;
    size_t fault;
    bool begins;
};

struct toggles {
    const struct hx_faults *faults;
    struct toggle *of;
    size_t count, room;
};

static void note(struct toggles *m, uint64_t at_ns, size_t fault, bool begins)
{
    m->of = hx_grow(m->of, m->count, &m->room, sizeof *m->of);
    m->of[m->count++] = (struct toggle){at_ns, fault, begins};
}

/* A link of one plane. */
struct link {
    const struct hx_fabric *f;
    unsigned plane, port;
    uint32_t node;
};

static bool has_link(const struct hx_fault *fault, const struct link *l)
{
    return hx_fault_has_link(&fault->target, l->f, l->plane, l->node, l->port);
}

/* End of a fault on a link: its own, or the first later "up" that has the link. */
static uint64_t ended(const struct hx_fault *fault, uint64_t up_ns)
{
    uint64_t end = fault->for_ns ? fault->at_ns + fault->for_ns : UINT64_MAX;
    return up_ns < end ? up_ns : end;
}

/* Calls `visit` for each fault of the link with its end there. Last fault first, so that the next "up" is known. */
static void each_end(const struct hx_faults *faults, const struct link *l,
                     void (*visit)(void *of, size_t fault, uint64_t end_ns), void *of)
{
    uint64_t up_ns = UINT64_MAX;
    for (size_t i = faults->count; i-- > 0;) {
        if (!has_link(&faults->fault[i], l))
            continue;
        visit(of, i, ended(&faults->fault[i], up_ns));
        if (faults->fault[i].kind == HX_FAULT_UP)
            up_ns = faults->fault[i].at_ns;
    }
}

/* Notes a flapping link: down for the first half of each period, until `end`. */
static void note_flaps(struct toggles *m, const struct hx_fault *fault, size_t i, uint64_t end)
{
    uint64_t most = fault->at_ns + fault->period_ns * HX_MOST_FLAPS;
    end = end < most ? end : most;
    for (uint64_t at = fault->at_ns; at < end && at < HX_MOST_FAULT_TIME; at += fault->period_ns) {
        uint64_t back = at + fault->period_ns / 2;
        note(m, at, i, true);
        note(m, back < end ? back : end, i, false);
    }
}

static void note_fault(void *of, size_t i, uint64_t end)
{
    struct toggles *m = of;
    const struct hx_fault *fault = &m->faults->fault[i];
    if (end <= fault->at_ns)
        return;
    if (fault->kind == HX_FAULT_FLAPS)
        note_flaps(m, fault, i, end);
    if (fault->kind != HX_FAULT_DOWN && fault->kind != HX_FAULT_CLOSED && fault->kind != HX_FAULT_IMPAIRS)
        return;
    note(m, fault->at_ns, i, true);
    if (end != UINT64_MAX)
        note(m, end, i, false);
}

static int by_time(const void *a, const void *b)
{
    const struct toggle *p = a;
    const struct toggle *q = b;
    int at = hx_compare(p->at_ns, q->at_ns);
    int fault = hx_compare(p->fault, q->fault);
    return at ? at : fault ? fault : hx_compare(p->begins, q->begins);
}

/* Active faults of a link, and their combined effect. A change costs the same for any number of active faults: shares
 * and delays are sums. The lowest rate is the root of a tree in which least[i] is the minimum of least[2i] and least[2i
 * + 1]. */
struct holding {
    const struct hx_faults *faults;
    bool *holds; /* [faults->count] */
    /* [2 * faults->count]: leaf faults->count + i is the rate of fault i; UINT32_MAX: inactive, or without a rate */
    uint32_t *least;
    uint64_t cuts, closes, impairs; /* number of active ones */
    uint64_t loss, corrupt, duplicate, reorder, credit_loss, delay_ns;
};

static struct holding hold_nothing(const struct hx_faults *faults)
{
    struct holding h = {.faults = faults,
                        .holds = hx_allocate(faults->count, sizeof *h.holds),
                        .least = hx_allocate(2 * faults->count, sizeof *h.least)};
    memset(h.least, 0xFF, 2 * faults->count * sizeof *h.least);
    return h;
}

static void set_rate(struct holding *h, size_t fault, uint32_t rate)
{
    size_t at = h->faults->count + fault;
    for (h->least[at] = rate; at > 1; at /= 2)
        h->least[at / 2] = h->least[at] < h->least[at ^ 1] ? h->least[at] : h->least[at ^ 1];
}

static void follow(struct holding *h, const struct toggle *m)
{
    const struct hx_fault *fault = &h->faults->fault[m->fault];
    const struct hx_impairment *i = &fault->impairs;
    uint64_t sign = m->begins ? 1 : UINT64_MAX; /* -1 */
    if (h->holds[m->fault] == m->begins)
        return;
    h->holds[m->fault] = m->begins;
    *(fault->kind == HX_FAULT_IMPAIRS ? &h->impairs : fault->kind == HX_FAULT_CLOSED ? &h->closes : &h->cuts) += sign;
    h->loss += sign * i->loss;
    h->corrupt += sign * i->corrupt;
    h->duplicate += sign * i->duplicate;
    h->reorder += sign * i->reorder;
    h->credit_loss += sign * i->credit_loss;
    h->delay_ns += sign * i->delay_ns;
    if (i->rate)
        set_rate(h, m->fault, m->begins ? i->rate : UINT32_MAX);
}

static uint32_t share(uint64_t sum)
{
    return sum < HX_FAULT_WHOLE ? (uint32_t)sum : HX_FAULT_WHOLE;
}

static struct hx_link_state state_of(const struct holding *h)
{
    return (struct hx_link_state){.down = h->cuts != 0,
                                  .closed = h->closes != 0,
                                  .impaired = h->impairs != 0,
                                  .impairs = {.loss = share(h->loss),
                                              .corrupt = share(h->corrupt),
                                              .duplicate = share(h->duplicate),
                                              .reorder = share(h->reorder),
                                              .credit_loss = share(h->credit_loss),
                                              .rate = h->least[1] == UINT32_MAX ? 0 : h->least[1],
                                              .delay_ns = h->delay_ns}};
}

/* The fault of a change by toggles first .. last: the latest one that is not closed. Without one, a link that is down
 * or impaired keeps the fault that `held`. */
static size_t fault_of(const struct toggles *m, size_t first, size_t last, const struct hx_link_state *state,
                       size_t held)
{
    for (size_t i = last + 1; i-- > first;)
        if (m->faults->fault[m->of[i].fault].kind != HX_FAULT_CLOSED)
            return m->of[i].fault;
    return state->down || state->impaired ? held : m->of[last].fault;
}

struct hx_link_change *hx_faults_of_link(const struct hx_faults *faults, const struct hx_fabric *f, unsigned plane,
                                         uint32_t node, unsigned port, size_t *count)
{
    struct toggles m = {.faults = faults};
    each_end(faults, &(struct link){f, plane, port, node}, note_fault, &m);
    *count = 0;
    if (!m.count)
        return NULL;
    struct hx_link_change *change = hx_allocate(m.count, sizeof *change);
    struct holding h = hold_nothing(faults);
    qsort(m.of, m.count, sizeof *m.of, by_time);
    for (size_t i = 0, first = 0; i < m.count; i++) {
        follow(&h, &m.of[i]);
        if (i + 1 < m.count && m.of[i + 1].at_ns == m.of[i].at_ns)
            continue;
        struct hx_link_state state = state_of(&h);
        size_t held = *count ? change[*count - 1].fault : m.of[i].fault;
        change[(*count)++] = (struct hx_link_change){m.of[i].at_ns, state, fault_of(&m, first, i, &state, held)};
        first = i + 1;
    }
    free(m.of);
    free(h.holds);
    free(h.least);
    return change;
}

/* Time at which a stopped worker continues: its own end, or when it is continued or killed. */
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

void hx_faults_each_end(const struct hx_faults *faults, const struct hx_fabric *f, unsigned plane, uint32_t node,
                        unsigned port, void (*visit)(void *of, size_t fault, uint64_t end_ns), void *of)
{
    each_end(faults, &(struct link){f, plane, port, node}, visit, of);
}

/* The last end of each fault on any link visited so far. */
struct last_ends {
    const struct hx_faults *faults;
    const struct hx_fabric *f;
    uint64_t *end_ns;
};

static bool holds_on_links(const struct hx_fault *fault)
{
    return hx_fault_closes(fault) || fault->kind == HX_FAULT_IMPAIRS;
}

static void note_end(void *of, size_t fault, uint64_t end_ns)
{
    struct last_ends *last = of;
    if (holds_on_links(&last->faults->fault[fault]) && end_ns > last->end_ns[fault])
        last->end_ns[fault] = end_ns;
}

static void note_ends(void *of, unsigned plane, uint32_t node, unsigned port)
{
    struct last_ends *last = of;
    each_end(last->faults, &(struct link){last->f, plane, port, node}, note_end, last);
}

void hx_faults_ends(const struct hx_faults *faults, const struct hx_fabric *f, uint64_t *end_ns)
{
    const struct hx_fault_target all = {.place = HX_PLACE_ALL, .plane = HX_EVERY_PLANE};
    for (size_t i = 0; i < faults->count; i++)
        end_ns[i] = faults->fault[i].kind == HX_FAULT_STOPPED ? stopped_until(faults, i) : faults->fault[i].at_ns;
    hx_fault_each_link(&all, f, note_ends, &(struct last_ends){faults, f, end_ns});
}
