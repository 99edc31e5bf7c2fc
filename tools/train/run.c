/* run.c - a run of a job on a fabric, and what its report says (train.h). */
#include "base/arguments.h"
#include "base/error.h"
#include "base/options/command_line.h"
#include "base/progress.h"
#include "base/text.h"
#include "tools/child.h"
#include "tools/train/train.h"

#include <stdlib.h>
#include <string.h>

enum { TICK_MS = 500 };

/* ---- the run ---- */

static struct hx_arguments arguments_of(const struct train *t, const struct train_fabric *f)
{
    static const char *const fixed[] = {"--clock", "virtual", "--json", "-"};
    struct hx_arguments a = {.count = 0};
    hx_arguments_add(&a, "%s", t->hxmesh);
    hx_arguments_add(&a, "run");
    hx_arguments_add(&a, "%s", f->argument);
    hx_arguments_add(&a, "--traffic");
    hx_arguments_add(&a, "%s", t->job.path);
    for (unsigned i = 0; i < sizeof fixed / sizeof *fixed; i++)
        hx_arguments_add(&a, "%s", fixed[i]);
    for (unsigned i = 0; t->option[i].kind != HX_OPTION_END; i++) {
        if (t->used[i])
            hx_option_add(&a, &t->option[i]);
    }
    if (f->folds)
        hx_arguments_add(&a, "--place=%s", f->settings.place);
    if (t->equal)
        injected_add(&f->injected, &a);
    if (t->timeline) {
        hx_arguments_add(&a, "--timeline");
        hx_arguments_add(&a, "%s", t->timeline);
    }
    if (t->quiet)
        hx_arguments_add(&a, "--quiet");
    return a;
}

static void show_progress(const struct train *t, const struct train_fabric *f, struct hx_progress *bar, double share)
{
    char note[192];
    const unsigned place = (unsigned)(f - t->fabric);
    (void)snprintf(note, sizeof note, ", %u of %u: %s", place + 1, t->fabrics, f->spec.name);
    hx_progress_show(bar, (place + share) / t->fabrics, note);
}

/* ---- the report ---- */

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static double mean(const json_t *object, const char *key)
{
    return number(json_object_get(object, key), "mean");
}

static void copy(char text[TRAIN_NAME], const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    (void)hx_text_copy(text, TRAIN_NAME, value ? value : "");
}

static void take_purposes(const struct train *t, struct train_fabric *f, const json_t *list)
{
    const double iterations = (double)t->job.iterations;
    for (size_t i = 0; i < json_array_size(list) && f->purposes < SCHEDULE_MOST_PURPOSES; i++) {
        const json_t *o = json_array_get(list, i);
        struct train_purpose *p = &f->purpose[f->purposes++];
        copy(p->name, o, "purpose");
        p->bytes = number(o, "bytes") / t->job.ranks / iterations;
        p->seconds = mean(o, "seconds") / iterations;
        p->exposed = mean(o, "exposed_seconds") / iterations;
        p->hidden = mean(o, "hidden_seconds") / iterations;
        f->hidden += p->hidden;
    }
}

static void take_classes(struct train_fabric *f, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list) && f->link_classes < HX_MAX_LINK_CLASSES; i++) {
        const json_t *o = json_array_get(list, i);
        struct train_class *c = &f->link_class[f->link_classes++];
        copy(c->name, o, "class");
        c->links = number(o, "links");
        c->busy = number(o, "busy");
        c->busiest = number(o, "busiest");
    }
}

/* Keeps the busiest links; of equal ones the first. */
static void take_links(struct train_fabric *f, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *o = json_array_get(list, i);
        const double busy = number(o, "busy");
        unsigned at = f->links;
        for (; at > 0 && f->link[at - 1].busy < busy; at--) {
            if (at < TRAIN_LINKS)
                f->link[at] = f->link[at - 1];
        }
        if (at == TRAIN_LINKS || busy <= 0)
            continue;
        f->link[at].busy = busy;
        copy(f->link[at].from, o, "from");
        copy(f->link[at].to, o, "to");
        f->links += f->links < TRAIN_LINKS;
    }
}

static void take_report(const struct train *t, struct train_fabric *f, const json_t *report)
{
    const json_t *o = json_array_get(json_object_get(report, "schedule"), 0);
    const double iterations = (double)t->job.iterations;
    const bool has_ideal = json_is_number(json_object_get(o, "ideal_seconds"));
    f->exact.there = json_is_number(json_object_get(o, "seconds"));
    f->exact.iteration = number(o, "seconds") / iterations;
    f->exact.computing = mean(o, "computing_seconds") / iterations;
    f->exact.ideal = has_ideal ? number(o, "ideal_seconds") / iterations : f->estimate.ideal;
    f->exposed = mean(o, "exposed_seconds") / iterations;
    take_purposes(t, f, json_object_get(o, "purposes"));
    take_classes(f, json_object_get(report, "link_classes"));
    take_links(f, json_object_get(report, "links"));
}

static void complain(const struct train_fabric *f, const struct child_result *r)
{
    if (r->error[0])
        hx_complain(f->spec.name, "%s", r->error);
    else if (r->exit_code > 128)
        hx_complain(f->spec.name, "its run was ended by signal %d", r->exit_code - 128);
    else
        hx_complain(f->spec.name, "its run ended with exit code %d and no report", r->exit_code);
}

void train_run(const struct train *t, struct train_fabric *f)
{
    struct hx_progress bar = hx_progress_start("train", t->quiet);
    struct hx_arguments a = arguments_of(t, f);
    struct child c = {0};
    child_start(&c, a.item);
    c.reads_progress = true;
    while (child_wait(&c, 1, TICK_MS) == 1)
        show_progress(t, f, &bar, c.progress);
    hx_progress_end(&bar);
    hx_arguments_free(&a);
    f->exit_code = c.result.exit_code;
    json_t *report = f->exit_code == HX_EXIT_DONE ? json_loadb(c.result.output, c.result.bytes, 0, NULL) : NULL;
    if (report)
        take_report(t, f, report);
    if (!f->exact.there && !child_interrupted()) {
        complain(f, &c.result);
        f->exit_code = f->exit_code == HX_EXIT_DONE || f->exit_code > 128 ? HX_EXIT_FAILED : f->exit_code;
    }
    json_decref(report);
    free(c.result.output);
}
