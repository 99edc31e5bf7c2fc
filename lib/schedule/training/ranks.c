/* ranks.c - coordinates and groups of ranks (ranks.h). */
#include "schedule/training/ranks.h"

const char *const training_group_purpose[TRAINING_GROUPS] = {
    [TRAINING_GROUP_TENSOR] = "tensor", [TRAINING_GROUP_CONTEXT] = "context",  [TRAINING_GROUP_REPLICAS] = "data",
    [TRAINING_GROUP_EXPERT] = "expert", [TRAINING_GROUP_EXPERT_DATA] = "data", [TRAINING_GROUP_TABLES] = "tensor",
    [TRAINING_GROUP_STAGE] = "data"};

struct training_place training_place_of(const struct training_model *m, uint32_t rank)
{
    struct training_place place;
    for (unsigned i = 0; i < TRAINING_AXES; i++) {
        enum training_axis axis = m->order[i];
        place.at[axis] = rank % m->parallel[axis];
        rank /= m->parallel[axis];
    }
    return place;
}

uint32_t training_rank_at(const struct training_model *m, struct training_place place)
{
    uint32_t rank = 0;
    for (unsigned i = TRAINING_AXES; i-- > 0;)
        rank = rank * m->parallel[m->order[i]] + place.at[m->order[i]];
    return rank;
}

/* ---- replicas ---- */

static uint32_t replicas(const struct training_model *m)
{
    return m->parallel[TRAINING_CONTEXT] * m->parallel[TRAINING_DATA];
}

static uint32_t replica_of(const struct training_model *m, const struct training_place *place)
{
    return place->at[TRAINING_CONTEXT] + m->parallel[TRAINING_CONTEXT] * place->at[TRAINING_DATA];
}

static void set_replica(const struct training_model *m, struct training_place *place, uint32_t replica)
{
    place->at[TRAINING_CONTEXT] = replica % m->parallel[TRAINING_CONTEXT];
    place->at[TRAINING_DATA] = replica / m->parallel[TRAINING_CONTEXT];
}

/* ---- groups ---- */

uint32_t training_group_size(const struct training_model *m, enum training_group group)
{
    switch (group) {
    case TRAINING_GROUP_TENSOR:
        return m->parallel[TRAINING_TENSOR];
    case TRAINING_GROUP_CONTEXT:
        return m->parallel[TRAINING_CONTEXT];
    case TRAINING_GROUP_EXPERT:
        return m->expert;
    case TRAINING_GROUP_EXPERT_DATA:
        return replicas(m) / m->expert;
    case TRAINING_GROUP_STAGE:
        return m->parallel[TRAINING_TENSOR] * replicas(m);
    default:
        return replicas(m);
    }
}

uint32_t training_group_position(const struct training_model *m, enum training_group group, uint32_t rank)
{
    const struct training_place place = training_place_of(m, rank);
    uint32_t replica = replica_of(m, &place);
    switch (group) {
    case TRAINING_GROUP_TENSOR:
        return place.at[TRAINING_TENSOR];
    case TRAINING_GROUP_CONTEXT:
        return place.at[TRAINING_CONTEXT];
    case TRAINING_GROUP_EXPERT:
        return replica % m->expert;
    case TRAINING_GROUP_EXPERT_DATA:
        return replica / m->expert;
    case TRAINING_GROUP_STAGE:
        return place.at[TRAINING_TENSOR] + m->parallel[TRAINING_TENSOR] * replica;
    default:
        return replica;
    }
}

uint32_t training_group_member(const struct training_model *m, enum training_group group, uint32_t rank,
                               uint32_t position)
{
    struct training_place place = training_place_of(m, rank);
    uint32_t replica = replica_of(m, &place);
    switch (group) {
    case TRAINING_GROUP_TENSOR:
        place.at[TRAINING_TENSOR] = position;
        break;
    case TRAINING_GROUP_CONTEXT:
        place.at[TRAINING_CONTEXT] = position;
        break;
    case TRAINING_GROUP_EXPERT:
        set_replica(m, &place, replica - replica % m->expert + position);
        break;
    case TRAINING_GROUP_EXPERT_DATA:
        set_replica(m, &place, replica % m->expert + m->expert * position);
        break;
    case TRAINING_GROUP_STAGE:
        place.at[TRAINING_TENSOR] = position % m->parallel[TRAINING_TENSOR];
        set_replica(m, &place, position / m->parallel[TRAINING_TENSOR]);
        break;
    default:
        set_replica(m, &place, position);
    }
    return training_rank_at(m, place);
}

uint32_t training_group_members(const struct training_model *m, enum training_group group, uint32_t rank,
                                uint32_t *members)
{
    uint32_t position = training_group_position(m, group, rank);
    uint32_t size = training_group_size(m, group);
    for (uint32_t i = 0; i < size; i++)
        members[i] = training_group_member(m, group, rank, i);
    return position;
}
