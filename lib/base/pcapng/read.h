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
 *     case HX_PCAPNG_IS_BAD: ...        problem: file, byte and reason
 *     }
 *     hx_pcapng_close(&r);
 *
 * It reads several sections, interfaces between packets, any time resolution and offset, and enhanced, simple and old
 * packet blocks. It skips unknown blocks and options. A classic pcap (microseconds or nanoseconds) is one section with
 * one interface named "unknown".
 *
 * It validates everything in a file. Its memory is one block (at most HX_PCAPNG_MOST_BLOCK, and twice what the file
 * contains of it) and 24 bytes per interface (at most HX_PCAPNG_MOST_INTERFACES). Pointers in an event are valid until
 * the next call. Not thread safe. */
#ifndef HXMESH_BASE_PCAPNG_READ_H
#define HXMESH_BASE_PCAPNG_READ_H

#include "base/error.h"
#include "base/pcapng/write.h"

#include <stdint.h>
#include <stdio.h>

enum {
    HX_PCAPNG_MOST_BLOCK = 16 << 20,     /* bytes; refuses longer blocks */
    HX_PCAPNG_MOST_INTERFACES = 1 << 20, /* of a section */
    HX_PCAPNG_READ_NOTES = 1024          /* comments kept of a section */
};

enum hx_pcapng_event {
    HX_PCAPNG_IS_BAD,
    HX_PCAPNG_IS_END,
    HX_PCAPNG_IS_SECTION,
    HX_PCAPNG_IS_INTERFACE,
    HX_PCAPNG_IS_PACKET,
    HX_PCAPNG_IS_STATISTICS
};

/* A text in the block, without final zero. bytes NULL: none. */
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
    uint64_t frame;     /* 1, 2, ... over the whole file, as in Wireshark */
    uint32_t interface; /* exists in the section */
    bool has_time, has_queue, has_dropped, has_id;
    uint64_t time_ns;
    const uint8_t *bytes;
    uint32_t captured, original; /* original: at least captured */
    enum hx_pcapng_direction direction;
    uint32_t queue;
    uint64_t dropped, id;
    struct hx_pcapng_text comment;
};

struct hx_pcapng_interface_time; /* time format of an interface */

struct hx_pcapng_reader {
    struct hx_pcapng_read_section section;
    struct hx_pcapng_read_interface interface;
    struct hx_pcapng_read_packet packet;
    struct hx_pcapng_statistics statistics; /* HX_PCAPNG_NOT_KNOWN: not in the file */

    /* private */
    FILE *in;
    char name[256];
    uint64_t offset; /* of the current block */
    bool cut;        /* the file ends within the current block */
    uint64_t frames;
    uint8_t *block;
    size_t room;
    bool classic, swapped, nanoseconds, begun, close;
    struct hx_pcapng_interface_time *times;
    uint32_t interfaces, times_room;
};

/* Opens a file; "-" is stdin. Returns false and sets *problem if it cannot be opened or is neither pcapng nor pcap. */
bool hx_pcapng_open(struct hx_pcapng_reader *r, const char *path, struct hx_problem *problem);
/* The same for an open file, which the caller keeps; errors call it `name`. */
bool hx_pcapng_open_file(struct hx_pcapng_reader *r, FILE *in, const char *name, struct hx_problem *problem);
/* Also after a failed open. */
void hx_pcapng_close(struct hx_pcapng_reader *r);

enum hx_pcapng_event hx_pcapng_next(struct hx_pcapng_reader *r, struct hx_problem *problem);

#endif
