/* format.c - models as a format of schedules (schedule/formats.h); model_read.c has its grammar. */
#include "schedule/readers.h"
#include "schedule/training/generate.h"
#include "schedule/yaml.h"

static bool is_model(const uint8_t *begin, size_t bytes)
{
    return schedule_begins_with_key(begin, bytes, "model");
}

static struct schedule_builder *read_model(const char *path, const struct schedule_read_options *options,
                                           struct schedule_notes *notes, struct hx_problem *problem)
{
    (void)notes;
    struct training_model *m = training_model_read(path, options, problem);
    struct schedule_builder *b = m ? training_generate(m, NULL, problem) : NULL;
    training_model_free(m);
    return b;
}

const struct schedule_format schedule_model = {
    .name = "model", .what = "hxmesh's models and how they are trained", .is = is_model, .read = read_model};
