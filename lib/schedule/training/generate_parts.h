/* generate_parts.h - the generator in parts: what all ranks share (generate.c), the passes of a rank (generate_rank.c),
 * a layer with what it sends (generate_splits.c), single steps (generate_steps.c). */
#ifndef TRAINING_GENERATE_PARTS_H
#define TRAINING_GENERATE_PARTS_H

#include "schedule/training/generate.h"
#include "schedule/training/pipeline.h"
#include "schedule/training/stages.h"

/* Texts of a layer's operations. */
enum generator_text {
    TEXT_FORWARD,
    TEXT_BACKWARD,
    TEXT_RECOMPUTE,
    TEXT_GRADIENTS,
    TEXT_PARAMETERS,
    TEXT_COMMUNICATION, /* and one for each further communication */
    TEXTS = TEXT_COMMUNICATION + TRAINING_MOST_COMMUNICATIONS
};
/* Texts of no layer. */
enum generator_text_of_all { TEXT_SEND_FORWARD, TEXT_SEND_BACKWARD, TEXT_TIED, TEXT_UPDATE, TEXTS_OF_ALL };

struct generator_layer {
    const struct training_layer *layer;
    uint64_t forward_ps, backward_ps; /* at the fullest rank; backward without recomputing */
    struct training_communication communication[TRAINING_MOST_COMMUNICATIONS];
    unsigned communications;
    /* The group of gradients that is sent behind the layer's backward pass. bytes 0: none, or no such collective. */
    struct training_communication gradients, parameters;
    uint32_t name[TEXTS]; /* offsets in the builder's names; SCHEDULE_NO_NAME: not yet */
};

/* What all ranks share. */
struct generator {
    const struct training_model *m;
    const struct training_timing *timed; /* NULL: all ranks */
    struct schedule_builder *b;
    struct training_stages stages;
    struct generator_layer *layer;    /* [layers] */
    bool beside;                      /* communication overlaps computing */
    uint32_t *group[TRAINING_GROUPS]; /* [ranks]: number of the group with this rank as first member, or NONE */
    uint32_t *member;                 /* [ranks]: work space */
    struct training_pass *pass;       /* [training_passes()]: of the stage */
    uint32_t name[TEXTS_OF_ALL];
    uint32_t (
        *shares)[2]; /* [loads of the model]: tags of all-to-alls to and from experts, by the first load; 0: none */
};

enum { NONE = UINT32_MAX /* no operation, no group */, MOST_WAITS = 128 };

/* The rank that is filled. */
struct generator_rank {
    struct generator *g;
    uint32_t number; /* of the rank in the builder */
    uint32_t rank;   /* of the model; timed: the first of the stage */
    uint32_t stage;
    uint32_t expert;           /* position in the expert group; timed: TRAINING_FULLEST */
    uint32_t wait[MOST_WAITS]; /* the next step waits for these */
    unsigned waits;
    uint32_t sent;                          /* the next pass waits for it, too; NONE */
    uint32_t begun[TRAINING_MOST_PREFETCH]; /* first computing of the layers before, the last one first; NONE */
    uint32_t gradients[TRAINING_GROUPS];    /* the last collective of gradients beside computing; NONE */
    uint32_t fetched[2][TRAINING_GROUPS];   /* the same of parameters; [1]: of the backward passes of pairs */
    uint32_t *arrived;                      /* [layers]: operation that gathers the parameters; NONE */
};

/* ---- generate_steps.c ---- */

/* `number` waits for what the next step waits for. */
void generator_follow(const struct generator_rank *r, uint32_t number);
/* The next step waits for `number` alone, which waits for all before; or also for `number`. NONE is allowed. */
void generator_step(struct generator_rank *r, uint32_t number);
void generator_await(struct generator_rank *r, uint32_t number);

/* Adds computing without dependencies; and the same as a step. */
uint32_t generator_add_computing(struct generator_rank *r, struct generator_layer *l, enum generator_text text,
                                 uint64_t ps);
void generator_compute(struct generator_rank *r, struct generator_layer *l, enum generator_text text, uint64_t ps);
/* Adds a collective or its time, without dependencies. Returns its number; NONE: it takes no time. */
uint32_t generator_collect(struct generator_rank *r, struct generator_layer *l, enum generator_text text,
                           const struct training_communication *c);
/* All communication of a layer at a moment, each a step; and what does not travel in parts. */
void generator_communicate(struct generator_rank *r, struct generator_layer *l, enum training_moment moment);
void generator_communicate_whole(struct generator_rank *r, struct generator_layer *l, enum training_moment moment);
/* The message between the stages of virtual stage `from` and the next, at one end of it. */
uint32_t generator_message(struct generator_rank *r, uint32_t from, bool backward, bool sends);
/* Of the first and the last stage, a step. */
void generator_exchange_tied(struct generator_rank *r);
void generator_update(struct generator_rank *r);

/* ---- generate_splits.c ---- */

/* Computing of a layer for `ps`, with what it sends at the moment `before` and the one behind it. */
void generator_pass(struct generator_rank *r, struct generator_layer *l, enum training_moment before,
                    enum generator_text text, uint64_t ps);

/* ---- generate_rank.c ---- */

/* Fills a rank with all iterations. */
void generator_fill(struct generator_rank *r);

#endif
