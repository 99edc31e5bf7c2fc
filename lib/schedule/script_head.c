/* script_head.c - what a script says of its whole schedule (script.h). */
#include "schedule/script.h"

#include <inttypes.h>

/* Their product fits JSON. */
#define MOST_WORK       (INT64_C(1) << 42) /* samples or tokens of an iteration */
#define MOST_ITERATIONS (INT64_C(1) << 20)

const char *const script_words[] = {"ranks",  "parameters", "groups",     "program", "samples",
                                    "tokens", "iterations", "dimensions", NULL};

/* known: what the number may depend on. */
static bool read_number(struct script *s, const struct hx_yaml_item *item, unsigned known, int64_t low, int64_t high,
                        int64_t *result)
{
    struct script_value v = {.item = NULL};
    bool good = script_value_read(s, item, EXPRESSION_NUMBER, &v);
    if (good && v.e.uses & ~known)
        good = script_fail(s, item, 0, "the number%s cannot depend on %s", known ? "" : " of ranks",
                           known ? "'rank'" : "'rank' or 'ranks'");
    good = good && script_set_parameters(s, known) && script_evaluate(s, &v, low, high, result);
    script_value_free(&v);
    return good;
}

static bool read_ranks(struct script *s, const struct hx_yaml_item *item, uint32_t given)
{
    int64_t ranks = 0;
    if (!given && !item)
        return script_fail(s, s->tree.items, 0, "key 'ranks' is missing (or give --ranks)");
    if (item && !read_number(s, item, 0, given ? INT64_MIN : 1, given ? INT64_MAX : SCHEDULE_MOST_RANKS, &ranks))
        return false;
    s->ranks = given ? given : (uint32_t)ranks;
    s->value[SCRIPT_RANKS] = s->ranks;
    return true;
}

static bool read_dimensions(struct script *s, const struct hx_yaml_item *list)
{
    uint64_t product = 1;
    if (list->shape != HX_YAML_LIST || list->entries < 1 || list->entries > SCHEDULE_MOST_DIMENSIONS)
        return script_fail(s, list, 0, "1 to %d sizes of a grid are expected here: [8, 4]", SCHEDULE_MOST_DIMENSIONS);
    for (const struct hx_yaml_item *item = hx_yaml_first(list); item; item = hx_yaml_next(list, item)) {
        int64_t size;
        if (!read_number(s, item, EXPRESSION_OF_RANKS, 1, s->ranks, &size))
            return false;
        s->dimension[s->dimensions++] = (uint32_t)size;
        product *= product <= SCHEDULE_MOST_RANKS ? (uint64_t)size : 1;
    }
    return product == s->ranks ||
           script_fail(s, list, 0, "the product of the dimensions is not the %" PRIu32 " ranks", s->ranks);
}

bool script_head_read(struct script *s, const struct hx_yaml_item *top, uint32_t given)
{
    const struct hx_yaml_item *samples = script_key(top, "samples");
    const struct hx_yaml_item *tokens = script_key(top, "tokens");
    const struct hx_yaml_item *iterations = script_key(top, "iterations");
    const struct hx_yaml_item *dimensions = script_key(top, "dimensions");
    const unsigned known = EXPRESSION_OF_RANKS;
    int64_t number[3] = {0, 0, 1};
    if (!read_ranks(s, script_key(top, "ranks"), given))
        return false;
    bool good = (!samples || read_number(s, samples, known, 1, MOST_WORK, &number[0])) &&
                (!tokens || read_number(s, tokens, known, 1, MOST_WORK, &number[1])) &&
                (!iterations || read_number(s, iterations, known, 1, MOST_ITERATIONS, &number[2])) &&
                (!dimensions || read_dimensions(s, dimensions));
    s->samples = (uint64_t)number[0];
    s->tokens = (uint64_t)number[1];
    s->iterations = (uint32_t)number[2];
    return good;
}

void script_head_set(const struct script *s, struct schedule_builder *b)
{
    schedule_set_work(b, s->samples, s->tokens, s->iterations);
    if (s->dimensions)
        schedule_set_dimensions(b, s->dimension, s->dimensions);
}
