/* line.c - reads a line of a schedule (faults.h). */
#include "base/value.h"
#include "spec/faults/faults.h"
#include "topology/name.h"

#include <stdio.h>
#include <string.h>

const char *const hx_fault_words[HX_FAULT_KINDS + 1] = {"down",   "up",      "flaps",     "impaired", "closed",
                                                        "killed", "stopped", "continued", NULL};

enum { MOST_WORDS = 16 };

/* A line split into words, which are in `copy`. */
struct words {
    char copy[HX_FAULT_TEXT];
    char *word[MOST_WORDS];
    unsigned count, at;
};

static bool split(struct words *w, const char *line, struct hx_problem *problem)
{
    char *rest = NULL;
    *w = (struct words){.count = 0};
    if (strlen(line) >= sizeof w->copy)
        return hx_fail(problem, HX_EXIT_CONFIG, NULL, "a fault of more than %zu letters", sizeof w->copy - 1);
    (void)snprintf(w->copy, sizeof w->copy, "%s", line);
    for (char *word = strtok_r(w->copy, " \t\r", &rest); word; word = strtok_r(NULL, " \t\r", &rest)) {
        if (w->count == MOST_WORDS)
            return hx_fail(problem, HX_EXIT_CONFIG, NULL, "a fault of more than %d words", MOST_WORDS);
        w->word[w->count++] = word;
    }
    return true;
}

static const char *next(struct words *w)
{
    return w->at < w->count ? w->word[w->at++] : NULL;
}

/* ---- target ---- */

/* Completes "a0,1/E" with plane 0: "a0,1/p0/E". */
static void with_plane(char *name, size_t bytes, const char *text)
{
    size_t first = strcspn(text, "/");
    (void)snprintf(name, bytes, "%.*s/p0%s", (int)first, text, text + first);
}

static bool take_place(struct hx_fault_target *t, const char *name, const struct hx_fabric *f)
{
    unsigned plane;
    if (hx_node_parse(name, f, &plane, &t->index))
        t->place = HX_PLACE_NODE;
    else if (hx_port_parse(name, f, &plane, &t->index, &t->port))
        t->place = HX_PLACE_LINK;
    else
        return false;
    t->plane = plane;
    return true;
}

/* "row0/p0" names a switch if the line's network is one switch. */
static bool take_line(struct hx_fault_target *t, const char *name, const struct hx_fabric *f)
{
    char leaf[HX_FAULT_TEXT + 16];
    bool one = (strncmp(name, "row", 3) == 0 && f->mesh.row.spines == 0) ||
               (strncmp(name, "col", 3) == 0 && f->mesh.column.spines == 0);
    (void)snprintf(leaf, sizeof leaf, "%s/leaf0", name);
    return f->mesh.nodes && one && take_place(t, leaf, f);
}

static bool take_group(struct hx_fault_target *t, const char *text, const struct hx_fabric *f)
{
    unsigned x;
    unsigned y;
    if (f->mesh.nodes && hx_name_take(&text, "board", &x) && hx_name_take(&text, ",", &y) && !*text &&
        x < (unsigned)f->mesh.x && y < (unsigned)f->mesh.y)
        t->index = y * (unsigned)f->mesh.x + x;
    else if (!hx_name_take(&text, "group", &t->index) || *text || t->index >= f->groups)
        return false;
    t->place = HX_PLACE_GROUP;
    return true;
}

static bool take_number(const char *text, const char *word, uint32_t *number)
{
    return hx_name_take(&text, word, number) && *text == '\0';
}

static bool take_target(struct hx_fault_target *t, const char *text, const struct hx_fabric *f,
                        struct hx_problem *problem)
{
    char name[HX_FAULT_TEXT + 4];
    char example[HX_NAME_BYTES];
    uint32_t number;
    *t = (struct hx_fault_target){.plane = HX_EVERY_PLANE};
    if (strcmp(text, "all") == 0)
        return true;
    if (take_number(text, "worker", &t->index)) {
        t->place = HX_PLACE_WORKER;
        return true;
    }
    if (take_number(text, "plane", &number) && number < f->planes) {
        *t = (struct hx_fault_target){.place = HX_PLACE_PLANE, .plane = number};
        return true;
    }
    with_plane(name, sizeof name, text);
    if (!take_group(t, text, f) && !take_place(t, text, f) && !take_line(t, text, f)) {
        if (!take_place(t, name, f) && !take_line(t, name, f))
            return hx_fail(problem, HX_EXIT_CONFIG, NULL,
                           "'%.60s' is no place of this fabric (such as %s, all, plane0, %s, worker0)", text,
                           hx_port_name(example, f, 0, 0, HX_E), f->mesh.nodes ? "board0,0" : "group0");
        t->plane = HX_EVERY_PLANE;
    }
    if (t->place == HX_PLACE_LINK && hx_fabric_far(f, t->index, t->port).node == HX_NOWHERE)
        return hx_fail(problem, HX_EXIT_CONFIG, NULL, "'%.60s' is a port without a link", text);
    return true;
}

/* ---- effect ---- */

/* Reads a share, "1%" or "0.01", of at least `least`. */
static const char *share_of(const char *text, double least, uint32_t *share, char *why)
{
    double value;
    const char *wrong = hx_value_real(text, least, 1, &value, why);
    if (!wrong)
        *share = (uint32_t)(value * HX_FAULT_WHOLE + 0.5);
    return wrong;
}

static const char *const impairment_names[] = {"loss",        "corrupt", "duplicate", "reorder",
                                               "credit-loss", "rate",    "delay",     NULL};

/* *said: impairments of the line so far, bit by index in their list. */
static bool take_impairment(struct hx_fault *fault, const char *text, unsigned *said, struct hx_problem *problem)
{
    struct hx_impairment *i = &fault->impairs;
    uint32_t *const share[] = {&i->loss, &i->corrupt, &i->duplicate, &i->reorder, &i->credit_loss, &i->rate};
    enum { RATE = 5, DELAY };
    char name[HX_FAULT_TEXT];
    const char *value = strchr(text, '=') + 1;
    unsigned which;
    (void)snprintf(name, sizeof name, "%.*s", (int)(value - 1 - text), text);
    char why[HX_WHY_TEXT];
    const char *wrong = hx_value_choice(name, impairment_names, &which, why);
    if (!wrong && *said >> which & 1)
        wrong = "is said twice";
    *said |= wrong ? 0 : 1U << which;
    if (!wrong && which == DELAY)
        wrong = hx_value_duration(value, 0, HX_MOST_FAULT_DELAY, &i->delay_ns, why);
    else if (!wrong)
        wrong = share_of(value, which == RATE ? HX_LEAST_FAULT_RATE : 0, share[which], why);
    return !wrong || hx_fail(problem, HX_EXIT_CONFIG, NULL, "%.40s: %s", name, wrong);
}

static bool take_impairments(struct hx_fault *fault, struct words *w, struct hx_problem *problem)
{
    unsigned said = 0;
    fault->kind = HX_FAULT_IMPAIRS;
    for (; w->at < w->count && strchr(w->word[w->at], '='); w->at++)
        if (!take_impairment(fault, w->word[w->at], &said, problem))
            return false;
    return true;
}

static bool take_duration(struct words *w, const char *of, uint64_t least, uint64_t *ns, struct hx_problem *problem)
{
    const char *text = next(w);
    char why[HX_WHY_TEXT];
    const char *wrong = text ? hx_value_duration(text, least, HX_MOST_FAULT_TIME, ns, why) : "a time is missing";
    return !wrong || hx_fail(problem, HX_EXIT_CONFIG, NULL, "%s: %s", of, wrong);
}

static bool take_what(struct hx_fault *fault, struct words *w, struct hx_problem *problem)
{
    bool at_worker = fault->target.place == HX_PLACE_WORKER;
    if (w->at < w->count && strchr(w->word[w->at], '=') && !at_worker)
        return take_impairments(fault, w, problem);
    const char *word = next(w);
    unsigned kind = HX_FAULT_KINDS;
    char why[HX_WHY_TEXT];
    const char *wrong =
        word ? hx_value_choice(word, hx_fault_words, &kind, why) : "nothing is said of what happens there";
    if (kind == HX_FAULT_IMPAIRS)
        wrong = "say how: loss=1% and the like";
    if (wrong)
        return hx_fail(problem, HX_EXIT_CONFIG, NULL, "%s, such as 'down' or 'loss=1%%'", wrong);
    fault->kind = (enum hx_fault_kind)kind;
    bool of_worker = kind >= HX_FAULT_KILLED;
    if (of_worker != at_worker)
        return hx_fail(problem, HX_EXIT_CONFIG, NULL, "%s is for %s", word, of_worker ? "workers" : "links and nodes");
    if (kind != HX_FAULT_FLAPS)
        return true;
    word = next(w);
    if (!word || strcmp(word, "every") != 0)
        return hx_fail(problem, HX_EXIT_CONFIG, NULL, "flaps: 'every TIME' belongs behind it");
    return take_duration(w, "flaps every", 2, &fault->period_ns, problem);
}

static bool take_when(struct hx_fault *fault, struct words *w, struct hx_problem *problem)
{
    bool lasts = fault->kind != HX_FAULT_UP && fault->kind != HX_FAULT_KILLED && fault->kind != HX_FAULT_CONTINUED;
    bool said[2] = {false, false}; /* for, at */
    for (const char *word; (word = next(w));) {
        bool at = strcmp(word, "at") == 0;
        if (!at && (strcmp(word, "for") != 0 || !lasts))
            return hx_fail(problem, HX_EXIT_CONFIG, NULL, "'%.40s': %s belongs here", word,
                           lasts ? "'at TIME' or 'for TIME'" : "'at TIME'");
        if (said[at])
            return hx_fail(problem, HX_EXIT_CONFIG, NULL, "%s: is said twice", word);
        said[at] = true;
        if (!take_duration(w, word, at ? 0 : 1, at ? &fault->at_ns : &fault->for_ns, problem))
            return false;
    }
    return true;
}

static void write_text(struct hx_fault *fault, const struct words *w)
{
    size_t used = 0;
    for (unsigned i = 0; i < w->count && used < sizeof fault->text; i++)
        used += (size_t)snprintf(fault->text + used, sizeof fault->text - used, "%s%s", i ? " " : "", w->word[i]);
}

bool hx_fault_parse(struct hx_fault *fault, const char *line, const struct hx_fabric *f, struct hx_problem *problem)
{
    struct words w;
    *fault = (struct hx_fault){.at_ns = 0};
    if (!split(&w, line, problem))
        return false;
    const char *target = next(&w);
    if (!target)
        return hx_fail(problem, HX_EXIT_CONFIG, NULL,
                       "an empty line: a place and what happens there, as 'a0,0/E down at 1ms'");
    if (!take_target(&fault->target, target, f, problem))
        return false;
    if (!take_what(fault, &w, problem) || !take_when(fault, &w, problem))
        return false;
    write_text(fault, &w);
    return true;
}
