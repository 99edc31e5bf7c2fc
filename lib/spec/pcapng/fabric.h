/* fabric.h - the fabric of a capture: a comment of the section header, for people and programs.
 *
 *     hxmesh fabric: 4x4 Hx2Mesh planes=1 radix=64 taper=1 credits=512 link=memory crc=off clock=wall
 *                    span=run jobs=0-3:7
 *
 * The fabric comes first, and ends before the first word with a '='. Other fabrics than a HammingMesh may have such
 * words: they end before " ;" ("fat-tree hosts=64 ; planes=1 ..."). Words after it are in any order; unknown ones are
 * ignored, missing ones have their default:
 *     planes radix taper credits   as in a spec (1, 64, 1, 512)
 *     link     wire: blocks are counted, credit frames are sent (the default)
 *              memory: a link and VC holds credits / 32 packets, without credit frames
 *              port: a port holds `buffer` blocks, shared by its VCs, without credit frames
 *     buffer   blocks that a link and VC (link=port: a port) holds, if not `credits`
 *     crc      on: senders computed checksums. off: the field is 0. Missing: unknown
 *     clock    wall (the default), or virtual: simulated times, from the start of the run
 *     span     run: from before the first packet until all was quiet. part: packets may have been in flight at its
 *              begin or end. Missing: unknown
 *     failed   boards (Y*x + X), single ones and ranges: failed=3,8-11
 *     jobs     the same, each with ":" and the tag: jobs=0-3:7,12:9. Boards that are not named have tag 0
 * Lists that do not fit into the comment are replaced: "failed=unknown", "jobs=unknown". */
#ifndef HXMESH_SPEC_PCAPNG_FABRIC_H
#define HXMESH_SPEC_PCAPNG_FABRIC_H

#include "spec/spec.h"

#include <stdbool.h>
#include <stddef.h>

#define HX_CAPTURE_MARK "hxmesh fabric: "

enum hx_capture_link { HX_CAPTURE_WIRE, HX_CAPTURE_MEMORY, HX_CAPTURE_PORT, HX_CAPTURE_LINKS };
enum hx_capture_crc { HX_CAPTURE_CRC_NOT_SAID, HX_CAPTURE_CRC_ON, HX_CAPTURE_CRC_OFF, HX_CAPTURE_CRCS };
enum hx_capture_span { HX_CAPTURE_SPAN_NOT_SAID, HX_CAPTURE_SPAN_RUN, HX_CAPTURE_SPAN_PART, HX_CAPTURE_SPANS };

/* Values of the comment beside the spec. */
struct hx_capture_facts {
    unsigned link;     /* enum hx_capture_link */
    unsigned crc;      /* enum hx_capture_crc */
    unsigned span;     /* enum hx_capture_span */
    unsigned clock;    /* enum hx_clock */
    uint64_t buffer;   /* blocks; 0: the spec's credits */
    uint64_t external; /* accelerators that ran elsewhere: their links may be dead at any time; when read */
    bool failed_unknown, jobs_unknown;
};

/* Writes the comment, at most `bytes` with the final zero (HX_PCAPNG_MOST_NOTE is enough). Returns text. */
const char *hx_capture_print(char *text, size_t bytes, const struct hx_spec *spec,
                             const struct hx_capture_facts *facts);

/* Whether a comment (a final zero is not needed) has the mark. */
bool hx_capture_marked(const char *text, size_t length);

/* The text of a graph's file follows in further comments, in order, each with this mark. */
#define HX_CAPTURE_GRAPH_MARK "hxmesh graph: "

/* Reads such a comment; `graph`: the text of the others. Opens no file. Returns false on an error. On success *spec has
 * a valid geometry and owns memory (hx_spec_free). */
bool hx_capture_parse(const char *text, size_t length, const struct hx_graph_text *graph, struct hx_spec *spec,
                      struct hx_capture_facts *facts, struct hx_problem *problem);

#endif
