/* generate.h - the schedule of a model's training.
 *
 * Each rank goes through its passes in the order of its stage (pipeline.h). A pass goes through the layers of a chunk;
 * computing is on stream 0. Communication of a layer follows at its moment (communication.h), and the next step waits
 * for its end, except with `overlap`:
 *
 *     gradients      of a group of layers: behind the backward pass of its last layer, beside all that follows. Without
 *                    `overlap` behind all passes (ZeRO 2, 3: behind each backward pass)
 *     parameters     ZeRO 1, 2: from the begin of the iteration on, in the order of layers; the first forward pass of a
 *                    layer waits for its group. This is the all-gather of the iteration before, as Megatron-LM hides it
 *                    behind the next forward pass. Without `overlap` behind the update.
 *                    ZeRO 3: a layer's are fetched when the `prefetch`-th layer before begins to compute
 *     stages         nothing waits for the end of a send. Without `overlap` the next pass does, unless the pipeline is
 *                    interleaved: its stages send around a ring, and two long sends would wait for each other
 *
 * With `tensor_splits` a layer's pass goes in parts (training_splits()): tensor collectives before a part follow one
 * another, so do those behind, and a part computes when the part before has, and its vector is there.
 *
 * Collectives beside computing follow one another in each group: gradients, and fetched parameters, each in a row. A
 * group of gradients has successive layers of a chunk, and is sent when it has `gradient_bytes`, or with the chunk's
 * first layer. Tied gradients are exchanged behind all of them. The update waits for all gradients. A message to
 * another stage is sent when its pass has ended; it is received when its pass may begin.
 *
 * An iteration is an iteration of the outermost repeat. Within it, successive passes, or pairs of a forward and a
 * backward pass, that are equal are a repeat, unless communication goes on beside them or the pipeline is interleaved.
 * A send ends within its body, which makes a difference for messages that exceed --eager alone.
 *
 * Operations have names ("attention 3 forward") and purposes ("tensor", "context", "data", "expert", "pipeline"). The
 * schedule's dimensions are the parallel degrees in `order`, without those of 1.
 *
 * Experts with unequal loads (loads.h) make the ranks of their groups differ: each computes and sends by its load.
 *
 * With `timed`, there are ranks for the stages alone, one each: a collective is computing on a stream of its group for
 * the time that `timed` gives it, and experts compute as at the fullest rank. Estimates execute that schedule. */
#ifndef TRAINING_GENERATE_H
#define TRAINING_GENERATE_H

#include "schedule/training/communication.h"

/* Times of communication. */
struct training_timing {
    uint64_t (*collective_ps)(void *of, const struct training_communication *c);
    uint64_t (*halo_ps)(void *of, enum training_group group, uint64_t bytes); /* all neighbours at once */
    void *of;
    bool in_turn; /* a rank's groups communicate one after the other, on stream 1 */
};

/* Streams of a timed schedule: 1 + enum training_group, unless all communicate in turn; in any other schedule all
 * computing is on stream 0. */

/* The algorithm (enum hx_algorithm) that the model gives a group's collectives, if it has their kind; else the best. */
unsigned training_algorithm(const struct training_model *m, enum training_group group, enum hx_collective_kind kind);

/* Returns NULL and sets *problem if there are fewer layers than virtual stages. m: as training_model_read() returns it.
 * timed: NULL for the schedule of all ranks. */
struct schedule_builder *training_generate(const struct training_model *m, const struct training_timing *timed,
                                           struct hx_problem *problem);

#endif
