/* collective_bruck.c - a circulant graph (collective_parts.h), for any number n of members, in log2(n) steps rounded
 * up.
 *
 * Widths w(0) = n, w(k + 1) = w(k) / 2 rounded up, down to 1. Segments are counted from the own one. Step k of a
 * reduce-scatter sends segments w(k + 1) .. w(k) - 1 to the member w(k + 1) further, and adds as many to segments 0 and
 * up (Traeff 2023). The same steps backwards, with copying: all-gather (Bruck et al. 1997). */
#include "collective_parts.h"

static uint32_t width(const struct hx_collective_phase *phase, uint32_t k)
{
    uint32_t w = phase->size;
    while (k--)
        w = (w + 1) / 2;
    return w;
}

static uint32_t steps(const struct hx_collective_config *config, const struct hx_collective_phase *phase)
{
    (void)config;
    return hx_log2_up(phase->size) * (phase->kind == HX_ALL_REDUCE ? 2 : 1);
}

static void step(const struct hx_collective_config *config, const struct hx_collective_phase *phase, uint32_t number,
                 struct hx_step *s)
{
    const uint32_t all = hx_log2_up(phase->size);
    bool gathers = phase->kind == HX_ALL_GATHER || number >= all;
    const uint32_t k = gathers ? all - 1 - (number < all ? number : number - all) : number;
    const uint32_t skip = width(phase, k + 1);
    const uint32_t count = width(phase, k) - skip;
    const uint32_t further = (phase->place + skip) % phase->size;
    const uint32_t back = (phase->place + phase->size - skip) % phase->size;
    const struct hx_segments near = {phase->place, count};
    const struct hx_segments far = {further, count};
    (void)config;
    *s = (struct hx_step){.to = hx_member(phase, gathers ? back : further),
                          .from = hx_member(phase, gathers ? further : back),
                          .out = gathers ? near : far,
                          .in = gathers ? far : near,
                          .adds = !gathers,
                          .first = number == 0,
                          .gate = HX_WHEN_COMPLETE,
                          .of = number};
}

static uint32_t own(const struct hx_collective_config *config, const struct hx_collective_phase *phase)
{
    (void)config;
    return phase->place;
}

const struct hx_method hx_bruck_method = {.steps = steps, .step = step, .own = own, .span = 1};
