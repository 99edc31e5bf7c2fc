/* collective_tags.c - tags of a collective's messages (collective_parts.h).
 *
 * A brief tag has a short name of the lane and the low bits of the number. If a peer tells the step, the lanes of each
 * half of a part have one name. */
#include "collective_parts.h"
#include "hxmesh/error.h"

uint32_t hx_tag_of(const struct hx_collective *c, uint32_t part, uint32_t lane, uint32_t number)
{
    const unsigned bits = 32U - c->part_bits - c->lane_bits;
    const uint32_t high = part << c->lane_bits | lane;
    return bits < 32 ? high << bits | number : number;
}

bool hx_tag_find(const struct hx_collective *c, uint32_t tag, struct hx_message *m)
{
    const unsigned bits = 32U - c->part_bits - c->lane_bits;
    const uint32_t high = bits < 32 ? tag >> bits : 0;
    const uint32_t number = bits < 32 ? tag & (((uint32_t)1 << bits) - 1) : tag;
    return hx_message_find(c, high >> c->lane_bits, high & (((uint32_t)1 << c->lane_bits) - 1), number, m);
}

/* ---- brief tags ---- */

enum { NUMBER_BITS = 2, NUMBERS = 1 << NUMBER_BITS };
HX_STATIC_ASSERT((int)NUMBERS >= (int)HX_COLLECTIVE_BRIEF_WINDOW, "numbers in flight differ in their low bits");

static uint32_t names(const struct hx_collective_part *part)
{
    if (part->steps == 0)
        return 0;
    return hx_method_of(part)->one_lane ? 1 : hx_method_of(part)->peer_tells ? 2 : part->steps;
}

static uint32_t name_of(const struct hx_collective *c, const struct hx_message *m)
{
    uint32_t name = 0;
    const struct hx_collective_part *part = c->part;
    for (; part != m->part; part++)
        name += names(part);
    if (hx_method_of(part)->one_lane)
        return name;
    return name + (hx_method_of(part)->peer_tells ? m->step / (part->size - 1) : m->step);
}

uint32_t hx_collective_brief(const struct hx_collective *c, uint32_t tag)
{
    struct hx_message m;
    if (!hx_tag_find(c, tag, &m))
        return 0;
    return name_of(c, &m) << NUMBER_BITS | (m.number & (NUMBERS - 1U));
}

/* Finds the part and its lane of a short name. Returns false if there is none. */
static bool find_lane(const struct hx_collective *c, uint32_t name, uint32_t peer, bool sending, uint32_t *found,
                      uint32_t *lane)
{
    const struct hx_collective_part *part = c->part;
    const struct hx_collective_part *end = part + (size_t)c->streams * c->phases;
    while (part < end && name >= names(part))
        name -= names(part++);
    if (part == end)
        return false;
    uint32_t step = name;
    if (hx_method_of(part)->peer_tells && !hx_direct_find(&c->config, part, peer, name, sending, &step))
        return false;
    *found = (uint32_t)(part - c->part);
    *lane = step;
    return true;
}

static int full_tag(const struct hx_collective *c, uint32_t peer, uint32_t brief, bool sending, uint32_t *tag)
{
    uint32_t part, lane;
    if (!find_lane(c, brief >> NUMBER_BITS, peer, sending, &part, &lane))
        return HX_E_RANGE;
    const struct hx_collective_lane *at = &c->lane[c->part[part].lane + lane];
    const uint32_t base = sending ? at->acked.base : at->in.base;
    *tag = hx_tag_of(c, part, lane, base + ((brief - base) & (NUMBERS - 1U)));
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
