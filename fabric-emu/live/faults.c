/* faults.c - a schedule of faults on a live fabric (faults.h). */
#include "faults.h"
#include "request.h"
#include "topology/updown.h"
#include "workload/endpoint.h"
#include "workload/layout.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert(HX_METRICS_FAULT_WORDS * sizeof(uint64_t) >= HX_FAULT_TEXT, "readers outside see whole lines");

/* Time within which an endpoint misses a lost packet, with or without earlier acknowledgements. */
static const uint64_t notice_ns = (WAIT_FIRST_MS + WAIT_LEAST_MS) * NS_PER_MS;

/* A change due at a time: a link's condition, or a signal for a worker. */
struct fault_change {
    uint64_t at_ns;
    uint32_t near, far; /* ports at the link's ends, numbered as in fab_first_port() */
    uint32_t worker;    /* SHM_MAX_WORKERS: a change of a link */
    int signal;
    struct shm_condition condition;
};

/* ---- changes that are due ---- */

static void add_change(struct faults *s, const struct fault_change *change)
{
    s->change = hx_grow(s->change, s->changes, &s->change_room, sizeof *s->change);
    s->change[s->changes++] = *change;
}

static struct shm_condition condition_of(const struct hx_link_state *state)
{
    const struct hx_impairment *i = &state->impairs;
    return (struct shm_condition){.down = state->down,
                                  .closed = state->closed,
                                  .loss = i->loss,
                                  .corrupt = i->corrupt,
                                  .duplicate = i->duplicate,
                                  .reorder = i->reorder,
                                  .credit_loss = i->credit_loss,
                                  .delay_ns = i->delay_ns,
                                  .bytes_a_second = (uint64_t)(HX_NOMINAL_LINK_RATE * i->rate / HX_FAULT_WHOLE)};
}

static bool is_local(const struct fab_fabric *f, uint32_t node)
{
    return node >= f->g->hosts || !fab_is_external(f, node);
}

static void plan_link(void *of, unsigned plane, uint32_t node, unsigned port)
{
    struct faults *s = of;
    struct hx_end far = hx_fabric_far(s->f->g, node, port);
    size_t count;
    if (!is_local(s->f, node) || !is_local(s->f, far.node))
        return;
    struct hx_link_change *of_link = hx_faults_of_link(&s->schedule, s->f->g, plane, node, port, &count);
    struct fault_change change = {.near = fab_first_port(s->f, plane, node) + port,
                                  .far = fab_first_port(s->f, plane, far.node) + far.port,
                                  .worker = SHM_MAX_WORKERS};
    for (size_t i = 0; i < count; i++) {
        change.at_ns = of_link[i].at_ns;
        change.condition = condition_of(&of_link[i].state);
        add_change(s, &change);
    }
    free(of_link);
}

static void plan_worker(struct faults *s, const struct hx_fault *fault)
{
    static const int signals[HX_FAULT_KINDS] = {
        [HX_FAULT_KILLED] = SIGKILL, [HX_FAULT_STOPPED] = SIGSTOP, [HX_FAULT_CONTINUED] = SIGCONT};
    struct fault_change change = {.at_ns = fault->at_ns, .worker = fault->target.index, .signal = signals[fault->kind]};
    add_change(s, &change);
    if (fault->kind != HX_FAULT_STOPPED || !fault->for_ns)
        return;
    change.at_ns += fault->for_ns;
    change.signal = SIGCONT;
    add_change(s, &change);
}

static int by_time(const void *a, const void *b)
{
    const struct fault_change *p = a;
    const struct fault_change *q = b;
    return p->at_ns < q->at_ns ? -1 : p->at_ns > q->at_ns;
}

/* Corrects the end in the log, for captures that begin later. */
static void log_end(const struct faults *s, const struct fault_record *r)
{
    if (r->begun)
        fault_log_end(s->log, r->log_number, r->end_ns);
}

/* Notes planned changes that are part of the conditions with this number. */
static void note_carried_out(struct faults *s, uint64_t now_ns, uint32_t conditions)
{
    for (size_t i = 0; i < s->schedule.count && s->schedule.fault[i].at_ns <= now_ns; i++) {
        struct fault_record *r = &s->record[i];
        if (r->is.planned && !r->carried_out)
            r->carried_out = conditions ? conditions : 1;
    }
}

/* Computes all changes anew. Of past changes, the last one of each link gives its present condition. */
static void plan(struct faults *s)
{
    const struct hx_fault_target all = {.place = HX_PLACE_ALL, .plane = HX_EVERY_PLANE};
    s->changes = s->done = 0;
    if (s->schedule.count)
        hx_fault_each_link(&all, s->f->g, plan_link, s);
    uint64_t *end_ns = hx_allocate(s->schedule.count + 1, sizeof *end_ns);
    hx_faults_ends(&s->schedule, s->f->g, end_ns);
    for (size_t i = 0; i < s->schedule.count; i++) {
        s->record[i].end_ns = end_ns[i];
        log_end(s, &s->record[i]);
        if (s->schedule.fault[i].target.place == HX_PLACE_WORKER)
            plan_worker(s, &s->schedule.fault[i]);
    }
    free(end_ns);
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
        fab_set_condition(s->f, c->near, &c->condition);
        fab_set_condition(s->f, c->far, &c->condition);
        changed = true;
    }
    if (changed)
        note_carried_out(s, now_ns, atomic_fetch_add(&s->f->control->conditions, 1) + 1);
    return changed;
}

/* ---- planned changes ---- */

/* Returns when the last running worker began to route by a number of control->conditions, since the start; UINT64_MAX:
 * not all do. */
static uint64_t followed_ns(const struct fab_fabric *f, uint32_t conditions)
{
    uint64_t last_ns = f->control->started_ns;
    for (unsigned w = 0; w < f->workers; w++) {
        const struct fab_area *area = &f->area[w];
        if (fab_worker_is_down(f, w))
            continue; /* its successor begins with the present conditions */
        if ((int32_t)(atomic_load(&area->conditions_seen) - conditions) < 0)
            return UINT64_MAX;
        last_ns = area->conditions_ns > last_ns ? area->conditions_ns : last_ns;
    }
    return last_ns - f->control->started_ns;
}

void faults_note_followed(struct faults *s)
{
    uint64_t unfollowed = UINT64_MAX; /* its number in the log */
    for (size_t i = 0; i < s->schedule.count && s->awaited; i++) {
        struct fault_record *r = &s->record[i];
        if (!r->is.planned || !r->begun || r->is.whole)
            continue;
        uint64_t at_ns = r->carried_out ? followed_ns(s->f, r->carried_out) : UINT64_MAX;
        r->is.whole = at_ns != UINT64_MAX;
        r->is.whole_ns = at_ns;
        if (r->is.whole) {
            s->awaited--;
            fault_log_followed(s->log, r->log_number, at_ns > r->is.at_ns ? at_ns : r->is.at_ns);
        } else if (r->log_number < unfollowed) {
            unfollowed = r->log_number;
        }
    }
    fault_log_settle(s->f->control, unfollowed);
}

/* ---- fault lines ---- */

static bool is_possible(const struct fab_fabric *f, const struct hx_fault *fault, struct hx_problem *problem)
{
    const struct hx_fault_target *t = &fault->target;
    if (t->place == HX_PLACE_WORKER && t->index >= f->workers)
        return hx_fail(problem, HX_EXIT_CONFIG, NULL, "there is no worker%u: this fabric has worker0 to worker%u",
                       (unsigned)t->index, f->workers - 1);
    if ((t->place == HX_PLACE_LINK || t->place == HX_PLACE_NODE) && !is_local(f, t->index))
        return hx_fail(problem, HX_EXIT_CONFIG, NULL, "this accelerator runs elsewhere: its cables fail there");
    return true;
}

/* Whether a host has one link only, so that no detour exists. */
static bool has_one_link(const struct hx_fabric *g, uint32_t node)
{
    return hx_is_host(g, node) && g->host_links == 1;
}

struct transit {
    const struct hx_fabric *g;
    bool any; /* a link that carries packets between other nodes */
};

static void note_transit(void *of, unsigned plane, uint32_t node, unsigned port)
{
    struct transit *p = of;
    (void)plane;
    p->any = p->any || (!has_one_link(p->g, node) && !has_one_link(p->g, hx_fabric_far(p->g, node, port).node));
}

/* Warns of a fault, or a planned change, that the running fabric cannot reroute around. */
static void warn_without_detour(const struct fab_fabric *f, const struct hx_fault *fault, struct hx_problem *warning)
{
    struct transit transit = {.g = f->g};
    *warning = (struct hx_problem){.exit_code = HX_EXIT_DONE};
    if (hx_fault_closes(fault) && !f->g->mesh.nodes && !hx_updown_may_change(f->g))
        hx_fault_each_link(&fault->target, f->g, note_transit, &transit);
    if (transit.any)
        (void)snprintf(warning->what, sizeof warning->what,
                       "no switch of this fabric reroutes around it (to prepare that, start the fabric with --fault "
                       "'all up')");
}

static size_t put(struct faults *s, const struct hx_fault *fault)
{
    size_t count = s->schedule.count;
    size_t at = hx_faults_put(&s->schedule, fault);
    s->record = hx_grow(s->record, count, &s->room, sizeof *s->record);
    memmove(s->record + at + 1, s->record + at, (count - at) * sizeof *s->record);
    s->record[at] = (struct fault_record){.is = {.at_ns = fault->at_ns, .planned = fault->kind == HX_FAULT_CLOSED}};
    return at;
}

bool faults_add(struct faults *s, const char *line, uint64_t now_ns, struct hx_problem *problem)
{
    struct hx_fault fault;
    if (!hx_fault_parse(&fault, line, s->f->g, problem) || !is_possible(s->f, &fault, problem))
        return false;
    warn_without_detour(s->f, &fault, problem);
    /* Changes that were carried out stay, so that no worker is killed twice: the new fault follows the last of them. */
    bool any_done = s->done != 0;
    uint64_t done_ns = any_done ? s->change[s->done - 1].at_ns : 0;
    fault.at_ns += now_ns;
    if (any_done && fault.at_ns <= done_ns)
        fault.at_ns = done_ns + 1;
    (void)put(s, &fault);
    plan(s);
    while (any_done && s->done < s->changes && s->change[s->done].at_ns <= done_ns)
        s->done++;
    return true;
}

void faults_open(struct faults *s, struct fab_fabric *f)
{
    *s = (struct faults){.f = f, .log = fault_log_make(f->control)};
    if (s->log < 0)
        hx_die(HX_EXIT_ENVIRONMENT, f->spec.source, "no file in memory for faults: %s", strerror(-s->log));
}

bool faults_schedule(struct faults *s, const struct hx_faults *schedule, struct hx_problem *problem)
{
    for (size_t i = 0; i < schedule->count; i++) {
        struct hx_problem what;
        if (!is_possible(s->f, &schedule->fault[i], &what))
            return hx_fail(problem, what.exit_code, "faults", "'%s': %s", schedule->fault[i].text, what.what);
        (void)put(s, &schedule->fault[i]);
    }
    plan(s);
    return true;
}

void faults_close(struct faults *s)
{
    hx_faults_free(&s->schedule);
    free(s->record);
    free(s->change);
    (void)close(s->log);
}

/* ---- costs ---- */

struct sum {
    const struct fab_fabric *f;
    struct hx_fault_cost cost;
};

static void add_direction(struct sum *sum, unsigned plane, uint32_t node, unsigned port)
{
    hx_fault_cost_add(&sum->cost, &sum->f->faulted[fab_first_port(sum->f, plane, node) + port]);
}

static void add_link(void *of, unsigned plane, uint32_t node, unsigned port)
{
    struct sum *sum = of;
    struct hx_end far = hx_fabric_far(sum->f->g, node, port);
    add_direction(sum, plane, node, port);
    add_direction(sum, plane, far.node, far.port);
}

static struct hx_fault_cost count_on(const struct fab_fabric *f, const struct hx_fault_target *t)
{
    struct sum sum = {.f = f};
    hx_fault_each_link(t, f->g, add_link, &sum);
    return sum.cost;
}

static uint64_t packets_lost_with(const struct fab_fabric *f, const struct hx_fault_target *t)
{
    return t->place == HX_PLACE_WORKER ? f->area[t->index].drops[HX_DROP_WORKER_LOST] : 0;
}

/* Counts what a fault cost. An "up" and a planned change cost nothing: losses belong to other faults. */
static void count_costs(const struct faults *s, size_t at)
{
    struct fault_record *r = &s->record[at];
    if (s->schedule.fault[at].kind == HX_FAULT_UP || r->is.planned)
        return;
    const struct hx_fault_target *t = &s->schedule.fault[at].target;
    r->is.cost = hx_fault_cost_since(count_on(s->f, t), &r->before);
    r->is.cost.lost += packets_lost_with(s->f, t) - r->lost_before;
}

/* ---- recovery of traffic ---- */

/* Messages that a fault hit: repeated, waiting for a path, or failed. */
struct hits {
    uint64_t now, ever;
    uint64_t last_ns; /* end of the last one */
};

static struct hits hits_of(const struct fab_fabric *f)
{
    struct hits h = {.now = 0};
    for (unsigned w = 0; w < f->workers; w++) {
        uint64_t over_ns = f->area[w].hit_over_ns;
        h.now += f->area[w].hit;
        h.ever += f->area[w].hit_ever;
        h.last_ns = over_ns > h.last_ns ? over_ns : h.last_ns;
    }
    h.last_ns = h.last_ns > f->control->started_ns ? h.last_ns - f->control->started_ns : 0;
    return h;
}

static bool has_duration(enum hx_fault_kind kind)
{
    return kind == HX_FAULT_IMPAIRS || kind == HX_FAULT_FLAPS || kind == HX_FAULT_STOPPED;
}

static void validate(struct faults *s, size_t at, const struct hits *h, uint64_t now_ns, bool ended)
{
    struct fault_record *r = &s->record[at];
    r->over = r->end_ns <= now_ns;
    if (r->is.whole || r->is.planned)
        return;
    uint64_t from = has_duration(s->schedule.fault[at].kind) ? r->end_ns : r->is.at_ns;
    uint64_t quiet = h->last_ns > from ? h->last_ns : from;
    r->is.hits = s->schedule.fault[at].kind == HX_FAULT_UP ? 0 : h->ever - r->hits_before;
    r->is.whole = h->now == 0 && quiet <= now_ns && (ended || now_ns - quiet >= notice_ns);
    r->is.whole_ns = quiet;
}

static void log_fault(struct faults *s, struct fault_record *r, const struct hx_fault *fault)
{
    struct fault_entry entry = {.at_ns = fault->at_ns, .over_ns = r->end_ns, .planned = r->is.planned};
    (void)snprintf(entry.line, sizeof entry.line, "%s", fault->text);
    r->log_number = fault_log_add(s->f->control, s->log, &entry);
    if (r->log_number == FAULT_NOT_LOGGED && !s->log_failed)
        hx_warn(NULL, "captures are not told of '%s', nor of what else begins while there is no memory for it",
                fault->text);
    s->log_failed = r->log_number == FAULT_NOT_LOGGED;
}

static void begin(struct faults *s, size_t at, const struct hits *h)
{
    struct fault_record *r = &s->record[at];
    const struct hx_fault_target *t = &s->schedule.fault[at].target;
    r->begun = true;
    r->before = count_on(s->f, t);
    r->lost_before = packets_lost_with(s->f, t);
    r->hits_before = h->ever;
    s->awaited += r->is.planned;
    log_fault(s, r, &s->schedule.fault[at]);
}

static bool is_final(const struct fault_record *r)
{
    return r->is.whole && r->over;
}

/* Shows broken links to readers outside, and the number of planned changes. A fault without duration, as a worker's
 * death, is not shown. */
static void show(const struct faults *s)
{
    struct hx_metrics_faults *shown = &s->f->metrics.head->faults;
    uint64_t planned = 0;
    hx_metrics_begin_faults(shown);
    for (size_t i = s->schedule.count; i-- > 0;) {
        const struct fault_record *r = &s->record[i];
        if (!r->begun || r->over || r->end_ns <= r->is.at_ns)
            continue;
        planned += r->is.planned;
        if (!r->is.planned)
            hx_metrics_add_fault(shown, r->is.at_ns, s->schedule.fault[i].text);
    }
    hx_metrics_end_faults(shown, planned);
}

void faults_validate(struct faults *s, uint64_t now_ns, bool ended)
{
    const struct hits h = hits_of(s->f);
    bool changed = false;
    for (size_t i = 0; i < s->schedule.count; i++) {
        struct fault_record *r = &s->record[i];
        bool begins = !r->begun && r->is.at_ns <= now_ns;
        bool was_over = r->over;
        if (begins)
            begin(s, i, &h);
        if (!r->begun || is_final(r))
            continue;
        validate(s, i, &h, now_ns, ended);
        changed = changed || begins || r->over != was_over;
        if (is_final(r) || ended)
            count_costs(s, i); /* looks at all links: too slow for each tick */
    }
    if (changed)
        show(s);
}

/* ---- reports ---- */

static size_t count_begun(const struct faults *s)
{
    size_t begun = 0;
    while (begun < s->schedule.count && s->record[begun].begun)
        begun++;
    return begun;
}

struct fault_report *faults_report(const struct faults *s, size_t *count)
{
    struct fault_report *report = hx_allocate(s->schedule.count + 1, sizeof *report);
    *count = count_begun(s);
    for (size_t i = 0; i < *count; i++) {
        report[i] = s->record[i].is;
        report[i].text = s->schedule.fault[i].text;
    }
    return report;
}

/* Returns a new reference: an entry of the list. */
static json_t *entry_json(const struct faults *s, size_t at)
{
    struct fault_report one = s->record[at].is;
    one.text = s->schedule.fault[at].text;
    json_t *fault = fault_report_entry(&one);
    (void)json_object_set_new(fault, "over", json_boolean(s->record[at].over));
    return fault;
}

/* Goes backwards from the last begun fault. The supervisor blocks meanwhile, so only what fits is written. */
char *faults_text(struct faults *s, uint64_t now_ns, size_t room)
{
    enum { AROUND_BYTES = 128 /* of text beside the entries */ };
    faults_validate(s, now_ns, false);
    size_t begun = count_begun(s);
    size_t first = begun;
    json_t *list[] = {json_array(), json_array()}; /* faults, planned changes */
    for (size_t bytes = AROUND_BYTES; first; first--) {
        if (!is_final(&s->record[first - 1]))
            count_costs(s, first - 1);
        json_t *one = entry_json(s, first - 1);
        bytes += json_dumpb(one, NULL, 0, JSON_COMPACT) + 1;
        if (bytes >= room) {
            json_decref(one);
            break;
        }
        (void)json_array_insert_new(list[s->record[first - 1].is.planned], 0, one);
    }
    json_t *all = json_pack("{s:o, s:o, s:I, s:I}", "faults", list[0], "changes", list[1], "left_out",
                            (json_int_t)first, "to_come", (json_int_t)(s->schedule.count - begun));
    char *text = json_dumps(all, JSON_COMPACT);
    json_decref(all);
    if (!text)
        hx_die(HX_EXIT_ENVIRONMENT, s->f->spec.source, "out of memory for a list of faults");
    return text;
}

void faults_answer(struct faults *s, uint64_t now_ns)
{
    struct request r;
    struct hx_problem problem = {.exit_code = HX_EXIT_DONE};
    if (!request_take(s->f, &r))
        return;
    if (r.line[0]) {
        (void)faults_add(s, r.line, now_ns, &problem);
        request_answer(s->f, &r, problem.exit_code, problem.what);
        return;
    }
    char *text = faults_text(s, now_ns, FAB_ANSWER_BYTES);
    request_answer(s->f, &r, HX_EXIT_DONE, text);
    free(text);
}
