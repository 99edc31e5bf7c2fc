/* bytes.h - internals of the reader: words of either byte order, options, errors. */
#ifndef HXMESH_BASE_PCAPNG_BYTES_H
#define HXMESH_BASE_PCAPNG_BYTES_H

#include "base/pcapng/read.h"

struct hx_pcapng_interface_time {
    uint8_t resolution; /* if_tsresol: 10^-n, or 2^-n if the highest bit is set */
    uint32_t snaplen;
    int64_t offset; /* seconds */
};

/* Returns a word of 2, 4 or 8 bytes at `bytes`, aligned or not. */
uint64_t hx_pcapng_word(const struct hx_pcapng_reader *r, const uint8_t *bytes, unsigned width);

/* An option of a block. */
struct hx_pcapng_item {
    unsigned code;
    size_t length;
    const uint8_t *value;
};
struct hx_pcapng_items {
    const uint8_t *next, *end;
    uint64_t at; /* offset of `next` in the file */
};

/* Takes the next option. Returns 1; 0: none is left, -1: it does not fit into the block. */
int hx_pcapng_take_item(struct hx_pcapng_reader *r, struct hx_pcapng_items *items, struct hx_pcapng_item *item,
                        struct hx_problem *problem);

/* Reads `length` bytes of the block or record at r->offset into r->block, from `at` on. Returns false at the end of the
 * file. */
bool hx_pcapng_read_bytes(struct hx_pcapng_reader *r, size_t at, size_t length, struct hx_problem *problem);

/* Sets *problem to "FILE: at byte N: ...". Returns HX_PCAPNG_IS_BAD. */
__attribute__((format(printf, 4, 5))) enum hx_pcapng_event
hx_pcapng_bad(const struct hx_pcapng_reader *r, uint64_t at, struct hx_problem *problem, const char *format, ...);

/* Returns an interface's time stamp in ns, clamped to 0 .. 2^64 - 1. */
uint64_t hx_pcapng_nanoseconds(const struct hx_pcapng_interface_time *t, uint64_t stamp);

/* Adds an interface to the section. */
bool hx_pcapng_add_interface(struct hx_pcapng_reader *r, struct hx_pcapng_interface_time t, struct hx_problem *problem);

/* Return one event of a classic pcap file (pcap_read.c). */
enum hx_pcapng_event hx_pcap_begin(struct hx_pcapng_reader *r, struct hx_problem *problem);
enum hx_pcapng_event hx_pcap_next(struct hx_pcapng_reader *r, struct hx_problem *problem);

#endif
