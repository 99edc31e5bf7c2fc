/* write.h - writes capture files in pcapng (draft-ietf-opsawg-pcapng), little-endian, times in nanoseconds.
 *
 *     static uint8_t room[HX_PCAPNG_ROOM];
 *     struct hx_pcapng_fd file = {.fd = fd};
 *     struct hx_pcapng_writer w;
 *     hx_pcapng_begin(&w, room, sizeof room, hx_pcapng_write_fd, &file);
 *     hx_pcapng_section(&w, &(struct hx_pcapng_section){.application = "hxmesh " HXMESH_VERSION, .comments = {note}});
 *     hx_pcapng_interface(&w, &(struct hx_pcapng_interface){.name = "a0,0/p0/E", .snaplen = 8256});   // number 0, 1, ...
 *     hx_pcapng_packet(&w, &(struct hx_pcapng_packet){.interface = 0, .time_ns = now, ...});
 *     hx_pcapng_statistics(&w, &(struct hx_pcapng_statistics){.interface = 0, ...});
 *     hx_pcapng_flush(&w);
 *
 * Blocks collect in `room`. Each write call gets many of them, always whole, so a file of the first n calls is
 * readable.
 *
 * Every function returns 0 or an errno. The first write error stays in w->error, and all later calls return it. The
 * packets that they would have written count in w->packets_lost; the caller continues and reports them at the end. An
 * invalid call (EINVAL: no such interface, EMSGSIZE: more than HX_PCAPNG_MOST_BYTES) returns its error once and leaves
 * the file unchanged.
 *
 * No function allocates, blocks (except in the write function) or ends the program. Not thread safe.
 *
 * libpcap 1.10 reads only files in which all interfaces of a section have one link type and one snap length. */
#ifndef HXMESH_BASE_PCAPNG_WRITE_H
#define HXMESH_BASE_PCAPNG_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HX_PCAPNG_ROOM = 256 * 1024,      /* bytes of room for efficient writes */
    HX_PCAPNG_LEAST_ROOM = 96 * 1024, /* minimum: the largest block fits */
    HX_PCAPNG_MOST_BYTES = 65535,     /* captured bytes of a packet */
    HX_PCAPNG_MOST_TEXT = 4096,       /* bytes of a name, description, packet comment: longer ones are cut */
    HX_PCAPNG_MOST_NOTE = 16384,      /* bytes of a section comment */
    HX_PCAPNG_MOST_NOTES = 4,         /* comments of a section */
    HX_PCAPNG_MOST_ANNOTATIONS = 2,   /* comments of a packet */
    HX_PCAPNG_ETHERNET = 1            /* link type */
};

struct hx_pcapng_writer {
    uint8_t *room;
    size_t size, used;
    int (*write)(void *context, const void *bytes, size_t length); /* writes whole blocks; 0 or an errno */
    void *context;
    int error;              /* first write error; set it to 0 to retry */
    uint32_t interfaces;    /* of the section */
    uint64_t bytes;         /* written */
    uint64_t packets;       /* put into blocks */
    uint64_t packets_lost;  /* not written because of `error`, with those in `room` */
    uint64_t packets_ready; /* in `room`, not yet written */
};

/* Texts are UTF-8; NULL: none. */
struct hx_pcapng_section {
    const char *hardware, *os, *application;
    const char *comments[HX_PCAPNG_MOST_NOTES]; /* up to the first NULL */
    const char *mark, *text; /* long text, split over further comments that each begin with the mark; NULL: none */
    size_t text_bytes;
};
/* Returns how much larger a writer's room must be for such a text. */
static inline size_t hx_pcapng_room_of_text(size_t bytes)
{
    return bytes + (bytes / (HX_PCAPNG_MOST_NOTE / 2) + 1) * 64;
}

struct hx_pcapng_interface {
    const char *name;         /* of the port: a5,3/p0/E */
    const char *description;  /* in words */
    const char *filter;       /* capture filter, in libpcap's syntax */
    uint32_t snaplen;         /* bytes kept of a frame; 0: all */
    uint64_t bits_per_second; /* 0: unknown */
};

enum hx_pcapng_direction { HX_PCAPNG_UNKNOWN = 0, HX_PCAPNG_INBOUND = 1, HX_PCAPNG_OUTBOUND = 2 };

struct hx_pcapng_packet {
    uint32_t interface; /* counts from 0 in a section */
    uint64_t time_ns;   /* since 1970, or simulated since the start of the run */
    const void *bytes;
    uint32_t captured; /* bytes in `bytes` */
    uint32_t original; /* bytes on the wire: at least captured */
    enum hx_pcapng_direction direction;
    bool has_queue, has_dropped, has_id;
    uint32_t queue;   /* VC */
    uint64_t dropped; /* frames of this interface that the capture lost since the previous one */
    uint64_t id;      /* the same for all captures of one frame */
    const char *comments[HX_PCAPNG_MOST_ANNOTATIONS]; /* up to the first NULL */
};

/* Counts of one interface since the capture began. UINT64_MAX: unknown. */
struct hx_pcapng_statistics {
    uint32_t interface;
    uint64_t time_ns;          /* of the counts */
    uint64_t start_ns, end_ns; /* of the capture */
    uint64_t received;         /* frames that passed the port */
    uint64_t dropped;          /* frames that the tap could not keep */
    uint64_t accepted;         /* frames that passed the filter */
    uint64_t os_dropped;       /* frames lost after the tap */
};
#define HX_PCAPNG_NOT_KNOWN UINT64_MAX

/* Begins a file; writes nothing yet. EINVAL: `size` is below HX_PCAPNG_LEAST_ROOM. */
int hx_pcapng_begin(struct hx_pcapng_writer *w, void *room, size_t size,
                    int (*write)(void *context, const void *bytes, size_t length), void *context);

/* Begins a section; interfaces count from 0 again. */
int hx_pcapng_section(struct hx_pcapng_writer *w, const struct hx_pcapng_section *s);
int hx_pcapng_interface(struct hx_pcapng_writer *w, const struct hx_pcapng_interface *i);
int hx_pcapng_packet(struct hx_pcapng_writer *w, const struct hx_pcapng_packet *p);
int hx_pcapng_statistics(struct hx_pcapng_writer *w, const struct hx_pcapng_statistics *s);

/* Writes the contents of `room`. Call it from time to time for live readers, and at the end. */
int hx_pcapng_flush(struct hx_pcapng_writer *w);

/* Write function for file descriptors. On an error (ENOSPC, EFBIG, EDQUOT, EIO) it truncates a regular file to the last
 * whole block. It waits on pipes; the caller handles SIGPIPE. */
struct hx_pcapng_fd {
    int fd;
};
int hx_pcapng_write_fd(void *context /* struct hx_pcapng_fd */, const void *bytes, size_t length);

#endif
