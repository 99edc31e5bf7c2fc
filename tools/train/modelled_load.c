/* modelled_load.c - the bytes of a model's iteration on the links of a fabric (modelled.h). */
#include "schedule/training/generate.h"
#include "schedule/training/stages.h"
#include "tools/train/modelled.h"

#include <stdlib.h>

/* Collectives of one kind and algorithm in the groups of a stage. */
struct class
{
    enum hx_collective_kind kind;
    uint64_t largest; /* bytes of a vector: by these the algorithm is chosen */
    double bytes;     /* of all vectors */
};

enum { MOST_CLASSES = HX_COLLECTIVE_KINDS };

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
    struct class class[MOST_CLASSES];
    unsigned classes;
    double halo; /* bytes to each neighbour */
};

static void add(struct sums *sums, const struct training_communication *c, double times)
{
    unsigned i = 0;
    if (c->halo) {
        sums->halo += (double)c->bytes * times;
        return;
    }
    while (i < sums->classes && sums->class[i].kind != c->kind)
        i++;
    if (i == sums->classes)
        sums->class[sums->classes++] = (struct class){.kind = c->kind};
    sums->class[i].bytes += (double)c->bytes * times;
    sums->class[i].largest = c->bytes > sums->class[i].largest ? c->bytes : sums->class[i].largest;
}

/* Adds up what the layers of a stage send in groups of a kind. */
static struct sums sums_of(const struct laying *l, uint32_t stage, enum training_group group)
{
    const struct training_model *m = l->m;
    struct sums sums = {.classes = 0};
    struct training_communication list[TRAINING_MOST_COMMUNICATIONS];
    for (uint32_t v = stage; v < l->stages.count; v += m->parallel[TRAINING_PIPELINE]) {
        for (uint32_t i = l->stages.first[v]; i < l->stages.first[v + 1]; i++) {
            const unsigned count = training_communications(m, &m->layer[i], list);
            for (unsigned c = 0; c < count; c++) {
                if (list[c].group == group)
                    add(&sums, &list[c], training_times(m, &m->layer[i], list[c].moment));
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

/* Lays what the groups of a kind and a stage send. */
static void lay_groups(struct laying *l, enum training_group group, uint32_t stage)
{
    const struct training_model *m = l->m;
    const struct sums sums = sums_of(l, stage, group);
    const uint32_t size = training_group_size(m, group);
    uint32_t number = 0; /* of the group in its family */
    struct network_collective c[MOST_CLASSES];
    for (unsigned i = 0; i < sums.classes; i++) {
        c[i] = (struct network_collective){.family = l->family[group],
                                           .kind = sums.class[i].kind,
                                           .algorithm = training_algorithm(m, group, sums.class[i].kind),
                                           .bytes = sums.class[i].largest};
        (void)network_algorithm(l->n, &c[i], &c[i].algorithm);
    }
    for (uint32_t rank = 0; rank < training_ranks(m); rank++) {
        if (training_group_position(m, group, rank) != 0)
            continue;
        if (training_place_of(m, rank).at[TRAINING_PIPELINE] == stage) {
            for (unsigned i = 0; i < sums.classes; i++) {
                network_lay_collective(l->n, &c[i], number, sums.class[i].bytes, l->load);
                l->bytes[group] += network_collective_bytes(c[i].kind, size, sums.class[i].bytes);
            }
            if (sums.halo > 0)
                lay_halo(l, group, rank, sums.halo);
        }
        number++;
    }
}

/* ---- stages ---- */

/* Lays the messages between virtual stage v and the next, forward and backward. */
static void lay_messages(struct laying *l, uint32_t v)
{
    const struct training_model *m = l->m;
    const uint32_t stages = m->parallel[TRAINING_PIPELINE];
    const uint64_t each = training_stage_bytes(m, &m->layer[l->stages.first[v + 1] - 1]);
    const double all = (double)each * m->micro_batches;
    for (uint32_t rank = 0; rank < training_ranks(m); rank++) {
        if (training_place_of(m, rank).at[TRAINING_PIPELINE] != v % stages)
            continue;
        const uint32_t other = modelled_counterpart(m, rank, (v + 1) % stages);
        network_lay_message(l->n, l->host[rank], l->host[other], all, l->load);
        network_lay_message(l->n, l->host[other], l->host[rank], all, l->load);
    }
}

bool modelled_lay(const struct training_model *m, struct network *n, const uint32_t *host, double *load,
                  double bytes[TRAINING_GROUPS], struct hx_problem *problem)
{
    struct laying l = {.m = m, .n = n, .host = host, .load = load, .bytes = bytes};
    if (!training_stages_make(&l.stages, m, problem))
        return false;
    modelled_add_families(m, n, host, l.family);
    for (unsigned group = 0; group < TRAINING_GROUPS; group++) {
        for (uint32_t stage = 0; stage < m->parallel[TRAINING_PIPELINE]; stage++)
            lay_groups(&l, (enum training_group)group, stage);
    }
    for (uint32_t v = 0; v + 1 < l.stages.count && m->parallel[TRAINING_PIPELINE] > 1; v++)
        lay_messages(&l, v);
    training_stages_free(&l.stages);
    return true;
}
