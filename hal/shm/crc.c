/* crc.c - CRC-32C with the processor's own instruction where it has one, else the firmware's portable one.
 *
 * The instruction takes 8 bytes every cycle but answers after three, so three parts of the data run side by side and
 * are joined by shifting a CRC over the zeros of the parts behind it (a table look-up a byte of CRC). */
#include "hal_port.h"
#include "hxmesh/crc32c.h"
#include "hxmesh/memory.h"

#if defined(__x86_64__)
#include <nmmintrin.h>

enum { PART = 1024 }; /* bytes of each of three parts: a full packet takes two rounds and a tail */

/* CRC-32C polynomial, reflected; x * p(x) in the field is a shift towards the low bits. */
static uint32_t times_x(uint32_t crc)
{
    return crc >> 1 ^ (0x82F63B78U & -(crc & 1U));
}

struct shift_table {
    uint32_t of[4][256]; /* [byte of the CRC][its value]: that byte's share after PART zero bytes */
};

static void shift_table_init(struct shift_table *t)
{
    uint32_t image[32];
    for (unsigned bit = 0; bit < 32; bit++) {
        uint32_t crc = 1U << bit;
        for (unsigned n = 0; n < PART * 8; n++)
            crc = times_x(crc);
        image[bit] = crc;
    }
    for (unsigned byte = 0; byte < 4; byte++) {
        for (unsigned value = 0; value < 256; value++) {
            uint32_t sum = 0;
            for (unsigned bit = 0; bit < 8; bit++)
                sum ^= value >> bit & 1U ? image[8 * byte + bit] : 0;
            t->of[byte][value] = sum;
        }
    }
}

static uint32_t shift(const struct shift_table *t, uint32_t crc)
{
    return t->of[0][crc & 255] ^ t->of[1][crc >> 8 & 255] ^ t->of[2][crc >> 16 & 255] ^ t->of[3][crc >> 24];
}

static uint64_t word_at(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

__attribute__((target("sse4.2"))) static uint32_t crc_instruction(const struct shift_table *t, uint32_t crc,
                                                                  const uint8_t *at, size_t bytes)
{
    uint64_t first = ~crc;
    for (; bytes >= 3 * (size_t)PART; at += 3 * (size_t)PART, bytes -= 3 * (size_t)PART) {
        uint64_t second = 0;
        uint64_t third = 0;
        for (size_t i = 0; i < PART; i += 8) {
            first = _mm_crc32_u64(first, word_at(at + i));
            second = _mm_crc32_u64(second, word_at(at + PART + i));
            third = _mm_crc32_u64(third, word_at(at + 2 * (size_t)PART + i));
        }
        first = shift(t, shift(t, (uint32_t)first) ^ (uint32_t)second) ^ (uint32_t)third;
    }
    for (; bytes >= 8; at += 8, bytes -= 8)
        first = _mm_crc32_u64(first, word_at(at));
    uint32_t tail = (uint32_t)first;
    for (; bytes; at++, bytes--)
        tail = _mm_crc32_u8(tail, *at);
    return ~tail;
}

static struct {
    struct shift_table table;
    bool usable;
} instruction;

/* Before main: the table is read by all workers, written by none. */
__attribute__((constructor)) static void prepare(void)
{
    shift_table_init(&instruction.table);
    instruction.usable = __builtin_cpu_supports("sse4.2");
}

uint32_t shm_crc32c(uint32_t crc, const void *data, size_t bytes)
{
    return instruction.usable ? crc_instruction(&instruction.table, crc, data, bytes) : hx_crc32c(crc, data, bytes);
}
#else
uint32_t shm_crc32c(uint32_t crc, const void *data, size_t bytes)
{
    return hx_crc32c(crc, data, bytes);
}
#endif
