/* capture_settings.h - settings of a run's capture, with the same names in a file and as options of `hxmesh run`.
 *
 *     capture: {file: run.pcapng, ports: "a0,0/p0/? row0/p0/?", filter: "ether proto 0x88b5", snaplen: 96, annotate:
 * true} */
#ifndef HXMESH_SPEC_CAPTURE_SETTINGS_H
#define HXMESH_SPEC_CAPTURE_SETTINGS_H

#include "base/options/options.h"
#include "hxmesh/frame.h"

enum hx_capture_given {
    HX_GIVEN_CAPTURE_PORTS = 1 << 0,
    HX_GIVEN_CAPTURE_FILTER = 1 << 1,
    HX_GIVEN_CAPTURE_SNAPLEN = 1 << 2,
    HX_GIVEN_CAPTURE_BUFFER = 1 << 3,
    HX_GIVEN_CAPTURE_ANNOTATE = 1 << 4,
    HX_GIVEN_CAPTURE_DROP = 1 << 5,
    HX_GIVEN_CAPTURE_FILE = 1 << 6
};

struct hx_capture_settings {
    const char *file;            /* "-" is stdout; NULL: no capture */
    struct hx_option_list ports; /* patterns; empty: all ports */
    const char *filter;          /* in libpcap's syntax; NULL: none */
    uint64_t snaplen;            /* bytes kept of a frame */
    uint64_t buffer;             /* bytes between each worker and the file */
    bool annotate;               /* explain the choice of outputs in comments */
    bool drop;      /* keep the fabric's speed: frames without room are dropped from the capture, and counted */
    uint64_t given; /* enum hx_capture_given */
};

enum { HX_CAPTURE_LEAST_SNAPLEN = HX_HEADER_BYTES, HX_CAPTURE_BUFFER = 32 << 20 };
#define HX_CAPTURE_MOST_BUFFER ((uint64_t)1 << 30)
#define HX_CAPTURE_DEFAULTS                                                                                            \
    {                                                                                                                  \
        .snaplen = HX_MAX_FRAME, .buffer = HX_CAPTURE_BUFFER                                                           \
    }

/* clang-format off */
#define HX_SNAPLEN_OPTION(s) \
    {.name = "snaplen", .key = "capture.snaplen", .kind = HX_OPTION_BYTES, .argument = "BYTES", \
     .to.number = &(s)->snaplen, .low = HX_CAPTURE_LEAST_SNAPLEN, .high = HX_MAX_FRAME, \
     .help = "bytes kept of each captured frame", HX_GIVEN_IN(s, HX_GIVEN_CAPTURE_SNAPLEN)}
#define HX_ANNOTATE_OPTION(s) \
    {.name = "annotate", .key = "capture.annotate", .kind = HX_OPTION_FLAG, .negatable = true, \
     .to.flag = &(s)->annotate, .help = "say in packet comments why captured packets went where they went", \
     HX_GIVEN_IN(s, HX_GIVEN_CAPTURE_ANNOTATE)}
/* Entries of the option table of `hxmesh run`. */
#define HX_CAPTURE_OPTIONS(s) \
    {.name = "capture", .key = "capture.file", .key_required = true, .kind = HX_OPTION_STRING, .argument = "FILE", \
     .to.string = &(s)->file, .help = "write the frames at all ports to FILE, from the very start", \
     HX_GIVEN_IN(s, HX_GIVEN_CAPTURE_FILE)}, \
    {.name = "capture-ports", .key = "capture.ports", .kind = HX_OPTION_LIST, .argument = "PATTERN", \
     .to.list = &(s)->ports, .help = "only at ports with such names, as 'a5,3/*'; may be given again", \
     .otherwise = "all", HX_GIVEN_IN(s, HX_GIVEN_CAPTURE_PORTS)}, \
    {.name = "capture-filter", .key = "capture.filter", .kind = HX_OPTION_STRING, .argument = "FILTER", \
     .to.string = &(s)->filter, .help = "only frames that this BPF filter lets through", \
     HX_GIVEN_IN(s, HX_GIVEN_CAPTURE_FILTER)}, \
    HX_SNAPLEN_OPTION(s), \
    {.name = "capture-buffer", .key = "capture.buffer", .kind = HX_OPTION_BYTES, .to.number = &(s)->buffer, \
     .low = 1 << 16, .high = HX_CAPTURE_MOST_BUFFER, .help = "between each worker and the file", \
     HX_GIVEN_IN(s, HX_GIVEN_CAPTURE_BUFFER)}, \
    HX_ANNOTATE_OPTION(s), \
    {.name = "capture-drop", .key = "capture.drop", .kind = HX_OPTION_FLAG, .negatable = true, .to.flag = &(s)->drop, \
     .help = "keep the pace and lose the frames that find no room, instead of waiting for the file", \
     HX_GIVEN_IN(s, HX_GIVEN_CAPTURE_DROP), .applies = HX_FOR_WALL, .instead = "simulated time waits for the file"}
/* clang-format on */

/* Copies the values given in `over`. Strings stay the owner's. */
void hx_capture_settings_merge(struct hx_capture_settings *into, const struct hx_capture_settings *over);

#endif
