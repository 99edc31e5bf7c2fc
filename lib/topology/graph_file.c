/* graph_file.c - reads edge lists (topology/graph_file.h). */
#include "topology/graph_file.h"

#include "base/value.h"

#include <ctype.h>
#include <errno.h>
#include <search.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_NODES = 2 * HX_MAX_HOSTS, MOST_LINKS = 1 << 22, MOST_NS = 1000000000, MOST_GBPS = 1000000, WORDS = 4 };

/* Fails with the line and the column of the wrong word. `at`: that word; NULL: the whole line. */
__attribute__((format(printf, 3, 4))) static bool wrong(const struct hx_graph_reading *r, const char *at,
                                                        const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    unsigned column = r->lines ? hx_lines_column(r->lines, at) : r->column;
    hx_fail_at_list(r->problem, r->g->path, r->line, column, format, arguments);
    va_end(arguments);
    return false;
}

/* ---- nodes ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct hx_graph_node *)a)->name, ((const struct hx_graph_node *)b)->name);
}

/* Returns the node of a name, a new one if there is none; NULL: not a valid name, or too many nodes. */
static struct hx_graph_node *take_node(const struct hx_graph_reading *r, const char *name)
{
    struct hx_graph_file *g = r->g;
    struct hx_graph_node wanted = {.name = (char *)(uintptr_t)name};
    if (*name == '\0' || strpbrk(name, " \t")) {
        wrong(r, name, "'%.80s' is not a name: it is %s", name, *name ? "more words than one" : "empty");
        return NULL;
    }
    struct hx_graph_node *const *found = tfind(&wanted, &g->by_name, by_name);
    if (found)
        return *found;
    if (g->nodes == MOST_NODES) {
        wrong(r, name, "more than %d nodes", MOST_NODES);
        return NULL;
    }
    struct hx_graph_node *node = hx_allocate(1, sizeof *node);
    *node = (struct hx_graph_node){.name = hx_allocate(strlen(name) + 1, 1), .number = g->nodes};
    memcpy(node->name, name, strlen(name));
    g->node = hx_grow(g->node, g->nodes, &g->nodes_room, sizeof(struct hx_graph_node *));
    g->node[g->nodes++] = node;
    if (!tsearch(node, &g->by_name, by_name))
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "out of memory");
    return node;
}

static bool read_forwarding(const struct hx_graph_reading *r, const struct hx_graph_words *w,
                            struct hx_graph_node *node)
{
    uint64_t ns = node->delay_ns; /* a repeated node keeps values that this line does not give */
    uint64_t gbps = node->gbps;
    if ((w->ns || w->gbps) && node->role != HX_GRAPH_FORWARDS)
        return wrong(r, w->ns ? w->ns : w->gbps, "'%.80s' does not forward: only 'forward' takes ns and gbps",
                     node->name);
    char why[HX_WHY_TEXT];
    const char *bad = w->ns ? hx_value_number(w->ns, 0, MOST_NS / 1000, &ns, why) : NULL;
    if (bad)
        return wrong(r, w->ns, "%s", bad);
    bad = w->gbps ? hx_value_number(w->gbps, 0, MOST_GBPS, &gbps, why) : NULL;
    node->delay_ns = (uint32_t)ns;
    node->gbps = (uint32_t)gbps;
    return !bad || wrong(r, w->gbps, "%s", bad);
}

bool hx_graph_add_node(const struct hx_graph_reading *r, const struct hx_graph_words *w)
{
    char hint[HX_HINT_TEXT];
    const char *word = w->role;
    static const char *const roles[] = {"", "switch", "host", "forward", NULL};
    enum hx_graph_role role = word ? HX_GRAPH_SWITCH : HX_GRAPH_UNSAID;
    while (word && roles[role] && strcmp(roles[role], word) != 0)
        role++;
    if (!roles[role])
        return wrong(r, word, "'%.80s' is none of switch, host, forward%s%s", word,
                     r->lines ? ", and a link has a comma" : "", hx_did_you_mean(hint, word, roles));
    struct hx_graph_node *node = take_node(r, w->name);
    if (node && node->role != HX_GRAPH_UNSAID && role != HX_GRAPH_UNSAID && node->role != role)
        return wrong(r, word, "'%.80s' is already a %s", node->name, roles[node->role]);
    if (node && role != HX_GRAPH_UNSAID)
        node->role = role;
    return node && (role == HX_GRAPH_UNSAID || read_forwarding(r, w, node));
}

static bool read_node(const struct hx_graph_reading *r, char *text)
{
    char *word[WORDS + 1] = {text};
    char *rest = NULL;
    unsigned words = 0;
    for (char *next = strtok_r(text, " \t", &rest); next && words <= WORDS; next = strtok_r(NULL, " \t", &rest))
        word[words++] = next;
    if (words > WORDS)
        return wrong(r, word[WORDS],
                     "'%.80s' is too much: a line has at most WORD NAME NS GBPS, and a link has a comma", word[WORDS]);
    if (words < 2)
        return hx_graph_add_node(r, &(struct hx_graph_words){.name = word[0]});
    return hx_graph_add_node(
        r, &(struct hx_graph_words){.role = word[0], .name = word[1], .ns = word[2], .gbps = word[3]});
}

/* ---- links ---- */

static bool read_class(const struct hx_graph_reading *r, const char *const *field, uint8_t *number)
{
    char why[HX_WHY_TEXT];
    static const char *const names[HX_GRAPH_CLASSES] = {"link", "link2", "link3", "link4", "link5", "link6", "link7"};
    struct hx_graph_file *g = r->g;
    uint64_t gbps = 0;
    uint64_t ns = HX_LATENCY_OF_KIND;
    unsigned kind = HX_DAC;
    const char *bad;
    if (*field[2] && (bad = hx_value_number(field[2], 1, MOST_GBPS, &gbps, why)))
        return wrong(r, field[2], "%s", bad);
    if (*field[3] && (bad = hx_value_number(field[3], 0, MOST_NS, &ns, why)))
        return wrong(r, field[3], "%s", bad);
    if (*field[4] && (bad = hx_value_choice(field[4], hx_link_kinds, &kind, why)))
        return wrong(r, field[4], "%s", bad);
    for (unsigned i = 0; i < g->link_classes; i++) {
        const struct hx_link_class *c = &g->link_class[i];
        *number = (uint8_t)i;
        if (c->gbps == gbps && c->latency_ns == ns && c->kind == kind)
            return true;
    }
    if (g->link_classes == HX_GRAPH_CLASSES)
        return wrong(r, NULL, "more than %d kinds of link", HX_GRAPH_CLASSES);
    *number = (uint8_t)g->link_classes;
    g->link_class[g->link_classes++] = (struct hx_link_class){
        .name = names[*number], .kind = (enum hx_link_kind)kind, .gbps = (uint32_t)gbps, .latency_ns = (uint32_t)ns};
    return true;
}

bool hx_graph_add_link(const struct hx_graph_reading *r, const char *const field[HX_GRAPH_FIELDS])
{
    struct hx_graph_file *g = r->g;
    struct hx_graph_link link;
    struct hx_graph_node *a = take_node(r, field[0]);
    struct hx_graph_node *b = a ? take_node(r, field[1]) : NULL;
    if (!b || !read_class(r, field, &link.link_class))
        return false;
    if (a == b)
        return wrong(r, field[1], "a link from '%.80s' to itself", a->name);
    if (g->links == MOST_LINKS)
        return wrong(r, NULL, "more than %d links", MOST_LINKS);
    link.a = a->number;
    link.b = b->number;
    a->links++;
    b->links++;
    g->link = hx_grow(g->link, g->links, &g->links_room, sizeof *g->link);
    g->link[g->links++] = link;
    return true;
}

static bool read_link(const struct hx_graph_reading *r, struct hx_lines *l)
{
    char *cut[HX_GRAPH_FIELDS];
    const char *field[HX_GRAPH_FIELDS] = {"", "", "", "", ""};
    unsigned fields = hx_lines_cut(l, cut, HX_GRAPH_FIELDS);
    if (fields > HX_GRAPH_FIELDS)
        return wrong(r, NULL, "more than the %d fields a,b,gbps,ns,kind", HX_GRAPH_FIELDS);
    for (unsigned i = 0; i < fields; i++)
        field[i] = cut[i];
    return hx_graph_add_link(r, field);
}

/* ---- the file ---- */

static bool read_list(struct hx_graph_file *g, struct hx_problem *problem)
{
    struct hx_lines l;
    bool good = hx_lines_take(&l, g->path, g->text, g->bytes, problem);
    if (!good)
        return false;
    while (good && hx_lines_next(&l)) {
        struct hx_graph_reading r = {.g = g, .lines = &l, .line = l.line, .problem = problem};
        good = strchr(l.text, ',') ? read_link(&r, &l) : read_node(&r, l.text + strspn(l.text, " \t"));
    }
    hx_lines_close(&l);
    return good && !l.failed;
}

static bool is_yaml(const char *path)
{
    const char *end = strrchr(path, '.');
    return end && (strcasecmp(end, ".yaml") == 0 || strcasecmp(end, ".yml") == 0);
}

bool hx_graph_read(struct hx_graph_file *g, const char *path, const char *text, size_t bytes,
                   struct hx_problem *problem)
{
    *g = (struct hx_graph_file){.path = path, .text = text, .bytes = bytes};
    bool good = is_yaml(path) ? hx_graph_read_yaml(g, problem) : read_list(g, problem);
    for (uint32_t i = 0; i < g->nodes; i++) {
        if (g->node[i]->role == HX_GRAPH_UNSAID)
            g->node[i]->role = g->node[i]->links == 1 ? HX_GRAPH_HOST : HX_GRAPH_SWITCH;
    }
    if (!good)
        hx_graph_free(g);
    return good;
}

static void keep(void *node)
{
    (void)node; /* freed by number */
}

void hx_graph_free(struct hx_graph_file *g)
{
    tdestroy(g->by_name, keep);
    for (uint32_t i = 0; i < g->nodes; i++) {
        free(g->node[i]->name);
        free(g->node[i]);
    }
    free(g->node);
    free(g->link);
    *g = (struct hx_graph_file){.path = NULL};
}
