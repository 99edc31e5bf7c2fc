/* circuits_read.c - reads a plan of circuits (circuits.h). */
#include "base/text.h"
#include "base/value.h"
#include "spec/circuits/circuits_parts.h"
#include "spec/faults/faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LONGEST_LINE = 1 << 20,
    MOST_BYTES = 64 << 20,
    LONGEST_CIRCUIT = 2 * HX_LONGEST_LINE + 2,
    MOST_COMMAS = 3, /* of a circuit of two names such as router1,2 */
    MOST_CLOSINGS = HX_MOST_DRAWN_FAULTS
};

/* ---- places ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct hx_circuits_place *)a)->name, ((const struct hx_circuits_place *)b)->name);
}

static void take_places(struct hx_circuits_plan *p)
{
    const struct hx_fabric *f = p->f;
    p->place = hx_allocate(2 * (size_t)f->nodes, sizeof *p->place);
    p->text = hx_allocate(f->nodes, sizeof *p->text);
    for (uint32_t node = 0; node < f->nodes; node++) {
        if (f->graph_name && f->graph_name[node])
            p->place[p->places++] = (struct hx_circuits_place){f->graph_name[node], node};
        p->place[p->places++] = (struct hx_circuits_place){hx_place_name(p->text[node], f, node), node};
    }
    qsort(p->place, p->places, sizeof *p->place, by_name);
    p->names = hx_allocate(p->places + 1, sizeof *p->names);
    for (size_t i = 0; i < p->places; i++)
        p->names[i] = p->place[i].name;
}

/* Name of a node in the graph's file, else of its place. */
static const char *name_of(const struct hx_circuits_plan *p, uint32_t node)
{
    return p->f->graph_name && p->f->graph_name[node] ? p->f->graph_name[node] : p->text[node];
}

/* Returns the node of a name; HX_NOWHERE: none. A name of the graph's file comes before that of a place. */
static uint32_t find(const struct hx_circuits_plan *p, const char *name)
{
    const struct hx_circuits_place wanted = {.name = name};
    const struct hx_circuits_place *found = bsearch(&wanted, p->place, p->places, sizeof wanted, by_name);
    if (!found)
        return HX_NOWHERE;
    uint32_t node = found->node;
    while (found > p->place && strcmp(found[-1].name, name) == 0)
        found--;
    for (; found < p->place + p->places && strcmp(found->name, name) == 0; found++)
        if (strcmp(name_of(p, found->node), name) == 0)
            node = found->node;
    return node;
}

/* ---- circuits ---- */

/* Returns a link between two nodes that the current line does not have; HX_NOWHERE: none. *links: how many there
 * are. */
static uint32_t free_link(const struct hx_circuits_plan *p, uint32_t a, uint32_t b, unsigned *links)
{
    uint32_t found = HX_NOWHERE;
    uint32_t first = a < b ? a : b;
    *links = 0;
    for (unsigned port = 0; port < hx_fabric_ports(p->f, first); port++) {
        uint32_t link = p->f->node[first].first_port + port;
        if (hx_fabric_far(p->f, first, port).node != a + b - first)
            continue;
        ++*links;
        if (found == HX_NOWHERE && p->link[link].line != p->lines)
            found = link;
    }
    return found;
}

/* The two ends of a circuit's text, at one of its hyphens. */
struct ends {
    char name[2][LONGEST_CIRCUIT];
    uint32_t node[2];
};

static void cut(char *to, const char *from, size_t length)
{
    size_t space = strspn(from, " \t");
    space = space < length ? space : length;
    while (length > space && strchr(" \t", from[length - 1]))
        length--;
    (void)snprintf(to, LONGEST_CIRCUIT, "%.*s", (int)(length - space), from + space);
}

static void cut_at(const struct hx_circuits_plan *p, struct ends *e, const char *text, const char *hyphen)
{
    cut(e->name[0], text, (size_t)(hyphen - text));
    cut(e->name[1], hyphen + 1, strlen(hyphen + 1));
    for (unsigned i = 0; i < 2; i++)
        e->node[i] = find(p, e->name[i]);
}

static unsigned known(const struct ends *e)
{
    return (e->node[0] != HX_NOWHERE ? 1U : 0U) + (e->node[1] != HX_NOWHERE ? 1U : 0U);
}

/* Finds the hyphen at which most is known: both names and a link, both names, or one name. Returns how much: 3, 2, 1 or
 * 0; 4: two hyphens give links. */
static unsigned find_ends(const struct hx_circuits_plan *p, struct ends *best, const char *text)
{
    unsigned most = 0;
    *best = (struct ends){.node = {HX_NOWHERE, HX_NOWHERE}};
    for (const char *hyphen = strchr(text, '-'); hyphen; hyphen = strchr(hyphen + 1, '-')) {
        struct ends e = {.node = {HX_NOWHERE, HX_NOWHERE}};
        unsigned links = 0;
        cut_at(p, &e, text, hyphen);
        unsigned much = known(&e);
        if (much == 2 && e.node[0] != e.node[1])
            (void)free_link(p, e.node[0], e.node[1], &links);
        much += links > 0;
        if (much == 3 && most >= 3)
            return 4;
        if (much > most || best->name[0][0] == '\0') {
            *best = e;
            most = much;
        }
    }
    return most;
}

static bool refuse_circuit(const struct hx_circuits_plan *p, const struct ends *e, const char *text, const char *at,
                           unsigned much)
{
    char hint[HX_HINT_TEXT];
    if (!strchr(text, '-'))
        return hx_lines_fail(&p->l, at, "'%.80s' is not a circuit: a circuit is two names, as %.40s-%.40s", text,
                             name_of(p, p->f->nodes - 2), name_of(p, p->f->nodes - 1));
    if (much == 4)
        return hx_lines_fail(&p->l, at, "'%.80s' is two circuits: hyphens in its names can be read in two ways", text);
    if (much < 2) {
        const char *name = e->name[e->node[0] == HX_NOWHERE ? 0 : 1];
        return hx_lines_fail(&p->l, at, "'%.80s' is no name of this fabric%s", name,
                             hx_did_you_mean(hint, name, p->names));
    }
    if (e->node[0] == e->node[1])
        return hx_lines_fail(&p->l, at, "'%.80s' joins a place to itself", text);
    return hx_lines_fail(
        &p->l, at,
        "the fabric has no link between '%.60s' and '%.60s': a graph's file has a line for each circuit of any time",
        e->name[0], e->name[1]);
}

/* Takes a circuit of the current line. */
static bool take_circuit(struct hx_circuits_plan *p, const struct ends *e, const char *at)
{
    unsigned links;
    uint32_t link = free_link(p, e->node[0], e->node[1], &links);
    if (link == HX_NOWHERE)
        return hx_lines_fail(&p->l, at, "%.60s-%.60s is said %u times, and the fabric has %u link%s between them",
                             e->name[0], e->name[1], links + 1, links, hx_plural(links));
    for (unsigned i = 0; i < 2; i++)
        if (++p->used[e->node[i]] > p->interfaces && p->interfaces)
            return hx_lines_fail(&p->l, at, "'%.80s' has more circuits at this time than 'interfaces %u' allows",
                                 e->name[i], (unsigned)p->interfaces);
    if (!p->link[link].named) {
        p->named = hx_grow(p->named, p->names_of_links, &p->named_room, sizeof *p->named);
        p->named[p->names_of_links++] = link;
        p->owner[link] = e->node[0] < e->node[1] ? e->node[0] : e->node[1];
    }
    p->link[link].named = true;
    p->link[link].line = p->lines;
    return true;
}

/* Takes the circuits of a line. Names may have commas, so a circuit is the shortest text up to a comma that is one. */
static bool take_circuits(struct hx_circuits_plan *p, const char *text)
{
    while (text[strspn(text, " \t")]) {
        char one[LONGEST_CIRCUIT];
        struct ends e;
        size_t length = 0;
        unsigned much = 0;
        text += strspn(text, " \t");
        for (unsigned commas = 0; commas <= MOST_COMMAS && much < 3; commas++) {
            length += commas ? text[length] == ',' : 0;
            length += strcspn(text + length, ",");
            if (length >= LONGEST_CIRCUIT)
                break;
            cut(one, text, length);
            much = find_ends(p, &e, one);
        }
        if (much != 3) {
            cut(one, text, strcspn(text, ","));
            much = find_ends(p, &e, one);
            return refuse_circuit(p, &e, one, text, much);
        }
        if (!take_circuit(p, &e, text))
            return false;
        text += length + (text[length] == ',');
    }
    return true;
}

/* ---- lines ---- */

static bool note_closing(struct hx_circuits_plan *p, uint32_t link, uint64_t to_ns)
{
    if (p->closings == MOST_CLOSINGS)
        return hx_lines_fail(&p->l, NULL, "circuits close more than %d times", MOST_CLOSINGS);
    p->closing = hx_grow(p->closing, p->closings, &p->closing_room, sizeof *p->closing);
    p->closing[p->closings++] = (struct hx_circuits_closing){link, p->link[link].closed_ns, to_ns};
    return true;
}

/* Opens and closes circuits at the time of the last line. */
static bool change(struct hx_circuits_plan *p)
{
    uint64_t at_ns = p->line[p->lines - 1].at_ns;
    for (size_t i = 0; i < p->names_of_links; i++) {
        struct hx_circuits_link *l = &p->link[p->named[i]];
        bool on = l->line == p->lines;
        if (on && !l->on && at_ns && !note_closing(p, p->named[i], at_ns + p->dark_ns))
            return false;
        if (!on && l->on)
            l->closed_ns = at_ns;
        l->on = on;
    }
    return true;
}

static bool take_time(struct hx_circuits_plan *p, char *text, const char *at)
{
    char why[HX_WHY_TEXT];
    uint64_t at_ns;
    const char *wrong = hx_value_duration(text, 0, HX_MOST_FAULT_TIME, &at_ns, why);
    if (wrong)
        return hx_lines_fail(&p->l, at, "at: %s", wrong);
    if (p->lines ? at_ns <= p->line[p->lines - 1].at_ns : at_ns > 0)
        return hx_lines_fail(&p->l, at, "'at %.40s': %s", text,
                             p->lines ? "is not later than the time of the line above"
                                      : "the first time is 0, with the circuits that the run begins with");
    if (at_ns + p->dark_ns > HX_MOST_FAULT_TIME)
        return hx_lines_fail(&p->l, at, "'at %.40s': its circuits open after more than 30 days", text);
    p->line = hx_grow(p->line, p->lines, &p->line_room, sizeof *p->line);
    p->line[p->lines++] = (struct hx_circuits_line){at_ns, p->l.line};
    return true;
}

static bool take_at(struct hx_circuits_plan *p, char *text)
{
    char *colon = strchr(text, ':');
    text += strspn(text, " \t");
    if (!colon)
        return hx_lines_fail(&p->l, text, "a colon is missing, as in 'at 50ms: a-b, c-d'");
    char *end = colon;
    while (end > text && strchr(" \t", end[-1]))
        end--;
    *end = '\0';
    if (!take_time(p, text, text))
        return false;
    memset(p->used, 0, p->f->nodes * sizeof *p->used);
    return take_circuits(p, colon + 1) && change(p);
}

static bool take_setting(struct hx_circuits_plan *p, const char *word, const char *text)
{
    char why[HX_WHY_TEXT];
    bool dark = strcmp(word, "dark") == 0;
    if (p->lines)
        return hx_lines_fail(&p->l, NULL, "'%s' belongs above the first time", word);
    if (dark ? p->said_dark : p->interfaces > 0)
        return hx_lines_fail(&p->l, NULL, "'%s' is said twice", word);
    p->said_dark = p->said_dark || dark;
    const char *wrong = dark ? hx_value_duration(text, 0, HX_MOST_FAULT_TIME, &p->dark_ns, why)
                             : hx_value_number(text, 1, HX_MAX_RADIX, &p->interfaces, why);
    return !wrong || hx_lines_fail(&p->l, text, "%s: %s", word, wrong);
}

static bool take_line(struct hx_circuits_plan *p)
{
    char *word = p->l.text + strspn(p->l.text, " \t");
    size_t length = strcspn(word, " \t");
    char *rest = word + length + strspn(word + length, " \t");
    static const char *const words[] = {"dark", "interfaces", "at", NULL};
    char hint[HX_HINT_TEXT];
    for (unsigned i = 0; words[i]; i++) {
        if (length != strlen(words[i]) || strncmp(word, words[i], length) != 0)
            continue;
        return i == 2 ? take_at(p, rest) : take_setting(p, words[i], rest);
    }
    word[length] = '\0';
    return hx_lines_fail(&p->l, word, "'%.40s' is none of dark, interfaces, at%s", word,
                         hx_did_you_mean(hint, word, words));
}

/* Closes what the last line leaves out, for good. */
static bool close_rest(struct hx_circuits_plan *p, struct hx_problem *problem)
{
    for (size_t i = 0; i < p->names_of_links; i++)
        if (!p->link[p->named[i]].on && !note_closing(p, p->named[i], UINT64_MAX))
            return false;
    return p->lines || hx_fail(problem, HX_EXIT_CONFIG, p->l.path, "no line says 'at 0:' and circuits");
}

static bool read_lines(struct hx_circuits_plan *p, const char *path, struct hx_problem *problem)
{
    if (!hx_lines_open_large(&p->l, path, LONGEST_LINE, MOST_BYTES, problem))
        return false;
    bool good = true;
    while (good && hx_lines_next(&p->l))
        good = take_line(p);
    good = good && !p->l.failed && close_rest(p, problem);
    hx_lines_close(&p->l);
    return good;
}

bool hx_circuits_plan_read(struct hx_circuits_plan *p, const char *path, struct hx_problem *problem)
{
    p->link = hx_allocate(p->f->ports, sizeof *p->link);
    p->owner = hx_allocate(p->f->ports, sizeof *p->owner);
    p->used = hx_allocate(p->f->nodes, sizeof *p->used);
    take_places(p);
    return read_lines(p, path, problem);
}

void hx_circuits_plan_free(struct hx_circuits_plan *p)
{
    HX_FREE(p->place, p->names, p->text, p->line, p->link, p->owner, p->named, p->used, p->closing);
}
