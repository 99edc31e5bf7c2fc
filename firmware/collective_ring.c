/* collective_ring.c - segments that move around a directed ring (collective_parts.h): reduce-scatter, all-gather,
 * all-reduce.
 *
 * In step s the member at place i sends segment i - shift - s to the next one and receives segment i - shift - s - 1
 * from the one before. With shift 1 and adding, the sum of segment i ends at place i after n - 1 steps: reduce-scatter.
 * n - 1 further steps with copying: all-reduce. Shift 0 and copying: all-gather. */
#include "collective_parts.h"

static uint32_t steps(const struct hx_collective_config *config, const struct hx_collective_phase *phase)
{
    (void)config;
    return (phase->size - 1) * (phase->kind == HX_ALL_REDUCE ? 2 : 1);
}

static void step(const struct hx_collective_config *config, const struct hx_collective_phase *phase, uint32_t number,
                 struct hx_step *s)
{
    const uint32_t n = phase->size;
    const uint32_t back = (phase->kind != HX_ALL_GATHER) + number;
    const uint32_t sent = (phase->place + 2 * n - back) % n;
    (void)config;
    *s = (struct hx_step){.to = phase->ring.next,
                          .from = phase->ring.before,
                          .out = {sent, 1},
                          .in = {sent ? sent - 1 : n - 1, 1},
                          .adds = phase->kind != HX_ALL_GATHER && number < n - 1,
                          .first = true,
                          .gate = number ? HX_WHEN_THERE : HX_WHEN_COMPLETE,
                          .of = number ? number - 1 : 0};
}

static uint32_t own(const struct hx_collective_config *config, const struct hx_collective_phase *phase)
{
    (void)config;
    return phase->place;
}

const struct hx_method hx_ring_method = {.steps = steps, .step = step, .own = own, .span = 1, .one_queue = true};
