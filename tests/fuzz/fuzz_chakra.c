/* fuzz_chakra.c - any bytes are refused in one line with a place, or are the trace of a rank. libFuzzer's entry; seeds
 * in corpus/chakra. The check of the first bytes is left out, so that it hides nothing. */
#include "schedule/formats.h"
#include "schedule/readers.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct schedule_read_options options = {.flops = 1e12};
    char path[64];
    struct schedule_notes notes = {.skipped = 0};
    struct hx_problem problem = {.what = ""};
    if (size > LONGEST)
        return 0;
    (void)schedule_chakra.is(data, size);
    (void)snprintf(path, sizeof path, "/tmp/hxmesh-fuzz-%d.et", (int)getpid());
    FILE *out = fopen(path, "w");
    require(out && fwrite(data, 1, size, out) == size && fclose(out) == 0);
    struct schedule_builder *b = schedule_chakra.read(path, &options, &notes, &problem);
    struct schedule *s = b ? schedule_build(b, path, &problem) : NULL;
    if (s) {
        require(schedule_ranks(s) == 1);
        schedule_close(s);
    } else {
        require(problem.exit_code != 0 && strncmp(problem.where, path, strlen(path)) == 0 && problem.what[0] &&
                !strchr(problem.what, '\n'));
    }
    require(unlink(path) == 0);
    return 0;
}
