/* fuzz_layers.c - any text is refused in one line with a place, or is a workload of layers. libFuzzer's entry; seeds in
 * corpus/layers. The number of ranks is fixed, so that a schedule is small. */
#include "schedule/formats.h"
#include "schedule/readers.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST = 4096, RANKS = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct schedule_read_options options = {.ranks = RANKS};
    char path[64];
    struct schedule_notes notes = {.skipped = 0};
    struct hx_problem problem = {.what = ""};
    if (size > LONGEST || !schedule_layers.is(data, size))
        return 0;
    (void)snprintf(path, sizeof path, "/tmp/hxmesh-fuzz-%d.layers", (int)getpid());
    FILE *out = fopen(path, "w");
    require(out && fwrite(data, 1, size, out) == size && fclose(out) == 0);
    struct schedule_builder *b = schedule_layers.read(path, &options, &notes, &problem);
    struct schedule *s = b ? schedule_build(b, path, &problem) : NULL;
    if (s) {
        require(schedule_ranks(s) == RANKS);
        schedule_close(s);
    } else {
        require(problem.exit_code != 0 && strncmp(problem.where, path, strlen(path)) == 0 && problem.what[0] &&
                !strchr(problem.what, '\n'));
    }
    require(unlink(path) == 0);
    return 0;
}
