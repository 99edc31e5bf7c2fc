/* faults.c - a schedule of faults on a live fabric (faults.h). */
#include "faults.h"
#include "fabric-emu/layout.h"
#include "fabric-emu/waits.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)SHM_FAULTY_WHOLE == (int)HX_FAULT_WHOLE, "shares of a schedule are those of a condition");

/* A packet that was lost is missed within this time: by an endpoint that has had answers, or by one that has not. */
static const uint64_t notice_ns = (WAIT_FIRST_MS + WAIT_LEAST_MS) * UINT64_C(1000000);
/* The supervisor looks every few milliseconds: what comes and goes faster would be down or up as chance has it. */
static const uint64_t least_period_ns = 50000000;

/* What is due at a time: of a link, its condition; of a worker, a signal. */
struct fault_change {
    uint64_t at_ns;
    uint32_t near, far; /* numbers of the ports at the link's ends */
    uint32_t worker;    /* SHM_MAX_WORKERS: it is a link */
    int signal;
    struct shm_condition condition;
};

/* ---- what is due ---- */

static void note(struct faults *s, const struct fault_change *change)
{
    s->change = hx_grow(s->change, s->changes, &s->change_room, sizeof *s->change);
    s->change[s->changes++] = *change;
}

static struct shm_condition condition_of(const struct hx_link_state *state)
{
    const struct hx_impairment *i = &state->impairs;
    return (struct shm_condition){.down = state->down,
                                  .loss = i->loss,
                                  .corrupt = i->corrupt,
                                  .duplicate = i->duplicate,
                                  .reorder = i->reorder,
                                  .credit_loss = i->credit_loss,
                                  .delay_ns = i->delay_ns,
                                  .bytes_a_second = (uint64_t)(HX_NOMINAL_LINK_RATE * i->rate / HX_FAULT_WHOLE)};
}

static void note_link(struct faults *s, unsigned plane, uint32_t node, unsigned port)
{
    struct hx_end far = hx_fabric_far(s->f->g, node, port);
    size_t count;
    struct hx_link_change *of_link = hx_faults_of_link(&s->schedule, s->f->g, plane, node, port, &count);
    struct fault_change change = {.near = fab_first_port(s->f, plane, node) + port,
                                  .far = fab_first_port(s->f, plane, far.node) + far.port,
                                  .worker = SHM_MAX_WORKERS};
    for (size_t i = 0; i < count; i++) {
        change.at_ns = of_link[i].at_ns;
        change.condition = condition_of(&of_link[i].state);
        note(s, &change);
    }
    free(of_link);
}

static void note_worker(struct faults *s, const struct hx_fault *fault)
{
    static const int signals[HX_FAULT_KINDS] = {
        [HX_FAULT_KILLED] = SIGKILL, [HX_FAULT_STOPPED] = SIGSTOP, [HX_FAULT_CONTINUED] = SIGCONT};
    struct fault_change change = {.at_ns = fault->at_ns, .worker = fault->target.index, .signal = signals[fault->kind]};
    note(s, &change);
    if (fault->kind != HX_FAULT_STOPPED || !fault->for_ns)
        return;
    change.at_ns += fault->for_ns;
    change.signal = SIGCONT;
    note(s, &change);
}

static int by_time(const void *a, const void *b)
{
    const struct fault_change *p = a;
    const struct fault_change *q = b;
    return p->at_ns < q->at_ns ? -1 : p->at_ns > q->at_ns;
}

static bool is_of_here(const struct fab_fabric *f, uint32_t node)
{
    return node >= f->g->hosts || !fab_is_external(f, node);
}

/* Numbers all changes anew; of those that are past, the last one of each link says how it is now. */
static void plan(struct faults *s)
{
    const struct hx_fabric *g = s->f->g;
    s->changes = s->done = 0;
    for (unsigned plane = 0; plane < g->planes && s->schedule.count; plane++) {
        for (uint32_t node = 0; node < g->nodes; node++) {
            for (unsigned port = 0; port < hx_fabric_ports(g, node); port++) {
                struct hx_end far = hx_fabric_far(g, node, port);
                bool first = node < far.node || (node == far.node && port < far.port);
                if (far.node != HX_NOWHERE && first && is_of_here(s->f, node) && is_of_here(s->f, far.node))
                    note_link(s, plane, node, port);
            }
        }
    }
    for (size_t i = 0; i < s->schedule.count; i++) {
        if (s->schedule.fault[i].target.place == HX_PLACE_WORKER)
            note_worker(s, &s->schedule.fault[i]);
    }
    if (s->changes)
        qsort(s->change, s->changes, sizeof *s->change, by_time);
}

uint64_t faults_due(const struct faults *s)
{
    return s->done < s->changes ? s->change[s->done].at_ns : UINT64_MAX;
}

bool faults_advance(struct faults *s, uint64_t now_ns, void (*signal)(void *of, unsigned worker, int number), void *of)
{
    bool changed = false;
    for (; faults_due(s) <= now_ns; s->done++) {
        const struct fault_change *c = &s->change[s->done];
        if (c->worker != SHM_MAX_WORKERS) {
            signal(of, c->worker, c->signal);
            continue;
        }
        s->f->condition[c->near] = s->f->condition[c->far] = c->condition;
        changed = true;
    }
    if (changed)
        atomic_fetch_add(&s->f->control->conditions, 1);
    return changed;
}

/* ---- lines ---- */

static bool allows(const struct fab_fabric *f, const struct hx_fault *fault, struct hx_problem *problem)
{
    const struct hx_fault_target *t = &fault->target;
    if (t->place == HX_PLACE_WORKER && t->index >= f->workers)
        return hx_fail(problem, HX_EXIT_CONFIG, NULL, "there is no worker%u: this fabric has worker0 to worker%u",
                       (unsigned)t->index, f->workers - 1);
    if ((t->place == HX_PLACE_LINK || t->place == HX_PLACE_NODE) && !is_of_here(f, t->index))
        return hx_fail(problem, HX_EXIT_CONFIG, NULL, "this accelerator runs elsewhere: its cables fail there");
    if (fault->kind == HX_FAULT_FLAPS && fault->period_ns < least_period_ns)
        return hx_fail(problem, HX_EXIT_CONFIG, NULL, "live, a link flaps every %u ms at most",
                       (unsigned)(least_period_ns / 1000000));
    return true;
}

static size_t put(struct faults *s, const struct hx_fault *fault)
{
    size_t count = s->schedule.count;
    size_t at = hx_faults_put(&s->schedule, fault);
    size_t room = s->room;
    s->before = hx_grow(s->before, count, &room, sizeof *s->before);
    s->record = hx_grow(s->record, count, &s->room, sizeof *s->record);
    memmove(s->record + at + 1, s->record + at, (count - at) * sizeof *s->record);
    memmove(s->before + at + 1, s->before + at, (count - at) * sizeof *s->before);
    s->record[at] = (struct fault_record){.at_ns = fault->at_ns};
    (void)snprintf(s->record[at].text, sizeof s->record[at].text, "%s", fault->text);
    return at;
}

bool faults_add(struct faults *s, const char *line, uint64_t now_ns, struct hx_problem *problem)
{
    struct hx_fault fault;
    if (!hx_fault_parse(&fault, line, s->f->g, problem) || !allows(s->f, &fault, problem))
        return false;
    fault.at_ns += now_ns;
    (void)put(s, &fault);
    /* What is done is done: no worker is to be killed twice. */
    uint64_t done_ns = s->done ? s->change[s->done - 1].at_ns : 0;
    plan(s);
    while (s->done < s->changes && s->change[s->done].at_ns <= done_ns)
        s->done++;
    return true;
}

void faults_open(struct faults *s, struct fab_fabric *f, struct hx_faults *schedule)
{
    *s = (struct faults){.f = f};
    struct hx_problem problem;
    for (size_t i = 0; schedule && i < schedule->count; i++) {
        if (!allows(f, &schedule->fault[i], &problem))
            hx_die(problem.exit_code, schedule->fault[i].text, "%s", problem.what);
        (void)put(s, &schedule->fault[i]);
    }
    if (schedule)
        hx_faults_free(schedule);
    plan(s);
}

void faults_close(struct faults *s)
{
    hx_faults_free(&s->schedule);
    free(s->record);
    free(s->before);
    free(s->change);
}

/* ---- what it cost ---- */

struct sum {
    const struct fab_fabric *f;
    uint64_t lost;
};

static uint64_t lost_at(const struct fab_fabric *f, uint32_t number)
{
    const struct shm_faulty_count *c = &f->faulted[number];
    return c->cut + c->lost + c->corrupted;
}

static void add_link(void *of, unsigned plane, uint32_t node, unsigned port)
{
    struct sum *sum = of;
    struct hx_end far = hx_fabric_far(sum->f->g, node, port);
    sum->lost += lost_at(sum->f, fab_first_port(sum->f, plane, node) + port);
    sum->lost += lost_at(sum->f, fab_first_port(sum->f, plane, far.node) + far.port);
}

static uint64_t lost_by(const struct fab_fabric *f, const struct hx_fault_target *t)
{
    struct sum sum = {.f = f};
    if (t->place == HX_PLACE_WORKER)
        return f->area[t->index].drops[HX_DROP_WORKER_LOST];
    hx_fault_each_link(t, f->g, add_link, &sum);
    return sum.lost;
}

/* ---- when traffic was whole again ---- */

static bool is_same_place(const struct hx_fault_target *a, const struct hx_fault_target *b)
{
    return a->place == b->place && a->plane == b->plane && a->index == b->index && a->port == b->port;
}

/* When a fault ends, by its time or by an "up" of the same place. UINT64_MAX: it stays. */
static uint64_t end_of(const struct faults *s, size_t at)
{
    const struct hx_fault *fault = &s->schedule.fault[at];
    uint64_t end = fault->for_ns ? fault->at_ns + fault->for_ns : UINT64_MAX;
    if (fault->kind == HX_FAULT_UP || fault->kind == HX_FAULT_KILLED || fault->kind == HX_FAULT_CONTINUED)
        return fault->at_ns;
    for (size_t i = at + 1; i < s->schedule.count; i++) {
        const struct hx_fault *up = &s->schedule.fault[i];
        if (up->kind == HX_FAULT_UP && up->at_ns < end && is_same_place(&up->target, &fault->target))
            end = up->at_ns;
    }
    return end;
}

/* Messages that are hit now; *last_ns: when the last one ceased to be. */
static uint64_t messages_hit(const struct fab_fabric *f, uint64_t *last_ns)
{
    uint64_t hit = 0;
    *last_ns = 0;
    for (unsigned w = 0; w < f->workers; w++) {
        uint64_t over_ns = f->area[w].hit_over_ns;
        hit += f->area[w].hit;
        *last_ns = over_ns > *last_ns ? over_ns : *last_ns;
    }
    *last_ns = *last_ns > f->control->started_ns ? *last_ns - f->control->started_ns : 0;
    return hit;
}

static bool goes_on(enum hx_fault_kind kind)
{
    return kind == HX_FAULT_IMPAIRS || kind == HX_FAULT_FLAPS || kind == HX_FAULT_STOPPED;
}

static void judge(struct faults *s, size_t at, uint64_t now_ns, bool ended)
{
    struct fault_record *r = &s->record[at];
    const struct hx_fault *fault = &s->schedule.fault[at];
    uint64_t end = end_of(s, at);
    uint64_t last_ns;
    r->over = end <= now_ns;
    r->over_ns = end;
    r->lost = lost_by(s->f, &fault->target) - s->before[at];
    if (r->whole)
        return;
    uint64_t hit = messages_hit(s->f, &last_ns);
    uint64_t from = goes_on(fault->kind) ? end : r->at_ns;
    uint64_t quiet = last_ns > from ? last_ns : from;
    r->whole = hit == 0 && quiet <= now_ns && (ended || now_ns - quiet >= notice_ns);
    r->whole_ns = quiet;
}

void faults_judge(struct faults *s, uint64_t now_ns, bool ended)
{
    for (size_t i = 0; i < s->schedule.count; i++) {
        struct fault_record *r = &s->record[i];
        if (!r->begun && r->at_ns <= now_ns) {
            r->begun = true;
            s->before[i] = lost_by(s->f, &s->schedule.fault[i].target);
        }
        if (r->begun && !(r->whole && r->over))
            judge(s, i, now_ns, ended);
    }
}

char *faults_text(struct faults *s, uint64_t now_ns, size_t room)
{
    char *text = NULL;
    faults_judge(s, now_ns, false);
    for (size_t from = 0; !text; from++) {
        json_t *list = fault_records_json(s->record + from, s->schedule.count - from);
        text = json_dumps(list, JSON_COMPACT);
        json_decref(list);
        if (text && strlen(text) < room)
            break;
        free(text);
        text = NULL;
        if (from == s->schedule.count)
            hx_die(HX_EXIT_ENVIRONMENT, s->f->spec.source, "out of memory for a list of faults");
    }
    return text;
}
