/* crc32c.c - CRC-32C by slicing-by-4: four bytes a step through four constant tables (include/hxmesh/crc32c.h).
 *
 * Four tables are 4 KiB of read-only data: they fit the flash of a Cortex-M and leave most of a first-level cache to
 * the payload. A platform with an instruction for this polynomial uses it behind hal_crc32c. */
#include "hxmesh/crc32c.h"

#include <stdint.h>

/* CRC is linear over GF(2): an entry is the sum of the contributions of its bits. Bit n of a byte followed by k bytes
 * of the same step contributes 0x82F63B78 shifted 8*k + 7-n times through the register. */
#define SUM(i, b0, b1, b2, b3, b4, b5, b6, b7)                                                                         \
    (BIT(i, 0, b0) ^ BIT(i, 1, b1) ^ BIT(i, 2, b2) ^ BIT(i, 3, b3) ^ BIT(i, 4, b4) ^ BIT(i, 5, b5) ^ BIT(i, 6, b6) ^   \
     BIT(i, 7, b7))
#define BIT(i, n, contribution) ((((i) >> (n)) & 1U) ? (contribution) : 0U)

#define FOLLOWED_BY_0(i)                                                                                               \
    SUM(i, 0xF26B8303, 0xE13B70F7, 0xC79A971F, 0x8AD958CF, 0x105EC76F, 0x20BD8EDE, 0x417B1DBC, 0x82F63B78)
#define FOLLOWED_BY_1(i)                                                                                               \
    SUM(i, 0x13A29877, 0x274530EE, 0x4E8A61DC, 0x9D14C3B8, 0x3FC5F181, 0x7F8BE302, 0xFF17C604, 0xFBC3FAF9)
#define FOLLOWED_BY_2(i)                                                                                               \
    SUM(i, 0xA541927E, 0x4F6F520D, 0x9EDEA41A, 0x38513EC5, 0x70A27D8A, 0xE144FB14, 0xC76580D9, 0x8B277743)
#define FOLLOWED_BY_3(i)                                                                                               \
    SUM(i, 0xDD45AAB8, 0xBF672381, 0x7B2231F3, 0xF64463E6, 0xE964B13D, 0xD725148B, 0xABA65FE7, 0x52A0C93F)

#define ENTRIES_4(ENTRY, i) ENTRY(i), ENTRY((i) + 1U), ENTRY((i) + 2U), ENTRY((i) + 3U)
#define ENTRIES_16(ENTRY, i)                                                                                           \
    ENTRIES_4(ENTRY, i), ENTRIES_4(ENTRY, (i) + 4U), ENTRIES_4(ENTRY, (i) + 8U), ENTRIES_4(ENTRY, (i) + 12U)
#define ENTRIES_64(ENTRY, i)                                                                                           \
    ENTRIES_16(ENTRY, i), ENTRIES_16(ENTRY, (i) + 16U), ENTRIES_16(ENTRY, (i) + 32U), ENTRIES_16(ENTRY, (i) + 48U)
#define ENTRIES_256(ENTRY)                                                                                             \
    ENTRIES_64(ENTRY, 0U), ENTRIES_64(ENTRY, 64U), ENTRIES_64(ENTRY, 128U), ENTRIES_64(ENTRY, 192U)

/* table[k][byte]: contribution of a byte followed by k bytes of the same step. */
static const uint32_t table[4][256] = {
    {ENTRIES_256(FOLLOWED_BY_0)},
    {ENTRIES_256(FOLLOWED_BY_1)},
    {ENTRIES_256(FOLLOWED_BY_2)},
    {ENTRIES_256(FOLLOWED_BY_3)},
};

/* Byte by byte, for any alignment and byte order; compilers make one load of it where that is safe. */
static uint32_t load_little_endian(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

uint32_t hx_crc32c(uint32_t crc, const void *data, size_t bytes)
{
    const uint8_t *p = data;
    uint32_t state = ~crc;
    for (; bytes >= 4; bytes -= 4, p += 4) {
        state ^= load_little_endian(p);
        state = table[3][state & 0xFFU] ^ table[2][state >> 8 & 0xFFU] ^ table[1][state >> 16 & 0xFFU] ^
                table[0][state >> 24];
    }
    for (; bytes > 0; bytes--, p++)
        state = table[0][(state ^ *p) & 0xFFU] ^ state >> 8;
    return ~state;
}
