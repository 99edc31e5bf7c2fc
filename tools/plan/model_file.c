/* model_file.c - the text of a model in another layout (plan.h): keys that a layout decides are replaced, all else
 * stays as it is. */
#include "base/error.h"
#include "base/input.h"
#include "tools/plan/plan.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_FILE = 1 << 20 };

static const char *const replaced[] = {"parallelism", "pipeline", "zero", "sequence_parallel", "recompute", NULL};

/* Whether a line begins with this key. */
static bool has_key(const char *line, const char *key)
{
    const size_t length = strlen(key);
    return strncmp(line, key, length) == 0 && line[length] == ':';
}

static bool is_replaced(const char *line)
{
    unsigned i = 0;
    while (replaced[i] && !has_key(line, replaced[i]))
        i++;
    return replaced[i] != NULL;
}

static void write_layout(const struct training_model *m, const struct training_layout *l, FILE *out)
{
    const char *before = "";
    fprintf(out, "parallelism: {");
    for (unsigned axis = 0; axis < TRAINING_AXES; axis++) {
        if (l->parallel[axis] > 1)
            fprintf(out, "%s: %" PRIu32 ", ", training_axis_names[axis], l->parallel[axis]);
    }
    if (l->expert > 1)
        fprintf(out, "expert: %" PRIu32 ", ", l->expert);
    fprintf(out, "order: [");
    for (unsigned i = 0; i < TRAINING_AXES; i++, before = ", ")
        fprintf(out, "%s%s", before, training_axis_names[l->order[i]]);
    fprintf(out, "]}\npipeline: {schedule: %s, micro_batches: %" PRIu64, l->chunks > 1 ? "interleaved" : "1f1b",
            m->samples / l->parallel[TRAINING_DATA] / l->batch);
    if (l->chunks > 1)
        fprintf(out, ", chunks: %" PRIu32, l->chunks);
    fprintf(out, "%s}\nzero: %u\nsequence_parallel: %s\nrecompute: %s\n", m->pairs ? ", pairs: true" : "", l->zero,
            l->parallel[TRAINING_TENSOR] > 1 ? "true" : "false",
            l->recompute == TRAINING_RECOMPUTE_FULL        ? "true"
            : l->recompute == TRAINING_RECOMPUTE_SELECTIVE ? "selective"
                                                           : "false");
}

/* Returns the begin of the next line. */
static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');
    return end ? end + 1 : line + strlen(line);
}

void plan_write_model(const struct plan *p, const struct plan_candidate *c, FILE *out)
{
    const struct hx_option_list *set = &p->fabric->settings.read.set;
    char text[TRAINING_LAYOUT_TEXT];
    char *file = NULL;
    size_t bytes = 0;
    struct hx_problem problem;
    bool is_written = false;
    bool skips = false;
    if (!hx_input_read(p->train->job.path, LARGEST_FILE, "model", &file, &bytes, &problem))
        hx_die_of(&problem);
    fprintf(out, "# hxmesh plan, on %s: %s\n# To be used with --place %s", p->fabric->spec.name,
            training_layout_text(text, &c->layout), c->place ? c->place : "linear");
    for (unsigned i = 0; i < set->count; i++)
        fprintf(out, " --set '%s'", set->item[i]);
    if (p->fabric->settings.read.flops > 0)
        fprintf(out, " --flops %.17g", p->fabric->settings.read.flops);
    fprintf(out, "\n");
    for (const char *line = file; *line; line = next_line(line)) {
        const char *end = next_line(line);
        if (isalpha((unsigned char)line[0]))
            skips = is_replaced(line);
        else if (line[0] == '#')
            skips = false;
        if (has_key(line, "layers")) {
            write_layout(p->model, &c->layout, out);
            is_written = true;
        }
        if (!skips)
            (void)fwrite(line, 1, (size_t)(end - line), out);
    }
    if (bytes && file[bytes - 1] != '\n')
        fputc('\n', out);
    if (!is_written)
        hx_die(HX_EXIT_CONFIG, p->train->job.path,
               "'layers:' does not begin a line, so no layout can be written into it");
    free(file);
}
