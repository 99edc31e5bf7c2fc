/* chakra.h - a Chakra trace while it is read; shared by chakra.c and chakra_*.c.
 *
 * Ranks are read one after the other. Bytes of a file become nodes (chakra_decode.c, chakra_json.c), a node
 * becomes an item (chakra_node.c), and the items become operations of the builder (chakra_order.c). */
#ifndef SCHEDULE_CHAKRA_H
#define SCHEDULE_CHAKRA_H

#include "schedule/formats.h"

#include <jansson.h>

/* A text without a final zero. */
struct chakra_text {
    const char *at;
    size_t length;
};

enum chakra_type {
    CHAKRA_INVALID,
    CHAKRA_METADATA,
    CHAKRA_MEMORY_LOAD,
    CHAKRA_MEMORY_STORE,
    CHAKRA_COMPUTE,
    CHAKRA_SEND,
    CHAKRA_RECEIVE,
    CHAKRA_COLLECTIVE,
    CHAKRA_TYPES
};

/* Numbers of a node that may be missing: bits of chakra_node.has. */
enum chakra_number {
    CHAKRA_OPERATIONS, /* num_ops */
    CHAKRA_TENSOR,     /* tensor_size, bytes */
    CHAKRA_KIND,       /* comm_type */
    CHAKRA_SIZE,       /* comm_size, bytes */
    CHAKRA_SOURCE,     /* comm_src */
    CHAKRA_TARGET,     /* comm_dst */
    CHAKRA_TAG,        /* comm_tag */
    CHAKRA_NUMBERS
};
extern const char *const chakra_number_names[CHAKRA_NUMBERS];

/* A node as the file has it. Texts live until the next node is read. */
struct chakra_node {
    uint64_t place; /* byte of the unpacked file; of JSON: index in the graph */
    uint64_t id;
    uint64_t micros; /* duration, us */
    int64_t type;
    int64_t number[CHAKRA_NUMBERS];
    unsigned has;
    bool is_cpu;
    bool is_partial; /* involved_dim leaves dimensions out */
    struct chakra_text name, group, values;
};

/* A node that became one operation, or none. */
struct chakra_item {
    uint64_t place, id;
    uint64_t first;         /* its first dependency in chakra_rank.dependency; those on data stand first */
    uint32_t data, control; /* dependencies */
    uint32_t name, group;   /* offsets in chakra_rank.text */
    uint32_t number;        /* of the operation, CHAKRA_NONE if it became none */
    uint32_t peer, tag;     /* as in struct schedule_operation; a collective's tag is the root's rank, or CHAKRA_NONE */
    uint64_t amount;
    uint8_t kind, stream, collective;
};

enum { CHAKRA_NONE = UINT32_MAX };

/* A process group. index: in the builder; CHAKRA_NONE until a collective uses it. problem: a defect of its ranks, or
 * "". */
struct chakra_group {
    uint32_t index, count;
    uint32_t *member;
    char problem[96];
    char name[];
};

/* Sorted by name. */
struct chakra_groups {
    struct chakra_group **at;
    size_t count, room;
};

/* Nodes that hxmesh cannot execute, over all ranks. */
struct chakra_counts {
    uint64_t memory, invalid, without_size;             /* nodes left out */
    uint64_t lost, circular, partial, without_duration; /* see chakra_describe() */
};

struct chakra_trace {
    struct schedule_builder *builder;
    const struct schedule_read_options *options;
    struct hx_problem *problem;
    uint32_t ranks;
    struct chakra_groups groups; /* of --groups, and "" and "0" with all ranks */
    uint32_t *seen;              /* [ranks]: stamp of the group that has the rank */
    uint32_t stamp;
    struct chakra_counts counts;
};

/* The rank that is read. */
struct chakra_rank {
    struct chakra_trace *trace;
    uint32_t rank;
    const char *path;
    const char *place; /* what chakra_item.place counts, "byte" */
    struct chakra_item *item;
    uint64_t *dependency; /* ids of nodes; chakra_order.c replaces them by indices of items */
    uint64_t *control;    /* those of the current node */
    char *text;           /* names, each with its zero; the first is empty */
    size_t items, items_room, dependencies, dependencies_room, controls, controls_room, texts, text_room;
    struct chakra_groups groups; /* that its metadata nodes name */
};

/* ---- chakra_node.c ---- */

void chakra_rank_begin(struct chakra_rank *r, struct chakra_trace *trace, uint32_t rank, const char *path);
void chakra_rank_end(struct chakra_rank *r);
/* Adds a dependency of the node that the next chakra_take() takes. */
void chakra_depend(struct chakra_rank *r, uint64_t id, bool is_control);
/* Adds a node. Returns false and sets the problem if its numbers are wrong. */
bool chakra_take(struct chakra_rank *r, const struct chakra_node *node);
/* Reports a problem of a node: "byte 12: node 7 ('name'): ...". Returns false. */
__attribute__((format(printf, 3, 4))) bool chakra_fail(const struct chakra_rank *r, const struct chakra_item *item,
                                                       const char *format, ...);
/* Writes the counts into *notes as text. */
void chakra_describe(const struct chakra_counts *counts, struct schedule_notes *notes);

/* ---- chakra_order.c ---- */

/* Adds the items of a rank to the builder as operations. Returns false and sets the problem if their dependencies or
 * groups are wrong. */
bool chakra_order(struct chakra_rank *r);

/* ---- chakra_circles.c ---- */

/* Returns for each item the number of its strongly connected component; for free(). */
uint32_t *chakra_components(const struct chakra_rank *r);

/* ---- chakra_groups.c ---- */

/* Adds the group of all ranks and those of the file --groups. Returns false and sets the problem. */
bool chakra_groups_begin(struct chakra_trace *t);
void chakra_groups_free(struct chakra_groups *groups);
/* Adds the groups that a metadata node of PyTorch names in the text of its inputs; other texts are ignored. */
void chakra_groups_learn(struct chakra_rank *r, struct chakra_text values);
/* Finds the group of a collective. Returns NULL and sets the problem if there is none or its ranks are wrong. */
const struct chakra_group *chakra_group_of(const struct chakra_rank *r, const struct chakra_item *item);

/* ---- chakra_decode.c ---- */

struct chakra_stream;
/* Reads GlobalMetadata, of which only the form counts, and all nodes. Returns false and sets the problem. */
bool chakra_decode(struct chakra_rank *r, struct chakra_stream *s);

/* ---- chakra_json.c ---- */

/* Whether a file that begins so is the JSON form of a trace. */
bool chakra_json_is(const uint8_t *begin, size_t bytes);
/* Reads a rank's file by `read`, as json_load_callback() does. */
bool chakra_json_read(struct chakra_rank *r, json_load_callback_t read, void *of);

#endif
