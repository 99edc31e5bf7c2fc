/* fuzz_goal.c - any GOAL text is refused in one line with a place, or is a schedule that is the same when it was
 * written as text and as binary. libFuzzer's entry; seeds in corpus/goal. */
#include "tests/fuzz/fuzz_schedule.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_schedule(data, size, &schedule_goal);
    return 0;
}
