/* read.h - reads capture files of any origin: pcapng and classic pcap, either byte order, block by block.
 *
 *     struct hx_pcapng_reader r;
 *     struct hx_problem problem;
 *     if (!hx_pcapng_open(&r, "run.pcapng", &problem)) ...
 *     for (;;) switch (hx_pcapng_next(&r, &problem)) {
 *     case HX_PCAPNG_IS_SECTION: ...    r.section
 *     case HX_PCAPNG_IS_INTERFACE: ...  r.interface
 *     case HX_PCAPNG_IS_PACKET: ...     r.packet
 *     case HX_PCAPNG_IS_STATISTICS: ... r.statistics
 *     case HX_PCAPNG_IS_END: ...
 *     case HX_PCAPNG_IS_BAD: ...        problem: file and byte, and what is wrong there
 *     }
 *     hx_pcapng_close(&r);
 *
 * Understood: several sections, interfaces that come late, any time resolution and offset, enhanced, simple and old
 * packet blocks. Unknown blocks and options are passed over. A classic pcap (microseconds or nanoseconds) is one
 * section with one interface named "unknown".
 *
 * Nothing in a file is trusted. Memory is one block (HX_PCAPNG_MOST_BLOCK at most, and never more than twice what the
 * file really holds of it) and 24 bytes an interface (HX_PCAPNG_MOST_INTERFACES at most). What an event points to is
 * valid until the next call. Not thread safe. */
#ifndef HXMESH_BASE_PCAPNG_READ_H
#define HXMESH_BASE_PCAPNG_READ_H

#include "base/error.h"
#include "base/pcapng/write.h"

#include <stdint.h>
#include <stdio.h>

enum {
    HX_PCAPNG_MOST_BLOCK = 16 << 20,     /* bytes; longer blocks are refused */
    HX_PCAPNG_MOST_INTERFACES = 1 << 20, /* of a section */
    HX_PCAPNG_READ_NOTES = 1024          /* comments of a section that are kept */
};

enum hx_pcapng_event {
    HX_PCAPNG_IS_BAD,
    HX_PCAPNG_IS_END,
    HX_PCAPNG_IS_SECTION,
    HX_PCAPNG_IS_INTERFACE,
    HX_PCAPNG_IS_PACKET,
    HX_PCAPNG_IS_STATISTICS
};

/* A stretch of text of the block; not ended by a zero. bytes NULL: there is none. */
struct hx_pcapng_text {
    const char *bytes;
    size_t length;
};

struct hx_pcapng_read_section {
    struct hx_pcapng_text application;
    struct hx_pcapng_text comment[HX_PCAPNG_READ_NOTES];
    unsigned comments;
};

struct hx_pcapng_read_interface {
    uint32_t number; /* in its section */
    uint32_t link_type, snaplen;
    struct hx_pcapng_text name, description, filter;
};

struct hx_pcapng_read_packet {
    uint64_t frame;     /* 1, 2, ... over the whole file, as Wireshark counts */
    uint32_t interface; /* exists in the section */
    bool has_time, has_queue, has_dropped, has_id;
    uint64_t time_ns;
    const uint8_t *bytes;
    uint32_t captured, original; /* original: captured or more */
    enum hx_pcapng_direction direction;
    uint32_t queue;
    uint64_t dropped, id;
    struct hx_pcapng_text comment;
};

struct hx_pcapng_interface_time; /* how an interface counts time */

struct hx_pcapng_reader {
    struct hx_pcapng_read_section section;
    struct hx_pcapng_read_interface interface;
    struct hx_pcapng_read_packet packet;
    struct hx_pcapng_statistics statistics; /* HX_PCAPNG_NOT_KNOWN where the file says nothing */

    /* the reader's own */
    FILE *in;
    char name[256];
    uint64_t offset; /* of the block that is being read */
    bool cut;        /* what was bad is that the file ends within that block */
    uint64_t frames;
    uint8_t *block;
    size_t room;
    bool classic, swapped, nanoseconds, begun, close;
    struct hx_pcapng_interface_time *times;
    uint32_t interfaces, times_room;
};

/* "-" is stdin. false: it cannot be opened, or is neither pcapng nor pcap. */
bool hx_pcapng_open(struct hx_pcapng_reader *r, const char *path, struct hx_problem *problem);
/* The same from an open file, which stays the caller's; `name` is what errors call it. */
bool hx_pcapng_open_file(struct hx_pcapng_reader *r, FILE *in, const char *name, struct hx_problem *problem);
/* Also after an open that failed. */
void hx_pcapng_close(struct hx_pcapng_reader *r);

enum hx_pcapng_event hx_pcapng_next(struct hx_pcapng_reader *r, struct hx_problem *problem);

#endif
