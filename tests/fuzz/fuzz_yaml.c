/* fuzz_yaml.c - any text behind the first line of a fabric file is refused in one line with a place, or is a spec that
 * can be freed. libFuzzer's entry; seeds in corpus/yaml.
 *
 * The fabric is fixed, so it is small; details of it, of jobs, traffic and cables are the input's. */
#include "spec/spec.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char first[] = "fabric: 8x8 Hx2Mesh\n";
    char path[64];
    struct hx_spec spec;
    struct hx_problem problem = {.what = ""};
    if (size > LONGEST)
        return 0;
    (void)snprintf(path, sizeof path, "/tmp/hxmesh-fuzz-%d.hxm.yaml", (int)getpid());
    FILE *out = fopen(path, "w");
    require(out && fputs(first, out) >= 0 && fwrite(data, 1, size, out) == size && fclose(out) == 0);
    if (hx_spec_read(path, &spec, &problem)) {
        require(spec.planes >= 1 && spec.planes <= HX_MAX_PLANES);
        hx_spec_free(&spec);
    } else {
        require(problem.exit_code != 0 && strncmp(problem.where, path, strlen(path)) == 0 && problem.what[0] &&
                !strchr(problem.what, '\n'));
    }
    require(unlink(path) == 0);
    return 0;
}
