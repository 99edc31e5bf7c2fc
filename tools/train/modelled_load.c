/* modelled_load.c - the bytes of a model's iteration on the links of a fabric (modelled.h). */
#include "base/divisor.h"
#include "schedule/training/generate.h"
#include "schedule/training/stages.h"
#include "tools/train/modelled.h"

#include <stdlib.h>

/* Collectives of one kind and algorithm in a group. */
struct class
{
    struct network_collective of; /* bytes: of the largest vector, by which the algorithm is chosen */
    double bytes;                 /* of all vectors */
};

struct laying {
    const struct training_model *m;
    struct network *n;
    const uint32_t *host;
    struct training_stages stages;
    unsigned family[TRAINING_GROUPS];
    double *load;  /* [ports] */
    double *bytes; /* [TRAINING_GROUPS] */
};

/* ---- what a stage sends ---- */

struct sums {
    struct class *class;
    size_t classes, room;
    double halo; /* bytes to each neighbour */
};

static void add(const struct laying *l, struct sums *sums, const struct training_layer *layer,
                const struct training_communication *c)
{
    const double all = (double)c->bytes * training_times(l->m, layer, c->moment);
    struct network_collective one = modelled_collective(l->m, l->n, c, l->family);
    size_t i = 0;
    if (c->halo) {
        sums->halo += all;
        return;
    }
    one.bytes = hx_divide_up(c->bytes, training_parts(l->m, layer, c));
    while (i < sums->classes && (sums->class[i].of.kind != one.kind || sums->class[i].of.shares != one.shares))
        i++;
    if (i == sums->classes) {
        sums->class = hx_grow(sums->class, sums->classes, &sums->room, sizeof *sums->class);
        sums->class[sums->classes++] = (struct class){.of = one};
    }
    sums->class[i].bytes += all;
    sums->class[i].of.bytes = one.bytes > sums->class[i].of.bytes ? one.bytes : sums->class[i].of.bytes;
}

/* Adds up what the layers of a stage send in the group of a rank. */
static struct sums sums_of(const struct laying *l, uint32_t rank, enum training_group group)
{
    const struct training_model *m = l->m;
    const uint32_t stage = training_place_of(m, rank).at[TRAINING_PIPELINE];
    const uint32_t expert = training_group_position(m, TRAINING_GROUP_EXPERT, rank);
    struct sums sums = {.classes = 0};
    struct training_communication list[TRAINING_MOST_COMMUNICATIONS];
    for (uint32_t v = stage; v < l->stages.count; v += m->parallel[TRAINING_PIPELINE]) {
        for (uint32_t i = l->stages.first[v]; i < l->stages.first[v + 1]; i++) {
            const unsigned count = training_communications(m, &m->layer[i], list);
            for (unsigned c = 0; c < count; c++) {
                list[c].bytes = training_bytes_at(m, &list[c], expert);
                if (list[c].group == group)
                    add(l, &sums, &m->layer[i], &list[c]);
            }
        }
    }
    return sums;
}

/* ---- groups ---- */

static void lay_halo(struct laying *l, enum training_group group, uint32_t first, double bytes)
{
    const struct training_model *m = l->m;
    const uint32_t size = training_group_size(m, group);
    for (uint32_t i = 0; i < size; i++) {
        for (uint32_t bit = 1; bit < size; bit *= 2) {
            if ((i ^ bit) >= size)
                continue;
            network_lay_message(l->n, l->host[training_group_member(m, group, first, i)],
                                l->host[training_group_member(m, group, first, i ^ bit)], bytes, l->load);
            l->bytes[group] += bytes;
        }
    }
}

/* Lays what the groups of a kind send. */
static void lay_groups(struct laying *l, enum training_group group)
{
    const struct training_model *m = l->m;
    const uint32_t size = training_group_size(m, group);
    uint32_t number = 0; /* of the group in its family */
    for (uint32_t rank = 0; rank < training_ranks(m); rank++) {
        if (training_group_position(m, group, rank) != 0)
            continue;
        const struct sums sums = sums_of(l, rank, group);
        for (size_t i = 0; i < sums.classes; i++) {
            struct network_collective c = sums.class[i].of;
            if (network_algorithm(l->n, &c, &c.algorithm))
                network_lay_collective(l->n, &c, number, sums.class[i].bytes, l->load);
            l->bytes[group] += network_collective_bytes(c.kind, size, sums.class[i].bytes);
        }
        if (sums.halo > 0)
            lay_halo(l, group, rank, sums.halo);
        free(sums.class);
        number++;
    }
}

/* ---- stages ---- */

/* Lays what each rank of a stage and its counterpart in another one send each other. */
static void lay_messages(struct laying *l, uint32_t stage, uint32_t to, double bytes)
{
    if (bytes <= 0)
        return;
    for (uint32_t rank = 0; rank < training_ranks(l->m); rank++) {
        if (training_place_of(l->m, rank).at[TRAINING_PIPELINE] != stage)
            continue;
        const uint32_t other = modelled_counterpart(l->m, rank, to);
        network_lay_message(l->n, l->host[rank], l->host[other], bytes, l->load);
        network_lay_message(l->n, l->host[other], l->host[rank], bytes, l->load);
    }
}

static void lay_stages(struct laying *l)
{
    const struct training_model *m = l->m;
    const uint32_t stages = m->parallel[TRAINING_PIPELINE];
    if (stages == 1)
        return;
    for (uint32_t v = 0; v + 1 < l->stages.count; v++) {
        const uint64_t each = training_stage_bytes(m, &m->layer[l->stages.first[v + 1] - 1]);
        lay_messages(l, v % stages, (v + 1) % stages, (double)each * m->micro_batches);
    }
    lay_messages(l, 0, stages - 1, (double)training_tied_bytes(m));
}

bool modelled_lay(const struct training_model *m, struct network *n, const uint32_t *host, double *load,
                  double bytes[TRAINING_GROUPS], struct hx_problem *problem)
{
    struct laying l = {.m = m, .n = n, .host = host, .load = load, .bytes = bytes};
    if (!training_stages_make(&l.stages, m, problem))
        return false;
    modelled_add_families(m, n, host, l.family);
    for (unsigned group = 0; group < TRAINING_GROUPS; group++)
        lay_groups(&l, (enum training_group)group);
    lay_stages(&l);
    training_stages_free(&l.stages);
    return true;
}
