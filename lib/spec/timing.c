/* timing.c - presets of the virtual clock, and their overrides (timing.h). */
#include "spec/timing.h"
#include "base/options/options.h"
#include "base/options/runs.h"

#include <stddef.h>

const char *const hx_timing_presets[4] = {"paper", "authors", "sc15", NULL};

const struct hx_timing hx_timing_values[] = {
    [HX_TIMING_PAPER] = {.link = 400,
                         .crossbar = 800,
                         .cable = 20,
                         .trace = 1,
                         .input = 40,
                         .output = 40,
                         .buffer = (uint64_t)32 << 20,
                         .train = 1},
    [HX_TIMING_AUTHORS] = {.link = 400,
                           .crossbar = 3200,
                           .cable = 40,
                           .trace = 40,
                           .input = 20,
                           .output = 20,
                           .buffer = (uint64_t)32 << 20,
                           .train = 1},
    /* 100 ns for a switch, half on each side of the crossbar. The study gives no rate of the crossbar; this one is fast
     * enough not to limit its figures. */
    [HX_TIMING_SC15] = {.link = 100,
                        .crossbar = 800,
                        .cable = 50,
                        .trace = 50,
                        .input = 50,
                        .output = 50,
                        .buffer = (uint64_t)100 << 10,
                        .train = 1},
};

void hx_timing_merge(struct hx_timing *into, const struct hx_timing *over)
{
    struct hx_timing source = *over;
    const struct hx_option to[] = {HX_TIMING_OPTIONS(into), HX_OPTIONS_END};
    const struct hx_option of[] = {HX_TIMING_OPTIONS(&source), HX_OPTIONS_END};
    hx_options_take(to, of);
}

struct hx_timing hx_timing_complete(const struct hx_timing *t)
{
    struct hx_timing complete = hx_timing_values[t->preset];
    hx_timing_merge(&complete, t);
    complete.preset = t->preset;
    return complete;
}
