/* communication.h - what a layer sends, when and for what: the closed forms of volumes.
 *
 * Bytes are those of a collective's vector (schedule/schedule.h), or of a message. With T tensor-, C context-parallel
 * ranks, E expert ranks, micro-batches of s samples, elements of a, g, p bytes (activations, gradients, parameters), A
 * activations of a layer and W parameters of it at a rank (training_own_parameters()):
 *
 *     columns      all-reduce of s A a / C after forward, and after backward; with `sequence` all-gather before and
 *                  reduce-scatter after each. (Megatron-LM hides one more all-gather, of the saved input, behind the
 *                  backward pass: left out)
 *     output       all-gather of s A a / C after forward, reduce-scatter before backward
 *     space        messages of s halo a / C to and from each neighbour after forward and before backward
 *     experts      all-to-all of s routed a / (C T) of each rank before and after, forward and backward. Between the two
 *                  the tensor group gathers s routed a / C before and reduce-scatters it after. Without `sequence` it
 *                  gathers s A a / C at the end
 *     tables       all-to-all of s A a / C after forward and before backward; fused, successive ones have one of the sum
 *     context      all-gather of s context a / T before forward, reduce-scatter after backward
 *     stages       message of s A a / C of the last layer of a stage (/ T with `sequence`, or if it is shared in space)
 *                  forward, as much backward
 *     ZeRO 0       all-reduce of W g once an iteration
 *     ZeRO 1       reduce-scatter of W g, all-gather of W p, each once an iteration
 *     ZeRO 2       reduce-scatter of W g for each micro-batch, all-gather of W p once
 *     ZeRO 3       as ZeRO 2, but all-gather of W p before each forward and each backward pass
 *
 * Gradients and parameters of experts go over the ranks with the same experts, those of layers shared in space over
 * all ranks of the stage, those of tables nowhere, all others over the replicas. Recomputing repeats what a layer sends
 * before and after its forward pass. Groups of one rank have no communication.
 *
 * Tied parameters, w of the last layer at a rank that are the first layer's too: with one stage their gradients are
 * summed at the rank, and go with the first layer's. Else both stages have them, and after the sums over the replicas
 * each rank of the first stage exchanges w g with its counterpart of the last one, as Megatron-LM's embedding group
 * does; with ZeRO 2 and 3 its share of it. */
#ifndef TRAINING_COMMUNICATION_H
#define TRAINING_COMMUNICATION_H

#include "schedule/training/ranks.h"

/* When, relative to the computing of a pass of a layer. Those of a moment come one after the other. */
enum training_moment {
    TRAINING_BEFORE_FORWARD,
    TRAINING_AFTER_FORWARD,
    TRAINING_BEFORE_BACKWARD,
    TRAINING_AFTER_BACKWARD,
    TRAINING_GRADIENTS,      /* of a group of layers, behind the last backward pass (ZeRO 2, 3: behind each) */
    TRAINING_PARAMETERS,     /* updated ones, once an iteration: ZeRO 1, 2 */
    TRAINING_FETCH_FORWARD,  /* parameters, before a forward pass: ZeRO 3 */
    TRAINING_FETCH_BACKWARD, /* parameters, before a backward pass: ZeRO 3 */
    TRAINING_MOMENTS
};

/* How the loads of experts (loads.h) change a communication. */
enum training_tokens {
    TRAINING_EVENLY,
    TRAINING_TO_EXPERTS,   /* all-to-all: shares by the loads of the receivers, */
    TRAINING_FROM_EXPERTS, /* of the senders */
    TRAINING_AT_EXPERTS    /* bytes by the load of the rank; its group has the same experts */
};

struct training_communication {
    enum training_moment moment;
    enum training_group group;
    bool halo; /* messages with neighbours in the group, `bytes` each way; else a collective */
    enum hx_collective_kind kind;
    uint64_t bytes; /* with tokens of experts, of a rank with the mean load */
    enum training_tokens tokens;
    const struct training_layer *layer; /* that these experts are of; NULL: TRAINING_EVENLY */
};

enum { TRAINING_MOST_COMMUNICATIONS = 16 };

/* Bytes of a collective at the ranks at a position of their expert groups (loads.h). */
uint64_t training_bytes_at(const struct training_model *m, const struct training_communication *c, uint32_t position);

/* Fills list[] with what a layer sends, in the order of moments; returns their number. */
unsigned training_communications(const struct training_model *m, const struct training_layer *l,
                                 struct training_communication list[TRAINING_MOST_COMMUNICATIONS]);

/* The group that sums the gradients of a layer, which is not of tables. */
enum training_group training_gradient_group(const struct training_layer *l);

/* Whether the all-to-alls of this layer go with those of the next, if both are in one virtual stage: both are tables,
 * and the model fuses them. */
bool training_fuses(const struct training_model *m, uint32_t layer);

/* How often in an iteration a rank carries out a layer's communication of this moment. */
uint32_t training_times(const struct training_model *m, const struct training_layer *l, enum training_moment moment);

/* Parts in which a layer's communication travels: those of its pass (training_splits()) if it is a collective of tensor
 * ranks, else 1. */
uint32_t training_parts(const struct training_model *m, const struct training_layer *l,
                        const struct training_communication *c);

/* Neighbours of the first rank of a group in messages of a halo: positions 1, 2, 4, ... */
uint32_t training_neighbours(const struct training_model *m, enum training_group group);

/* Bytes of gradients of tied parameters that a rank of the first stage and one of the last send each other, once an
 * iteration; 0: none. */
uint64_t training_tied_bytes(const struct training_model *m);

/* Bytes of a message from a layer's stage to the next, and back. */
uint64_t training_stage_bytes(const struct training_model *m, const struct training_layer *l);

#endif
