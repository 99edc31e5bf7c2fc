/* topology.c - which topologies there are, and which of them a spec string names (host/topology/topology.h). */
#include "host/topology/topology.h"

#include "host/topology/all.h"

#include <ctype.h>
#include <string.h>

const struct hx_topology *const hx_topologies[] = {
#define HX_TOPOLOGY_ENTRY(name) &hx_topology_##name,
    HX_ALL_TOPOLOGIES(HX_TOPOLOGY_ENTRY)
#undef HX_TOPOLOGY_ENTRY
        NULL};

/* Lower case; what stands before the first space, or without any. */
static void take(char to[HX_SPEC_BYTES], const char *text, bool all)
{
    size_t used = 0;
    for (; *text && used < HX_SPEC_BYTES - 1; text++) {
        if (!isspace((unsigned char)*text))
            to[used++] = (char)tolower((unsigned char)*text);
        else if (used && !all)
            break;
    }
    to[used] = '\0';
}

const struct hx_topology *hx_topology_of(const char *text, struct hx_problem *problem)
{
    char squeezed[HX_SPEC_BYTES];
    char word[HX_SPEC_BYTES];
    const char *words[32] = {NULL};
    take(squeezed, text, true);
    take(word, text, false);
    for (unsigned i = 0; hx_topologies[i]; i++) {
        const struct hx_topology *t = hx_topologies[i];
        if (t->claims ? t->claims(squeezed) : strcmp(word, t->word) == 0)
            return t;
        words[i] = t->word;
    }
    hx_fail(problem, HX_EXIT_CONFIG, text, "no such fabric%s; hxmesh topologies lists them",
            hx_did_you_mean(word, words));
    return NULL;
}

bool hx_fabric_make(struct hx_fabric *f, const char *text, unsigned planes, struct hx_problem *problem)
{
    struct hx_words words;
    *f = (struct hx_fabric){.topology = hx_topology_of(text, problem), .planes = planes};
    if (!f->topology || !hx_words_split(&words, text, problem))
        return false;
    if (f->topology->build(f, &words, problem))
        return true;
    hx_fabric_free(f);
    if (!problem->where[0])
        hx_words_fail(&words, problem, "%s", problem->what);
    return false;
}
