/* deeds.h - an input as a row of bytes that say what is done next, for fuzzers of what has a state. */
#ifndef HXMESH_TESTS_FUZZ_DEEDS_H
#define HXMESH_TESTS_FUZZ_DEEDS_H

#include <stdint.h>

struct input {
    const uint8_t *at, *end;
};

/* The next byte; 0: there is none. */
static inline uint8_t next(struct input *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

#endif
