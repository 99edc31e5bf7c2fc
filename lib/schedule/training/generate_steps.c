/* generate_steps.c - single operations of a rank, and what waits for them (generate_parts.h). */
#include "schedule/choices.h"
#include "schedule/training/generate_parts.h"
#include "schedule/training/loads.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- dependencies ---- */

void generator_follow(const struct generator_rank *r, uint32_t number)
{
    for (unsigned i = 0; i < r->waits; i++)
        schedule_after(r->g->b, r->number, number, r->wait[i]);
}

void generator_await(struct generator_rank *r, uint32_t number)
{
    if (number != NONE)
        r->wait[r->waits++] = number;
}

void generator_step(struct generator_rank *r, uint32_t number)
{
    if (number == NONE)
        return;
    generator_follow(r, number);
    r->waits = 0;
    generator_await(r, number);
}

/* ---- names ---- */

static struct schedule_operation *at(const struct generator_rank *r, uint32_t number)
{
    return schedule_builder_at(r->g->b, r->number, number);
}

/* Gives an operation the text that *name is the offset of; at first, makes the text of three words. */
static void name(struct generator_rank *r, uint32_t number, uint32_t *name, const char *first, const char *second,
                 const char *third)
{
    if (*name == SCHEDULE_NO_NAME) {
        char text[160];
        (void)snprintf(text, sizeof text, "%.100s%s%s%s%s", first, *second ? " " : "", second, *third ? " " : "",
                       third);
        schedule_set_name(r->g->b, r->number, number, text);
        *name = at(r, number)->name;
    }
    at(r, number)->name = *name;
}

static void name_of_layer(struct generator_rank *r, uint32_t number, struct generator_layer *l,
                          enum generator_text text)
{
    static const char *const words[] = {[TEXT_FORWARD] = "forward",
                                        [TEXT_BACKWARD] = "backward",
                                        [TEXT_RECOMPUTE] = "recompute",
                                        [TEXT_GRADIENTS] = "gradients",
                                        [TEXT_PARAMETERS] = "parameters"};
    if (text < TEXT_COMMUNICATION) {
        name(r, number, &l->name[text], l->layer->name, words[text], "");
        return;
    }
    const struct training_communication *c = &l->communication[text - TEXT_COMMUNICATION];
    name(r, number, &l->name[text], l->layer->name,
         c->moment == TRAINING_BEFORE_FORWARD || c->moment == TRAINING_AFTER_FORWARD ? "forward" : "backward",
         c->halo ? "halo" : hx_collective_kind_names[c->kind]);
}

/* ---- computing ---- */

uint32_t generator_add_computing(struct generator_rank *r, struct generator_layer *l, enum generator_text text,
                                 uint64_t ps)
{
    const uint32_t number = schedule_compute(r->g->b, r->number, ps, 0);
    name_of_layer(r, number, l, text);
    if (r->begun[0] == NONE)
        r->begun[0] = number;
    return number;
}

void generator_compute(struct generator_rank *r, struct generator_layer *l, enum generator_text text, uint64_t ps)
{
    generator_step(r, generator_add_computing(r, l, text, ps));
}

void generator_update(struct generator_rank *r)
{
    if (r->g->m->update_ps == 0)
        return;
    uint32_t number = schedule_compute(r->g->b, r->number, r->g->m->update_ps, 0);
    name(r, number, &r->g->name[TEXT_UPDATE], "update", "", "");
    generator_step(r, number);
}

/* ---- collectives ---- */

static void set_purpose(struct generator_rank *r, uint32_t number, enum training_group group)
{
    (void)schedule_set_purpose(r->g->b, r->number, number, training_group_purpose[group]);
}

unsigned training_algorithm(const struct training_model *m, enum training_group group, enum hx_collective_kind kind)
{
    static const unsigned of[TRAINING_GROUPS] = {
        [TRAINING_GROUP_TENSOR] = TRAINING_TENSOR,    [TRAINING_GROUP_CONTEXT] = TRAINING_CONTEXT,
        [TRAINING_GROUP_REPLICAS] = TRAINING_DATA,    [TRAINING_GROUP_EXPERT] = TRAINING_AXES,
        [TRAINING_GROUP_EXPERT_DATA] = TRAINING_DATA, [TRAINING_GROUP_TABLES] = TRAINING_TENSOR,
        [TRAINING_GROUP_STAGE] = TRAINING_DATA};
    unsigned algorithm = m->algorithm[of[group]];
    return schedule_has_kind(algorithm, kind) ? algorithm : HX_ALGORITHM_BEST;
}

/* Number of the rank's group. */
static uint32_t group_of(const struct generator_rank *r, enum training_group group)
{
    struct generator *g = r->g;
    uint32_t first = training_group_member(g->m, group, r->rank, 0);
    if (g->group[group][first] == NONE) {
        (void)training_group_members(g->m, group, r->rank, g->member);
        g->group[group][first] = schedule_add_group(g->b, g->member, training_group_size(g->m, group));
    }
    return g->group[group][first];
}

/* Adds computing for the time of a communication. */
static uint32_t add_timed(struct generator_rank *r, enum training_group group, uint64_t ps)
{
    const uint32_t number = schedule_compute(r->g->b, r->number, ps, r->g->timed->in_turn ? 1 : 1 + (unsigned)group);
    at(r, number)->tag = SCHEDULE_COMMUNICATES;
    return number;
}

/* Of an all-to-all of experts with unequal loads: its shares. */
static uint32_t tag_of(const struct generator_rank *r, const struct training_communication *c)
{
    const struct training_model *m = r->g->m;
    if (c->tokens != TRAINING_TO_EXPERTS && c->tokens != TRAINING_FROM_EXPERTS)
        return 0;
    const bool back = c->tokens == TRAINING_FROM_EXPERTS;
    uint32_t *tag = &r->g->shares[c->layer->load][back];
    if (*tag == 0) {
        uint32_t *weight = hx_allocate((size_t)m->expert * m->expert, sizeof *weight);
        training_load_shares(m, c->layer, back, weight);
        *tag = schedule_add_shares(r->g->b, weight, m->expert);
        free(weight);
    }
    return *tag;
}

uint32_t generator_collect(struct generator_rank *r, struct generator_layer *l, enum generator_text text,
                           const struct training_communication *c)
{
    const struct training_timing *timed = r->g->timed;
    struct training_communication own = *c;
    uint32_t number;
    own.bytes = training_bytes_at(r->g->m, c, r->expert);
    if (own.bytes == 0)
        return NONE;
    if (timed) {
        uint64_t ps = timed->collective_ps(timed->of, &own);
        if (ps == 0)
            return NONE;
        number = add_timed(r, c->group, ps);
    } else {
        number = schedule_collect(r->g->b, r->number, c->kind, group_of(r, c->group), own.bytes, tag_of(r, c));
        at(r, number)->algorithm = (uint8_t)training_algorithm(r->g->m, c->group, c->kind);
    }
    name_of_layer(r, number, l, text);
    set_purpose(r, number, c->group);
    return number;
}

/* ---- messages ---- */

static void finish_message(struct generator_rank *r, struct generator_layer *l, enum generator_text text,
                           const struct training_communication *c, uint32_t number)
{
    name_of_layer(r, number, l, text);
    set_purpose(r, number, c->group);
    generator_follow(r, number);
}

/* All messages of a halo at once. */
static void exchange_halo(struct generator_rank *r, struct generator_layer *l, enum generator_text text,
                          const struct training_communication *c)
{
    const struct training_model *m = r->g->m;
    uint32_t position = training_group_position(m, c->group, r->rank);
    uint32_t neighbours = training_neighbours(m, c->group);
    uint32_t tag = 2 * r->g->stages.count; /* behind those of stages */
    uint32_t message[MOST_WAITS];
    unsigned messages = 0;
    for (uint32_t i = 0; i < neighbours; i++) {
        uint32_t other = position ^ (uint32_t)1 << i;
        if (other >= training_group_size(m, c->group))
            continue;
        uint32_t peer = training_group_member(m, c->group, r->rank, other);
        message[messages] = schedule_send(r->g->b, r->number, peer, c->bytes, tag);
        finish_message(r, l, text, c, message[messages++]);
        message[messages] = schedule_receive(r->g->b, r->number, peer, c->bytes, tag);
        finish_message(r, l, text, c, message[messages++]);
    }
    r->waits = 0;
    for (unsigned i = 0; i < messages; i++)
        generator_await(r, message[i]);
}

static void time_halo(struct generator_rank *r, struct generator_layer *l, enum generator_text text,
                      const struct training_communication *c)
{
    const struct training_timing *timed = r->g->timed;
    uint64_t ps = timed->halo_ps(timed->of, c->group, c->bytes);
    if (ps == 0)
        return;
    uint32_t number = add_timed(r, c->group, ps);
    name_of_layer(r, number, l, text);
    set_purpose(r, number, c->group);
    generator_step(r, number);
}

static void communicate(struct generator_rank *r, struct generator_layer *l, unsigned i)
{
    const struct training_communication *c = &l->communication[i];
    const enum generator_text text = TEXT_COMMUNICATION + i;
    if (!c->halo)
        generator_step(r, generator_collect(r, l, text, c));
    else if (r->g->timed)
        time_halo(r, l, text, c);
    else
        exchange_halo(r, l, text, c);
}

void generator_communicate(struct generator_rank *r, struct generator_layer *l, enum training_moment moment)
{
    for (unsigned i = 0; i < l->communications; i++) {
        if (l->communication[i].moment == moment)
            communicate(r, l, i);
    }
}

void generator_communicate_whole(struct generator_rank *r, struct generator_layer *l, enum training_moment moment)
{
    for (unsigned i = 0; i < l->communications; i++) {
        const struct training_communication *c = &l->communication[i];
        if (c->moment == moment && training_parts(r->g->m, l->layer, c) == 1)
            communicate(r, l, i);
    }
}

/* The rank, in the builder, at the same place of another stage. */
static uint32_t rank_of(const struct generator_rank *r, uint32_t stage)
{
    struct training_place place = training_place_of(r->g->m, r->rank);
    place.at[TRAINING_PIPELINE] = stage;
    return r->g->timed ? stage : training_rank_at(r->g->m, place);
}

/* A message between stages, behind what the next step waits for. */
static uint32_t exchange(struct generator_rank *r, uint32_t stage, uint64_t bytes, uint32_t tag, bool sends,
                         enum generator_text_of_all text)
{
    static const char *const words[] = {
        [TEXT_SEND_FORWARD] = "stage forward", [TEXT_SEND_BACKWARD] = "stage backward", [TEXT_TIED] = "tied gradients"};
    struct generator *g = r->g;
    const uint32_t peer = rank_of(r, stage);
    const uint32_t number =
        sends ? schedule_send(g->b, r->number, peer, bytes, tag) : schedule_receive(g->b, r->number, peer, bytes, tag);
    name(r, number, &g->name[text], words[text], "", "");
    (void)schedule_set_purpose(g->b, r->number, number, "pipeline");
    generator_follow(r, number);
    return number;
}

uint32_t generator_message(struct generator_rank *r, uint32_t from, bool backward, bool sends)
{
    const struct generator *g = r->g;
    const struct training_layer *last = g->layer[g->stages.first[from + 1] - 1].layer;
    const uint32_t v = sends == backward ? from : from + 1;
    return exchange(r, v % g->m->parallel[TRAINING_PIPELINE], training_stage_bytes(g->m, last), 2 * from + backward,
                    sends, backward ? TEXT_SEND_BACKWARD : TEXT_SEND_FORWARD);
}

void generator_exchange_tied(struct generator_rank *r)
{
    const uint64_t bytes = training_tied_bytes(r->g->m);
    const uint32_t last = r->g->m->parallel[TRAINING_PIPELINE] - 1;
    const uint32_t tag = 2 * r->g->stages.count + 1; /* behind that of halos */
    if (bytes == 0 || (r->stage > 0 && r->stage < last))
        return;
    const uint32_t other = r->stage ? 0 : last;
    const uint32_t sent = exchange(r, other, bytes, tag, true, TEXT_TIED);
    const uint32_t received = exchange(r, other, bytes, tag, false, TEXT_TIED);
    r->waits = 0;
    generator_await(r, sent);
    generator_await(r, received);
}
