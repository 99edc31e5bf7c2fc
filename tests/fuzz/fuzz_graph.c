/* fuzz_graph.c - any bytes as a graph, as a list and as YAML, are refused in one line, or are a valid fabric.
 * libFuzzer's entry; seeds in corpus/graph. */
#include "tests/fuzz/fuzz.h"
#include "topology/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST = 4096 };

static void require_whole(const struct hx_fabric *f)
{
    require(f->hosts >= 2 && f->nodes > f->hosts && f->vcs >= 1);
    for (uint32_t node = 0; node < f->nodes; node++) {
        require(hx_fabric_ports(f, node) <= HX_MAX_RADIX && f->node[node].group < f->groups);
        for (unsigned port = 0; port < hx_fabric_ports(f, node); port++) {
            struct hx_end far = hx_fabric_far(f, node, port);
            require(far.node == HX_NOWHERE || hx_fabric_far(f, far.node, far.port).node == node);
        }
    }
}

static void try_file(const char *end, const uint8_t *data, size_t size)
{
    char spec[64];
    struct hx_fabric f;
    struct hx_problem problem = {.what = ""};
    int begin = snprintf(spec, sizeof spec, "graph ");
    (void)snprintf(spec + begin, sizeof spec - (size_t)begin, "/tmp/hxmesh-fuzz-%d%s", (int)getpid(), end);
    FILE *out = fopen(spec + begin, "w");
    require(out && fwrite(data, 1, size, out) == size && fclose(out) == 0);
    if (hx_fabric_make(&f, spec, 1, &problem)) {
        require_whole(&f);
        hx_fabric_free(&f);
    } else {
        require(problem.exit_code != 0 && problem.what[0] != '\0' && !strchr(problem.what, '\n'));
    }
    require(unlink(spec + begin) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > LONGEST)
        return 0;
    try_file(".csv", data, size);
    try_file(".yaml", data, size);
    return 0;
}
