/* fuzz_kineto.c - any bytes are refused in one line, or are the trace of one rank or of two that do alike. libFuzzer's
 * entry; seeds in corpus/kineto. The check of the first bytes is left out, so that it hides nothing. */
#include "schedule/formats.h"
#include "schedule/readers.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST = 4096 };

static void read_as(const char *path, uint64_t ranks)
{
    const struct schedule_read_options options = {.ranks = ranks};
    struct schedule_notes notes = {.skipped = 0};
    struct hx_problem problem = {.what = ""};
    struct schedule_builder *b = schedule_kineto.read(path, &options, &notes, &problem);
    struct schedule *s = b ? schedule_build(b, path, &problem) : NULL;
    if (s) {
        require(schedule_ranks(s) == (ranks ? ranks : 1));
        schedule_close(s);
    } else {
        require(problem.exit_code != 0 && strncmp(problem.where, path, strlen(path)) == 0 && problem.what[0] &&
                !strchr(problem.what, '\n'));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    if (size > LONGEST)
        return 0;
    (void)schedule_kineto.is(data, size);
    (void)snprintf(path, sizeof path, "/tmp/hxmesh-fuzz-%d.json", (int)getpid());
    FILE *out = fopen(path, "w");
    require(out != NULL);
    const size_t written = fwrite(data, 1, size, out);
    require(fclose(out) == 0 && written == size);
    read_as(path, 0);
    read_as(path, 2);
    require(unlink(path) == 0);
    return 0;
}
