/* model.h - a model and how it is trained: layers, what is sharded how, parallelism, pipeline, overlap.
 *
 * Data that flows. A file (model_read.c has its grammar, docs/training.md its guide) becomes a struct training_model.
 * From the model alone follow, as functions of their own:
 *
 *     ranks.h           coordinates of a rank, and the group of each kind of parallelism
 *     stages.h          the layers of each pipeline stage
 *     pipeline.h        the order of passes of a stage: GPipe, 1F1B, interleaved
 *     communication.h   bytes, collective and moment of every communication: the closed forms stand there alone
 *     loads.h           unequal loads of experts
 *     memory.h          memory of an accelerator
 *     generate.h        the schedule (schedule/schedule.h) of one or more iterations
 *
 * A model is read-only after reading. */
#ifndef TRAINING_MODEL_H
#define TRAINING_MODEL_H

#include "schedule/formats.h"

/* Kinds of parallelism, the order of struct training_ranks. The names are the purposes of operations and the words of
 * the file. Expert-parallel ranks are among the context- and data-parallel ones. */
enum training_axis { TRAINING_TENSOR, TRAINING_CONTEXT, TRAINING_DATA, TRAINING_PIPELINE, TRAINING_AXES };
extern const char *const training_axis_names[TRAINING_AXES + 1]; /* ends with NULL */

enum training_pipeline { TRAINING_GPIPE, TRAINING_1F1B, TRAINING_INTERLEAVED };
extern const char *const training_pipeline_names[]; /* ends with NULL */

/* How the ranks of a tensor group share a layer. */
enum training_shard {
    TRAINING_WHOLE,   /* each has the whole layer and computes the same: no communication */
    TRAINING_COLUMNS, /* first columns, then rows (Shoeybi et al. 2019): all-reduce of what leaves the layer forward,
                          of its gradient backward; with `sequence` all-gather before and reduce-scatter after */
    TRAINING_OUTPUT,  /* parts of the output: all-gather forward, reduce-scatter backward */
    TRAINING_SPACE,   /* parts of the sample: `halo` elements to and from each neighbour (rank xor 1, xor 2, ... in the
                          group), forward and backward */
    TRAINING_EXPERTS, /* experts on the ranks of an expert group; each expert as TRAINING_COLUMNS: all-to-all before and
                          after, forward and backward */
    TRAINING_TABLES,  /* parts on all ranks with the same tensor position and stage: all-to-all after forward and
                          before backward, no sum of gradients */
    TRAINING_SHARDS
};
extern const char *const training_shard_names[TRAINING_SHARDS + 1]; /* ends with NULL */

/* What a backward pass computes again. */
enum training_recompute {
    TRAINING_RECOMPUTE_NONE,
    TRAINING_RECOMPUTE_SELECTIVE, /* the products that say so (Korthikanti et al. 2022) */
    TRAINING_RECOMPUTE_FULL       /* the whole forward pass, with what it sends */
};
extern const char *const training_recompute_names[]; /* the words of the file; ends with NULL */

/* Dimension of a product that tensor parallelism divides; or the number of products. */
enum training_divided { TRAINING_ROWS, TRAINING_COLUMNS_OF, TRAINING_INNER, TRAINING_TIMES, TRAINING_UNDIVIDED };
extern const char *const training_divided_names[]; /* ends with NULL */

/* Products of matrices of m x k and k x n elements in the forward pass of a layer; m is that of a sample. The backward
 * pass has two for each: m x n by n x k, and k x m by m x n. */
struct training_product {
    uint64_t m, n, k, times;
    enum training_divided divided;
    bool recomputed;   /* again before the backward pass, with selective recomputation */
    double efficiency; /* 0: by the kernels' formula */
};

/* Efficiency of a product, of the rate of operations: efficiency x k / (k + inner) x m n / (m n + outer). Short sums do
 * not fill the pipelines of a multiplier; small results do not fill all multipliers. */
struct training_kernels {
    double efficiency; /* of large products, 0 .. 1; 0: not given */
    double inner;      /* elements k of half the efficiency */
    double outer;      /* elements m n of half the efficiency: those of all multipliers at once */
};

/* A layer, or several equal ones in a row. Counts are elements. Those of a sample, not of a micro-batch; those of the
 * whole layer, not of a shard. */
struct training_layer {
    char *name;           /* of one of several with this name: with its number among them, from 1: "attention 3" */
    uint64_t parameters;  /* of all experts */
    uint64_t tied;        /* of `parameters`, those of the model's first layer: the last layer may have them */
    uint64_t activations; /* that leave the layer, of a sample */
    uint64_t halo;        /* to each neighbour, of a sample: TRAINING_SPACE */
    uint64_t routed;      /* that are sent to experts, of a sample, all choices (top k) counted: TRAINING_EXPERTS */
    uint64_t context;     /* keys and values that context-parallel ranks gather, of a sample; 0: none */
    uint64_t inputs;      /* that a rank needs of other ranks' samples, of a sample, if the layer is not on all ranks
                              (tools/circuits/strategy.h); of tables: indices */
    bool beside;          /* needs nothing of the layer before: both may run at one time (tools/circuits/strategy.h) */
    uint64_t saved;       /* bytes for the backward pass, of a sample: divided among tensor ranks */
    uint64_t saved_whole; /* the same, not divided among them without `sequence` */
    uint64_t recomputed;  /* further bytes like `saved`, not kept with selective recomputation */
    uint64_t moved;       /* bytes that memory-bound kernels read and write forward, of a sample */
    uint64_t backward_moved;          /* the same backward; 3/2 of `moved` unless given, as a gradient is read too */
    uint64_t moved_whole;             /* the same forward, not divided without `sequence`; backward 3/2 of it */
    uint64_t recomputed_moved;        /* of `moved`, those of what selective recomputation makes again */
    uint32_t product, products;       /* first and number in training_model.product */
    uint32_t load, loads;             /* first and number in training_model.load: of each expert; 0: equal loads */
    double flops;                     /* forward, of a sample; of experts: of those that it is routed to */
    double backward_flops;            /* of a sample; 2 x flops unless given */
    uint64_t forward_ps, backward_ps; /* of a micro-batch at a rank that holds its shard; 0: by FLOPs */
    enum training_shard shard;
    bool keeps_all;    /* full recomputation leaves it out, as the head: its backward pass follows at once */
    bool begins_block; /* first layer of the body of a repeat, or outside all repeats */
    uint32_t line;     /* in the file, for errors */
};

struct training_model {
    char *name;
    const char *path;
    struct training_layer *layer; /* in order of the forward pass; repeated blocks are written out */
    uint32_t layers;
    struct training_product *product; /* of all layers; equal layers share theirs */
    uint32_t products;
    uint32_t *load; /* of experts of all layers: tokens, in any unit; equal layers share theirs */
    uint32_t load_count;

    uint64_t samples;       /* of an iteration, of all replicas */
    uint64_t sample_tokens; /* of a sample; 0: samples have no tokens */
    uint32_t iterations;    /* 1 and up */

    uint32_t parallel[TRAINING_AXES]; /* 1 and up; their product is the number of ranks */
    uint32_t expert; /* ranks that share the experts of a layer, 1 and up: a divisor of context x data */
    enum training_axis order[TRAINING_AXES]; /* the axis of neighbouring ranks first */

    enum training_pipeline pipeline;
    uint32_t micro_batches; /* of a replica in an iteration: samples / (data x micro_batches) each, a whole number */
    uint32_t chunks;        /* of layers at a rank: interleaved; else 1 */
    bool pairs;             /* a forward pass runs beside the backward pass of another micro-batch; not of gpipe */
    uint32_t *stage_of;     /* [layers]: given virtual stages of layers (stages.h); NULL: balanced */

    unsigned zero; /* stage of ZeRO (Rajbhandari et al. 2020), 0 .. 3 */
    bool sequence; /* sequence parallelism beside tensor parallelism (Korthikanti et al. 2022) */
    enum training_recompute recompute;
    uint32_t prefetch;       /* layers by which parameters are fetched ahead: ZeRO 3 with `overlap`; 1 unless given */
    uint32_t tensor_splits;  /* parts of a pass of a layer, so that its tensor communication hides; 1 unless given */
    bool overlap;            /* gradients and parameters of data parallelism travel beside computing */
    bool fuse_tables;        /* all-to-alls of successive tables are one */
    uint64_t gradient_bytes; /* that a group of gradients has at least before it is sent; 0: each layer its own */

    unsigned activation_bytes, gradient_element_bytes, parameter_bytes; /* of an element; 2, 2, 2 unless given */
    unsigned optimizer_bytes; /* of a parameter; 12 unless given: Adam's, with a copy in 32 bits */
    uint64_t memory;          /* of an accelerator, bytes; 0: not given */
    uint64_t reserved;        /* of this, for programs and libraries */
    double memory_bandwidth;  /* of an accelerator, bytes a second; 0: memory-bound kernels take no time */
    struct training_kernels kernels;
    double flops;       /* of an accelerator, a second */
    double efficiency;  /* 0 .. 1, of these */
    uint64_t update_ps; /* of the optimizer, an iteration */

    unsigned algorithm[TRAINING_AXES + 1]; /* of collectives of an axis, the last of experts: enum hx_algorithm */
};

enum { TRAINING_MOST_PREFETCH = 16, TRAINING_MOST_SPLITS = 64 };
enum { TRAINING_MOST_EXPERTS = 2048, TRAINING_MOST_LOAD = 1 << 20 }; /* experts with given loads, and their loads */
enum { TRAINING_MOST_LAYERS = 1 << 16, TRAINING_MOST_PASSES = 1 << 22 /* layers x micro-batches */ };
#define TRAINING_MOST_BYTES (UINT64_C(1) << 41) /* of a vector, and of a group of gradients before its last layer */

/* Reads a file. Takes --ranks, --set and --flops of `options`. Returns NULL and sets *problem: file, line, column, how
 * to mend. Products and quotients of a model are in the ranges of schedule.h. path: not copied. */
struct training_model *training_model_read(const char *path, const struct schedule_read_options *options,
                                           struct hx_problem *problem);
/* The same for text in memory. */
struct training_model *training_model_parse(const char *path, const char *text, size_t bytes,
                                            const struct schedule_read_options *options, struct hx_problem *problem);
/* NULL is allowed. */
void training_model_free(struct training_model *m);

uint32_t training_ranks(const struct training_model *m);
uint64_t training_micro_samples(const struct training_model *m); /* of a micro-batch */

/* Tensor ranks that share a layer: 1 if each has all of it, as tables, or experts elsewhere. And those that share what
 * sequence parallelism alone divides. */
uint32_t training_tensor_ranks(const struct training_model *m, const struct training_layer *l);
uint32_t training_sequence_ranks(const struct training_model *m);

/* Parts of a pass of this layer: 1 unless its tensor ranks send collectives. */
uint32_t training_splits(const struct training_model *m, const struct training_layer *l);

/* Efficiency of a product of these sizes at a rank; kernels are given. */
double training_product_efficiency(const struct training_kernels *k, double rows, double columns, double inner);

/* Computing of a pass of a layer at one rank, ps; of experts at the rank with the greatest load (loads.h). */
uint64_t training_forward_ps(const struct training_model *m, const struct training_layer *l);
uint64_t training_backward_ps(const struct training_model *m, const struct training_layer *l); /* with recomputing */

/* Whether the forward pass of a layer is computed again before its backward pass, with what it sends. */
bool training_repeats_forward(const struct training_model *m, const struct training_layer *l);

/* Operations of an iteration, of all ranks: of the model alone, or with what is recomputed. 0: not known, as a layer
 * has times in their place. */
double training_flops(const struct training_model *m, bool recomputed);

/* Elements of a layer's parameters at one rank, before ZeRO, rounded up. And those of them that are not the first
 * layer's at the same rank: tied ones are there once if the first and the last stage are one. */
uint64_t training_own_parameters(const struct training_model *m, const struct training_layer *l);
uint64_t training_untied_parameters(const struct training_model *m, const struct training_layer *l);

/* Elements that a rank of the first stage shares with one of the last; 0 if they are one. */
uint64_t training_tied_parameters(const struct training_model *m);

#endif
