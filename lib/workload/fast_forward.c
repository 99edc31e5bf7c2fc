/* fast_forward.c - holds collectives that come again (fast_forward.h). */
#include "workload/fast_forward.h"
#include "workload/collective_choice.h"
#include "workload/fast_forward_parts.h" /* circle: what its files share */

#include <math.h>
#include <stdlib.h>

static struct executor *executor_of(const struct flight *l, uint32_t position)
{
    return l->job->executor[schedule_group(l->job->plan->schedule, (uint32_t)(l->key >> 32))[position]];
}

static uint32_t host_of(const struct flight *l, uint32_t position)
{
    return l->job->plan->host[schedule_group(l->job->plan->schedule, (uint32_t)(l->key >> 32))[position]];
}

/* ---- flights ---- */

static uint32_t new_number(struct fast_forward *f)
{
    size_t i = 0;
    while (i < f->flights && f->flight[i])
        i++;
    if (i == f->flights) {
        f->flight = hx_grow(f->flight, f->flights, &f->flights_room, sizeof(struct flight *));
        f->flights++;
    }
    return (uint32_t)i + 1;
}

static struct flight *add_flight(struct job *j, const struct executor_collective *c, uint64_t key)
{
    struct flight *l = hx_allocate(1, sizeof *l);
    struct kind *k = ports_kind(j, c);
    *l = (struct flight){.key = key, .job = j, .kind = k, .number = new_number(j->f)};
    j->f->flight[l->number - 1] = l;
    l->begin = hx_allocate(k->size, sizeof *l->begin);
    for (uint32_t i = 0; i < k->size; i++)
        l->begin[i] = UINT64_MAX;
    l->end = hx_allocate(k->size, sizeof *l->end);
    l->carried = hx_allocate(k->size, sizeof *l->carried);
    struct found_flight *found = hx_table_add(&j->flights, &key);
    found->flight = l;
    return l;
}

static void end_flight(struct flight *l)
{
    struct fast_forward *f = l->job->f;
    f->flight[l->number - 1] = NULL;
    hx_table_remove(&l->job->flights, hx_table_find(&l->job->flights, &l->key));
    HX_FREE(l->begin, l->end, l->carried, l->link, l);
}

/* Something else uses the links of a flight that was recorded or held: it does so itself. */
static void make_plain(struct flight *l)
{
    struct fast_forward *f = l->job->f;
    for (uint32_t i = 0; i < l->kind->ports; i++) {
        f->owner[l->kind->port[i]] = NO_FLIGHT;
        f->plain[l->kind->port[i]]++;
    }
    f->audits -= l->audited;
    l->audited = false;
    l->stage = PLAIN;
}

static uint64_t first_end(const struct flight *l)
{
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 0; i < l->kind->size; i++)
        first = l->by->end[i] < first ? l->by->end[i] : first;
    return l->last + first;
}

static void add_left_out(struct fast_forward *f, const struct executor_carried *c)
{
    f->counts.messages += c->messages;
    f->counts.packets += c->packets;
    f->counts.bytes += c->bytes;
}

static struct executor_carried part_of(const struct executor_carried *c, double share)
{
    return (struct executor_carried){(uint64_t)llround(share * (double)c->messages),
                                     (uint64_t)llround(share * (double)c->packets),
                                     (uint64_t)llround(share * (double)c->bytes)};
}

/* Carries out the rest of a held flight. */
static void carry_out(struct flight *l, uint64_t now)
{
    struct fast_forward *f = l->job->f;
    const uint64_t at = now + f->config.delay;
    double share = 1;
    const struct executor_carried nothing = {0, 0, 0};
    if (l->by) {
        if (at >= first_end(l))
            return; /* its last messages are on the way */
        share = 1 - (double)(at - l->last) / (double)l->by->duration;
        records_add_links(l, 1 - share);
        f->counts.cut++;
    }
    make_plain(l);
    for (uint32_t i = 0; i < l->kind->size; i++) {
        if (l->begin[i] == UINT64_MAX)
            continue;
        const struct executor_carried part = l->by ? part_of(&l->by->carried[i], 1 - share) : nothing;
        add_left_out(f, &part);
        executor_carry(executor_of(l, i), (uint32_t)(l->key >> 32), (uint32_t)l->key, at, share, &part);
        f->config.wake(f->config.of, host_of(l, i), at);
    }
}

/* Something begins to use a port: a flight that had it alone goes on beside it. */
static void use_port(struct fast_forward *f, uint32_t port, uint64_t now)
{
    struct flight *l = f->owner[port] ? f->flight[f->owner[port] - 1] : NULL;
    if (!l)
        return;
    if (l->stage == HELD)
        carry_out(l, now);
    else
        make_plain(l);
}

static bool is_alone(const struct fast_forward *f, const struct kind *k)
{
    for (uint32_t i = 0; i < k->ports; i++) {
        if (f->plain[k->port[i]] || f->owner[k->port[i]])
            return false;
    }
    return true;
}

static void begin_flight(struct flight *l, uint64_t now)
{
    struct fast_forward *f = l->job->f;
    struct kind *k = l->kind;
    const bool may = k->eligible && is_alone(f, k);
    l->stage = !may ? PLAIN : k->holds ? HELD : RECORDED;
    if (l->stage == HELD && f->audits < f->config.audit) {
        l->stage = RECORDED;
        l->audited = true;
        f->audits++;
    }
    for (uint32_t i = 0; i < k->ports; i++) {
        if (l->stage == PLAIN) {
            use_port(f, k->port[i], now);
            f->plain[k->port[i]]++;
        } else {
            f->owner[k->port[i]] = l->number;
        }
    }
    if (l->stage == RECORDED)
        records_begin(l);
}

/* All members of a held flight have begun. */
static void end_by_record(struct flight *l)
{
    struct fast_forward *f = l->job->f;
    double apart;
    records_find_last(l);
    const struct record *by = records_nearest(l, PROVED, &apart);
    l->kind->holds = apart <= f->config.tolerance;
    f->counts.unlike += !l->kind->holds;
    if (apart > NEAR * f->config.tolerance) {
        carry_out(l, l->last);
        return;
    }
    l->by = by;
    f->counts.worst_begin = fmax(f->counts.worst_begin, apart);
    for (uint32_t i = 0; i < l->kind->size; i++) {
        const uint64_t least = l->last + f->config.delay;
        const uint64_t at = l->last + l->by->end[i] > least ? l->last + l->by->end[i] : least;
        executor_skip(executor_of(l, i), (uint32_t)(l->key >> 32), (uint32_t)l->key, at, &l->by->carried[i]);
        f->config.wake(f->config.of, host_of(l, i), at);
    }
}

/* ---- what executors say ---- */

static bool begins(void *of, const struct executor_collective *c, uint64_t now)
{
    struct job *j = of;
    const uint64_t key = (uint64_t)c->group << 32 | c->ordinal;
    const struct found_flight *found = hx_table_find(&j->flights, &key);
    struct flight *l = found ? found->flight : add_flight(j, c, key);
    const uint32_t position = schedule_groups_position(&j->plan->groups, j->plan->schedule, c->group, c->rank);
    if (!found)
        begin_flight(l, now);
    l->begin[position] = now;
    l->begun++;
    const bool held = l->stage == HELD;
    if (held && l->begun == l->kind->size)
        end_by_record(l);
    return held;
}

static void take_counts(struct flight *l, uint64_t now)
{
    struct fast_forward *f = l->job->f;
    f->counts.collectives++;
    if (l->stage != HELD)
        return;
    f->counts.held++;
    l->job->last = now > l->job->last ? now : l->job->last;
    for (uint32_t i = 0; i < l->kind->size; i++)
        add_left_out(f, &l->by->carried[i]);
    records_add_links(l, 1);
}

static void ended(void *of, const struct executor_collective *c, uint64_t now, const struct executor_carried *carried)
{
    struct job *j = of;
    struct fast_forward *f = j->f;
    const uint64_t key = (uint64_t)c->group << 32 | c->ordinal;
    struct found_flight *found = hx_table_find(&j->flights, &key);
    if (!found)
        return;
    struct flight *l = found->flight;
    const uint32_t position = schedule_groups_position(&j->plan->groups, j->plan->schedule, c->group, c->rank);
    l->end[position] = now;
    l->carried[position] = *carried;
    if (++l->ended < l->kind->size)
        return;
    take_counts(l, now);
    for (uint32_t i = 0; i < l->kind->ports; i++) {
        if (l->stage == PLAIN)
            f->plain[l->kind->port[i]]--;
        else
            f->owner[l->kind->port[i]] = NO_FLIGHT;
    }
    if (l->stage == RECORDED)
        l->kind->holds = records_end(l);
    end_flight(l);
}

static void message(void *of, uint32_t from, uint32_t to, bool begins, uint64_t now)
{
    struct job *j = of;
    const struct found_pair *p = ports_pair(j, from, to);
    for (uint32_t i = 0; i < p->ports; i++) {
        if (begins)
            use_port(j->f, p->port[i], now);
        j->f->plain[p->port[i]] += begins ? 1 : UINT32_MAX;
    }
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

struct fast_forward *fast_forward_open(struct schedule_plan *p, const struct fast_forward_config *config)
{
    struct fast_forward *f = hx_allocate(1, sizeof *f);
    f->config = *config;
    f->g = p->traffic->g;
    collective_open_choice(&f->loads, f->g);
    f->load = hx_allocate(f->g->ports, sizeof *f->load);
    f->plain = hx_allocate(f->g->ports, sizeof *f->plain);
    f->owner = hx_allocate(f->g->ports, sizeof *f->owner);
    f->job = hx_allocate(p->jobs, sizeof *f->job);
    for (unsigned i = 0; i < p->jobs; i++) {
        struct job *j = &f->job[i];
        *j = (struct job){.f = f, .plan = &p->job[i]};
        j->executor = hx_allocate(schedule_ranks(j->plan->schedule), sizeof(struct executor *));
        j->flights = hx_table_make(sizeof(uint64_t), sizeof(struct found_flight));
        j->kinds = hx_table_make(sizeof(uint64_t), sizeof(struct found_kind));
        j->pairs = hx_table_make(sizeof(uint64_t), sizeof(struct found_pair));
        j->skips = (struct executor_skips){.begins = begins, .ended = ended, .message = message, .of = j};
        p->job[i].executor.skips = has_collectives(p) ? &j->skips : NULL;
    }
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
