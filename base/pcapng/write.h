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
 * Data that flows: blocks are put together in `room` and leave by the write function many at a time, always whole
 * ones: what a write call hands over ends where a block ends. A file that is made from the first n calls is readable.
 *
 * Errors are values: every function returns 0 or an errno. The first one that writing gives stays in w->error, is
 * returned by all later calls, and what they should have written counts in w->packets_lost; the caller goes on with its
 * own work and says so at the end. What is wrong with one call alone (EINVAL: an interface that does not exist,
 * EMSGSIZE: more than HX_PCAPNG_MOST_BYTES) is returned by that call only, and leaves the file as it is.
 *
 * Nothing here allocates, blocks (beyond what the write function does) or ends the program. Not thread safe.
 *
 * What libpcap 1.10 asks of a file it reads: all interfaces of a section have one link type and one snap length. */
#ifndef HXMESH_BASE_PCAPNG_WRITE_H
#define HXMESH_BASE_PCAPNG_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HX_PCAPNG_ROOM = 256 * 1024,      /* bytes of room that write in good portions; */
    HX_PCAPNG_LEAST_ROOM = 96 * 1024, /* and the least: the largest block fits */
    HX_PCAPNG_MOST_BYTES = 65535,     /* captured bytes of a packet */
    HX_PCAPNG_MOST_TEXT = 4096,       /* bytes of a name, description, packet comment: longer ones are cut */
    HX_PCAPNG_MOST_NOTE = 16384,      /* bytes of a comment of the section */
    HX_PCAPNG_MOST_NOTES = 4,         /* comments of a section */
    HX_PCAPNG_MOST_ANNOTATIONS = 2,   /* comments of a packet */
    HX_PCAPNG_ETHERNET = 1            /* link type */
};

struct hx_pcapng_writer {
    uint8_t *room;
    size_t size, used;
    int (*write)(void *context, const void *bytes, size_t length); /* takes whole blocks; 0 or an errno */
    void *context;
    int error;              /* the first one of writing; set it to 0 to try again */
    uint32_t interfaces;    /* of the section */
    uint64_t bytes;         /* handed over to write, and taken */
    uint64_t packets;       /* put into blocks */
    uint64_t packets_lost;  /* not written because of `error`; those in `room` when it came are among them */
    uint64_t packets_ready; /* in `room`, not handed over yet */
};

/* Texts are UTF-8, NULL where there is none. */
struct hx_pcapng_section {
    const char *hardware, *os, *application;
    const char *comments[HX_PCAPNG_MOST_NOTES]; /* up to the first NULL */
    const char *mark,
        *text; /* a longer text, in as many comments as it takes behind these, each of which begins with the mark; NULL:
                * none */
    size_t text_bytes;
};
/* What the room of a writer must be larger by for such a text. */
static inline size_t hx_pcapng_room_of_text(size_t bytes)
{
    return bytes + (bytes / (HX_PCAPNG_MOST_NOTE / 2) + 1) * 64;
}

struct hx_pcapng_interface {
    const char *name;         /* of the port: a5,3/p0/E */
    const char *description;  /* what it is, in words */
    const char *filter;       /* the capture filter, as libpcap writes them */
    uint32_t snaplen;         /* bytes kept of a frame; 0: all */
    uint64_t bits_per_second; /* 0: not known */
};

enum hx_pcapng_direction { HX_PCAPNG_UNKNOWN = 0, HX_PCAPNG_INBOUND = 1, HX_PCAPNG_OUTBOUND = 2 };

struct hx_pcapng_packet {
    uint32_t interface; /* number: interfaces of a section count from 0 */
    uint64_t time_ns;   /* since 1970, or simulated since the start of the run */
    const void *bytes;
    uint32_t captured; /* bytes there */
    uint32_t original; /* bytes on the wire: captured or more */
    enum hx_pcapng_direction direction;
    bool has_queue, has_dropped, has_id;
    uint32_t queue;   /* VC */
    uint64_t dropped; /* frames of this interface that were lost to the capture since the frame before */
    uint64_t id;      /* the same for all sightings of one frame */
    const char *comments[HX_PCAPNG_MOST_ANNOTATIONS]; /* up to the first NULL */
};

/* Counts of one interface since the capture began. UINT64_MAX: not known. */
struct hx_pcapng_statistics {
    uint32_t interface;
    uint64_t time_ns;          /* of the counts */
    uint64_t start_ns, end_ns; /* of the capture */
    uint64_t received;         /* frames that passed the port */
    uint64_t dropped;          /* frames the tap could not keep */
    uint64_t accepted;         /* frames the filter let through */
    uint64_t os_dropped;       /* frames lost behind the tap */
};
#define HX_PCAPNG_NOT_KNOWN UINT64_MAX

/* Begins a file; writes nothing yet. EINVAL: `size` is below HX_PCAPNG_LEAST_ROOM. */
int hx_pcapng_begin(struct hx_pcapng_writer *w, void *room, size_t size,
                    int (*write)(void *context, const void *bytes, size_t length), void *context);

/* Begins a section: interfaces count from 0 again. */
int hx_pcapng_section(struct hx_pcapng_writer *w, const struct hx_pcapng_section *s);
int hx_pcapng_interface(struct hx_pcapng_writer *w, const struct hx_pcapng_interface *i);
int hx_pcapng_packet(struct hx_pcapng_writer *w, const struct hx_pcapng_packet *p);
int hx_pcapng_statistics(struct hx_pcapng_writer *w, const struct hx_pcapng_statistics *s);

/* Hands over what is in `room`. Call it now and then for who reads along, and at the end. */
int hx_pcapng_flush(struct hx_pcapng_writer *w);

/* A write function for file descriptors. A regular file that cannot take a portion (ENOSPC, EFBIG, EDQUOT, EIO) is cut
 * back to where the portion began, so that it ends with a whole block. It waits on pipes; SIGPIPE is the caller's. */
struct hx_pcapng_fd {
    int fd;
};
int hx_pcapng_write_fd(void *context /* struct hx_pcapng_fd */, const void *bytes, size_t length);

#endif
