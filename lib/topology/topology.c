/* topology.c - the list of topologies, and which of them a spec string names (topology/topology.h). */
#include "topology/topology.h"

#include "topology/all.h"      /* circle: finds a topology in the list of all */
#include "topology/failures.h" /* circle: building a fabric applies failures */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 64 }; /* that texts may resemble */

const struct hx_topology *const hx_topologies[] = {
#define HX_TOPOLOGY_ENTRY(name) &hx_topology_##name,
    HX_ALL_TOPOLOGIES(HX_TOPOLOGY_ENTRY)
#undef HX_TOPOLOGY_ENTRY
        NULL};

/* Copies in lower case without spaces. */
static void squeeze(char to[HX_SPEC_BYTES], const char *text)
{
    size_t used = 0;
    for (; *text && used < HX_SPEC_BYTES - 1; text++)
        if (!isspace((unsigned char)*text))
            to[used++] = (char)tolower((unsigned char)*text);
    to[used] = '\0';
}

/* Copies the letters that are compared with a topology's: the first word, "fat-tre"; all letters of a text that begins
 * with a number, "xhxmehs" of "4x4 Hx2Mehs". */
static void take_letters(char to[HX_SPEC_BYTES], const char *text)
{
    size_t used = 0;
    while (isspace((unsigned char)*text))
        text++;
    bool all = isdigit((unsigned char)*text);
    for (; *text && used < HX_SPEC_BYTES - 1; text++) {
        if (isalpha((unsigned char)*text) || *text == '-' || *text == '_')
            to[used++] = *text;
        else if (!all)
            break;
    }
    to[used] = '\0';
}

static bool claims(const struct hx_topology *t, const char *text, const char *squeezed)
{
    if (t->claims)
        return t->claims(squeezed);
    while (isspace((unsigned char)*text))
        text++;
    size_t length = strlen(t->word);
    return strncasecmp(text, t->word, length) == 0 && (text[length] == '\0' || isspace((unsigned char)text[length]));
}

static const struct hx_topology *nearest(const char *text)
{
    char letters[HX_SPEC_BYTES];
    const char *words[MOST_WORDS + 1] = {NULL};
    const struct hx_topology *of[MOST_WORDS];
    unsigned count = 0;
    take_letters(letters, text);
    for (unsigned i = 0; hx_topologies[i]; i++) {
        const char *const word[] = {hx_topologies[i]->word, NULL};
        const char *const *each = hx_topologies[i]->resembles ? hx_topologies[i]->resembles : word;
        for (; *each && count < MOST_WORDS; each++, count++) {
            words[count] = *each;
            of[count] = hx_topologies[i];
        }
    }
    const char *word = hx_nearest(letters, words);
    for (unsigned i = 0; word && i < count; i++)
        if (words[i] == word)
            return of[i];
    return NULL;
}

const struct hx_topology *hx_topology_of(const char *text, struct hx_problem *problem)
{
    char squeezed[HX_SPEC_BYTES];
    squeeze(squeezed, text);
    for (unsigned i = 0; hx_topologies[i]; i++)
        if (claims(hx_topologies[i], text, squeezed))
            return hx_topologies[i];
    const struct hx_topology *near = nearest(text);
    const char *where = *text ? text : "''";
    size_t length = strlen(squeezed);
    if (squeezed[0] == 'h' && length >= 5 && strcmp(squeezed + length - 4, "mesh") == 0)
        hx_fail(problem, HX_EXIT_CONFIG, where,
                "says neither how many boards there are nor of what size (write for example '%s')",
                hx_topology_hamming_mesh.example);
    else if (near)
        hx_fail(problem, HX_EXIT_CONFIG, where,
                "is not a fabric (did you mean '%s'? write for example '%s'; hxmesh topologies lists what there is)",
                near->word, near->example);
    else
        hx_fail(problem, HX_EXIT_CONFIG, where,
                "is not a fabric (write for example '4x4 Hx2Mesh', 'fat-tree hosts=64', or name a *.hxm.yaml file; "
                "hxmesh topologies lists what there is)");
    return NULL;
}

static bool take_failures(struct hx_fabric *f, const struct hx_spec_tokens *words, const char *failures,
                          struct hx_problem *problem)
{
    char written[HX_SPEC_BYTES];
    hx_spec_tokens_as_written(words, failures, written);
    free(f->updown); /* of a graph */
    f->updown = NULL;
    return hx_failures_take(f, written, problem);
}

static void set_graph_text(struct hx_fabric *f, const struct hx_graph_text *graph)
{
    f->graph_given = true;
    if (!graph->bytes)
        return;
    f->graph_text = hx_allocate(graph->length + 1, 1);
    memcpy(f->graph_text, graph->bytes, graph->length);
    f->graph_bytes = graph->length;
}

bool hx_fabric_make(struct hx_fabric *f, const char *text, unsigned planes, struct hx_problem *problem)
{
    return hx_fabric_make_told(f, text, planes, NULL, problem);
}

bool hx_fabric_make_told(struct hx_fabric *f, const char *text, unsigned planes, const struct hx_graph_text *graph,
                         struct hx_problem *problem)
{
    struct hx_spec_tokens words;
    struct hx_routing routing;
    *f = (struct hx_fabric){.topology = hx_topology_of(text, problem), .planes = planes};
    if (!f->topology || !hx_spec_tokens_split(&words, text, problem))
        return false;
    const char *written = hx_spec_tokens_text(&words, "routing");
    char why[HX_WHY_TEXT];
    const char *wrong = hx_routing_parse(written ? written : "minimal", &routing, why);
    const char *failures = hx_spec_tokens_text(&words, "fail");
    if (!wrong && failures && routing.policy != HX_MINIMAL)
        wrong = "with fail= all paths are minimal: leave out routing=";
    if (wrong)
        return hx_spec_tokens_fail(&words, problem, "%s", wrong);
    f->by_updown = failures != NULL;
    if (graph)
        set_graph_text(f, graph);
    if (f->topology->build(f, &words, problem) && hx_fabric_set_routing(f, &routing, problem) &&
        (!failures || take_failures(f, &words, failures, problem)))
        return true;
    hx_fabric_free(f);
    if (!problem->where[0])
        hx_spec_tokens_fail(&words, problem, "%s", problem->what);
    return false;
}
