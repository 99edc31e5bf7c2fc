/* layers.h - a file of layers while it is read; shared by layers.c and layers_loop.c. */
#ifndef SCHEDULE_LAYERS_H
#define SCHEDULE_LAYERS_H

#include "schedule/formats.h"

enum layers_policy {
    LAYERS_MICRO,
    LAYERS_DATA,
    LAYERS_MODEL,
    LAYERS_DATA_MODEL,
    LAYERS_MODEL_DATA,
    LAYERS_DLRM,
    LAYERS_DLRM_ENHANCED,
    LAYERS_TRANSFORMER,
    LAYERS_RECOMPUTING, /* HYBRID_TRANSFORMER_FWD_IN_BCKWD */
    LAYERS_CUSTOMIZED,
    LAYERS_INFERENCE,
    LAYERS_POLICIES
};

enum layers_phase { LAYERS_FORWARD, LAYERS_INPUT, LAYERS_WEIGHT, LAYERS_PHASES };

/* The suffix of a collective's name. */
enum layers_suffix { LAYERS_PLAIN, LAYERS_EP, LAYERS_DP_EP };

struct layers_part {
    uint64_t ps;    /* of computing */
    uint64_t bytes; /* of the collective, as the file has them */
    bool has_collective;
    enum hx_collective_kind kind;
    enum layers_suffix suffix;
};

struct layers_layer {
    char *name;
    struct layers_part part[LAYERS_PHASES];
    uint64_t update;           /* ps, behind each collective */
    enum layers_policy policy; /* of this layer, with LAYERS_CUSTOMIZED; else that of the file */
    bool is_checkpoint;
    bool recomputes; /* before its backward pass, from the last checkpoint */
};

struct layers {
    enum layers_policy policy;
    uint32_t ranks;
    uint32_t tensor, expert, pipeline; /* degrees of parallelism; tensor 0: not given */
    uint32_t last_bottom;              /* layer, of LAYERS_DLRM */
    bool is_simai;                     /* bytes of an all-gather are those of the whole vector */
    struct layers_layer *layer;
    uint32_t count;
};

/* Whether a policy splits layers over `tensor` ranks. */
static inline bool layers_is_hybrid(enum layers_policy policy)
{
    return policy == LAYERS_DATA_MODEL || policy == LAYERS_MODEL_DATA || policy == LAYERS_TRANSFORMER ||
           policy == LAYERS_RECOMPUTING;
}

/* Adds one iteration of a rank to the builder. Returns the number of its collectives that the policy leaves out. */
uint64_t layers_run(const struct layers *l, struct schedule_builder *b, uint32_t rank);

/* Number of ranks in the group of a layer's collective; 0: there is none, or the policy leaves it out. */
uint32_t layers_group_size(const struct layers *l, const struct layers_layer *layer, enum layers_phase phase);

/* Bytes of the vector of a collective of `members` ranks. */
static inline uint64_t layers_bytes(const struct layers *l, const struct layers_part *part, uint32_t members)
{
    return part->kind == HX_ALL_GATHER && !l->is_simai ? part->bytes * members : part->bytes;
}

#endif
