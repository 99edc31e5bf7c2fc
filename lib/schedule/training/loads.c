/* loads.c - sums over the experts of a rank (loads.h). */
#include "schedule/training/loads.h"

/* Of the experts at a position; at most TRAINING_MOST_EXPERTS x TRAINING_MOST_LOAD. */
static uint32_t sum_at(const struct training_model *m, const struct training_layer *l, uint32_t position)
{
    const uint32_t experts = l->loads / m->expert;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < experts; i++)
        sum += m->load[l->load + position * experts + i];
    return sum;
}

static uint32_t most_of(const struct training_model *m, const struct training_layer *l)
{
    uint32_t most = 0;
    for (uint32_t position = 0; position < m->expert; position++) {
        const uint32_t sum = sum_at(m, l, position);
        most = sum > most ? sum : most;
    }
    return most;
}

static uint32_t load_at(const struct training_model *m, const struct training_layer *l, uint32_t position)
{
    return position == TRAINING_FULLEST ? most_of(m, l) : sum_at(m, l, position);
}

static uint32_t sum_of_all(const struct training_model *m, const struct training_layer *l)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < l->loads; i++)
        sum += m->load[l->load + i];
    return sum;
}

void training_make_even(struct training_model *m)
{
    for (uint32_t i = 0; i < m->layers; i++)
        m->layer[i].loads = 0;
}

bool training_is_unequal(const struct training_model *m, const struct training_layer *l)
{
    return l->loads && (uint64_t)most_of(m, l) * m->expert != sum_of_all(m, l);
}

double training_load(const struct training_model *m, const struct training_layer *l, uint32_t position)
{
    return l->loads ? (double)load_at(m, l, position) * m->expert / sum_of_all(m, l) : 1;
}

uint64_t training_loaded(const struct training_model *m, const struct training_layer *l, uint32_t position,
                         uint64_t amount)
{
    __extension__ typedef unsigned __int128 wide;
    if (!l->loads)
        return amount;
    const uint32_t all = sum_of_all(m, l);
    return (uint64_t)(((wide)amount * load_at(m, l, position) * m->expert + all - 1) / all);
}

void training_load_shares(const struct training_model *m, const struct training_layer *l, bool back, uint32_t *weight)
{
    for (uint32_t from = 0; from < m->expert; from++) {
        for (uint32_t to = 0; to < m->expert; to++)
            weight[(size_t)from * m->expert + to] = sum_at(m, l, back ? from : to);
    }
}
