/* generate_splits.c - a layer with what it sends: one after the other, or in parts (generate.h). */
#include "schedule/training/generate_parts.h"

/* The collectives of a layer's tensor ranks at a moment, a part behind the other. */
struct row {
    enum generator_text text;
    const struct training_communication *c; /* NULL: none */
    uint32_t last;                          /* part; NONE */
};

static struct row row_of(const struct training_model *m, const struct generator_layer *l, enum training_moment moment)
{
    for (unsigned i = 0; i < l->communications; i++) {
        const struct training_communication *c = &l->communication[i];
        if (c->moment == moment && training_parts(m, l->layer, c) > 1)
            return (struct row){.text = TEXT_COMMUNICATION + i, .c = c, .last = NONE};
    }
    return (struct row){.c = NULL, .last = NONE};
}

/* The share of a part: shares differ by 1 at most, and their sum is the whole. */
static uint64_t share_of(uint64_t whole, uint32_t part, uint32_t parts)
{
    return whole / parts + (part < whole % parts);
}

static void after(const struct generator_rank *r, uint32_t number, uint32_t before)
{
    if (before != NONE)
        schedule_after(r->g->b, r->number, number, before);
}

/* Adds a part to a row, behind `before`, or without one behind what the next step waits for. */
static void collect_part(struct generator_rank *r, struct generator_layer *l, struct row *row, uint32_t part,
                         uint32_t parts, uint32_t before)
{
    if (!row->c)
        return;
    struct training_communication c = *row->c;
    c.bytes = share_of(c.bytes, part, parts);
    const uint32_t number = c.bytes ? generator_collect(r, l, row->text, &c) : NONE;
    if (number == NONE)
        return;
    after(r, number, before);
    after(r, number, row->last);
    if (before == NONE)
        generator_follow(r, number);
    row->last = number;
}

static void pass_in_parts(struct generator_rank *r, struct generator_layer *l, enum training_moment before,
                          enum generator_text text, uint64_t ps)
{
    const uint32_t parts = training_splits(r->g->m, l->layer);
    struct row first = row_of(r->g->m, l, before);
    struct row second = row_of(r->g->m, l, before + 1);
    uint32_t computed = NONE;
    for (uint32_t part = 0; part < parts; part++) {
        collect_part(r, l, &first, part, parts, NONE);
        const uint32_t number = generator_add_computing(r, l, text, share_of(ps, part, parts));
        generator_follow(r, number);
        after(r, number, first.last);
        after(r, number, computed);
        collect_part(r, l, &second, part, parts, number);
        computed = number;
    }
    r->waits = 0;
    generator_await(r, computed);
    generator_await(r, second.last);
}

void generator_pass(struct generator_rank *r, struct generator_layer *l, enum training_moment before,
                    enum generator_text text, uint64_t ps)
{
    if (training_splits(r->g->m, l->layer) == 1) {
        generator_communicate(r, l, before);
        generator_compute(r, l, text, ps);
        generator_communicate(r, l, before + 1);
        return;
    }
    generator_communicate_whole(r, l, before);
    pass_in_parts(r, l, before, text, ps);
    generator_communicate_whole(r, l, before + 1);
}
