/* fabrics.c - opens the fabrics of a job (fabrics.h). */
#include "tools/train/fabrics.h"
#include "base/error.h"
#include "base/options/applies.h"

#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

void train_options_init(struct train_options *o)
{
    *o = (struct train_options){.settings = hx_default_settings, .timing = HX_DEFAULT_TIMING};
    o->settings.given = 0;
    const struct hx_option all[] = {HX_SETTINGS_OPTIONS(&o->settings), HX_VIRTUAL_OPTIONS(&o->settings),
                                    HX_OVERRIDE_OPTIONS(&o->sizes), HX_TIMING_OPTIONS(&o->timing)};
    const uint64_t run = HX_FOR_VIRTUAL | HX_FOR_PATTERN(HX_SCHEDULE);
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        const char *name = all[i].name;
        const bool own = strcmp(name, "traffic") == 0 || strcmp(name, "clock") == 0 || strcmp(name, "verify") == 0;
        if (own || !hx_applies(all[i].applies, run))
            continue;
        o->option[o->options] = all[i];
        if (strcmp(name, "place") == 0)
            o->option[o->options].otherwise =
                "fold, if the hosts are a grid and MODEL says that of its ranks; else linear";
        o->options++;
    }
    o->option[o->options] = (struct hx_option)HX_OPTIONS_END;
}

int train_parse(struct train *t, const struct train_options *o, const struct hx_command *command,
                const struct hx_option *own, unsigned owns, int argc, char **argv, struct hx_common *common)
{
    struct hx_option table[HX_MOST_OPTIONS];
    struct hx_command with_options = *command;
    memcpy(table, own, owns * sizeof *own);
    memcpy(table + owns, o->option, (o->options + 1) * sizeof *own); /* with the end */
    with_options.options = table;
    const int first = hx_options_parse(&with_options, argc, argv, common);
    hx_options_need(&with_options, common, "equal-injection", (const char *const[]){"injection", NULL});
    t->option = o->option;
    t->used = common->used + owns;
    t->quiet = common->quiet;
    return first;
}

void train_refuse_beside(const struct train *t, const struct train_options *o)
{
    static const char *const set[] = {"planes", "link", "crossbar"};
    for (unsigned i = 0; i < o->options && t->wish.equal; i++) {
        for (unsigned k = 0; k < sizeof set / sizeof *set; k++) {
            char name[32];
            (void)snprintf(name, sizeof name, "--%s", set[k]);
            if (t->used[i] && strcmp(o->option[i].name, set[k]) == 0)
                hx_die(HX_EXIT_USAGE, name, "is what --equal-injection sets: which of both?");
        }
    }
}

/* ---- fabrics ---- */

static void load(struct train_fabric *f, const struct train_options *run)
{
    hx_spec_load(f->argument, &run->sizes, &f->spec);
    hx_spec_refuse_external(&f->spec, "training");
    if (f->spec.named_jobs)
        hx_die(HX_EXIT_CONFIG, f->spec.source, "names jobs: a model is trained on the whole fabric");
    f->injected = injected_of(f->spec.name, &f->spec, run->sizes.planes, &run->timing);
}

/* Sets planes and timing of a run, and its settings, once all fabrics are known. */
static void settle(struct train_fabric *f, const struct train *t, const struct train_options *o)
{
    struct hx_settings given = o->settings;
    const struct injection bought = injection_of(hx_spec_fabric(&f->spec), f->spec.graph->bought_planes, HX_LINK_GBPS);
    f->spec.graph->planes = f->injected.injection.planes;
    f->bought = bought.planes;
    f->usd = injection_usd(&f->injected.injection, f->spec.graph, &t->prices);
    f->usd_bought = injection_usd(&bought, f->spec.graph, &t->prices);
    given.clock = HX_CLOCK_VIRTUAL;
    given.pattern = HX_SCHEDULE;
    given.traffic_file = t->job.path;
    given.given |= HX_GIVEN_CLOCK | HX_GIVEN_PATTERN;
    f->settings = f->spec.settings;
    hx_settings_merge(&f->settings, &given);
}

bool train_may_place(const struct train_fabric *f)
{
    return !(f->settings.given & HX_GIVEN_PLACE_OF_RANKS) && hx_spec_fabric(&f->spec)->topology->near_on_grid;
}

void train_place(struct train_fabric *f, const struct train_job *job)
{
    if (!train_may_place(f) || !job->dimension[0])
        return;
    f->folds = true;
    f->settings.place = "fold";
}

void train_open_fabrics(struct train *t, const struct train_options *o, const char *const *name, unsigned count)
{
    struct injected *of = hx_allocate(count, sizeof *of);
    t->fabrics = count;
    t->fabric = hx_allocate(count, sizeof *t->fabric);
    for (unsigned i = 0; i < count; i++) {
        t->fabric[i].argument = name[i];
        load(&t->fabric[i], o);
        of[i] = t->fabric[i].injected;
    }
    injected_settle(of, count, &t->wish, true);
    for (unsigned i = 0; i < count; i++) {
        t->fabric[i].injected = of[i];
        settle(&t->fabric[i], t, o);
    }
    free(of);
}

void train_close_fabrics(struct train *t)
{
    for (unsigned i = 0; i < t->fabrics; i++) {
        hx_spec_free(&t->fabric[i].spec);
        spent_free(&t->fabric[i].spent);
    }
    free(t->fabric);
}
