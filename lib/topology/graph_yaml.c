/* graph_yaml.c - reads graphs that are written in YAML (topology/graph_file.h). */
#include "base/yaml/keys.h"
#include "topology/graph_file.h"

static const char *text_of(const struct hx_yaml_item *entry, const char *key)
{
    const struct hx_yaml_item *item = hx_yaml_within(entry, key);
    return item ? item->text : NULL;
}

static bool read_node(struct hx_graph_reading *r, const struct hx_yaml_item *entry)
{
    return hx_graph_add_node(r, &(struct hx_graph_words){.name = text_of(entry, "nodes[].name"),
                                                         .role = text_of(entry, "nodes[].is"),
                                                         .ns = text_of(entry, "nodes[].ns"),
                                                         .gbps = text_of(entry, "nodes[].gbps")});
}

static bool read_link(struct hx_graph_reading *r, const struct hx_yaml_item *entry)
{
    static const char *const keys[HX_GRAPH_FIELDS] = {"links[].a", "links[].b", "links[].gbps", "links[].ns",
                                                      "links[].kind"};
    const char *field[HX_GRAPH_FIELDS];
    for (unsigned i = 0; i < HX_GRAPH_FIELDS; i++) {
        const char *text = text_of(entry, keys[i]);
        field[i] = text ? text : "";
    }
    return hx_graph_add_link(r, field);
}

static bool read_entries(struct hx_graph_file *g, const struct hx_yaml_item *list,
                         bool (*read)(struct hx_graph_reading *, const struct hx_yaml_item *),
                         struct hx_problem *problem)
{
    for (const struct hx_yaml_item *entry = list ? hx_yaml_first(list) : NULL; entry;
         entry = hx_yaml_next(list, entry)) {
        struct hx_graph_reading r = {.g = g, .line = entry->line, .column = entry->column, .problem = problem};
        if (!read(&r, entry))
            return false;
    }
    return true;
}

bool hx_graph_read_yaml(struct hx_graph_file *g, struct hx_problem *problem)
{
    const char *text = NULL; /* values are read from the tree, as text */
    const struct hx_option options[] = {
        {.key = "nodes[].name", .key_required = true, .kind = HX_OPTION_STRING, .to.string = &text},
        {.key = "nodes[].is", .kind = HX_OPTION_STRING, .to.string = &text},
        {.key = "nodes[].ns", .kind = HX_OPTION_STRING, .to.string = &text},
        {.key = "nodes[].gbps", .kind = HX_OPTION_STRING, .to.string = &text},
        {.key = "links[].a", .key_required = true, .kind = HX_OPTION_STRING, .to.string = &text},
        {.key = "links[].b", .key_required = true, .kind = HX_OPTION_STRING, .to.string = &text},
        {.key = "links[].gbps", .kind = HX_OPTION_STRING, .to.string = &text},
        {.key = "links[].ns", .kind = HX_OPTION_STRING, .to.string = &text},
        {.key = "links[].kind", .kind = HX_OPTION_STRING, .to.string = &text},
        HX_OPTIONS_END};
    static const struct hx_yaml_group groups[] = {{.key = "nodes", .holds = HX_YAML_ENTRIES},
                                                  {.key = "links", .holds = HX_YAML_ENTRIES, .required = true},
                                                  {.key = NULL}};
    const struct hx_yaml_kind kind = {.options = options, .groups = groups};
    struct hx_yaml y;
    if (!hx_yaml_take(&y, g->path, g->text, g->bytes, &kind, problem))
        return false;
    bool good = read_entries(g, hx_yaml_find(&y, "nodes"), read_node, problem) &&
                read_entries(g, hx_yaml_find(&y, "links"), read_link, problem);
    hx_yaml_free(&y);
    return good;
}
