/* experiment.c - the papers, and the names of their experiments (tools/reproduce/experiment.h). */
#include "tools/reproduce/experiment.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

const struct paper papers[] = {{"hammingmesh", hammingmesh_experiments},
                               {"diameter2", diameter2_experiments},
                               {"eflops", eflops_experiments},
                               {"multidim", multidim_experiments},
                               {"topoopt", topoopt_experiments},
                               {"jobs", jobs_experiments},
                               {NULL, NULL}};
static const char sc22[] = "sc22"; /* another name of the first */
enum { MOST_EXPERIMENTS = 64, NAME = 64, LINE = 160 };

void experiment_plan(const struct experiment *e, struct reproduce_plan *p)
{
    if (e->runs)
        plan_add_all(p, e->runs);
    else if (e->plan)
        e->plan(p);
}

static void full_name(const char *paper, const struct experiment *e, char name[NAME])
{
    (void)snprintf(name, NAME, "%s/%s", paper, e->name);
}

static bool is_of(const char *paper, const struct experiment *e, const char *word)
{
    char name[NAME];
    full_name(paper, e, name);
    return strcmp(word, paper) == 0 || strcmp(word, name) == 0;
}

bool experiment_is(const struct paper *paper, const struct experiment *e, const char *word)
{
    return strcmp(word, "all") == 0 || is_of(paper->name, e, word) ||
           (paper == papers && (strcmp(word, e->name) == 0 || is_of(sc22, e, word)));
}

const char *const *experiment_words(void)
{
    static char names[2 * MOST_EXPERIMENTS][NAME];
    static const char *words[4 * MOST_EXPERIMENTS] = {"all", sc22};
    unsigned count = 2, named = 0;
    for (const struct paper *paper = papers; paper->name; paper++) {
        for (const struct experiment *e = paper->experiment; e->name; e++) {
            full_name(paper->name, e, names[named]);
            words[count++] = names[named++];
            if (paper == papers) {
                full_name(sc22, e, names[named]);
                words[count++] = names[named++];
                words[count++] = e->name;
            }
        }
        words[count++] = paper->name;
    }
    words[count] = NULL;
    return words;
}

const char *experiment_list(void)
{
    static char text[MOST_EXPERIMENTS * LINE];
    size_t used = 0;
    for (const struct paper *paper = papers; paper->name; paper++) {
        for (const struct experiment *e = paper->experiment; e->name && used < sizeof text; e++) {
            char minutes[NAME] = "seconds";
            if (e->minutes)
                (void)snprintf(minutes, sizeof minutes, "%u minute%s", e->minutes, hx_plural(e->minutes));
            used += (size_t)snprintf(text + used, sizeof text - used, "\n  %s/%s, %s\n      %s", paper->name, e->name,
                                     minutes, e->title);
        }
    }
    return text;
}

void experiment_stem(const struct paper *paper, const struct experiment *e, char *stem, size_t bytes)
{
    const bool first = paper == papers;
    (void)snprintf(stem, bytes, "%s%s%s", first ? "" : paper->name, first ? "" : "/", e->name);
}
