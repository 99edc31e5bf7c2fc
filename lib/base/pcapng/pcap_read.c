/* pcap_read.c - classic pcap: a header of 24 bytes, then records of 16 bytes and a frame (base/pcapng/bytes.h). */
#include "base/pcapng/bytes.h"

enum { HEADER_BYTES = 24, RECORD_BYTES = 16, LINK_TYPE_BITS = 0x0FFFFFFF };

/* The caller has read the first four bytes and set r->swapped and r->nanoseconds. */
enum hx_pcapng_event hx_pcap_begin(struct hx_pcapng_reader *r, struct hx_problem *problem)
{
    if (!hx_pcapng_read_bytes(r, 4, HEADER_BYTES - 4, problem))
        return HX_PCAPNG_IS_BAD;
    unsigned major = (unsigned)hx_pcapng_word(r, r->block + 4, 2);
    unsigned minor = (unsigned)hx_pcapng_word(r, r->block + 6, 2);
    if (major != 2)
        return hx_pcapng_bad(r, 4, problem, "a pcap file of version %u.%u, not 2.x", major, minor);
    uint32_t snaplen = (uint32_t)hx_pcapng_word(r, r->block + 16, 4);
    struct hx_pcapng_interface_time t = {.resolution = r->nanoseconds ? 9 : 6, .snaplen = snaplen};
    if (!hx_pcapng_add_interface(r, t, problem))
        return HX_PCAPNG_IS_BAD;
    static const char unknown[] = "unknown";
    r->interface =
        (struct hx_pcapng_read_interface){.link_type = (uint32_t)hx_pcapng_word(r, r->block + 20, 4) & LINK_TYPE_BITS,
                                          .snaplen = snaplen,
                                          .name = {unknown, sizeof unknown - 1}};
    r->section = (struct hx_pcapng_read_section){.comments = 0};
    r->offset = HEADER_BYTES;
    return HX_PCAPNG_IS_SECTION;
}

enum hx_pcapng_event hx_pcap_next(struct hx_pcapng_reader *r, struct hx_problem *problem)
{
    if (!r->begun) {
        r->begun = true;
        return HX_PCAPNG_IS_INTERFACE;
    }
    int first = fgetc(r->in);
    if (first == EOF && !ferror(r->in))
        return HX_PCAPNG_IS_END;
    (void)ungetc(first, r->in);
    if (!hx_pcapng_read_bytes(r, 0, RECORD_BYTES, problem))
        return HX_PCAPNG_IS_BAD;
    uint64_t seconds = hx_pcapng_word(r, r->block, 4);
    uint64_t fraction = hx_pcapng_word(r, r->block + 4, 4);
    uint32_t captured = (uint32_t)hx_pcapng_word(r, r->block + 8, 4);
    uint32_t original = (uint32_t)hx_pcapng_word(r, r->block + 12, 4);
    if (captured > HX_PCAPNG_MOST_BLOCK)
        return hx_pcapng_bad(r, r->offset + 8, problem, "a frame of %u bytes is too long", captured);
    if (!hx_pcapng_read_bytes(r, RECORD_BYTES, captured, problem))
        return HX_PCAPNG_IS_BAD;
    r->offset += RECORD_BYTES + captured;
    r->packet =
        (struct hx_pcapng_read_packet){.frame = ++r->frames,
                                       .has_time = true,
                                       .time_ns = seconds * 1000000000U + fraction * (r->nanoseconds ? 1 : 1000),
                                       .bytes = r->block + RECORD_BYTES,
                                       .captured = captured,
                                       .original = original > captured ? original : captured};
    return HX_PCAPNG_IS_PACKET;
}
