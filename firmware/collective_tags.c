/* collective_tags.c - tags of a collective's messages (collective_parts.h).
 *
 * A brief tag has a short name of the queue and the low bits of the number. If a peer tells the step, the queues of
 * each half of a phase have one name. */
#include "collective_parts.h"
#include "hxmesh/error.h"

uint32_t hx_tag_of(const struct hx_collective *c, uint32_t phase, uint32_t queue, uint32_t number)
{
    const unsigned bits = 32U - c->phase_bits - c->queue_bits;
    const uint32_t high = phase << c->queue_bits | queue;
    return bits < 32 ? high << bits | number : number;
}

bool hx_tag_find(const struct hx_collective *c, uint32_t tag, struct hx_message *m)
{
    const unsigned bits = 32U - c->phase_bits - c->queue_bits;
    const uint32_t high = bits < 32 ? tag >> bits : 0;
    const uint32_t number = bits < 32 ? tag & (((uint32_t)1 << bits) - 1) : tag;
    return hx_message_find(c, high >> c->queue_bits, high & (((uint32_t)1 << c->queue_bits) - 1), number, m);
}

/* ---- brief tags ---- */

enum { LEAST_NUMBER_BITS = 2 };
HX_STATIC_ASSERT(1 << LEAST_NUMBER_BITS == (int)HX_COLLECTIVE_BRIEF_WINDOW,
                 "each collective has names for this window");

/* Bits of a number: those in flight differ in them. */
static unsigned number_bits(const struct hx_collective *c)
{
    unsigned bits = LEAST_NUMBER_BITS;
    while (1U << bits < c->config.window)
        bits++;
    return bits;
}

static uint32_t names(const struct hx_collective_phase *phase)
{
    if (phase->steps == 0)
        return 0;
    return hx_method_of(phase)->one_queue ? 1 : hx_method_of(phase)->peer_tells ? 2 : phase->steps;
}

static uint32_t name_of(const struct hx_collective *c, const struct hx_message *m)
{
    uint32_t name = 0;
    const struct hx_collective_phase *phase = c->phase;
    for (; phase != m->phase; phase++)
        name += names(phase);
    if (hx_method_of(phase)->one_queue)
        return name;
    return name + (hx_method_of(phase)->peer_tells ? m->step / (phase->size - 1) : m->step);
}

uint32_t hx_collective_brief(const struct hx_collective *c, uint32_t tag)
{
    struct hx_message m;
    if (!hx_tag_find(c, tag, &m))
        return 0;
    const unsigned bits = number_bits(c);
    return name_of(c, &m) << bits | (m.number & ((1U << bits) - 1));
}

void hx_collective_use_brief(struct hx_collective *c)
{
    uint32_t all = 0;
    for (unsigned i = 0; i < (unsigned)c->stripes * c->phases; i++)
        all += names(&c->phase[i]);
    while (c->config.window > HX_COLLECTIVE_BRIEF_WINDOW && all << number_bits(c) > 1U << HX_COLLECTIVE_BRIEF_BITS)
        c->config.window /= 2;
}

/* Finds the phase and its queue of a short name. Returns false if there is none. */
static bool find_queue(const struct hx_collective *c, uint32_t name, uint32_t peer, bool sending, uint32_t *found,
                       uint32_t *queue)
{
    const struct hx_collective_phase *phase = c->phase;
    const struct hx_collective_phase *end = phase + (size_t)c->stripes * c->phases;
    while (phase < end && name >= names(phase))
        name -= names(phase++);
    if (phase == end)
        return false;
    uint32_t step = name;
    if (hx_method_of(phase)->peer_tells && !hx_direct_find(&c->config, phase, peer, name, sending, &step))
        return false;
    *found = (uint32_t)(phase - c->phase);
    *queue = step;
    return true;
}

static int full_tag(const struct hx_collective *c, uint32_t peer, uint32_t brief, bool sending, uint32_t *tag)
{
    const unsigned bits = number_bits(c);
    uint32_t phase, queue;
    if (!find_queue(c, brief >> bits, peer, sending, &phase, &queue))
        return HX_E_RANGE;
    const struct hx_collective_queue *at = &c->queue[c->phase[phase].queue + queue];
    const uint32_t base = sending ? at->acked.base : at->in.base;
    *tag = hx_tag_of(c, phase, queue, base + ((brief - base) & ((1U << bits) - 1)));
    return HX_OK;
}

int hx_collective_arriving(const struct hx_collective *c, uint32_t from, uint32_t brief, uint32_t *tag)
{
    return full_tag(c, from, brief, false, tag);
}

int hx_collective_leaving(const struct hx_collective *c, uint32_t to, uint32_t brief, uint32_t *tag)
{
    return full_tag(c, to, brief, true, tag);
}
