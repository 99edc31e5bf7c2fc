/* generate_rank.c - the passes of a rank: layers, what goes on beside them, and what repeats (generate.h). */
#include "schedule/training/generate_parts.h"
#include "schedule/training/loads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- gradients and parameters ---- */

/* A collective beside computing, behind the one before of its row. Returns its number; NONE: it takes no time. */
static uint32_t collect_beside(struct generator_rank *r, struct generator_layer *l, enum generator_text text,
                               const struct training_communication *c, uint32_t *last)
{
    uint32_t number = generator_collect(r, l, text, c);
    if (number == NONE)
        return NONE;
    if (*last != NONE)
        schedule_after(r->g->b, r->number, number, *last);
    *last = number;
    return number;
}

static void send_gradients_beside(struct generator_rank *r, struct generator_layer *l)
{
    if (l->gradients.bytes == 0)
        return;
    uint32_t number = collect_beside(r, l, TEXT_GRADIENTS, &l->gradients, &r->gradients[l->gradients.group]);
    if (number != NONE)
        generator_follow(r, number);
}

/* The gradients of a virtual stage, each group a step. */
static void send_gradients(struct generator_rank *r, uint32_t v)
{
    const struct training_stages *s = &r->g->stages;
    for (uint32_t i = s->first[v + 1]; i-- > s->first[v];) {
        struct generator_layer *l = &r->g->layer[i];
        if (l->gradients.bytes)
            generator_step(r, generator_collect(r, l, TEXT_GRADIENTS, &l->gradients));
    }
}

/* The updated parameters of all chunks: beside the first forward passes, which wait for them, or each a step. */
static void gather_parameters(struct generator_rank *r)
{
    const struct training_stages *s = &r->g->stages;
    for (uint32_t v = r->stage; v < s->count; v += r->g->m->parallel[TRAINING_PIPELINE]) {
        for (uint32_t i = s->first[v]; i < s->first[v + 1]; i++) {
            struct generator_layer *l = &r->g->layer[i];
            const struct training_communication *c = &l->parameters;
            r->arrived[i] = NONE;
            if (c->bytes && r->g->beside)
                r->arrived[i] = collect_beside(r, l, TEXT_PARAMETERS, c, &r->fetched[0][c->group]);
            else if (c->bytes)
                generator_step(r, generator_collect(r, l, TEXT_PARAMETERS, c));
        }
    }
}

/* ZeRO 3: the parameters of a layer, before it or while a layer before computes. */
static void fetch(struct generator_rank *r, struct generator_layer *l, enum training_moment moment)
{
    for (unsigned i = 0; i < l->communications; i++) {
        const struct training_communication *c = &l->communication[i];
        if (c->moment != moment)
            continue;
        const uint32_t ahead = r->g->m->prefetch;
        if (!r->g->beside || !ahead) {
            generator_step(r, generator_collect(r, l, TEXT_PARAMETERS, c));
            continue;
        }
        const bool is_apart = r->g->m->pairs && moment == TRAINING_FETCH_BACKWARD;
        uint32_t number = collect_beside(r, l, TEXT_PARAMETERS, c, &r->fetched[is_apart][c->group]);
        if (number != NONE && r->begun[ahead - 1] != NONE)
            schedule_after_start(r->g->b, r->number, number, r->begun[ahead - 1]);
        generator_await(r, number);
    }
}

/* ---- a pass ---- */

/* No layer before has begun to compute. */
static void forget_begun(struct generator_rank *r)
{
    for (unsigned i = 0; i < TRAINING_MOST_PREFETCH; i++)
        r->begun[i] = NONE;
}

/* A layer begins. */
static void begin_layer(struct generator_rank *r)
{
    memmove(r->begun + 1, r->begun, sizeof r->begun - sizeof *r->begun);
    r->begun[0] = NONE;
}

/* What the rank computes of what the fullest one does. */
static uint64_t own_ps(const struct generator_rank *r, const struct generator_layer *l, uint64_t fullest)
{
    const struct training_model *m = r->g->m;
    if (!training_is_unequal(m, l->layer))
        return fullest;
    const double share = training_load(m, l->layer, r->expert) / training_load(m, l->layer, TRAINING_FULLEST);
    return (uint64_t)llround((double)fullest * share);
}

static void go_forward(struct generator_rank *r, uint32_t layer, bool is_first)
{
    struct generator_layer *l = &r->g->layer[layer];
    fetch(r, l, TRAINING_FETCH_FORWARD);
    if (is_first)
        generator_await(r, r->arrived[layer]);
    begin_layer(r);
    generator_pass(r, l, TRAINING_BEFORE_FORWARD, TEXT_FORWARD, own_ps(r, l, l->forward_ps));
}

static void go_backward(struct generator_rank *r, uint32_t layer)
{
    struct generator_layer *l = &r->g->layer[layer];
    fetch(r, l, TRAINING_FETCH_BACKWARD);
    begin_layer(r);
    if (training_repeats_forward(r->g->m, l->layer))
        generator_pass(r, l, TRAINING_BEFORE_FORWARD, TEXT_RECOMPUTE, own_ps(r, l, l->forward_ps));
    generator_pass(r, l, TRAINING_BEFORE_BACKWARD, TEXT_BACKWARD, own_ps(r, l, l->backward_ps));
}

/* Whether gradients follow a backward pass: of the last one, with ZeRO 2 and 3 of each. */
static bool has_gradients(const struct training_model *m, bool is_last)
{
    return m->zero >= 2 || is_last;
}

/* Whether stages send to each other in a circle: the stages of an interleaved pipeline, and two that run pairs, where
 * one sends forward while the other sends backward. Long sends that their stages waited for would wait for ever. */
static bool sends_in_circles(const struct training_model *m)
{
    return m->pairs || m->pipeline == TRAINING_INTERLEAVED;
}

/* Receives what the pass of a virtual stage works on; it waits for what was sent as well. */
static void receive(struct generator_rank *r, uint32_t v, bool backward)
{
    bool has_other = r->g->m->parallel[TRAINING_PIPELINE] > 1 && (backward ? v + 1 < r->g->stages.count : v > 0);
    if (has_other)
        generator_await(r, generator_message(r, backward ? v : v - 1, backward, false));
    generator_await(r, r->sent);
    r->sent = NONE;
}

static void send(struct generator_rank *r, uint32_t v, bool backward)
{
    bool has_other = r->g->m->parallel[TRAINING_PIPELINE] > 1 && (backward ? v > 0 : v + 1 < r->g->stages.count);
    if (!has_other)
        return;
    uint32_t number = generator_message(r, backward ? v - 1 : v, backward, true);
    r->sent = r->g->m->overlap || sends_in_circles(r->g->m) ? NONE : number;
}

/* edge: the first forward, or the last backward pass of its chunk. */
static void go_through(struct generator_rank *r, const struct training_pass *pass, bool edge)
{
    struct generator *g = r->g;
    uint32_t v = pass->chunk * g->m->parallel[TRAINING_PIPELINE] + r->stage;
    uint32_t first = g->stages.first[v];
    uint32_t end = g->stages.first[v + 1];
    bool with_gradients = pass->backward && has_gradients(g->m, edge);
    receive(r, v, pass->backward);
    for (uint32_t i = first; i < end && !pass->backward; i++)
        go_forward(r, i, edge);
    for (uint32_t i = end; i-- > first && pass->backward;) {
        go_backward(r, i);
        if (with_gradients && g->beside)
            send_gradients_beside(r, &g->layer[i]);
    }
    send(r, v, pass->backward);
    if (with_gradients && !g->beside && g->m->zero >= 2)
        send_gradients(r, v);
}

/* A forward pass and the backward pass of another micro-batch, beside each other. */
static void go_through_pair(struct generator_rank *r, const struct training_pass pass[2], const bool edge[2])
{
    const struct generator_rank begin = *r;
    go_through(r, &pass[0], edge[0]);
    const struct generator_rank forward = *r;
    memcpy(r->wait, begin.wait, sizeof r->wait);
    r->waits = begin.waits;
    memcpy(r->begun, begin.begun, sizeof r->begun);
    go_through(r, &pass[1], edge[1]);
    for (unsigned i = 0; i < forward.waits; i++)
        generator_await(r, forward.wait[i]);
}

/* ---- what repeats ---- */

/* Passes that stay together: a forward pass and the backward pass behind it, or one alone. A send ends within the body
 * of a repeat. So a body may not end between the two: a stage sends forward, and receives backward, at one time. */
static uint32_t unit_at(const struct generator *g, uint32_t i)
{
    return i + 1 < training_passes(g->m) && !g->pass[i].backward && g->pass[i + 1].backward ? 2 : 1;
}

static bool is_edge(const struct generator *g, const struct training_pass *pass)
{
    if (!pass->backward)
        return pass->batch == 0;
    return pass->batch == (g->m->pipeline == TRAINING_GPIPE ? 0 : g->m->micro_batches - 1);
}

/* Whether a pass has the same operations as any other plain one of its chunk and direction. */
static bool is_plain(const struct generator *g, const struct training_pass *pass)
{
    if (!g->beside)
        return true;
    if (pass->backward)
        return !has_gradients(g->m, is_edge(g, pass));
    return g->m->zero == 0 || (g->m->zero < 3 && !is_edge(g, pass));
}

static bool is_equal(const struct generator *g, const struct training_pass *a, const struct training_pass *b)
{
    return a->chunk == b->chunk && a->backward == b->backward && is_plain(g, a) && is_plain(g, b);
}

/* How often the unit at i follows itself, 1 and up. Nothing repeats where stages send in circles: messages of later
 * passes have to be received before a body could end. */
static uint32_t count_equal(const struct generator *g, uint32_t i, uint32_t unit)
{
    uint32_t all = sends_in_circles(g->m) ? i : training_passes(g->m);
    uint32_t times = 1;
    for (uint32_t next = i + unit; next + unit <= all; next += unit, times++) {
        if (unit_at(g, next) != unit)
            break;
        for (uint32_t k = 0; k < unit; k++) {
            if (!is_equal(g, &g->pass[i + k], &g->pass[next + k]))
                return times;
        }
    }
    return times;
}

/* What begins waits for nothing. */
static void clear(struct generator_rank *r)
{
    r->waits = 0;
    r->sent = NONE;
    forget_begun(r);
}

static void begin_repeat(struct generator_rank *r, uint32_t times)
{
    generator_await(r, r->sent);
    generator_follow(r, schedule_repeat(r->g->b, r->number, times));
    clear(r);
}

static void end_repeat(struct generator_rank *r, uint32_t repeat)
{
    schedule_repeat_end(r->g->b, r->number);
    clear(r);
    generator_await(r, repeat);
}

static void go_through_all(struct generator_rank *r)
{
    const struct generator *g = r->g;
    for (uint32_t i = 0; i < training_passes(g->m);) {
        uint32_t unit = unit_at(g, i);
        uint32_t times = count_equal(g, i, unit);
        uint32_t repeat = schedule_builder_count(g->b, r->number);
        if (times > 1)
            begin_repeat(r, times);
        const bool edge[] = {is_edge(g, &g->pass[i]), unit > 1 && is_edge(g, &g->pass[i + 1])};
        if (g->pass[i].pair)
            go_through_pair(r, &g->pass[i], edge);
        else
            for (uint32_t k = 0; k < unit; k++)
                go_through(r, &g->pass[i + k], edge[k]);
        if (times > 1)
            end_repeat(r, repeat);
        i += unit * times;
    }
    generator_await(r, r->sent);
    r->sent = NONE;
}

/* ---- an iteration ---- */

static void iterate(struct generator_rank *r)
{
    const struct generator *g = r->g;
    uint32_t stages = g->m->parallel[TRAINING_PIPELINE];
    if (g->beside)
        gather_parameters(r);
    go_through_all(r);
    for (uint32_t v = g->stages.count - stages + r->stage; !g->beside && g->m->zero < 2; v -= stages) {
        send_gradients(r, v);
        if (v < stages)
            break;
    }
    for (unsigned i = 0; i < TRAINING_GROUPS; i++)
        generator_await(r, r->gradients[i]);
    generator_exchange_tied(r);
    generator_update(r);
    if (!g->beside)
        gather_parameters(r);
}

void generator_fill(struct generator_rank *r)
{
    for (unsigned i = 0; i < TRAINING_GROUPS; i++)
        r->gradients[i] = r->fetched[0][i] = r->fetched[1][i] = NONE;
    clear(r);
    (void)schedule_repeat(r->g->b, r->number, r->g->m->iterations);
    iterate(r);
    schedule_repeat_end(r->g->b, r->number);
}
