/* fuzz_goal_binary.c - the same as fuzz_goal.c for GOAL binary; seeds in corpus/goal_binary. */
#include "tests/fuzz/fuzz_schedule.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_schedule(data, size, &schedule_goal_binary);
    return 0;
}
