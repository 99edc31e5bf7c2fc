/* ranks.h - coordinates of the ranks of a model, and their groups.
 *
 * A rank is a number of mixed radix: the digit of order[0] counts fastest. Context- and data-parallel positions
 * together number the replicas of a dense layer, context first; successive `expert` of them share experts. */
#ifndef TRAINING_RANKS_H
#define TRAINING_RANKS_H

#include "schedule/training/model.h"

struct training_place {
    uint32_t at[TRAINING_AXES];
};

struct training_place training_place_of(const struct training_model *m, uint32_t rank);
uint32_t training_rank_at(const struct training_model *m, struct training_place place);

enum training_group {
    TRAINING_GROUP_TENSOR,      /* share a layer */
    TRAINING_GROUP_CONTEXT,     /* share a sample */
    TRAINING_GROUP_REPLICAS,    /* sum the gradients of dense layers: context x data */
    TRAINING_GROUP_EXPERT,      /* share experts: within the replicas */
    TRAINING_GROUP_EXPERT_DATA, /* sum the gradients of experts: same experts, other data */
    TRAINING_GROUP_TABLES,      /* share tables: the replicas */
    TRAINING_GROUP_STAGE,       /* sum the gradients of TRAINING_SPACE: all of a stage, the tensor position fastest */
    TRAINING_GROUPS
};
/* "tensor", "context", "data", "expert", "data", "tensor", "data": "data" where a group sums gradients and gathers
 * parameters, the others belong to the model. */
extern const char *const training_group_purpose[TRAINING_GROUPS];

uint32_t training_group_size(const struct training_model *m, enum training_group group);
/* Position of a rank in its group, and the rank at a position of it: 0 .. training_group_size() - 1. */
uint32_t training_group_position(const struct training_model *m, enum training_group group, uint32_t rank);
uint32_t training_group_member(const struct training_model *m, enum training_group group, uint32_t rank,
                               uint32_t position);
/* Position of a rank in its group, and all members in order. members: room for training_group_size(). */
uint32_t training_group_members(const struct training_model *m, enum training_group group, uint32_t rank,
                                uint32_t *members);

#endif
