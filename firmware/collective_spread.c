/* collective_spread.c - broadcasts along rings, and the rings of all streams. The root's share of a stream goes along
 * the ring, chunk by chunk, to the position before the root. On a torus it goes along the root's line of the first
 * dimension, and from each accelerator of that line along the second. */
#include "collective_parts.h"
#include "hxmesh/error.h"

/* ---- the rings of the streams ---- */

unsigned hx_streams(const struct hx_collective_config *config)
{
    return config->algorithm == HX_BY_RING ? 2 : HX_COLLECTIVE_STREAMS;
}

static void line_find(const struct hx_collective_config *config, bool along_row, struct hx_stand at,
                      struct hx_ring_stand *ring)
{
    *ring = (struct hx_ring_stand){.size = along_row ? config->columns : config->rows,
                                   .position = along_row ? at.column : at.row,
                                   .next = at,
                                   .before = at};
    uint16_t next = (uint16_t)((ring->position + 1) % ring->size);
    uint16_t before = (uint16_t)((ring->position + ring->size - 1) % ring->size);
    *(along_row ? &ring->next.column : &ring->next.row) = next;
    *(along_row ? &ring->before.column : &ring->before.row) = before;
}

/* Odd streams run in the opposite direction. */
void hx_stream_ring(const struct hx_collective_config *config, unsigned stream, unsigned level, struct hx_stand at,
                    struct hx_ring_stand *ring)
{
    enum hx_cycle cycle = config->algorithm == HX_BY_RING ? HX_CYCLE_SINGLE
                          : stream < 2                    ? HX_CYCLE_FIRST
                                                          : HX_CYCLE_SECOND;
    if (config->algorithm == HX_BY_TORUS)
        line_find(config, (stream < 2) == (level == 0), at, ring);
    else
        hx_cycle_find(config->columns, config->rows, cycle, at, ring);
    if (stream % 2) {
        const struct hx_stand next = ring->next;
        ring->next = ring->before;
        ring->before = next;
        ring->position = ring->size - 1 - ring->position;
    }
}

void hx_part_neighbours(const struct hx_collective_config *config, const struct hx_ring_stand *ring,
                        struct hx_collective_part *part)
{
    part->to_gx = (uint16_t)hx_collective_gx(config, ring->next.column);
    part->to_gy = (uint16_t)hx_collective_gy(config, ring->next.row);
    part->from_gx = (uint16_t)hx_collective_gx(config, ring->before.column);
    part->from_gy = (uint16_t)hx_collective_gy(config, ring->before.row);
}

/* ---- set up ---- */

static unsigned levels(const struct hx_collective *c)
{
    return c->config.algorithm == HX_BY_TORUS ? 2 : 1;
}

/* Initialises a chain of one level. Returns this accelerator's distance from the root along it. */
static uint32_t chain_init(struct hx_collective *c, unsigned stream, unsigned level, struct hx_range share)
{
    struct hx_collective_part *part = &c->part[stream][level];
    const struct hx_stand root = {c->config.root_column, c->config.root_row};
    struct hx_ring_stand ring, origin;
    hx_stream_ring(&c->config, stream, level, hx_collective_stand(&c->config), &ring);
    hx_stream_ring(&c->config, stream, level, root, &origin);
    uint32_t distance = (ring.position + ring.size - origin.position) % ring.size;
    *part = (struct hx_collective_part){.first = share.first,
                                        .elements = share.count,
                                        .size = ring.size,
                                        .position = distance,
                                        .to = distance + 1 < ring.size,
                                        .from = distance > 0};
    hx_part_neighbours(&c->config, &ring, part);
    return distance;
}

static int stream_init(struct hx_collective *c, unsigned stream)
{
    const struct hx_range all = {0, c->config.bytes / sizeof(float)};
    const struct hx_range share = hx_range_part(all, stream, c->streams);
    struct hx_collective_part *part = c->part[stream];
    (void)chain_init(c, stream, 0, share);
    if (levels(c) == 2 && chain_init(c, stream, 1, share) > 0)
        part[0].to = part[0].from = false; /* not on the root's line */
    uint32_t chunk;
    uint64_t chunks = hx_chunks(&c->config, share.count, &chunk);
    if (chunks > (uint32_t)1 << HX_TAG_NUMBER_BITS)
        return HX_E_RANGE;
    for (unsigned level = 0; level < levels(c); level++) {
        part[level].chunk = chunk;
        part[level].chunks = part[level].messages = (uint32_t)chunks;
        c->left += (part[level].to ? chunks : 0) + (part[level].from ? chunks : 0);
    }
    return HX_OK;
}

int hx_spread_init(struct hx_collective *c)
{
    c->streams = (uint8_t)hx_streams(&c->config);
    c->lanes = (uint8_t)(c->streams * levels(c));
    for (unsigned stream = 0; stream < c->streams; stream++) {
        int error = stream_init(c, stream);
        if (error)
            return error;
    }
    return HX_OK;
}

/* ---- messages ---- */

unsigned hx_spread_lane(const struct hx_collective *c, struct hx_tag tag)
{
    return tag.phase < levels(c) ? tag.edge * levels(c) + tag.phase : c->lanes;
}

bool hx_spread_ready(const struct hx_collective *c, unsigned lane, struct hx_tag *tag, struct hx_stand *to)
{
    unsigned stream = lane / levels(c);
    unsigned level = lane % levels(c);
    const struct hx_collective_part *part = &c->part[stream][level];
    uint32_t number = c->out[lane].next;
    bool is_root = !c->part[stream][0].from && !(levels(c) == 2 && c->part[stream][1].from);
    if (!part->to || number == part->messages || !(is_root || hx_track_has(&c->in[stream], number)))
        return false;
    *tag = (struct hx_tag){.number = number, .phase = (uint8_t)level, .edge = (uint8_t)stream};
    *to = (struct hx_stand){part->to_gx, part->to_gy};
    return true;
}

struct hx_range hx_spread_range(const struct hx_collective_part *part, uint32_t number)
{
    return hx_range_chunk((struct hx_range){part->first, part->elements}, number, part->chunk);
}

bool hx_spread_arrival(struct hx_collective *c, struct hx_tag tag, struct hx_arrival *a)
{
    if (tag.edge >= c->streams || tag.phase >= levels(c))
        return false;
    const struct hx_collective_part *part = &c->part[tag.edge][tag.phase];
    if (!part->from || tag.number >= part->messages)
        return false;
    *a = (struct hx_arrival){.range = hx_spread_range(part, tag.number),
                             .in = &c->in[tag.edge],
                             .landing = HX_COPY,
                             .gx = part->from_gx,
                             .gy = part->from_gy};
    return true;
}
