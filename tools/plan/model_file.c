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
            l->parallel[TRAINING_TENSOR] > 1 ? "true" : "false", training_recompute_names[l->recompute]);
}

/* Returns the begin of the next line. */
static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');
    return end ? end + 1 : line + strlen(line);
}

/* Writes the lines of a text, with the keys of a layout before `layers`. */
static void write_lines(const struct plan *p, const struct training_layout *l, const char *file, FILE *out)
{
    bool skips = false;
    for (const char *line = file; *line; line = next_line(line)) {
        const char *end = next_line(line);
        if (isalpha((unsigned char)line[0]))
            skips = is_replaced(line);
        else if (line[0] == '#')
            skips = false;
        if (has_key(line, "layers"))
            write_layout(p->model, l, out);
        if (!skips)
            (void)fwrite(line, 1, (size_t)(end - line), out);
    }
    if (*file && file[strlen(file) - 1] != '\n')
        fputc('\n', out);
}

void plan_write_model(const struct plan *p, const struct plan_candidate *c, FILE *out)
{
    const struct schedule_read_options *read = &p->fabric->settings.read;
    char text[TRAINING_LAYOUT_TEXT];
    char *file = NULL;
    size_t bytes = 0;
    struct hx_problem problem;
    if (!hx_input_read(p->train->job.path, LARGEST_FILE, "model", &file, &bytes, &problem))
        hx_die_of(&problem);
    fprintf(out, "# hxmesh plan, on %s: %s\n# To be used with --place %s", p->fabric->spec.name,
            training_layout_text(text, &c->layout), c->place ? c->place : "linear");
    for (unsigned i = 0; i < read->set.count; i++)
        fprintf(out, " --set '%s'", read->set.item[i]);
    if (read->flops > 0)
        fprintf(out, " --flops %.17g", read->flops);
    fprintf(out, "\n");
    write_lines(p, &c->layout, file, out);
    free(file);
}

/* A candidate that is not the layout of the file; NULL: none. */
static const struct plan_candidate *another(const struct plan *p)
{
    const struct training_layout own = training_layout_of(p->model);
    size_t i = 0;
    while (i < p->candidates && training_layout_has_shares(&p->candidate[i].layout, &own))
        i++;
    return i < p->candidates ? &p->candidate[i] : NULL;
}

void plan_check_writing(const struct plan *p)
{
    const struct plan_candidate *c = another(p);
    char *text = NULL;
    size_t bytes = 0;
    struct hx_problem problem;
    struct training_model *m = NULL;
    FILE *out = c ? open_memstream(&text, &bytes) : NULL;
    if (!out)
        return;
    plan_write_model(p, c, out);
    if (fclose(out) == 0)
        m = training_model_parse(p->train->job.path, text, bytes, &p->fabric->settings.read, &problem);
    const struct training_layout written = m ? training_layout_of(m) : training_layout_of(p->model);
    if (!training_layout_has_shares(&written, &c->layout))
        hx_die(HX_EXIT_CONFIG, p->train->job.path,
               "no layout can be written into it: let each of its keys begin a line, as in docs/training.md");
    training_model_free(m);
    free(text);
}
