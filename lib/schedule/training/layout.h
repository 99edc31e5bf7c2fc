/* layout.h - how a model is divided over ranks: a layout, and all layouts that divide it.
 *
 * Data that flows. A model (model.h) says layers, samples and an accelerator. A layout replaces its parallelism, its
 * micro-batches, chunks, ZeRO stage and recomputation; the model in that layout is another view of the same layers.
 *
 * A layout divides a model if all shares are whole:
 *
 *     tensor       divides the divided dimension of each product, of layers that tensor ranks share; without products
 *                  the elements that leave them. Above 1 activations are in shards, too (`sequence`)
 *     context      divides the tokens of a sample. Above 1 layers say keys and values (`context`)
 *     pipeline     with chunks, at most as many virtual stages as layers
 *     data         with the micro-batch, divides the samples
 *     expert       divides context x data, and the model's own degree
 *     chunks       above 1 there are as many micro-batches as stages, at least (`interleaved`); else 1F1B
 *     ZeRO         0 alone if no rank has a replica
 *     recompute    selective only if a layer says what that computes again */
#ifndef TRAINING_LAYOUT_H
#define TRAINING_LAYOUT_H

#include "schedule/training/model.h"

struct training_layout {
    uint32_t parallel[TRAINING_AXES]; /* 1 and up; their product is the number of ranks */
    enum training_axis order[TRAINING_AXES];
    uint32_t expert;
    uint32_t chunks;
    uint64_t batch; /* samples of a micro-batch */
    unsigned zero;
    enum training_recompute recompute;
};

/* Why no other layout of a model can be found; NULL: they can. */
const char *training_layout_obstacle(const struct training_model *m);

/* The layout that a model has. */
struct training_layout training_layout_of(const struct training_model *m);

/* Whether two layouts are equal but for the order of axes. */
bool training_layout_has_shares(const struct training_layout *a, const struct training_layout *b);

/* Makes *to the model in a layout that divides it. It shares layers and texts with *m, which must outlive it. */
void training_layout_apply(struct training_model *to, const struct training_model *m, const struct training_layout *l);
/* Divides its layers among stages (stages.h), so that this need not be done again: [layers], for m->stage_of, which the
 * caller frees. Returns NULL if there are fewer layers than virtual stages. */
uint32_t *training_layout_stages(const struct training_model *m);

/* What a layout may be. */
enum training_choice {
    TRAINING_CHOOSE_TENSOR, /* as enum training_axis */
    TRAINING_CHOOSE_CONTEXT,
    TRAINING_CHOOSE_DATA,
    TRAINING_CHOOSE_PIPELINE,
    TRAINING_CHOOSE_EXPERT,
    TRAINING_CHOOSE_CHUNKS,
    TRAINING_CHOOSE_BATCH,
    TRAINING_CHOOSE_ZERO,
    TRAINING_CHOOSE_RECOMPUTE, /* enum training_recompute */
    TRAINING_CHOICES
};
extern const char *const training_choice_names[TRAINING_CHOICES + 1]; /* ends with NULL */
extern const char *const training_choice_rules[TRAINING_CHOICES];     /* what a value has to fulfil */

enum { TRAINING_MOST_CHOSEN = 32, TRAINING_LARGEST_CHUNKS = 20 };

/* Values that are allowed; none: all. */
struct training_choices {
    uint32_t value[TRAINING_CHOICES][TRAINING_MOST_CHOSEN];
    unsigned values[TRAINING_CHOICES];
};

/* Calls take() for each layout on `ranks` ranks that divides the model, in an order that is always the same, with axes
 * in the model's order. At most TRAINING_LARGEST_CHUNKS chunks, unless others are chosen. */
typedef void training_layout_take(void *of, const struct training_layout *l);
void training_layout_each(const struct training_model *m, uint32_t ranks, const struct training_choices *choices,
                          training_layout_take *take, void *of);

/* "tensor 8, data 32, pipeline 4 x 5, batch 1, ZeRO 2, recompute": what is 1 or none is left out. */
enum { TRAINING_LAYOUT_TEXT = 160 };
const char *training_layout_text(char text[TRAINING_LAYOUT_TEXT], const struct training_layout *l);

#endif
