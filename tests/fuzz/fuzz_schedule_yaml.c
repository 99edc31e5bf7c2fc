/* fuzz_schedule_yaml.c - any text as a schedule in YAML is refused in one line with a place, or is a schedule.
 * libFuzzer's entry; seeds in corpus/schedule_yaml.
 *
 * The number of ranks and of statements is bounded, so it is small; all else is the input's. */
#include "schedule/yaml.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

enum { LONGEST = 4096, RANKS = 16, MOST = 2000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct schedule_read_options options = {.ranks = RANKS};
    struct hx_problem problem = {.what = ""};
    struct schedule *s = NULL;
    if (size > LONGEST)
        return 0;
    struct schedule_builder *b = schedule_yaml_parse("x.yaml", (const char *)data, size, &options, MOST, &problem);
    if (b)
        s = schedule_build(b, "x.yaml", &problem);
    require(s ? schedule_ranks(s) == RANKS
              : problem.exit_code != 0 && strncmp(problem.where, "x.yaml", 6) == 0 && problem.what[0] &&
                    !strchr(problem.what, '\n'));
    schedule_close(s);
    return 0;
}
