/* strategy.h - where each layer of a model is: on all servers, in shards on all servers, or whole on one of them.
 *
 * The moves of Jia, Zaharia, Aiken, "Beyond Data and Model Parallelism for Deep Neural Networks" (MLSys 2019), for
 * servers. A layer's `inputs` and `activations` are elements of a sample that enter and leave it; n servers have s
 * samples each; a, g: bytes of an element of activations and of gradients.
 *
 *     replicated   each server computes its samples; sum of gradients over all servers: parameters * g
 *     sharded      each server has 1/n of the layer and computes it for all samples: inputs come from all servers (s *
 *                  inputs * a of each pair), parts of the output go to all (s * activations * a / n of each pair);
 *                  backward the same the other way
 *     placed       one server computes all samples: gather of s * inputs * a from each server, scatter of s *
 *                  activations * a to each; backward the other way
 *
 * Indices of tables and the data that enter the first layers have no gradients: backward they send none.
 *
 * Layers that are `beside` the one before belong to its exchange, since they need nothing of it. They compute at one
 * time: of a group of such layers the server counts that computes longest, and groups follow each other.
 *
 * Assumptions. Gradients are dense: a replicated table is summed whole, though a batch touches few of its rows. A layer
 * sends its output to all servers and gets its input from all, also if the next layer is on the same server. Memory has
 * no limit. Sums begin behind the backward pass of the last group with a replicated layer; without `overlap` of the
 * model, behind the whole backward pass. */
#ifndef HXMESH_TOOLS_CIRCUITS_STRATEGY_H
#define HXMESH_TOOLS_CIRCUITS_STRATEGY_H

#include "schedule/training/model.h"
#include "tools/circuits/demand.h"

enum circuits_choice { CIRCUITS_REPLICATED, CIRCUITS_SHARDED, CIRCUITS_PLACED, CIRCUITS_CHOICES };
extern const char *const circuits_choice_names[CIRCUITS_CHOICES + 1]; /* ends with NULL */

struct circuits_place {
    enum circuits_choice choice;
    uint32_t server; /* placed: which one */
};

/* place[layers] of a model. */
struct circuits_strategy {
    const struct training_model *m;
    uint32_t servers;
    struct circuits_place *place;
};

/* The model's own shards: tables in shards, all else replicated. Free .place. */
struct circuits_strategy circuits_strategy_own(const struct training_model *m, uint32_t servers);
/* The same with tables placed: table i of t on server i servers / t. */
struct circuits_strategy circuits_strategy_tables_placed(const struct training_model *m, uint32_t servers);

/* Each layer at a random place. */
struct circuits_strategy circuits_strategy_random(const struct training_model *m, uint32_t servers, uint64_t seed);
struct circuits_strategy circuits_strategy_copy(const struct circuits_strategy *s);
/* Gives the layers of `to` the places of another strategy of the same model. */
void circuits_strategy_set(struct circuits_strategy *to, const struct circuits_strategy *from);
/* One of the places with equal probability, then of the servers. */
struct circuits_place circuits_place_random(uint64_t *random, uint32_t servers);

/* The demand of an iteration. Free it with circuits_demand_free(). */
void circuits_demand_of(struct circuits_demand *d, const struct circuits_strategy *s);

#endif
