/* fuzz_msccl.c - any MSCCL file is refused in one line that names the file, or is a schedule that is the same when it
 * was written as GOAL. libFuzzer's entry; seeds in corpus/msccl. */
#include "tests/fuzz/fuzz_schedule.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_schedule(data, size, &schedule_msccl);
    return 0;
}
