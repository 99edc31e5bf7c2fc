/* fast_forward.c - holds collectives that come again: what executors say (fast_forward.h). */
#include "workload/fast_forward.h"
#include "workload/collective_choice.h"
#include "workload/fast_forward_parts.h" /* circle: what its files share */

#include <stdlib.h>

/* Members of a flight are in the order of the engine, which is that of its shape. */
static uint32_t rank_of(const struct flight *l, uint32_t member)
{
    const struct executor_choice *c = l->kind->choice;
    return schedule_group(l->job->plan->schedule, (uint32_t)(l->key >> 32))[c->member ? c->member[member] : member];
}

static uint32_t member_of(const struct flight *l, const struct executor_collective *c)
{
    const struct executor_choice *choice = l->kind->choice;
    const struct schedule_job *plan = l->job->plan;
    const uint32_t position = schedule_groups_position(&plan->groups, plan->schedule, c->group, c->rank);
    return choice->position ? choice->position[position] : position;
}

struct executor *fast_forward_executor(const struct flight *l, uint32_t member)
{
    return l->job->executor[rank_of(l, member)];
}

uint32_t fast_forward_host(const struct flight *l, uint32_t member)
{
    return l->job->plan->host[rank_of(l, member)];
}

/* ---- a collective begins ---- */

static uint64_t *times(uint32_t size)
{
    uint64_t *time = hx_allocate(size, sizeof *time);
    for (uint32_t i = 0; i < size; i++)
        time[i] = NOT_YET;
    return time;
}

static struct flight *add_flight(struct job *j, const struct executor_collective *c, uint64_t key)
{
    struct flight *l = hx_allocate(1, sizeof *l);
    *l = (struct flight){.key = key, .job = j, .kind = shapes_kind(j, c), .last = NOT_YET, .look = NOT_YET};
    const uint32_t size = l->kind->shape->size;
    l->begin = times(size);
    l->end = times(size);
    l->carried = hx_allocate(size, sizeof *l->carried);
    struct found_flight *found = hx_table_add(&j->flights, &key);
    found->flight = l;
    return l;
}

/* Of those beside it. */
struct beside {
    bool simulated; /* one at least */
    bool audited;   /* all that are simulated */
};

static struct beside look_beside(const struct flight *l)
{
    struct beside b = {.audited = true};
    for (size_t i = 0; i < l->besides; i++) {
        const struct flight *other = l->beside[i];
        b.simulated = b.simulated || other->stage != HELD;
        b.audited = b.audited && (other->stage == HELD || other->audited);
    }
    return b;
}

/* Whether members of the group ended its last collective so near each other that all may begin while they are waited
 * for. */
static bool ended_together(const struct flight *l)
{
    const uint64_t key = l->key >> 32;
    const struct found_group *g = hx_table_find(&l->job->groups, &key);
    return !g || g->ends <= hold_wait(l);
}

/* Sets whether a flight is held or simulated, and whether as an example or an audit. */
static void begin_flight(struct flight *l, uint64_t now)
{
    struct fast_forward *f = l->job->f;
    l->first = now;
    links_take(l);
    contexts_begin(l);
    const bool busy = links_have_messages(l);
    const struct beside beside = look_beside(l);
    const bool may = l->kind->shape->eligible && !busy && ended_together(l) && examples_hold(l, now);
    l->audited = may && beside.audited && f->audits < f->config.audit && (beside.simulated || !l->besides);
    f->audits += l->audited;
    l->stage = may && !beside.simulated && !l->audited ? HELD : SIMULATED;
    if (l->stage == HELD)
        return;
    l->kind->shape->simulated++;
    l->kind->shape->owed = false;
    links_begin(l);
    for (size_t i = 0; i < l->besides; i++)
        hold_cut(l->beside[i]);
    l->whole = !busy;
    if (l->whole && !l->audited && l->kind->shape->eligible)
        examples_keep(l);
}

/* Executors are at times that differ by a window of the clock: the one that comes last may be earlier. */
static void find_begins(struct flight *l)
{
    l->last = 0;
    for (uint32_t i = 0; i < l->kind->shape->size; i++) {
        l->first = l->begin[i] < l->first ? l->begin[i] : l->first;
        l->last = l->begin[i] > l->last ? l->begin[i] : l->last;
    }
}

static bool begins(void *of, const struct executor_collective *c, uint64_t now)
{
    struct job *j = of;
    const uint64_t key = (uint64_t)c->group << 32 | c->ordinal;
    const struct found_flight *found = hx_table_find(&j->flights, &key);
    struct flight *l = found ? found->flight : add_flight(j, c, key);
    if (!found) {
        begin_flight(l, now);
        hold_look_beside(l, now);
        if (l->stage == HELD)
            hold_first(l, member_of(l, c));
    }
    hold_carry_out(j->f, now);
    const bool held = l->stage == HELD;
    l->begin[member_of(l, c)] = now;
    if (++l->begun == l->kind->shape->size) {
        find_begins(l);
        contexts_begun(l);
        hold_look_beside(l, now);
        if (held)
            hold_begun(l, now);
    }
    return held;
}

static void asked(void *of, const struct executor_collective *c, uint64_t now)
{
    struct job *j = of;
    const uint64_t key = (uint64_t)c->group << 32 | c->ordinal;
    const struct found_flight *found = hx_table_find(&j->flights, &key);
    hold_asked(found->flight, now);
    hold_carry_out(j->f, now);
}

/* ---- a collective ends ---- */

static uint64_t latest_end(const struct flight *l)
{
    uint64_t latest = 0;
    for (uint32_t i = 0; i < l->kind->shape->size; i++)
        latest = l->end[i] > latest ? l->end[i] : latest;
    return latest;
}

/* Members that end apart begin the next one apart. */
static void note_ends(const struct flight *l)
{
    const uint64_t key = l->key >> 32;
    struct found_group *g = hx_table_find_or_add(&l->job->groups, &key);
    g->ends = l->last_end - l->first_end;
}

static void end_flight(struct flight *l, uint64_t now)
{
    struct fast_forward *f = l->job->f;
    l->done = true;
    l->last_end = latest_end(l);
    note_ends(l);
    f->counts.collectives++;
    contexts_ended(l, now);
    hold_look_beside(l, now);
    hx_table_remove(&l->job->flights, hx_table_find(&l->job->flights, &l->key));
    if (l->stage == HELD) {
        l->job->last = l->last_end > l->job->last ? l->last_end : l->job->last;
        hold_end(l);
    } else if (l->whole) {
        links_end(l);
        examples_end(l);
    }
    links_leave(l);
    if (l->audited && !(l->whole && examples_audit(l)))
        f->audits--;
    examples_free_unused(l);
}

static void ended(void *of, const struct executor_collective *c, uint64_t now, const struct executor_carried *carried)
{
    struct job *j = of;
    const uint64_t key = (uint64_t)c->group << 32 | c->ordinal;
    const struct found_flight *found = hx_table_find(&j->flights, &key);
    if (!found)
        return;
    struct flight *l = found->flight;
    const uint32_t member = member_of(l, c);
    l->end[member] = now;
    carried_add(&l->carried[member], carried);
    l->first_end = l->ended++ && l->first_end < now ? l->first_end : now;
    hold_follow(l, member, now);
    if (l->ended == l->kind->shape->size)
        end_flight(l, now);
    hold_carry_out(j->f, now);
}

/* ---- a message ---- */

/* It is simulated, and so are collectives on its links. */
static void pass_message(struct fast_forward *f, uint32_t port, uint64_t now)
{
    const struct use *use = &f->use[port];
    for (size_t i = 0; i < use->flights; i++) {
        if (use->flight[i]->stage == HELD)
            hold_cut(use->flight[i]);
        else
            hold_spoil(use->flight[i], now);
    }
}

/* What is in progress when the first of several messages begins is known to have them on its links. */
static void message(void *of, uint32_t from, uint32_t to, bool begins, uint64_t now)
{
    struct job *j = of;
    struct found_pair *p = shapes_pair(j, from, to);
    const bool changes = begins ? p->messages++ == 0 : --p->messages == 0;
    if (!changes)
        return;
    for (uint32_t i = 0; i < p->ports; i++)
        j->f->use[p->port[i]].pairs += begins ? 1 : UINT32_MAX;
    for (uint32_t i = 0; begins && i < p->ports; i++)
        pass_message(j->f, p->port[i], now);
    hold_carry_out(j->f, now);
}

/* ---- open ---- */

/* Without any, nothing is held, and messages need no look at their links. */
static bool has_collectives(const struct schedule_plan *p)
{
    bool any = false;
    for (unsigned i = 0; i < p->jobs; i++)
        any = any || p->job[i].schedule->head->groups > 0;
    return any;
}

static void open_job(struct fast_forward *f, struct job *j, struct schedule_job *plan, bool skips)
{
    *j = (struct job){.f = f, .plan = plan};
    j->executor = hx_allocate(schedule_ranks(plan->schedule), sizeof(struct executor *));
    j->flights = hx_table_make(sizeof(uint64_t), sizeof(struct found_flight));
    j->groups = hx_table_make(sizeof(uint64_t), sizeof(struct found_group));
    j->kinds = hx_table_make(sizeof(uint64_t), sizeof(struct found_kind));
    j->pairs = hx_table_make(sizeof(uint64_t), sizeof(struct found_pair));
    j->skips = (struct executor_skips){.begins = begins, .asked = asked, .ended = ended, .message = message, .of = j};
    plan->executor.skips = skips ? &j->skips : NULL;
}

struct fast_forward *fast_forward_open(struct schedule_plan *p, const struct fast_forward_config *config)
{
    struct fast_forward *f = hx_allocate(1, sizeof *f);
    const struct hx_fabric *g = p->traffic->g;
    f->config = *config;
    f->g = g;
    collective_open_choice(&f->loads, g);
    f->load = hx_allocate(g->ports, sizeof *f->load);
    f->number = hx_allocate(g->ports > g->nodes ? g->ports : g->nodes, sizeof *f->number);
    f->use = hx_allocate(g->ports, sizeof *f->use);
    f->shapes = hx_table_make(sizeof(uint64_t), sizeof(struct found_shape));
    f->overlaps = hx_table_make(sizeof(uint64_t), sizeof(struct found_overlap));
    f->job = hx_allocate(p->jobs, sizeof *f->job);
    for (unsigned i = 0; i < p->jobs; i++)
        open_job(f, &f->job[i], &p->job[i], has_collectives(p));
    return f;
}

static struct job *job_of(const struct fast_forward *f, const struct schedule_job *job)
{
    unsigned i = 0;
    while (f->job[i].plan != job)
        i++;
    return &f->job[i];
}

void fast_forward_join(struct fast_forward *f, const struct schedule_job *job, uint32_t rank, struct executor *e)
{
    job_of(f, job)->executor[rank] = e;
}

uint64_t fast_forward_last(const struct fast_forward *f, const struct schedule_job *job)
{
    return job_of(f, job)->last;
}

struct fast_forward_counts fast_forward_counts(const struct fast_forward *f)
{
    return f->counts;
}
