/* timing.h - parameters of the virtual clock: speeds, latencies and buffers, with the same names in a file and as
 * options.
 *
 * Source of the defaults: SC22 table III. hal/virtual/timing.h derives the clock's values from them. */
#ifndef HXMESH_SPEC_TIMING_H
#define HXMESH_SPEC_TIMING_H

#include "hxmesh/frame.h"

#include <stdint.h>

struct hx_timing {
    uint64_t link;     /* Gb/s of a cable or trace; the endpoint's link is four times as fast */
    uint64_t crossbar; /* Gb/s of a switch's inner port, at least a link's */
    uint64_t cable;    /* ns, latency of a cable of a row or column network */
    uint64_t trace;    /* ns, latency of a trace on a board */
    uint64_t input;    /* ns, latency of an input buffer */
    uint64_t output;   /* ns, latency of an output buffer */
    /* bytes of an input port, shared equally by its VCs; a VC needs 1 packet and uses at most 64 (HX_WINDOW) */
    uint64_t buffer;
    uint64_t train;  /* most packets that go as one through switches: 1, 2 or 4 */
    unsigned preset; /* enum hx_timing_preset: source of values not given */
    uint64_t given;  /* enum hx_given_timing */
};

enum hx_timing_preset { HX_TIMING_PAPER, HX_TIMING_AUTHORS, HX_TIMING_SC15 };
extern const struct hx_timing hx_timing_values[];
/* "paper": table III; "authors": their published runs; "sc15": Kathareios et al., SC15, section 4; NULL */
extern const char *const hx_timing_presets[4];

enum hx_given_timing {
    HX_GIVEN_PRESET = 1 << 0,
    HX_GIVEN_LINK = 1 << 1,
    HX_GIVEN_CROSSBAR = 1 << 2,
    HX_GIVEN_CABLE = 1 << 3,
    HX_GIVEN_TRACE = 1 << 4,
    HX_GIVEN_INPUT = 1 << 5,
    HX_GIVEN_OUTPUT = 1 << 6,
    HX_GIVEN_BUFFER = 1 << 7,
    HX_GIVEN_TRAIN = 1 << 8
};

/* Default bytes a second of a link, also for links as fast as the machine: 400 Gb/s (table III). */
#define HX_NOMINAL_LINK_RATE 50e9

#define HX_MOST_GBPS 10000
/* ns. A hop's latency (output, link and input) is a 32-bit number of ps: below 4.29 ms. */
#define HX_MOST_LATENCY 1000000U
#define HX_LEAST_BUFFER ((uint64_t)3 * HX_MAX_PAYLOAD)
#define HX_MOST_BUFFER  ((uint64_t)48 << 20) /* packets of a VC are counted modulo 2^16 */
#define HX_MOST_TRAIN   4
#define HX_DEFAULT_TIMING                                                                                              \
    {                                                                                                                  \
        .preset = HX_TIMING_PAPER                                                                                      \
    }

/* clang-format off */
/* Fields of an option for one value; the default is the paper's. */
#define HX_TIMING_VALUE(t, field, bit) \
    .to.number = &(t)->field, .default_value = &hx_timing_values[HX_TIMING_PAPER].field, HX_GIVEN_IN(t, bit), \
    .applies = HX_FOR_VIRTUAL
#define HX_TIMING_OPTIONS(t) \
    {.name = "timing", .key = "timing.preset", .kind = HX_OPTION_CHOICE, .argument = "PRESET", \
     .to.choice = &(t)->preset, .choices = hx_timing_presets, .help = "the paper's table III; its authors' published " \
     "runs: 40 ns a link, 20 ns in and out, crossbar of 3200 Gb/s; or the diameter-two study of SC15: 100 Gb/s, " \
     "crossbar of 800, 50 ns a link, 50 ns in and out, 100 KiB a port", HX_GIVEN_IN(t, HX_GIVEN_PRESET), \
     .applies = HX_FOR_VIRTUAL}, \
    {.name = "link", .key = "timing.link", .kind = HX_OPTION_NUMBER, .argument = "GBPS", .low = 1, \
     .high = HX_MOST_GBPS, .help = "Gb/s of a link", HX_TIMING_VALUE(t, link, HX_GIVEN_LINK)}, \
    {.name = "crossbar", .key = "timing.crossbar", .kind = HX_OPTION_NUMBER, .argument = "GBPS", .low = 1, \
     .high = 10 * HX_MOST_GBPS, .help = "Gb/s of a switch's inner ports", \
     HX_TIMING_VALUE(t, crossbar, HX_GIVEN_CROSSBAR)}, \
    {.name = "cable", .key = "timing.cable", .kind = HX_OPTION_DURATION, .high = HX_MOST_LATENCY, \
     .help = "latency of a cable", HX_TIMING_VALUE(t, cable, HX_GIVEN_CABLE)}, \
    {.name = "trace", .key = "timing.trace", .kind = HX_OPTION_DURATION, .high = HX_MOST_LATENCY, \
     .help = "latency of a trace on a board", HX_TIMING_VALUE(t, trace, HX_GIVEN_TRACE)}, \
    {.name = "input-latency", .key = "timing.input", .kind = HX_OPTION_DURATION, .high = HX_MOST_LATENCY, \
     .help = "latency of an input buffer", HX_TIMING_VALUE(t, input, HX_GIVEN_INPUT)}, \
    {.name = "output-latency", .key = "timing.output", .kind = HX_OPTION_DURATION, .high = HX_MOST_LATENCY, \
     .help = "latency of an output buffer", HX_TIMING_VALUE(t, output, HX_GIVEN_OUTPUT)}, \
    {.name = "buffer", .key = "timing.buffer", .kind = HX_OPTION_BYTES, .low = HX_LEAST_BUFFER, \
     .high = HX_MOST_BUFFER, .help = "buffer of a port, shared equally by its VCs, of which each needs room for a " \
     "packet (8KiB) and uses 64 at most", HX_TIMING_VALUE(t, buffer, HX_GIVEN_BUFFER)}, \
    {.name = "train", .key = "timing.train", .kind = HX_OPTION_NUMBER, .argument = "PACKETS", .low = 1, \
     .high = HX_MOST_TRAIN, .help = "successive packets of a message that switches forward as one: 1, 2 or 4. More " \
     "run faster; times change by some percent, latencies by more", HX_TIMING_VALUE(t, train, HX_GIVEN_TRAIN)}
/* clang-format on */

/* Copies the values given in `over`. */
void hx_timing_merge(struct hx_timing *into, const struct hx_timing *over);
struct hx_timing hx_timing_complete(const struct hx_timing *t);

#endif
