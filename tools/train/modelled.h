/* modelled.h - the schedule of a model with one rank for each stage, and collectives as computing, for estimates. */
#ifndef HXMESH_TOOLS_TRAIN_MODELLED_H
#define HXMESH_TOOLS_TRAIN_MODELLED_H

#include "schedule/training/communication.h"
#include "tools/train/network.h"

/* Returns the schedule of all stages (schedule/training/generate.h), with the times that the network gives; computing
 * times are multiplied by `scale`. Adds the families of groups and the pairs of messages of all ranks to the network.
 * host[rank]: the host of a rank of the model. n NULL: communication takes no time. Returns NULL and sets *problem. */
struct schedule *modelled_make(const struct training_model *m, struct network *n, const uint32_t *host, double scale,
                               struct hx_problem *problem);

/* Routes between stages: the slowest of those of all ranks. */
struct modelled_routes;
/* Takes the pairs that modelled_make() added. All arguments must outlive the routes. */
struct modelled_routes *modelled_routes_new(const struct training_model *m, struct network *n, const uint32_t *host);
/* NULL is allowed. */
void modelled_routes_free(struct modelled_routes *r);
struct network_route modelled_route(struct modelled_routes *r, uint32_t from, uint32_t to);

/* Adds the families of all groups. */
void modelled_add_families(const struct training_model *m, struct network *n, const uint32_t *host,
                           unsigned family[TRAINING_GROUPS]);
/* A collective of a layer as the network has it. */
struct network_collective modelled_collective(const struct training_model *m, struct network *n,
                                              const struct training_communication *c,
                                              const unsigned family[TRAINING_GROUPS]);
/* The rank at the same place of another stage. */
uint32_t modelled_counterpart(const struct training_model *m, uint32_t rank, uint32_t stage);

/* modelled_load.c: adds the bytes of an iteration to load[ports], and those that all ranks send in collectives and
 * halos of a group to bytes[group]. Returns false and sets *problem as training_stages_make(). */
bool modelled_lay(const struct training_model *m, struct network *n, const uint32_t *host, double *load,
                  double bytes[TRAINING_GROUPS], struct hx_problem *problem);

#endif
