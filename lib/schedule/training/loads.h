/* loads.h - unequal loads of experts: the tokens that each rank of an expert group has.
 *
 * The experts of a layer are on the ranks of an expert group in their order, as many on each. A rank's load is that of
 * its experts over the mean of all ranks. It computes so many times as long, keeps and exchanges so many times as much.
 * Each rank of the group sends to another as much as all do: by the loads. */
#ifndef TRAINING_LOADS_H
#define TRAINING_LOADS_H

#include "schedule/training/model.h"

enum { TRAINING_FULLEST = UINT32_MAX /* in place of a position: the rank with the greatest load */ };

/* Makes all loads equal: for closed forms in which all ranks are alike. */
void training_make_even(struct training_model *m);

/* Whether the ranks of an expert group have different loads. */
bool training_is_unequal(const struct training_model *m, const struct training_layer *l);

/* The load of the rank at a position of the expert group; 1: the mean. */
double training_load(const struct training_model *m, const struct training_layer *l, uint32_t position);
/* An amount of the mean rank at another one, rounded up. */
uint64_t training_loaded(const struct training_model *m, const struct training_layer *l, uint32_t position,
                         uint64_t amount);

/* Shares of the all-to-all that brings tokens to experts, or of the one back (schedule/shares.h). weight: [expert *
 * expert] of the model. */
void training_load_shares(const struct training_model *m, const struct training_layer *l, bool back, uint32_t *weight);

#endif
