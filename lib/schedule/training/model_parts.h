/* model_parts.h - the reader of model files in parts: values and keys (model_values.c), layers (model_layers.c), the
 * whole file (model_read.c). */
#ifndef TRAINING_MODEL_PARTS_H
#define TRAINING_MODEL_PARTS_H

#include "schedule/script.h"
#include "schedule/training/model.h"

struct model_reader {
    struct script script; /* names, values and the tree */
    struct training_model *model;
    size_t layers_room;
    size_t products_room;
    size_t loads_room;
    uint32_t *base; /* [layers]: the first layer with the same name in the file */
    size_t base_room;
};

/* ---- model_values.c ---- */

/* Reads an item as an expression of this type, low .. high. */
bool model_evaluate(struct script *s, const struct hx_yaml_item *item, enum expression_type type, int64_t low,
                    int64_t high, uint64_t *value);

/* Each of these reads the value of a key, and leaves *value if it is not given. */

bool model_number(struct script *s, const struct hx_yaml_item *mapping, const char *word, int64_t low, int64_t high,
                  uint64_t *value);
/* At most UINT32_MAX. */
bool model_number32(struct script *s, const struct hx_yaml_item *mapping, const char *word, int64_t low, int64_t high,
                    uint32_t *value);
bool model_time(struct script *s, const struct hx_yaml_item *mapping, const char *word, uint64_t *ps);
/* true or false; or an expression of 1 or 0. */
bool model_switch(struct script *s, const struct hx_yaml_item *mapping, const char *word, bool *value);
bool model_choice(struct script *s, const struct hx_yaml_item *mapping, const char *word, const char *const *words,
                  unsigned *value);
/* Above 0, at most 1. */
bool model_share(struct script *s, const struct hx_yaml_item *mapping, const char *word, double *value);
/* Operations a second: 312 TFLOPS, 312e12. */
bool model_rate(struct script *s, const struct hx_yaml_item *mapping, const char *word, double *value);
/* Bytes a second: 2039 GB/s, 2.039e12. */
bool model_bandwidth(struct script *s, const struct hx_yaml_item *mapping, const char *word, double *value);
/* true, selective or false. */
bool model_recompute(struct script *s, const struct hx_yaml_item *mapping, const char *word,
                     enum training_recompute *value);
/* A copy of a text. */
bool model_text(struct script *s, const struct hx_yaml_item *mapping, const char *word, char **text);
/* Finds a mapping with keys of `words`; *item NULL: not given. */
bool model_mapping(struct script *s, const struct hx_yaml_item *top, const char *word, const char *const *words,
                   const struct hx_yaml_item **item);

/* ---- model_layers.c ---- */

/* Reads the list of layers into the model, which has all else, and numbers equal names. */
bool model_layers_read(struct model_reader *r, const struct hx_yaml_item *list);

#endif
