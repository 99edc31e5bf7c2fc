/* read.c - reads a pcapng file block by block (base/pcapng/read.h). */
#include "base/pcapng/read.h"
#include "base/input.h"
#include "base/pcapng/blocks.h"
#include "base/pcapng/bytes.h" /* circle: internals of the reader */

#include <stdlib.h>
#include <string.h>

enum { HEAD_BYTES = 8, TAIL_BYTES = 4, LEAST_BLOCK = 12, DEFAULT_RESOLUTION = 6 };

/* The contents of a block, between its two lengths. */
struct body {
    const uint8_t *bytes;
    size_t length;
    uint64_t at; /* offset in the file */
};

static struct hx_pcapng_items items_of(const struct body *b, size_t fixed)
{
    return (struct hx_pcapng_items){.next = b->bytes + fixed, .end = b->bytes + b->length, .at = b->at + fixed};
}

static struct hx_pcapng_text text_of(const struct hx_pcapng_item *item)
{
    const char *bytes = (const char *)item->value;
    return (struct hx_pcapng_text){bytes, strnlen(bytes, item->length)};
}

static bool holds(const struct hx_pcapng_reader *r, const struct body *b, size_t fixed, const char *what,
                  struct hx_problem *problem)
{
    if (b->length >= fixed)
        return true;
    hx_pcapng_bad(r, r->offset, problem, "%s of %zu bytes is too short", what, b->length + LEAST_BLOCK);
    return false;
}

/* ---- kinds of blocks ---- */

static enum hx_pcapng_event read_section(struct hx_pcapng_reader *r, const struct body *b, struct hx_problem *problem)
{
    if (!holds(r, b, 16, "a section header", problem))
        return HX_PCAPNG_IS_BAD;
    unsigned major = (unsigned)hx_pcapng_word(r, b->bytes + 4, 2);
    if (major != 1)
        return hx_pcapng_bad(r, b->at + 4, problem, "a section of version %u, not 1", major);
    r->interfaces = 0;
    r->section = (struct hx_pcapng_read_section){.comments = 0};
    struct hx_pcapng_items items = items_of(b, 16);
    struct hx_pcapng_item item;
    int found;
    while ((found = hx_pcapng_take_item(r, &items, &item, problem)) > 0) {
        if (item.code == HX_PCAPNG_COMMENT && r->section.comments < HX_PCAPNG_READ_NOTES)
            r->section.comment[r->section.comments++] = text_of(&item);
        else if (item.code == HX_PCAPNG_APPLICATION)
            r->section.application = text_of(&item);
    }
    return found < 0 ? HX_PCAPNG_IS_BAD : HX_PCAPNG_IS_SECTION;
}

static enum hx_pcapng_event read_interface(struct hx_pcapng_reader *r, const struct body *b, struct hx_problem *problem)
{
    if (!holds(r, b, 8, "an interface description", problem))
        return HX_PCAPNG_IS_BAD;
    struct hx_pcapng_interface_time t = {.resolution = DEFAULT_RESOLUTION,
                                         .snaplen = (uint32_t)hx_pcapng_word(r, b->bytes + 4, 4)};
    r->interface = (struct hx_pcapng_read_interface){
        .number = r->interfaces, .link_type = (uint32_t)hx_pcapng_word(r, b->bytes, 2), .snaplen = t.snaplen};
    struct hx_pcapng_items items = items_of(b, 8);
    struct hx_pcapng_item item;
    int found;
    while ((found = hx_pcapng_take_item(r, &items, &item, problem)) > 0) {
        if (item.code == HX_PCAPNG_NAME)
            r->interface.name = text_of(&item);
        else if (item.code == HX_PCAPNG_DESCRIPTION)
            r->interface.description = text_of(&item);
        else if (item.code == HX_PCAPNG_RESOLUTION && item.length >= 1)
            t.resolution = item.value[0];
        else if (item.code == HX_PCAPNG_OFFSET && item.length >= 8)
            t.offset = (int64_t)hx_pcapng_word(r, item.value, 8);
        else if (item.code == HX_PCAPNG_FILTER && item.length > 1 && item.value[0] == 0)
            r->interface.filter = (struct hx_pcapng_text){(const char *)item.value + 1,
                                                          strnlen((const char *)item.value + 1, item.length - 1)};
    }
    if (found < 0 || !hx_pcapng_add_interface(r, t, problem))
        return HX_PCAPNG_IS_BAD;
    return HX_PCAPNG_IS_INTERFACE;
}

static uint64_t stamp_of(const struct hx_pcapng_reader *r, const uint8_t *bytes)
{
    return hx_pcapng_word(r, bytes, 4) << 32 | hx_pcapng_word(r, bytes + 4, 4);
}

static void take_packet_option(struct hx_pcapng_reader *r, const struct hx_pcapng_item *item)
{
    struct hx_pcapng_read_packet *p = &r->packet;
    if (item->code == HX_PCAPNG_COMMENT && !p->comment.bytes) {
        p->comment = text_of(item);
    } else if (item->code == HX_PCAPNG_FLAGS && item->length >= 4) {
        unsigned direction = (unsigned)hx_pcapng_word(r, item->value, 4) & 3U;
        p->direction = direction == HX_PCAPNG_INBOUND || direction == HX_PCAPNG_OUTBOUND
                           ? (enum hx_pcapng_direction)direction
                           : HX_PCAPNG_UNKNOWN;
    } else if (item->code == HX_PCAPNG_DROPPED && item->length >= 8) {
        p->has_dropped = true;
        p->dropped = hx_pcapng_word(r, item->value, 8);
    } else if (item->code == HX_PCAPNG_ID && item->length >= 8) {
        p->has_id = true;
        p->id = hx_pcapng_word(r, item->value, 8);
    } else if (item->code == HX_PCAPNG_QUEUE && item->length >= 4) {
        p->has_queue = true;
        p->queue = (uint32_t)hx_pcapng_word(r, item->value, 4);
    }
}

/* Completes an enhanced, old or simple packet block; r->packet has interface, captured and original. */
static enum hx_pcapng_event finish_packet(struct hx_pcapng_reader *r, const struct body *b, size_t fixed,
                                          struct hx_problem *problem)
{
    struct hx_pcapng_read_packet *p = &r->packet;
    if (p->interface >= r->interfaces)
        return hx_pcapng_bad(r, b->at, problem, "a packet of interface %u, but the section has %u so far", p->interface,
                             r->interfaces);
    if (p->captured > b->length - fixed)
        return hx_pcapng_bad(r, b->at, problem, "a packet of %u bytes in a block that has room for %zu", p->captured,
                             b->length - fixed);
    p->bytes = b->bytes + fixed;
    p->frame = r->frames + 1;
    if (p->original < p->captured)
        p->original = p->captured;
    size_t padded = fixed + ((p->captured + (size_t)3) & ~(size_t)3);
    if (padded < b->length) {
        struct hx_pcapng_items items = items_of(b, padded);
        struct hx_pcapng_item item;
        int found;
        while ((found = hx_pcapng_take_item(r, &items, &item, problem)) > 0)
            take_packet_option(r, &item);
        if (found < 0)
            return HX_PCAPNG_IS_BAD;
    }
    r->frames++;
    return HX_PCAPNG_IS_PACKET;
}

static enum hx_pcapng_event read_enhanced(struct hx_pcapng_reader *r, const struct body *b, bool old,
                                          struct hx_problem *problem)
{
    if (!holds(r, b, 20, "a packet block", problem))
        return HX_PCAPNG_IS_BAD;
    struct hx_pcapng_read_packet *p = &r->packet;
    *p = (struct hx_pcapng_read_packet){.has_time = true,
                                        .interface = (uint32_t)hx_pcapng_word(r, b->bytes, old ? 2 : 4),
                                        .captured = (uint32_t)hx_pcapng_word(r, b->bytes + 12, 4),
                                        .original = (uint32_t)hx_pcapng_word(r, b->bytes + 16, 4)};
    uint64_t dropped = hx_pcapng_word(r, b->bytes + 2, 2);
    if (old && dropped != UINT16_MAX) {
        p->has_dropped = true;
        p->dropped = dropped;
    }
    if (p->interface < r->interfaces)
        p->time_ns = hx_pcapng_nanoseconds(&r->times[p->interface], stamp_of(r, b->bytes + 4));
    return finish_packet(r, b, 20, problem);
}

/* A simple packet block has neither a captured length nor options: only the snap length tells padding from data. */
static enum hx_pcapng_event read_simple(struct hx_pcapng_reader *r, const struct body *b, struct hx_problem *problem)
{
    if (!holds(r, b, 4, "a simple packet block", problem))
        return HX_PCAPNG_IS_BAD;
    uint32_t original = (uint32_t)hx_pcapng_word(r, b->bytes, 4);
    uint32_t captured = original;
    if (r->interfaces > 0 && r->times[0].snaplen > 0 && r->times[0].snaplen < captured)
        captured = r->times[0].snaplen;
    r->packet = (struct hx_pcapng_read_packet){.captured = captured, .original = original};
    struct body without_options = *b;
    size_t end = 4 + ((captured + (size_t)3) & ~(size_t)3);
    if (end < without_options.length)
        without_options.length = end;
    return finish_packet(r, &without_options, 4, problem);
}

static enum hx_pcapng_event read_statistics(struct hx_pcapng_reader *r, const struct body *b,
                                            struct hx_problem *problem)
{
    if (!holds(r, b, 12, "an interface statistics block", problem))
        return HX_PCAPNG_IS_BAD;
    uint32_t interface = (uint32_t)hx_pcapng_word(r, b->bytes, 4);
    if (interface >= r->interfaces)
        return hx_pcapng_bad(r, b->at, problem, "statistics of interface %u, but the section has %u so far", interface,
                             r->interfaces);
    const struct hx_pcapng_interface_time *t = &r->times[interface];
    struct hx_pcapng_statistics *s = &r->statistics;
    *s = (struct hx_pcapng_statistics){.interface = interface,
                                       .time_ns = hx_pcapng_nanoseconds(t, stamp_of(r, b->bytes + 4)),
                                       .start_ns = HX_PCAPNG_NOT_KNOWN,
                                       .end_ns = HX_PCAPNG_NOT_KNOWN,
                                       .received = HX_PCAPNG_NOT_KNOWN,
                                       .dropped = HX_PCAPNG_NOT_KNOWN,
                                       .accepted = HX_PCAPNG_NOT_KNOWN,
                                       .os_dropped = HX_PCAPNG_NOT_KNOWN};
    uint64_t *const counts[] = {[HX_PCAPNG_IFRECV] = &s->received,
                                [HX_PCAPNG_IFDROP] = &s->dropped,
                                [HX_PCAPNG_FILTERACCEPT] = &s->accepted,
                                [HX_PCAPNG_OSDROP] = &s->os_dropped};
    struct hx_pcapng_items items = items_of(b, 12);
    struct hx_pcapng_item item;
    int found;
    while ((found = hx_pcapng_take_item(r, &items, &item, problem)) > 0) {
        if (item.length < 8)
            continue;
        if (item.code == HX_PCAPNG_START)
            s->start_ns = hx_pcapng_nanoseconds(t, stamp_of(r, item.value));
        else if (item.code == HX_PCAPNG_STOP)
            s->end_ns = hx_pcapng_nanoseconds(t, stamp_of(r, item.value));
        else if (item.code < sizeof counts / sizeof *counts && counts[item.code])
            *counts[item.code] = hx_pcapng_word(r, item.value, 8);
    }
    return found < 0 ? HX_PCAPNG_IS_BAD : HX_PCAPNG_IS_STATISTICS;
}

/* ---- blocks ---- */

/* Reads the block at r->offset, of which `have` bytes are read: 0, or 4 at the start of the file. A section header
 * defines the byte order of its own length. */
static bool read_block(struct hx_pcapng_reader *r, size_t have, struct body *body, struct hx_problem *problem)
{
    if (!hx_pcapng_read_bytes(r, have, HEAD_BYTES - have, problem))
        return false;
    size_t fetched = HEAD_BYTES;
    if (hx_pcapng_word(r, r->block, 4) == HX_PCAPNG_SECTION) {
        if (!hx_pcapng_read_bytes(r, HEAD_BYTES, 4, problem))
            return false;
        fetched += 4;
        if (hx_pcapng_word(r, r->block + HEAD_BYTES, 4) != HX_PCAPNG_BYTE_ORDER)
            r->swapped = !r->swapped;
        if (hx_pcapng_word(r, r->block + HEAD_BYTES, 4) != HX_PCAPNG_BYTE_ORDER) {
            hx_pcapng_bad(r, r->offset + HEAD_BYTES, problem, "a section header without the byte order mark");
            return false;
        }
    }
    size_t length = (size_t)hx_pcapng_word(r, r->block + 4, 4);
    if (length % 4 != 0 || length < LEAST_BLOCK || length < fetched + TAIL_BYTES || length > HX_PCAPNG_MOST_BLOCK) {
        hx_pcapng_bad(r, r->offset + 4, problem, "a block of %zu bytes: not a length a block can have", length);
        return false;
    }
    if (!hx_pcapng_read_bytes(r, fetched, length - fetched, problem))
        return false;
    size_t again = (size_t)hx_pcapng_word(r, r->block + length - TAIL_BYTES, 4);
    if (again != length) {
        hx_pcapng_bad(r, r->offset + length - TAIL_BYTES, problem,
                      "a block of %zu bytes says %zu at its end: the file is corrupt", length, again);
        return false;
    }
    *body = (struct body){.bytes = r->block + HEAD_BYTES, .length = length - LEAST_BLOCK, .at = r->offset + HEAD_BYTES};
    return true;
}

/* Returns the event of the block; HX_PCAPNG_IS_END: skipped. */
static enum hx_pcapng_event read_body(struct hx_pcapng_reader *r, const struct body *b, struct hx_problem *problem)
{
    switch (hx_pcapng_word(r, r->block, 4)) {
    case HX_PCAPNG_SECTION:
        return read_section(r, b, problem);
    case HX_PCAPNG_INTERFACE:
        return read_interface(r, b, problem);
    case HX_PCAPNG_ENHANCED:
        return read_enhanced(r, b, false, problem);
    case HX_PCAPNG_OLD_PACKET:
        return read_enhanced(r, b, true, problem);
    case HX_PCAPNG_SIMPLE:
        return read_simple(r, b, problem);
    case HX_PCAPNG_STATISTICS:
        return read_statistics(r, b, problem);
    default:
        return HX_PCAPNG_IS_END;
    }
}

static enum hx_pcapng_event next_block(struct hx_pcapng_reader *r, size_t have, struct hx_problem *problem)
{
    for (;; have = 0) {
        if (have == 0) {
            int first = fgetc(r->in);
            if (first == EOF && !ferror(r->in))
                return HX_PCAPNG_IS_END;
            (void)ungetc(first, r->in);
        }
        struct body body;
        if (!read_block(r, have, &body, problem))
            return HX_PCAPNG_IS_BAD;
        enum hx_pcapng_event event = read_body(r, &body, problem);
        r->offset += body.length + LEAST_BLOCK;
        if (event != HX_PCAPNG_IS_END)
            return event;
    }
}

/* ---- files ---- */

enum { GZIP = 0x8B1F, ZSTD = 0xFD2FB528U, LZ4 = 0x184D2204U };
enum { PCAP_US = 0xA1B2C3D4U, PCAP_NS = 0xA1B23C4DU, PCAP_MODIFIED = 0xA1B2CD34U };

static bool is_compressed(uint32_t magic)
{
    return (magic & 0xFFFFU) == GZIP || magic == ZSTD || magic == LZ4;
}

/* Recognises the format by the first four bytes. */
static bool recognise(struct hx_pcapng_reader *r, struct hx_problem *problem)
{
    if (!hx_pcapng_read_bytes(r, 0, 4, problem))
        return hx_fail(problem, HX_EXIT_CONFIG, r->name, "at byte 0: not a capture file: fewer than 4 bytes");
    uint32_t magic = (uint32_t)hx_pcapng_word(r, r->block, 4);
    if (magic == HX_PCAPNG_SECTION)
        return true;
    for (unsigned order = 0; order < 2; order++) {
        r->swapped = order == 1;
        uint32_t word = (uint32_t)hx_pcapng_word(r, r->block, 4);
        if (word == PCAP_US || word == PCAP_NS) {
            r->classic = true;
            r->nanoseconds = word == PCAP_NS;
            return true;
        }
        if (word == PCAP_MODIFIED)
            return hx_fail(problem, HX_EXIT_CONFIG, r->name,
                           "at byte 0: a modified pcap (convert it: editcap -F pcapng)");
    }
    if (is_compressed(magic))
        return hx_fail(problem, HX_EXIT_CONFIG, r->name, "at byte 0: compressed (unpack it first)");
    return hx_fail(problem, HX_EXIT_CONFIG, r->name,
                   "at byte 0: neither pcapng nor pcap: it begins with %02x%02x%02x%02x", r->block[0], r->block[1],
                   r->block[2], r->block[3]);
}

bool hx_pcapng_open_file(struct hx_pcapng_reader *r, FILE *in, const char *name, struct hx_problem *problem)
{
    *r = (struct hx_pcapng_reader){.in = in};
    snprintf(r->name, sizeof r->name, "%s", name);
    return recognise(r, problem);
}

bool hx_pcapng_open(struct hx_pcapng_reader *r, const char *path, struct hx_problem *problem)
{
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *in = is_stdin ? stdin : hx_input_open(path, problem);
    if (!in) {
        *r = (struct hx_pcapng_reader){.in = NULL};
        return false;
    }
    bool good = hx_pcapng_open_file(r, in, is_stdin ? "stdin" : path, problem);
    r->close = !is_stdin;
    return good;
}

void hx_pcapng_close(struct hx_pcapng_reader *r)
{
    if (r->close && r->in)
        (void)fclose(r->in);
    free(r->block);
    free(r->times);
    *r = (struct hx_pcapng_reader){.in = NULL};
}

enum hx_pcapng_event hx_pcapng_next(struct hx_pcapng_reader *r, struct hx_problem *problem)
{
    if (r->classic)
        return r->offset == 0 ? hx_pcap_begin(r, problem) : hx_pcap_next(r, problem);
    bool first = !r->begun;
    r->begun = true;
    return next_block(r, first ? 4 : 0, problem);
}
