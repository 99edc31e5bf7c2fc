/* fuzz.h - shared by all fuzzers: the entry, which libFuzzer or replay.c calls, and a check of invariants. */
#ifndef HXMESH_TESTS_FUZZ_FUZZ_H
#define HXMESH_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A false condition is a finding. */
static inline void require(int condition)
{
    if (!condition)
        abort();
}

#endif
