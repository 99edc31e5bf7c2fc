/* fuzz.h - what every fuzzer has: its entry, which libFuzzer or replay.c calls, and a word for what must hold whatever
 * the input is. */
#ifndef HXMESH_TESTS_FUZZ_FUZZ_H
#define HXMESH_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Else it is a finding. */
static inline void require(int condition)
{
    if (!condition)
        abort();
}

#endif
