/* script.h - a schedule that a person wrote, as a tree of statements (yaml.c has its grammar).
 *
 * script_list_read() makes the tree and checks all that does not depend on a rank. script_unroll() carries the
 * statements out for each rank and fills a builder. Every part points to its item of the YAML tree, for errors with
 * line and column. */
#ifndef SCHEDULE_SCRIPT_H
#define SCHEDULE_SCRIPT_H

#include "base/options/option.h"
#include "base/yaml/tree.h"
#include "schedule/build.h"
#include "schedule/expression.h"

enum {
    SCRIPT_RANKS,      /* index of the name `ranks` */
    SCRIPT_RANK,       /* of `rank` */
    SCRIPT_PARAMETERS, /* of the first parameter; variables of loops are behind them */
    SCRIPT_MOST_NAMES = 256,
    SCRIPT_STREAMS = SCHEDULE_STREAMS - 1 /* the last one is of operations that join others */
};
#define SCRIPT_MOST_NUMBER (INT64_C(1) << 62) /* of a loop's variable and of iterations */

/* An expression in a file. item NULL: not given. */
struct script_value {
    const struct hx_yaml_item *item;
    size_t at; /* offset of the expression in the item's text */
    struct expression e;
};

/* A number, a condition, or all numbers from `first` to `last`. */
struct script_range {
    struct script_value first, last; /* last.item NULL: not a range */
};

/* Numbers in an order. item NULL: not given, which is all ranks. */
struct script_set {
    const struct hx_yaml_item *item;
    struct script_range *range;
    unsigned ranges;
    unsigned uses;
};

/* A group: a set of ranks, or with `strided` that of a rank by size and stride. */
struct script_group {
    const struct hx_yaml_item *item; /* NULL: all ranks */
    struct script_set members;
    struct script_value size, stride;
    bool strided;
    unsigned uses;
    uint32_t number; /* in the builder */
    uint32_t ranks;  /* its size */
    uint32_t known;  /* rank + 1 for which number and ranks are set; 1: for all ranks; 0: for none */
};

/* A name with expressions in braces: "forward {i}". */
struct script_label {
    const struct hx_yaml_item *item;
    struct script_label_part {
        const char *text; /* the text behind the expression */
        size_t length;
        struct script_value value; /* item NULL: none */
    } * part;
    unsigned parts;
};

struct script_labels {
    struct script_label *label;
    unsigned labels;
};

/* Weights of an all-to-all: a row for each member, or one for all; a row has one for each member, or one for all. */
struct script_shares {
    const struct hx_yaml_item *item; /* NULL: equal */
    uint32_t *weight;                /* of all rows */
    unsigned *first;                 /* [rows + 1]: first weight of a row */
    unsigned rows;
};

enum script_kind { SCRIPT_COMPUTE, SCRIPT_SEND, SCRIPT_RECEIVE, SCRIPT_COLLECTIVE, SCRIPT_BLOCK, SCRIPT_KINDS };

struct script_list {
    struct script_statement *statement;
    unsigned statements;
};

struct script_statement {
    const struct hx_yaml_item *item;
    enum script_kind kind;
    struct script_set ranks;
    struct script_label name;
    struct script_labels after, after_start;
    bool unordered;                     /* after or after_start is given: not in the order of its list */
    const struct hx_yaml_item *purpose; /* NULL: that of the block around it */
    struct script_value amount;         /* time, bytes, or iterations */
    struct script_value peer, tag, stream, root;
    bool any_peer, any_tag;
    enum hx_collective_kind collective;
    unsigned algorithm;
    struct script_shares shares;
    struct script_group *group; /* own_group, one with a name, or that of all ranks */
    struct script_group own_group;
    bool together;          /* of a block */
    unsigned variable;      /* of a loop: index of its name */
    struct script_set loop; /* values of the variable. item NULL: no loop */
    struct script_list body;
};

struct script {
    struct hx_yaml tree;
    struct hx_problem *problem;
    struct expression_name name[SCRIPT_MOST_NAMES];
    struct expression_scope scope;
    int64_t value[SCRIPT_MOST_NAMES]; /* of the rank at work */
    struct script_value *parameter;
    unsigned parameters, first_parameter; /* their number, and the index of the first one's name */
    uint32_t ranks;
    uint64_t samples, tokens;
    uint32_t iterations;
    uint32_t dimension[SCHEDULE_MOST_DIMENSIONS];
    unsigned dimensions;
    struct script_group all;
    struct script_group *group;
    unsigned groups;
    struct script_list program;
    bool no_rank_yet; /* no value of a rank or loop is known: errors name none */
};

/* ---- script_values.c ---- */

/* Sets *problem at offset `at` of an item's text. Returns false. */
__attribute__((format(printf, 4, 5))) bool script_fail(const struct script *s, const struct hx_yaml_item *item,
                                                       size_t at, const char *format, ...);

bool script_expect_value(const struct script *s, const struct hx_yaml_item *item);

/* Reads an item's whole text as an expression of this type. */
bool script_value_read(struct script *s, const struct hx_yaml_item *item, enum expression_type type,
                       struct script_value *v);
/* Of any type. */
bool script_value_read_any(struct script *s, const struct hx_yaml_item *item, struct script_value *v);
void script_value_free(struct script_value *v);
/* Returns false if the value is outside low .. high. */
bool script_evaluate(const struct script *s, const struct script_value *v, int64_t low, int64_t high, int64_t *result);

/* Reads a number, a range, or a list of them; with `conditions` also a condition, and "all". */
bool script_set_read(struct script *s, const struct hx_yaml_item *item, bool conditions, struct script_set *set);
void script_set_free(struct script_set *set);
/* Whether a rank is in a set of ranks; sets *is. Returns false on an error. */
bool script_set_has(const struct script *s, const struct script_set *set, uint32_t rank, bool *is);
/* The bounds of one range of a set, first <= last unless it is empty. Values are in low .. high. */
bool script_range_bounds(const struct script *s, const struct script_range *range, int64_t low, int64_t high,
                         int64_t *first, int64_t *last);

bool script_label_read(struct script *s, const struct hx_yaml_item *item, struct script_label *label);
bool script_labels_read(struct script *s, const struct hx_yaml_item *item, struct script_labels *labels);
void script_label_free(struct script_label *label);
void script_labels_free(struct script_labels *labels);
/* Writes the name at this rank. Returns false if it does not fit into `bytes`. */
bool script_label_print(const struct script *s, const struct script_label *label, char *text, size_t bytes);

/* ---- script_parameters.c ---- */

bool script_expect_mapping(const struct script *s, const struct hx_yaml_item *item, const char *what);
/* Reads names and their values behind the names in the scope, and puts those of --set in their place. word: what the
 * format calls one. mapping NULL: none. */
bool script_parameters_read(struct script *s, const struct hx_yaml_item *mapping, const char *word,
                            const struct hx_option_list *set);
void script_parameters_free(struct script *s);

/* ---- script_group.c ---- */

bool script_group_read(struct script *s, const struct hx_yaml_item *item, struct script_group *group);
void script_group_free(struct script_group *group);
/* Sets *number to that of a collective's group in a builder, and *size to its ranks. */
bool script_group_number(const struct script *s, const struct script_statement *st, struct schedule_builder *b,
                         uint32_t rank, uint32_t *number, uint32_t *size);

/* ---- script_shares.c ---- */

bool script_shares_read(const struct script *s, const struct hx_yaml_item *item, struct script_shares *shares);
void script_shares_free(struct script_shares *shares);
/* Sets the tag of an all-to-all of so many members with these shares. */
bool script_shares_add(const struct script *s, const struct script_shares *shares, struct schedule_builder *b,
                       uint32_t members, uint32_t *tag);

/* ---- script_head.c ---- */

extern const char *const script_words[]; /* keys of a file, ends with NULL */

/* Reads what the file says of the whole schedule: first the number of ranks (given: that of --ranks, or 0), then
 * samples, tokens, iterations and dimensions. */
bool script_head_read(struct script *s, const struct hx_yaml_item *top, uint32_t given);
void script_head_set(const struct script *s, struct schedule_builder *b);

/* ---- script_read.c, script_unroll.c ---- */

/* Reads a list of statements. */
bool script_list_read(struct script *s, const struct hx_yaml_item *item, struct script_list *list);
void script_list_free(struct script_list *list);

/* Refuses keys that are not in `words`, which ends with NULL. */
bool script_check_keys(const struct script *s, const struct hx_yaml_item *mapping, const char *const *words);
/* Returns the value of a key; NULL: not given. */
const struct hx_yaml_item *script_key(const struct hx_yaml_item *mapping, const char *word);
/* Returns the value of a key that must be there; NULL after an error. */
const struct hx_yaml_item *script_need(const struct script *s, const struct hx_yaml_item *item, const char *word);
/* Reads one of `words`, which ends with NULL. */
bool script_choice(const struct script *s, const struct hx_yaml_item *item, const char *const *words, unsigned *choice);

/* Sets the parameters that depend on nothing but `known` (EXPRESSION_OF_...). */
bool script_set_parameters(struct script *s, unsigned known);
/* Adds the operations of all ranks. most: statements that may be carried out, over all ranks. */
bool script_unroll(struct script *s, struct schedule_builder *b, uint64_t most);

#endif
