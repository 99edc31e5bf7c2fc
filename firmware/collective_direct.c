/* collective_direct.c - a message to each other member (collective_parts.h).
 *
 * Step s of n - 1: to the member s + 1 further, from the one s + 1 before. In turn, each step begins when the one
 * before is complete; then powers of two pair place p with p XOR (s + 1). An all-reduce has n - 1 further steps with
 * copying.
 *
 * With a root, step s is between the root and the member s + 1 further. */
#include "collective_parts.h"

static bool is_rooted(const struct hx_collective_phase *phase)
{
    return phase->kind == HX_BROADCAST || phase->kind == HX_REDUCE || phase->kind == HX_GATHER ||
           phase->kind == HX_SCATTER;
}

static bool is_paired(const struct hx_collective_phase *phase)
{
    return phase->shape == HX_IN_TURN && hx_is_power_of_two(phase->size);
}

static uint32_t steps(const struct hx_collective_config *config, const struct hx_collective_phase *phase)
{
    (void)config;
    return (phase->size - 1) * (phase->kind == HX_ALL_REDUCE ? 2 : 1);
}

static void rooted(const struct hx_collective_phase *phase, uint32_t number, struct hx_step *s)
{
    const uint32_t other = (phase->root + 1 + number) % phase->size;
    bool down = phase->kind == HX_BROADCAST || phase->kind == HX_SCATTER;
    bool parts = phase->kind == HX_GATHER || phase->kind == HX_SCATTER;
    bool is_root = phase->place == phase->root;
    if (!is_root && phase->place != other)
        return;
    const uint32_t peer = hx_member(phase, is_root ? other : phase->root);
    s->in = s->out = parts ? (struct hx_segments){other, 1} : (struct hx_segments){0, phase->segments};
    s->to = is_root == down ? peer : HX_NO_PEER;
    s->from = is_root == down ? HX_NO_PEER : peer;
    s->adds = phase->kind == HX_REDUCE;
    s->first = number == 0;
}

static void step(const struct hx_collective_config *config, const struct hx_collective_phase *phase, uint32_t number,
                 struct hx_step *s)
{
    const uint32_t n = phase->size;
    const uint32_t distance = number % (n - 1) + 1;
    const uint32_t to = is_paired(phase) ? phase->place ^ distance : (phase->place + distance) % n;
    const uint32_t from = is_paired(phase) ? to : (phase->place + n - distance) % n;
    bool adds = (phase->kind == HX_ALL_REDUCE && number < n - 1) || phase->kind == HX_REDUCE_SCATTER;
    bool second = number >= n - 1;
    (void)config;
    *s = (struct hx_step){.to = HX_NO_PEER, .from = HX_NO_PEER, .gate = HX_WHEN_COMPLETE};
    s->of = phase->shape == HX_IN_TURN ? number : second ? n - 1 : 0;
    if (is_rooted(phase)) {
        rooted(phase, number, s);
        return;
    }
    s->to = hx_member(phase, to);
    s->from = hx_member(phase, from);
    s->adds = adds;
    s->first = number == 0;
    s->out = (struct hx_segments){adds || phase->kind == HX_COLLECTIVE_ALL_TO_ALL ? to : phase->place, 1};
    s->in = (struct hx_segments){adds ? phase->place : from, 1};
}

bool hx_direct_find(const struct hx_collective_config *config, const struct hx_collective_phase *phase, uint32_t peer,
                    unsigned half, bool sending, uint32_t *found)
{
    const uint32_t n = phase->size;
    const uint32_t place = (peer - phase->line.base) / phase->line.stride;
    struct hx_step s;
    if (n < 2 || peer < phase->line.base || place >= n || hx_member(phase, place) != peer || half > 1)
        return false;
    uint32_t distance = sending ? (place + n - phase->place) % n : (phase->place + n - place) % n;
    if (is_paired(phase) && !is_rooted(phase))
        distance = place ^ phase->place;
    if (is_rooted(phase))
        distance = ((phase->place == phase->root ? place : phase->place) + n - phase->root) % n;
    *found = distance - 1 + half * (n - 1);
    if (distance == 0 || *found >= steps(config, phase))
        return false;
    step(config, phase, *found, &s);
    return (sending ? s.to : s.from) == peer;
}

static uint32_t own(const struct hx_collective_config *config, const struct hx_collective_phase *phase)
{
    (void)config;
    return phase->place;
}

const struct hx_method hx_direct_method = {.steps = steps, .step = step, .own = own, .span = 16, .peer_tells = true};
