/* prove.h - shared by the entries of tests/prove: values of which Frama-C knows only the range (mk/prove.sh). */
#ifndef PROVE_H
#define PROVE_H

#include <stddef.h>
#include <stdint.h>

/* Frama-C's own: any number from first to last, any bytes. */
unsigned long Frama_C_unsigned_long_interval(unsigned long first, unsigned long last);
void Frama_C_make_unknown(char *bytes, unsigned long count);

static inline uint64_t any(uint64_t first, uint64_t last)
{
    return Frama_C_unsigned_long_interval(first, last);
}

static inline void any_bytes(uint8_t *bytes, size_t count)
{
    Frama_C_make_unknown((char *)bytes, count);
}

#endif
