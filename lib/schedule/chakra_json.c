/* chakra_json.c - reads the JSON form of a Chakra trace (mlcommons/chakra, src/feeder/json_node.cpp).
 *
 *     { "workload_graph": [ { "Id": ID, "NodeType": TYPE, "Name": TEXT, "is_cpu_op": BOOL, "runtime": MICROSECONDS,
 *                             "data_deps": [ID, ...], "ctrl_deps": [ID, ...], "num_ops": N, "tensor_size": BYTES,
 *                             "comm_type": N, "comm_size": BYTES, "comm_src": RANK, "comm_dst": RANK, "comm_tag": N,
 *                             "pg_name": TEXT }, ... ] }
 *
 * Id and NodeType are required. "ctrlDeps" is "ctrl_deps". Other keys are skipped. Values are as in the binary form
 * (chakra.c). "workload_graph" stands in the first 4096 bytes. */
#include "schedule/chakra.h"

#include <inttypes.h>
#include <string.h>

#define GRAPH "workload_graph"

bool chakra_json_is(const uint8_t *begin, size_t bytes)
{
    static const char key[] = "\"" GRAPH "\"";
    size_t at = 0;
    while (at < bytes && begin[at] && strchr(" \t\r\n", begin[at]))
        at++;
    return at < bytes && begin[at] == '{' && memmem(begin + at, bytes - at, key, sizeof key - 1);
}

static bool fail(const struct chakra_rank *r, size_t index, const char *key, const char *expected)
{
    return hx_fail(r->trace->problem, HX_EXIT_CONFIG, r->path, "%s %zu: %s: expected %s", r->place, index, key,
                   expected);
}

/* Reads a list of ids, if it is there. */
static bool read_dependencies(struct chakra_rank *r, size_t index, const json_t *node, const char *key)
{
    const json_t *list = json_object_get(node, key);
    size_t i;
    json_t *id;
    if (list && !json_is_array(list))
        return fail(r, index, key, "a list of ids");
    json_array_foreach(list, i, id)
    {
        if (!json_is_integer(id) || json_integer_value(id) < 0)
            return fail(r, index, key, "ids of 0 and up");
        chakra_depend(r, (uint64_t)json_integer_value(id), strcmp(key, "data_deps") != 0);
    }
    return true;
}

/* Reads a number of 0 and up. */
static bool read_whole(const struct chakra_rank *r, size_t index, const json_t *node, const char *key, bool required,
                       uint64_t *value)
{
    const json_t *number = json_object_get(node, key);
    *value = 0;
    if (!number && !required)
        return true;
    if (!json_is_integer(number) || json_integer_value(number) < 0)
        return fail(r, index, key, "a number of 0 and up");
    *value = (uint64_t)json_integer_value(number);
    return true;
}

static struct chakra_text text_of(const json_t *node, const char *key)
{
    const json_t *text = json_object_get(node, key);
    return (struct chakra_text){text ? json_string_value(text) : NULL, json_string_length(text)};
}

static bool read_node(struct chakra_rank *r, size_t index, const json_t *json)
{
    struct chakra_node node = {.place = index,
                               .is_cpu = json_is_true(json_object_get(json, "is_cpu_op")),
                               .name = text_of(json, "Name"),
                               .group = text_of(json, "pg_name")};
    uint64_t type;
    for (unsigned i = 0; i < CHAKRA_NUMBERS; i++) {
        const json_t *number = json_object_get(json, chakra_number_names[i]);
        if (number && !json_is_integer(number))
            return fail(r, index, chakra_number_names[i], "a number");
        node.number[i] = json_integer_value(number);
        node.has |= (number ? 1U : 0U) << i;
    }
    if (!read_whole(r, index, json, "Id", true, &node.id) || !read_whole(r, index, json, "NodeType", true, &type) ||
        !read_whole(r, index, json, "runtime", false, &node.micros))
        return false;
    node.type = (int64_t)type;
    return read_dependencies(r, index, json, "data_deps") && read_dependencies(r, index, json, "ctrl_deps") &&
           read_dependencies(r, index, json, "ctrlDeps") && chakra_take(r, &node);
}

bool chakra_json_read(struct chakra_rank *r, json_load_callback_t read, void *of)
{
    json_error_t error;
    size_t i;
    json_t *node;
    json_t *root = json_load_callback(read, of, 0, &error);
    if (!root)
        return hx_fail_at(r->trace->problem, r->path, error.line > 0 ? (unsigned)error.line : 1,
                          error.column > 0 ? (unsigned)error.column : 1, "is no JSON: %s", error.text);
    const json_t *graph = json_object_get(root, GRAPH);
    r->place = GRAPH " element";
    bool good =
        json_is_array(graph) || hx_fail(r->trace->problem, HX_EXIT_CONFIG, r->path, GRAPH ": expected a list of nodes");
    json_array_foreach(graph, i, node)
    {
        good = good && (json_is_object(node) ? read_node(r, i, node) : fail(r, i, "node", "an object"));
    }
    json_decref(root);
    return good;
}
