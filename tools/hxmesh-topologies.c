/* hxmesh-topologies - lists all topologies and the syntax of each. */
#include "base/json.h"
#include "base/options/options.h"
#include "topology/topology.h"

#include <stdio.h>

static json_t *to_json(void)
{
    json_t *all = json_array();
    for (unsigned i = 0; hx_topologies[i]; i++) {
        const struct hx_topology *t = hx_topologies[i];
        json_array_append_new(
            all, json_pack("{s:s, s:s, s:s}", "word", t->word, "parameters", t->parameters, "example", t->example));
    }
    return all;
}

static void print(void)
{
    for (unsigned i = 0; hx_topologies[i]; i++) {
        const struct hx_topology *t = hx_topologies[i];
        printf("%s%s: %s\n  %-12s%s\n  %-12s%s\n", i ? "\n" : "", t->word, t->summary, "parameters", t->parameters,
               "example", t->example);
    }
}

int main(int argc, char **argv)
{
    static const struct hx_option options[] = {HX_OPTIONS_END};
    static const struct hx_command command = {
        HX_PROGRAM("hxmesh topologies", "hxmesh-info hxmesh-run hxmesh-route hxmesh-check"),
        .examples = {{"hxmesh topologies", "every fabric, its parameters and an example"}},
        .summary = "Lists the fabrics that there are: the word each is written with, its parameters and an example.",
        .details =
            "A fabric is written as a word, then sizes or KEY=VALUE; what is left out has a default. Case and spaces "
            "are free. What is listed can stand wherever a program takes SPEC, and in a file as fabric:.",
        .options = options};
    struct hx_common common;
    (void)hx_options_parse(&command, argc, argv, &common);
    if (common.json)
        hx_json_write(to_json(), common.json);
    else
        print();
    hx_output_close(stdout, "-");
    return HX_EXIT_DONE;
}
