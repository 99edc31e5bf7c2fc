/* fabric.h - what a capture says about its fabric: a comment of the section header, for people and programs.
 *
 *     hxmesh fabric: 4x4 Hx2Mesh planes=1 radix=64 taper=1 credits=512 link=memory crc=off clock=wall span=run jobs=0-3:7
 *
 * The fabric comes first, and ends before the first word with a '='. One that is no HammingMesh may have such words
 * itself: it ends before " ;" ("fat-tree hosts=64 ; planes=1 ..."). The words after it stand in any order, unknown ones
 * are ignored, and those left out have their default:
 *     planes radix taper credits   as in a spec (1, 64, 1, 512)
 *     link     wire: blocks are counted, credit frames are sent (the default)
 *              memory: a link and VC holds credits / 32 packets, there are no credit frames
 *              port: a port holds `buffer` blocks, shared by its VCs; there are no credit frames
 *     buffer   blocks a link and VC (link=port: a port) holds, where that is not `credits`
 *     crc      on: senders computed checksums. off: they did not, and 0 stands there. Without the word: not said
 *     clock    wall (the default), or virtual: times are simulated, from the start of the run
 *     span     run: from before the first packet until all was quiet. part: it began or ended, or may have, while
 *              packets were under way. Without the word: not said
 *     failed   boards (Y*x + X), single ones and ranges: failed=3,8-11
 *     jobs     the same, each with ":" and the tag: jobs=0-3:7,12:9. Boards that are not named have tag 0
 * Boards that do not fit into the comment are left out: "failed=unknown", "jobs=unknown". */
#ifndef HXMESH_SPEC_PCAPNG_FABRIC_H
#define HXMESH_SPEC_PCAPNG_FABRIC_H

#include "spec/spec.h"

#include <stdbool.h>
#include <stddef.h>

#define HX_CAPTURE_MARK "hxmesh fabric: "

enum hx_capture_link { HX_CAPTURE_WIRE, HX_CAPTURE_MEMORY, HX_CAPTURE_PORT, HX_CAPTURE_LINKS };
enum hx_capture_crc { HX_CAPTURE_CRC_NOT_SAID, HX_CAPTURE_CRC_ON, HX_CAPTURE_CRC_OFF, HX_CAPTURE_CRCS };
enum hx_capture_span { HX_CAPTURE_SPAN_NOT_SAID, HX_CAPTURE_SPAN_RUN, HX_CAPTURE_SPAN_PART, HX_CAPTURE_SPANS };

/* What the comment says beyond the spec. */
struct hx_capture_facts {
    unsigned link;   /* enum hx_capture_link */
    unsigned crc;    /* enum hx_capture_crc */
    unsigned span;   /* enum hx_capture_span */
    unsigned clock;  /* enum hx_clock */
    uint64_t buffer; /* blocks; 0: the spec's credits */
    bool failed_unknown, jobs_unknown;
};

/* Writes the comment, `bytes` at most with the final zero (HX_PCAPNG_MOST_NOTE is enough). Returns text. */
const char *hx_capture_print(char *text, size_t bytes, const struct hx_spec *spec,
                             const struct hx_capture_facts *facts);

/* Whether a comment (need not end with a zero) is one of these. */
bool hx_capture_marked(const char *text, size_t length);

/* What the file of a graph says stands in comments of its own behind that one, one behind the other, each with this
 * mark. */
#define HX_CAPTURE_GRAPH_MARK "hxmesh graph: "

/* Reads such a comment; `graph`: what the others say. No file is opened. On true *spec owns memory (hx_spec_free) and
 * has a valid geometry. */
bool hx_capture_parse(const char *text, size_t length, const struct hx_graph_text *graph, struct hx_spec *spec,
                      struct hx_capture_facts *facts, struct hx_problem *problem);

#endif
