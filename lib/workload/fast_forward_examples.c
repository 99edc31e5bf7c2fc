/* fast_forward_examples.c - what was simulated, and which of it a collective may end by (fast_forward_parts.h). */
#include "workload/fast_forward_parts.h"

#include <math.h>
#include <stdlib.h>

bool examples_hold(const struct flight *l, uint64_t now)
{
    const struct shape *s = l->kind->shape;
    unsigned alike = 0;
    const unsigned flights = s->held + s->simulated;
    if (s->owed || s->missed > PROVED + flights / RARE || s->cut > PROVED + flights / OFTEN)
        return false; /* more is lost than left out */
    for (unsigned i = 0; i < s->examples && alike < s->proved; i++)
        alike += contexts_begin_alike(l, s->example[i], now);
    return alike >= s->proved;
}

/* ---- keeping ---- */

void examples_free_unused(struct flight *l)
{
    if (!l->done || l->kept || l->followers)
        return;
    HX_FREE(l->begin, l->end, l->carried, l->beside, l->neighbour, l->follower, l->link, l);
}

static void remove_example(struct shape *s, unsigned at)
{
    struct flight *l = s->example[at];
    for (s->examples--; at < s->examples; at++)
        s->example[at] = s->example[at + 1];
    l->kept = false;
}

void examples_keep(struct flight *l)
{
    struct shape *s = l->kind->shape;
    if (!s->example)
        s->example = hx_allocate(MOST_EXAMPLES, sizeof(struct flight *));
    if (s->examples == MOST_EXAMPLES) {
        struct flight *oldest = s->example[0];
        remove_example(s, 0);
        examples_free_unused(oldest);
    }
    s->example[s->examples++] = l;
    l->kept = true;
}

void examples_drop(struct flight *l)
{
    unsigned at = 0;
    while (l->kept && l->kind->shape->example[at] != l)
        at++;
    if (l->kept)
        remove_example(l->kind->shape, at);
}

/* ---- choosing ---- */

uint64_t examples_slack(const struct flight *by)
{
    return (uint64_t)(by->job->f->config.tolerance * (double)flight_duration(by));
}

double examples_begins_differ(const struct flight *l, const struct flight *by)
{
    return (double)contexts_begins_apart(l, by) / (double)flight_duration(by);
}

/* By how much a flight differs from an example, until now; NOT_YET: too much. */
static uint64_t apart_of(const struct flight *l, const struct flight *by, uint64_t now, bool begins)
{
    const uint64_t slack = examples_slack(by);
    uint64_t until = flight_passed(l, now);
    if (by == l || !by->whole || by->last == NOT_YET)
        return NOT_YET;
    if (by->done && !l->done && by->first_end - by->last + slack < until)
        return NOT_YET; /* it would have ended */
    if (begins && examples_begins_differ(l, by) >= l->kind->shape->harmful)
        return NOT_YET;
    if (!by->done && flight_passed(by, now) < until)
        until = flight_passed(by, now);
    if (by->done && by->last_end - by->last < until)
        until = by->last_end - by->last;
    return contexts_apart(l, by, until, slack, begins);
}

/* Examples that are alike. */
struct choice {
    unsigned count, done; /* done: that have ended */
    double sum, squares;  /* of the durations of these */
    double least, most;   /* of them */
    uint64_t nearest;
    uint64_t each[MOST_EXAMPLES]; /* by how much they differ; NOT_YET: too much */
};

static void add_to_choice(struct choice *c, const struct flight *by, uint64_t apart)
{
    const double duration = (double)flight_duration(by);
    c->count++;
    c->nearest = apart < c->nearest ? apart : c->nearest;
    if (!by->done)
        return;
    c->done++;
    c->sum += duration;
    c->squares += duration * duration;
    c->least = c->done == 1 ? duration : fmin(c->least, duration);
    c->most = fmax(c->most, duration);
}

/* The standard error of the mean duration is within the tolerance. */
static bool is_proved(const struct choice *c, unsigned least, double tolerance)
{
    if (c->count < least)
        return false;
    if (c->done < PROVED)
        return true;
    const double mean = c->sum / c->done;
    const double variance = fmax(0, c->squares / c->done - mean * mean) * c->done / (c->done - 1);
    return sqrt(variance / c->done) <= tolerance * mean;
}

static struct choice compare_all(const struct flight *l, uint64_t now, bool begins)
{
    const struct shape *s = l->kind->shape;
    struct choice c = {.nearest = NOT_YET};
    for (unsigned i = 0; i < s->examples; i++) {
        c.each[i] = apart_of(l, s->example[i], now, begins);
        if (c.each[i] != NOT_YET)
            add_to_choice(&c, s->example[i], c.each[i]);
    }
    return c;
}

/* Those that fit about as well take turns: so what differs by chance does. */
static struct flight *take_turn(struct shape *s, const struct choice *c, double tolerance, uint64_t *apart)
{
    struct flight *found = NULL;
    for (unsigned i = 0; i < s->examples && !found; i++) {
        const unsigned at = (s->turn + i) % s->examples;
        const uint64_t enough = (uint64_t)(tolerance * (double)flight_duration(s->example[at]));
        if (c->each[at] == NOT_YET || c->each[at] > c->nearest + enough)
            continue;
        s->turn = at + 1;
        *apart = c->each[at];
        found = s->example[at];
    }
    return found;
}

struct flight *examples_choose(struct flight *l, uint64_t now, uint64_t *apart)
{
    struct shape *s = l->kind->shape;
    const double tolerance = l->job->f->config.tolerance;
    const struct choice alike = compare_all(l, now, true);
    l->any = false;
    l->undecided = alike.count >= s->proved ? (uint64_t)(tolerance * alike.most) : 0;
    if (is_proved(&alike, s->proved, tolerance))
        return take_turn(s, &alike, tolerance, apart);
    const struct choice any = compare_all(l, now, false);
    l->any = any.done >= MANY && any.most - any.least <= tolerance * any.least;
    return l->any ? take_turn(s, &any, tolerance, apart) : NULL;
}

/* ---- a simulated flight has ended ---- */

/* What it shows about begins: those of the nearest example differ by so much, and durations are alike or not. */
static void learn_begins(const struct flight *l)
{
    struct shape *s = l->kind->shape;
    const struct flight *nearest = NULL;
    double least = INFINITY;
    for (unsigned i = 0; i < s->examples; i++) {
        const struct flight *by = s->example[i];
        const double differ = by->done && by != l ? examples_begins_differ(l, by) : INFINITY;
        const uint64_t until = flight_duration(l) < flight_duration(by) ? flight_duration(l) : flight_duration(by);
        if (differ < least && contexts_apart(l, by, until, examples_slack(by), true) != NOT_YET) {
            least = differ;
            nearest = by;
        }
    }
    if (!nearest || least <= TINY)
        return;
    const double apart = fabs((double)flight_duration(l) / (double)flight_duration(nearest) - 1);
    if (apart <= l->job->f->config.tolerance)
        s->harmless = fmax(s->harmless, least);
    else
        s->harmful = fmin(s->harmful, least);
}

void examples_end(struct flight *l)
{
    struct shape *s = l->kind->shape;
    learn_begins(l);
    s->duration = l->last_end - l->last;
    const uint64_t latency = s->duration > s->alone ? s->duration - s->alone : 0;
    s->latency = !l->neighbours && latency < s->latency ? latency : s->latency;
    s->eligible = s->eligible && s->duration >= LEAST_DELAYS * l->job->f->config.delay;
}

/* ---- audits ---- */

bool examples_audit(struct flight *l)
{
    struct fast_forward_counts *counts = &l->job->f->counts;
    uint64_t apart;
    const struct flight *by = examples_choose(l, l->last_end, &apart);
    if (!by || !by->done)
        return false;
    const double duration = (double)flight_duration(by);
    for (uint32_t i = 0; i < l->kind->shape->size; i++) {
        const double differs = (double)(l->end[i] - l->last) - (double)(by->end[i] - by->last);
        counts->worst_audit = fmax(counts->worst_audit, fabs(differs) / duration);
    }
    counts->audits++;
    return true;
}
