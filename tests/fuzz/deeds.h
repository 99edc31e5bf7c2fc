/* deeds.h - an input as a sequence of actions, for fuzzers of code with a state. */
#ifndef HXMESH_TESTS_FUZZ_DEEDS_H
#define HXMESH_TESTS_FUZZ_DEEDS_H

#include <stdint.h>

struct input {
    const uint8_t *at, *end;
};

/* The next byte; 0 at the end. */
static inline uint8_t next(struct input *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

#endif
