/* train_memory.c - memory of an accelerator in the report (train_memory.h). */
#include "tools/train/train_memory.h"
#include "base/text.h"
#include "tools/draw/text_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The parts of a stage's memory, in the order of reports. */
enum { PARTS = 6, SIZE_TEXT = 32 };
static const char *const part_names[PARTS] = {"weights",     "gradients", "optimizer states",
                                              "activations", "buffers",   "reserved"};
static const char *const part_keys[PARTS] = {"weights",     "gradients", "optimizer_states",
                                             "activations", "buffers",   "reserved"};

static uint64_t part_of(const struct training_memory *s, unsigned part)
{
    const uint64_t parts[PARTS] = {s->weights, s->gradients, s->optimizer, s->activations, s->buffers, s->reserved};
    return parts[part];
}

/* "71.3 GB": decimal, as the sizes of accelerators are sold. */
static const char *size_text(char text[SIZE_TEXT], uint64_t bytes)
{
    static const char *const units[] = {"kB", "MB", "GB"};
    double size = (double)bytes / 1e3;
    unsigned unit = 0;
    for (; size >= 1e3 && unit < 2; unit++)
        size /= 1e3;
    (void)snprintf(text, SIZE_TEXT, "%.1f %s", size, units[unit]);
    return text;
}

static uint32_t stages_of(const struct train_memory *t)
{
    return t->model->parallel[TRAINING_PIPELINE];
}

bool train_memory_find(struct train_memory *t, const struct training_model *m, struct hx_problem *problem)
{
    *t = (struct train_memory){.model = m};
    if (!m)
        return true;
    t->stage = hx_allocate(stages_of(t), sizeof *t->stage);
    if (!training_memory_find(m, t->stage, problem))
        return false;
    t->most = training_memory_most(m, t->stage);
    t->unsaid = training_layers_without_saved(m);
    return true;
}

void train_memory_free(struct train_memory *t)
{
    free(t->stage);
    t->stage = NULL;
}

bool train_memory_fits(const struct train_memory *t)
{
    return !t->model || t->model->memory == 0 || t->stage[t->most].total <= t->model->memory;
}

/* Part of a stage with the most bytes. */
static unsigned dominant(const struct training_memory *s)
{
    unsigned most = 0;
    for (unsigned part = 1; part < PARTS; part++)
        most = part_of(s, part) > part_of(s, most) ? part : most;
    return most;
}

void train_memory_excess(const struct train_memory *t, char *text, size_t bytes)
{
    const struct training_memory *s = &t->stage[t->most];
    char size[3][SIZE_TEXT];
    (void)snprintf(text, bytes, "stage %" PRIu32 " needs %s of %s, most of it %s (%s)", t->most,
                   size_text(size[0], s->total), size_text(size[1], t->model->memory), part_names[dominant(s)],
                   size_text(size[2], part_of(s, dominant(s))));
}

/* ---- text ---- */

static bool is_equal(const struct training_memory *a, const struct training_memory *b)
{
    bool equal = a->passes == b->passes;
    for (unsigned part = 0; part < PARTS; part++)
        equal = equal && part_of(a, part) == part_of(b, part);
    return equal;
}

/* The last stage, from `first` on, with the same memory. */
static uint32_t last_alike(const struct train_memory *t, uint32_t first)
{
    uint32_t last = first;
    while (last + 1 < stages_of(t) && is_equal(&t->stage[last + 1], &t->stage[first]))
        last++;
    return last;
}

static void print_stages(const struct train_memory *t)
{
    struct text_table *table = text_table_new(1);
    text_table_row(table, "stage", "passes", "weights", "gradients", "optimizer", "activations", "buffers", "GB");
    for (uint32_t first = 0; first < stages_of(t);) {
        const struct training_memory *s = &t->stage[first];
        const uint32_t last = last_alike(t, first);
        char text[8][SIZE_TEXT];
        if (last > first)
            (void)snprintf(text[0], sizeof text[0], "%" PRIu32 "-%" PRIu32, first, last);
        else
            (void)snprintf(text[0], sizeof text[0], "%" PRIu32, first);
        (void)snprintf(text[1], sizeof text[1], "%" PRIu32, s->passes);
        for (unsigned part = 0; part < 5; part++)
            (void)snprintf(text[2 + part], sizeof text[0], "%.2f", (double)part_of(s, part) / 1e9);
        (void)snprintf(text[7], sizeof text[7], "%.2f", (double)s->total / 1e9);
        text_table_row(table, text[0], text[1], text[2], text[3], text[4], text[5], text[6], text[7]);
        first = last + 1;
    }
    text_table_print(table, stdout);
    text_table_free(table);
    printf("\n");
}

void train_memory_print(const struct train_memory *t)
{
    char text[SIZE_TEXT];
    if (!t->model)
        return;
    const struct training_memory *s = &t->stage[t->most];
    printf("%-16s%s", "memory", size_text(text, s->total));
    if (t->model->memory)
        printf(" of %s", size_text(text, t->model->memory));
    printf(": stage %" PRIu32 ", of which", t->most);
    const char *between = " ";
    for (unsigned part = 0; part < PARTS; part++) {
        if (part_of(s, part) == 0)
            continue;
        printf("%s%s %s", between, part_names[part], size_text(text, part_of(s, part)));
        between = ", ";
    }
    printf("\n");
    if (t->unsaid)
        printf("%-16s%" PRIu32 " layer%s without 'saved': what leaves %s is counted\n", "", t->unsaid,
               hx_plural(t->unsaid), t->unsaid == 1 ? "it" : "them");
    if (stages_of(t) > 1)
        print_stages(t);
}

/* ---- JSON ---- */

json_t *train_memory_json(const struct train_memory *t)
{
    if (!t->model)
        return json_null();
    json_t *stages = json_array();
    for (uint32_t i = 0; i < stages_of(t); i++) {
        const struct training_memory *s = &t->stage[i];
        json_t *o = json_pack("{s:I, s:I, s:I, s:s}", "stage", (json_int_t)i, "bytes", (json_int_t)s->total, "passes",
                              (json_int_t)s->passes, "largest_part", part_keys[dominant(s)]);
        for (unsigned part = 0; part < PARTS; part++)
            json_object_set_new(o, part_keys[part], json_integer((json_int_t)part_of(s, part)));
        json_array_append_new(stages, o);
    }
    return json_pack("{s:o, s:b, s:I, s:I, s:o}", "accelerator_bytes",
                     t->model->memory ? json_integer((json_int_t)t->model->memory) : json_null(), "fits",
                     (int)train_memory_fits(t), "largest_stage", (json_int_t)t->most, "layers_without_saved",
                     (json_int_t)t->unsaid, "stages", stages);
}
