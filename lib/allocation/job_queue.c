/* job_queue.c - simulates jobs on boards over time (job_queue.h). */
#include "allocation/job_queue.h"
#include "base/error.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

const char *const hx_queue_policy_names[HX_QUEUE_POLICIES + 1] = {"first-come", "backfill", NULL};

enum { NO_JOB = UINT32_MAX };

/* Invariant: a board is free exactly if it has not failed and owner is NO_JOB; running is sorted by end. */
struct sim {
    const struct hx_schedule_rules *rules;
    struct hx_schedule *out;
    struct hx_boards boards, ahead; /* ahead: free boards at a later time, for backfill */
    struct hx_boards empty;         /* all free: a job that does not fit here never fits */
    uint32_t *owner;                /* [board]: job or NO_JOB */
    double *turns;                  /* [board]: time of its failure or repair; INFINITY: never */
    bool *failed;                   /* [board] */
    uint32_t failed_boards;
    uint32_t *queue; /* waiting jobs: [first .. last) of an array with room in front for all restarts */
    uint32_t waiting;
    uint32_t *running; /* by end */
    uint32_t runs;
    uint32_t arrived; /* jobs that arrived */
    size_t room;      /* moments that fit */
    uint64_t random;
    double now;
};

/* ---- boards ---- */

static void own(struct sim *s, const struct hx_placement *p, uint32_t job)
{
    for (unsigned n = 0; n < p->shape.rows * p->shape.columns; n++)
        s->owner[hx_placement_board(p, n, s->boards.columns)] = job;
}

/* Frees the boards of a job, but for failed ones. */
static void give_back(struct sim *s, struct hx_placement *p, struct hx_boards *b)
{
    for (unsigned n = 0; n < p->shape.rows * p->shape.columns; n++) {
        uint32_t board = hx_placement_board(p, n, s->boards.columns);
        if (!s->failed[board])
            hx_board_give_back(b, board % b->columns, board / b->columns);
    }
}

/* ---- queue and running jobs ---- */

static void remove_at(uint32_t *list, uint32_t *count, uint32_t at)
{
    memmove(list + at, list + at + 1, (size_t)(*count - at - 1) * sizeof *list);
    --*count;
}

static void insert_at(uint32_t *list, uint32_t *count, uint32_t at, uint32_t job)
{
    memmove(list + at + 1, list + at, (size_t)(*count - at) * sizeof *list);
    list[at] = job;
    ++*count;
}

static void start(struct sim *s, uint32_t job, const struct hx_placement *p)
{
    struct hx_schedule_job *j = &s->out->job[job];
    j->placement = *p;
    j->start = s->now;
    j->end = s->now + j->duration;
    hx_placement_take(&j->placement, &s->boards);
    own(s, &j->placement, job);
    uint32_t at = s->runs;
    while (at > 0 && s->out->job[s->running[at - 1]].end > j->end)
        at--;
    insert_at(s->running, &s->runs, at, job);
}

static void stop(struct sim *s, uint32_t at)
{
    struct hx_schedule_job *j = &s->out->job[s->running[at]];
    own(s, &j->placement, NO_JOB);
    give_back(s, &j->placement, &s->boards);
    remove_at(s->running, &s->runs, at);
}

/* ---- start of jobs ---- */

static unsigned boards_of(const struct sim *s, uint32_t job)
{
    return s->out->job[job].shape.rows * s->out->job[job].shape.columns;
}

/* Random hosts are a function of the job, the same in each attempt. */
static bool place_on_hosts(const struct sim *s, uint32_t job, const struct hx_boards *b, struct hx_placement *p)
{
    uint64_t random = split_mix(s->rules->seed ^ split_mix(job));
    bool *is_free = hx_allocate(b->columns, sizeof *is_free);
    *p = (struct hx_placement){.shape = {.rows = 1, .columns = boards_of(s, job)}};
    p->row = hx_allocate(1, sizeof *p->row);
    p->column = hx_allocate(b->columns > p->shape.columns ? b->columns : p->shape.columns, sizeof *p->column);
    for (unsigned host = 0; host < b->columns; host++)
        is_free[host] = hx_board_is_free(b, host, 0);
    bool found = p->shape.columns <= b->free &&
                 hx_place_hosts(p->column, p->shape.columns, s->rules->fabric, is_free, s->rules->place, &random);
    free(is_free);
    if (!found)
        hx_placement_free(p);
    return found;
}

static bool place(const struct sim *s, uint32_t job, const struct hx_boards *b, struct hx_placement *p)
{
    if (s->rules->fabric)
        return place_on_hosts(s, job, b, p);
    return hx_place(p, b, s->out->job[job].shape, &s->rules->placement);
}

/* Whether the first waiting job finds boards after the first `ended` running jobs end; `ahead` has the free boards of
 * that time. */
static bool finds_boards_after(struct sim *s, uint32_t ended)
{
    struct hx_placement p;
    hx_boards_copy(&s->ahead, &s->boards);
    for (uint32_t i = 0; i < ended; i++)
        give_back(s, &s->out->job[s->running[i]].placement, &s->ahead);
    bool found = place(s, s->queue[0], &s->ahead, &p);
    if (found)
        hx_placement_free(&p);
    return found;
}

/* Time at which the first waiting job finds boards if no other starts; `ahead` has the free boards of that time.
 * INFINITY: failed boards prevent it. More ended jobs never hurt, so binary search works. */
static double reserve(struct sim *s)
{
    uint32_t low = 1, high = s->runs;
    if (!finds_boards_after(s, s->runs))
        return INFINITY;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (finds_boards_after(s, middle))
            high = middle;
        else
            low = middle + 1;
    }
    (void)finds_boards_after(s, low);
    return low <= s->runs ? s->out->job[s->running[low - 1]].end : s->now;
}

/* Whether the first waiting job finds boards in `ahead` without those of another job. If so, takes them there. */
static bool leaves_room(struct sim *s, const struct hx_placement *other)
{
    struct hx_placement p;
    hx_placement_take(other, &s->ahead);
    bool room = place(s, s->queue[0], &s->ahead, &p);
    if (room)
        hx_placement_free(&p);
    else
        hx_placement_give_back(other, &s->ahead);
    return room;
}

/* Starts jobs behind the first one. Skips jobs of a size that found no room, or larger than the number of free
 * boards. */
static void backfill(struct sim *s)
{
    double reserved = reserve(s);
    uint32_t none = NO_JOB; /* size that found no room */
    for (uint32_t i = 1; i < s->waiting && s->boards.free;) {
        uint32_t job = s->queue[i];
        struct hx_placement p;
        if (boards_of(s, job) == none || boards_of(s, job) > s->boards.free) {
            i++;
        } else if (!place(s, job, &s->boards, &p)) {
            none = boards_of(s, job);
            i++;
        } else if (s->now + s->out->job[job].duration <= reserved || leaves_room(s, &p)) {
            remove_at(s->queue, &s->waiting, i);
            start(s, job, &p);
        } else {
            hx_placement_free(&p);
            i++;
        }
    }
}

static void start_possible(struct sim *s)
{
    struct hx_placement p;
    while (s->waiting && place(s, s->queue[0], &s->boards, &p)) {
        uint32_t job = s->queue[0];
        remove_at(s->queue, &s->waiting, 0);
        start(s, job, &p);
    }
    if (s->rules->policy == HX_BACKFILL && s->waiting > 1)
        backfill(s);
}

/* ---- events ---- */

static void fail_job(struct sim *s, uint32_t job)
{
    uint32_t at = 0;
    while (s->running[at] != job)
        at++;
    stop(s, at);
    hx_placement_free(&s->out->job[job].placement);
    s->out->job[job].start = -1;
    s->out->job[job].restarts++;
    s->out->restarts++;
    if (s->out->job[job].restarts < HX_MOST_RESTARTS)
        insert_at(s->queue, &s->waiting, 0, job);
    else
        s->out->given_up++;
}

static void fail_or_repair(struct sim *s, uint32_t board)
{
    unsigned column = board % s->boards.columns, row = board / s->boards.columns;
    s->failed[board] = !s->failed[board];
    if (s->failed[board]) {
        s->out->failures++;
        s->failed_boards++;
        if (s->owner[board] != NO_JOB)
            fail_job(s, s->owner[board]);
        hx_board_take(&s->boards, column, row);
        s->turns[board] = s->now + hx_rng_exponential(&s->random, s->rules->mean_time_to_repair);
    } else {
        s->failed_boards--;
        hx_board_give_back(&s->boards, column, row);
        s->turns[board] = s->now + hx_rng_exponential(&s->random, s->rules->mean_time_between_failures);
    }
}

static uint32_t next_board(const struct sim *s)
{
    uint32_t next = 0;
    for (uint32_t board = 1; s->rules->mean_time_between_failures > 0 && board < s->boards.columns * s->boards.rows;
         board++)
        next = s->turns[board] < s->turns[next] ? board : next;
    return next;
}

/* The next job from `job` on that is not refused; the number of jobs: none. */
static uint32_t next_arrival(const struct hx_schedule *out, uint32_t job)
{
    while (job < out->jobs && out->job[job].refused)
        job++;
    return job;
}

/* Advances to the next event, and handles all events at its time. Returns false if there is none. */
static bool advance(struct sim *s)
{
    const struct hx_schedule_job *job = s->out->job;
    uint32_t board = next_board(s);
    s->arrived = next_arrival(s->out, s->arrived);
    double arrival = s->arrived < s->out->jobs ? job[s->arrived].arrival : INFINITY;
    double end = s->runs ? job[s->running[0]].end : INFINITY;
    if (arrival == INFINITY && end == INFINITY && !s->waiting)
        return false;
    s->now = fmin(fmin(arrival, end), s->turns[board]);
    while (s->runs && job[s->running[0]].end <= s->now)
        stop(s, 0);
    if (s->turns[board] <= s->now)
        fail_or_repair(s, board);
    while (s->arrived < s->out->jobs && job[s->arrived].arrival <= s->now) {
        insert_at(s->queue, &s->waiting, s->waiting, s->arrived);
        s->arrived = next_arrival(s->out, s->arrived + 1);
    }
    return true;
}

/* ---- results ---- */

static uint32_t stuck(const struct sim *s)
{
    if (!s->waiting)
        return 0;
    struct hx_shape first = s->out->job[s->queue[0]].shape;
    return first.rows * first.columns <= s->boards.free ? s->boards.free : 0;
}

static void note(struct sim *s)
{
    struct hx_schedule *out = s->out;
    uint32_t all = s->boards.columns * s->boards.rows;
    out->moment = hx_grow(out->moment, out->moments, &s->room, sizeof *out->moment);
    out->moment[out->moments++] = (struct hx_schedule_moment){.at = s->now,
                                                              .used = all - s->failed_boards - s->boards.free,
                                                              .failed = s->failed_boards,
                                                              .waiting = s->waiting,
                                                              .stuck = stuck(s)};
}

static void sum_up(struct sim *s)
{
    struct hx_schedule *out = s->out;
    uint32_t all = s->boards.columns * s->boards.rows;
    double used = 0, idle = 0, usable = 0;
    for (uint32_t i = 0; i + 1 < out->moments; i++) {
        const struct hx_schedule_moment *m = &out->moment[i];
        double time = m[1].at - m->at;
        used += time * m->used;
        idle += time * m->stuck;
        usable += time * (all - m->failed);
    }
    out->utilization = usable > 0 ? used / usable : 0;
    out->fragmentation = usable > 0 ? idle / usable : 0;
    out->end = out->moments ? out->moment[out->moments - 1].at : 0;
}

/* ---- a run ---- */

/* Removes a board that is taken at the start. */
static void remove_board(struct sim *s, uint32_t board)
{
    s->failed[board] = true;
    s->failed_boards++;
    s->turns[board] = INFINITY;
    hx_board_take(&s->boards, board % s->boards.columns, board / s->boards.columns);
    hx_board_take(&s->empty, board % s->boards.columns, board / s->boards.columns);
}

static void validate_job(struct sim *s, uint32_t job)
{
    struct hx_placement p;
    struct hx_schedule_job *j = &s->out->job[job];
    bool fits = place(s, job, &s->empty, &p);
    if (fits)
        hx_placement_free(&p);
    j->start = j->end = -1;
    j->restarts = 0;
    j->refused = !fits;
    j->placement = (struct hx_placement){.shape = {0, 0}};
    s->out->refused += !fits;
}

static void begin(struct sim *s, const struct hx_schedule_rules *rules, struct hx_schedule *out)
{
    uint32_t boards = rules->columns * rules->rows;
    *s = (struct sim){.rules = rules, .out = out, .random = split_mix(rules->seed)};
    hx_boards_make(&s->boards, rules->columns, rules->rows);
    hx_boards_make(&s->ahead, rules->columns, rules->rows);
    hx_boards_make(&s->empty, rules->columns, rules->rows);
    s->owner = hx_allocate(boards, sizeof *s->owner);
    s->turns = hx_allocate(boards, sizeof *s->turns);
    s->failed = hx_allocate(boards, sizeof *s->failed);
    s->queue = hx_allocate(out->jobs + 1, sizeof *s->queue);
    s->running = hx_allocate(out->jobs + 1, sizeof *s->running);
    for (uint32_t board = 0; rules->taken && board < boards; board++)
        if (rules->taken[board])
            remove_board(s, board);
    for (uint32_t job = 0; job < out->jobs; job++)
        validate_job(s, job);
    uint32_t first_job = next_arrival(out, 0);
    double first = first_job < out->jobs ? out->job[first_job].arrival : 0;
    for (uint32_t board = 0; board < boards; board++) {
        s->owner[board] = NO_JOB;
        double turns = rules->mean_time_between_failures > 0
                           ? first + hx_rng_exponential(&s->random, rules->mean_time_between_failures)
                           : INFINITY;
        s->turns[board] = s->failed[board] ? INFINITY : turns;
    }
}

void hx_schedule_run(struct hx_schedule *out, const struct hx_schedule_rules *rules, struct hx_schedule_job *job,
                     uint32_t jobs)
{
    struct sim s;
    *out = (struct hx_schedule){.job = job, .jobs = jobs};
    begin(&s, rules, out);
    while (advance(&s)) {
        start_possible(&s);
        note(&s);
    }
    sum_up(&s);
    hx_boards_free(&s.boards);
    hx_boards_free(&s.ahead);
    hx_boards_free(&s.empty);
    HX_FREE(s.owner, s.turns, s.failed, s.queue, s.running);
}

void hx_schedule_free(struct hx_schedule *s)
{
    for (uint32_t i = 0; i < s->jobs; i++)
        hx_placement_free(&s->job[i].placement);
    free(s->moment);
    *s = (struct hx_schedule){.jobs = 0};
}
