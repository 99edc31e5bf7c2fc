/* run.c - a run of a job on a fabric, and what its report says (train.h). */
#include "base/arguments.h"
#include "base/error.h"
#include "base/options/command_line.h"
#include "base/progress.h"
#include "base/text.h"
#include "tools/simulation.h"
#include "tools/train/train.h"

#include <math.h>

/* ---- the run ---- */

static struct hx_arguments arguments_of(const struct train *t, const struct train_fabric *f)
{
    struct hx_arguments a = simulation_arguments(f->argument);
    hx_arguments_add(&a, "--traffic");
    hx_arguments_add(&a, "%s", t->job.path);
    hx_arguments_add(&a, "--clock=virtual");
    for (unsigned i = 0; t->option[i].kind != HX_OPTION_END; i++) {
        if (t->used[i])
            hx_option_add(&a, &t->option[i]);
    }
    if (f->folds)
        hx_arguments_add(&a, "--place=%s", f->settings.place);
    if (t->wish.equal)
        injected_add(&f->injected, &a);
    if (t->timeline) {
        hx_arguments_add(&a, "--timeline");
        hx_arguments_add(&a, "%s", t->timeline);
    }
    simulation_ask(&a, t->quiet);
    return a;
}

/* A run of several, and its bar. */
struct watched {
    const struct train *t;
    const struct train_fabric *f;
    struct hx_progress bar;
};

static void show_progress(void *of, double share)
{
    char note[192];
    struct watched *w = of;
    const unsigned place = (unsigned)(w->f - w->t->fabric);
    (void)snprintf(note, sizeof note, ", %u of %u: %s", place + 1, w->t->fabrics, w->f->spec.name);
    hx_progress_show(&w->bar, (place + share) / w->t->fabrics, note);
}

/* ---- the report ---- */

static void copy(char text[TRAIN_NAME], const struct report *r, const char *key)
{
    (void)hx_text_copy(text, TRAIN_NAME, report_text(r, key));
}

static void take_purpose(const struct train *t, struct train_fabric *f, const struct report *o)
{
    const double iterations = (double)t->job.iterations;
    struct train_purpose *p = &f->spent.purpose[f->spent.purposes++];
    copy(p->name, o, "purpose");
    p->bytes = report_number(o, "bytes") / t->job.ranks / iterations;
    p->seconds = report_number(o, "seconds.mean") / iterations;
    p->exposed = report_number(o, "exposed_seconds.mean") / iterations;
    p->hidden = report_number(o, "hidden_seconds.mean") / iterations;
}

static void take_classes(struct train_spent *s, const struct report *r)
{
    for (size_t i = 0; i < report_length(r, "link_classes") && s->link_classes < HX_MAX_LINK_CLASSES; i++) {
        const struct report o = report_entry(r, "link_classes", i);
        struct train_class *c = &s->link_class[s->link_classes++];
        copy(c->name, &o, "class");
        c->links = report_number(&o, "links");
        c->busy = report_number(&o, "busy");
        c->busiest = report_number(&o, "busiest");
    }
}

static void take_link(struct train_spent *s, const struct report *o)
{
    struct train_link link = {.busy = report_number(o, "busy")};
    copy(link.from, o, "from");
    copy(link.to, o, "to");
    spent_take_link(s, &link);
}

static void take_report(const struct train *t, struct train_fabric *f, const struct report *r)
{
    const struct report o = report_entry(r, "schedule", 0);
    const double iterations = (double)t->job.iterations;
    const double ideal = report_number_or_null(&o, "ideal_seconds");
    f->exact.iteration = report_number(&o, "seconds") / iterations;
    f->exact.computing = report_number(&o, "computing_seconds.mean") / iterations;
    f->exact.ideal = isnan(ideal) ? f->estimate.ideal : ideal / iterations;
    f->spent.purposes = f->spent.link_classes = f->spent.links = 0;
    for (size_t i = 0; i < report_length(&o, "purposes") && f->spent.purposes < SCHEDULE_MOST_PURPOSES; i++) {
        const struct report p = report_entry(&o, "purposes", i);
        take_purpose(t, f, &p);
    }
    take_classes(&f->spent, r);
    for (size_t i = 0; i < report_length(r, "links"); i++) {
        const struct report link = report_entry(r, "links", i);
        take_link(&f->spent, &link);
    }
}

void train_run(const struct train *t, struct train_fabric *f)
{
    struct watched w = {.t = t, .f = f, .bar = hx_progress_start("train", t->quiet)};
    struct hx_arguments a = arguments_of(t, f);
    struct simulation s = simulation_run(f->spec.name, &a, show_progress, &w);
    hx_progress_end(&w.bar);
    if (s.report.json)
        take_report(t, f, &s.report);
    f->exact.there = simulation_is_good(&s);
    f->exit_code = simulation_end(&s);
}
