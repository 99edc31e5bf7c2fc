/* memory.c - memcpy and memset for firmware in images without a C library (hxmesh/memory.h). */
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *memset(void *to, int value, size_t bytes);

/* Copies by words where alignment allows: payload has equal offsets modulo eight in frames and rings. Built with
 * -fno-tree-loop-distribute-patterns, or the compiler would turn memcpy's loop into a call of memcpy. */
typedef uintptr_t __attribute__((may_alias)) word;

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    uint8_t *t = to;
    const uint8_t *f = from;
    if ((((uintptr_t)t ^ (uintptr_t)f) & (sizeof(word) - 1)) == 0) {
        for (; bytes && (uintptr_t)t & (sizeof(word) - 1); bytes--)
            *t++ = *f++;
        for (; bytes >= sizeof(word); bytes -= sizeof(word), t += sizeof(word), f += sizeof(word))
            *(word *)(void *)t = *(const word *)(const void *)f;
    }
    for (; bytes; bytes--)
        *t++ = *f++;
    return to;
}

void *memset(void *to, int value, size_t bytes)
{
    uint8_t *t = to;
    word all = (uint8_t)value * (UINTPTR_MAX / UINT8_MAX);
    for (; bytes && (uintptr_t)t & (sizeof(word) - 1); bytes--)
        *t++ = (uint8_t)value;
    for (; bytes >= sizeof(word); bytes -= sizeof(word), t += sizeof(word))
        *(word *)(void *)t = all;
    for (; bytes; bytes--)
        *t++ = (uint8_t)value;
    return to;
}
