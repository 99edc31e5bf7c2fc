/* collective_direct.c - a message to each other member (collective_parts.h).
 *
 * Step s of n - 1: to the member s + 1 further, from the one s + 1 before. In turn, each step begins when the one
 * before is complete; then powers of two pair place p with p XOR (s + 1). An all-reduce has n - 1 further steps with
 * copying.
 *
 * With a root, step s is between the root and the member s + 1 further. */
#include "collective_parts.h"

static bool is_rooted(const struct hx_collective_part *part)
{
    return part->kind == HX_BROADCAST || part->kind == HX_REDUCE || part->kind == HX_GATHER || part->kind == HX_SCATTER;
}

static bool is_paired(const struct hx_collective_part *part)
{
    return part->shape == HX_IN_TURN && hx_is_power_of_two(part->size);
}

static uint32_t steps(const struct hx_collective_config *config, const struct hx_collective_part *part)
{
    (void)config;
    return (part->size - 1) * (part->kind == HX_ALL_REDUCE ? 2 : 1);
}

static void rooted(const struct hx_collective_part *part, uint32_t number, struct hx_step *s)
{
    const uint32_t other = (part->root + 1 + number) % part->size;
    bool down = part->kind == HX_BROADCAST || part->kind == HX_SCATTER;
    bool parts = part->kind == HX_GATHER || part->kind == HX_SCATTER;
    bool is_root = part->place == part->root;
    if (!is_root && part->place != other)
        return;
    const uint32_t peer = hx_member(part, is_root ? other : part->root);
    s->in = s->out = parts ? (struct hx_segments){other, 1} : (struct hx_segments){0, part->segments};
    s->to = is_root == down ? peer : HX_NO_PEER;
    s->from = is_root == down ? HX_NO_PEER : peer;
    s->adds = part->kind == HX_REDUCE;
    s->first = number == 0;
}

static void step(const struct hx_collective_config *config, const struct hx_collective_part *part, uint32_t number,
                 struct hx_step *s)
{
    const uint32_t n = part->size;
    const uint32_t distance = number % (n - 1) + 1;
    const uint32_t to = is_paired(part) ? part->place ^ distance : (part->place + distance) % n;
    const uint32_t from = is_paired(part) ? to : (part->place + n - distance) % n;
    bool adds = (part->kind == HX_ALL_REDUCE && number < n - 1) || part->kind == HX_REDUCE_SCATTER;
    bool second = number >= n - 1;
    (void)config;
    *s = (struct hx_step){.to = HX_NO_PEER, .from = HX_NO_PEER, .gate = HX_WHEN_COMPLETE};
    s->of = part->shape == HX_IN_TURN ? number : second ? n - 1 : 0;
    if (is_rooted(part)) {
        rooted(part, number, s);
        return;
    }
    s->to = hx_member(part, to);
    s->from = hx_member(part, from);
    s->adds = adds;
    s->first = number == 0;
    s->out = (struct hx_segments){adds || part->kind == HX_COLLECTIVE_ALL_TO_ALL ? to : part->place, 1};
    s->in = (struct hx_segments){adds ? part->place : from, 1};
}

bool hx_direct_find(const struct hx_collective_config *config, const struct hx_collective_part *part, uint32_t peer,
                    unsigned half, bool sending, uint32_t *found)
{
    const uint32_t n = part->size;
    const uint32_t place = (peer - part->line.base) / part->line.stride;
    struct hx_step s;
    if (n < 2 || peer < part->line.base || place >= n || hx_member(part, place) != peer || half > 1)
        return false;
    uint32_t distance = sending ? (place + n - part->place) % n : (part->place + n - place) % n;
    if (is_paired(part) && !is_rooted(part))
        distance = place ^ part->place;
    if (is_rooted(part))
        distance = ((part->place == part->root ? place : part->place) + n - part->root) % n;
    *found = distance - 1 + half * (n - 1);
    if (distance == 0 || *found >= steps(config, part))
        return false;
    step(config, part, *found, &s);
    return (sending ? s.to : s.from) == peer;
}

static uint32_t own(const struct hx_collective_config *config, const struct hx_collective_part *part)
{
    (void)config;
    return part->place;
}

const struct hx_method hx_direct_method = {.steps = steps, .step = step, .own = own, .span = 16, .peer_tells = true};
