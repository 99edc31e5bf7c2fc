/* capture_index.h - reads a capture file as a stream of frames with port, time and direction.
 *
 * Joins the reader of capture files (base/pcapng/read.h) with the fabric: the one that the section header names, or the
 * user's. Ports with one name in several sections are one port. Memory: the reader's, and a record for each port. */
#ifndef HXMESH_TOOLS_CAPTURE_INDEX_H
#define HXMESH_TOOLS_CAPTURE_INDEX_H

#include "base/pcapng/read.h"
#include "base/table.h"
#include "tools/capture/fabric.h"
#include "tools/capture/frame.h"

/* Advice for a capture that lacks frames. */
#define HX_CAPTURE_KEEPS_ALL "a run without --capture-drop, or a smaller --snaplen, keeps them"

enum { HX_PORT_NAME_BYTES = 64, HX_NODE_NAME_BYTES = HX_NAME_BYTES };

struct hx_cap_port {
    char name[HX_PORT_NAME_BYTES]; /* longer ones are cut */
    struct hx_port_at at;          /* .node is HX_NOWHERE: not a port of the fabric */
    bool filtered;                 /* a capture filter was set */
    uint64_t frames[3];            /* by enum hx_pcapng_direction */
    uint64_t dropped;              /* frames that the capture lost here, as far as it reports them */
};

struct hx_capture_frame {
    uint64_t frame; /* frame number as in Wireshark */
    bool has_time, has_queue;
    uint32_t queue; /* from the frame's packet block */
    uint64_t time_ns;
    uint32_t port; /* in c->ports */
    enum hx_pcapng_direction direction;
    struct hx_seen seen;
    const uint8_t *bytes; /* valid until the next call */
    size_t captured, original;
    struct hx_pcapng_text comment;
};

struct hx_capture_index {
    struct hx_cap_fabric fabric; /* known after the first call of hx_capture_index_next, if at all */
    struct hx_cap_port *ports;
    uint32_t port_count;
    size_t port_room;
    uint64_t frames;
    uint64_t bytes;  /* on the wire */
    uint64_t cut_at; /* offset of the block that is cut off; 0: none */

    struct hx_pcapng_reader reader;
    const struct hx_spec *given; /* the user's fabric; NULL: none */
    bool given_buffer;           /* the user's buffer size replaces the file's */
    bool begun;
    uint32_t *interface; /* [interfaces] of the section: index of the port */
    bool *ethernet;
    uint32_t interfaces;
    size_t interface_room;
    struct hx_table names;
};

/* Opens a capture. `given` replaces the file's fabric and must outlive the capture. */
bool hx_capture_index_open(struct hx_capture_index *c, const char *path, const struct hx_spec *given,
                           struct hx_problem *problem);
bool hx_capture_index_open_file(struct hx_capture_index *c, FILE *in, const char *name, const struct hx_spec *given,
                                struct hx_problem *problem);
/* Also after a failed open. */
void hx_capture_index_close(struct hx_capture_index *c);

/* Returns 1: a frame; 0: the end; -1: the file is bad. A file that is cut off behind its first frame ends there:
 * c->cut_at. */
int hx_capture_index_next(struct hx_capture_index *c, struct hx_capture_frame *s, struct hx_problem *problem);

/* Frames that the capture lost, as far as it reports them. */
uint64_t hx_capture_index_dropped(const struct hx_capture_index *c);

/* The index in c->ports of the port with that name, or of that port of the fabric; UINT32_MAX: not captured. */
uint32_t hx_capture_index_named(const struct hx_capture_index *c, const char *name);
uint32_t hx_capture_index_port(const struct hx_capture_index *c, const struct hx_port_at *at);

/* Writes the node's name, as "a5,3/p0", into `name` and returns it. */
const char *hx_capture_index_node_name(char name[HX_NODE_NAME_BYTES], const struct hx_capture_index *c,
                                       const struct hx_port_at *at);

#endif
