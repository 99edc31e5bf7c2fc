/* routing.c - parses and prints routing policies, and applies them to a fabric (topology/routing.h). */
#include "topology/routing.h"
#include "topology/topology.h" /* circle: a topology defines its detours */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { CANDIDATES = 4, WHOLE = HX_DETOUR_ONE };
#define TENTH     (HX_DETOUR_ONE / 10)
#define MOST_COST 64.0

static const struct {
    const char *word;
    struct hx_routing means;
} words[] = {{"minimal", {HX_MINIMAL, 0, 0, 0}},
             {"valiant", {HX_VALIANT, 0, 0, 0}},
             {"ugal", {HX_UGAL, CANDIDATES, 0, 0}},
             {"ugal-threshold", {HX_UGAL, CANDIDATES, 0, TENTH}}};
enum { WORDS = sizeof words / sizeof *words };

static const char *wrong_in(char *why, const char *text, const char *what)
{
    return hx_why(why, "'%.40s' is not a routing: %s", text, what);
}

static const char *take_real(const char *value, double low, double high, unsigned *in_ones, char *why)
{
    double real;
    const char *wrong = hx_value_real(value, low, high, &real, why);
    *in_ones = wrong ? 0 : (unsigned)lround(real * HX_DETOUR_ONE);
    return wrong;
}

static const char *take_key(char *key, struct hx_routing *routing, char *why)
{
    uint64_t number;
    const char *wrong = NULL;
    if (key[0] && key[1] == '=') {
        const char *value = key + 2;
        switch (key[0]) {
        case 'n':
            wrong = hx_value_number(value, 1, HX_MOST_CANDIDATES, &number, why);
            routing->candidates = wrong ? 0 : (unsigned)number;
            return wrong;
        case 'c':
            return take_real(value, 1.0 / HX_DETOUR_ONE, MOST_COST, &routing->cost, why);
        case 't':
            return take_real(value, 0, 1, &routing->threshold, why);
        default:
            break;
        }
    }
    return "ugal takes n=N (random detours), c=REAL (cost of a detour) and t=SHARE (threshold)";
}

const char *hx_routing_parse(const char *text, struct hx_routing *routing, char *why)
{
    char copy[HX_ROUTING_BYTES];
    if (strlen(text) >= sizeof copy)
        return wrong_in(why, text, "too long");
    memcpy(copy, text, strlen(text) + 1);
    for (char *at = copy; *at; at++)
        *at = (char)(*at >= 'A' && *at <= 'Z' ? *at - 'A' + 'a' : *at);
    char *keys = strchr(copy, ':');
    if (keys)
        *keys++ = '\0';
    unsigned word = 0;
    while (word < WORDS && strcmp(copy, words[word].word) != 0)
        word++;
    if (word == WORDS)
        return wrong_in(why, text, "minimal, valiant, ugal, ugal-threshold or as ugal:n=4,c=2,t=0.1");
    *routing = words[word].means;
    if (keys && routing->policy != HX_UGAL)
        return wrong_in(why, text, "only ugal has parameters");
    if (keys && !*keys)
        return wrong_in(why, text, "nothing follows the colon");
    char *rest = NULL;
    for (char *key = keys ? strtok_r(keys, ",", &rest) : NULL; key; key = strtok_r(NULL, ",", &rest)) {
        char of_key[HX_WHY_TEXT];
        const char *wrong = take_key(key, routing, of_key);
        if (wrong)
            return wrong_in(why, text, wrong);
    }
    return NULL;
}

const char *hx_routing_write(char *text, const struct hx_routing *routing)
{
    if (routing->policy != HX_UGAL) {
        (void)snprintf(text, HX_ROUTING_BYTES, "%s", words[routing->policy].word);
        return text;
    }
    int used = snprintf(text, HX_ROUTING_BYTES, "ugal:n=%u", routing->candidates);
    if (routing->cost)
        used += snprintf(text + used, (size_t)(HX_ROUTING_BYTES - used), ",c=%g", (double)routing->cost / WHOLE);
    if (routing->threshold)
        (void)snprintf(text + used, (size_t)(HX_ROUTING_BYTES - used), ",t=%g", (double)routing->threshold / WHOLE);
    return text;
}

bool hx_fabric_set_routing(struct hx_fabric *f, const struct hx_routing *routing, struct hx_problem *problem)
{
    f->routing = *routing;
    if (routing->policy == HX_MINIMAL)
        return true;
    if (!f->detours.vcs)
        return hx_fail(problem, HX_EXIT_CONFIG, NULL,
                       "no detours are possible here, only routing=minimal: fat-tree, mlfm, oft, dragonfly of three "
                       "groups and more, slim-fly, bigraph and hyperx of one or two sides "
                       "have them");
    f->vcs = f->detours.vcs;
    f->rule = f->detours.rule;
    if (!routing->cost)
        f->routing.cost = f->detours.weighed ? HX_DETOUR_ONE : 2 * HX_DETOUR_ONE;
    if (f->detours.weighed && !f->distance)
        hx_fabric_measure(f);
    return true;
}
