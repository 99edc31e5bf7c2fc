/* timing.c - presets of the virtual clock, and what is said over them (timing.h). */
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
                         .buffer = (uint64_t)32 << 20},
    [HX_TIMING_AUTHORS] = {.link = 400,
                           .crossbar = 3200,
                           .cable = 40,
                           .trace = 40,
                           .input = 20,
                           .output = 20,
                           .buffer = (uint64_t)32 << 20},
    /* 100 ns a switch, half of them on either side of the crossbar, of which the study says no rate: so fast that none
     * of its figures is bound by it. At twice a link's, as in table III, messages of one packet and their
     * acknowledgements, which are of a block, carry 88 % where they carry 93 % with four times as much or more
     * (slim-fly q=7 p=5, uniform). */
    [HX_TIMING_SC15] = {.link = 100,
                        .crossbar = 800,
                        .cable = 50,
                        .trace = 50,
                        .input = 50,
                        .output = 50,
                        .buffer = (uint64_t)100 << 10},
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
