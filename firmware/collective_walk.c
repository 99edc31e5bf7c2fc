/* collective_walk.c - segments that move around directed rings: reduce-scatter, all-gather, all-reduce.
 *
 * In step s the accelerator at position i sends segment i - shift - s to the next one and receives segment i - shift -
 * s - 1 from the previous one. With shift 1 and adding, the sum of segment i ends at position i after p - 1 steps:
 * reduce-scatter. p - 1 further steps with copying: all-reduce. Shift 0 and copying: all-gather. Message s * chunks + j
 * carries chunk j of step s, so message m sent is message m - chunks received.
 *
 * A torus has more phases: along the first dimension, along the second within the own segment of the first, and
 * back. */
#include "collective_parts.h"
#include "hxmesh/error.h"

/* Sums of the second dimension wait in staging until the first is complete. */
enum { FIRST_DIMENSION, SECOND_DIMENSION };

static bool adds_aside(const struct hx_collective *c, unsigned stream, unsigned phase)
{
    return phase == 1 && c->part[stream][1].reduces > 0;
}

static struct hx_collective_track *in_of(struct hx_collective *c, unsigned stream, unsigned phase)
{
    return &c->in[stream * HX_COLLECTIVE_PHASES + phase];
}

/* Returns true if all messages of a phase arrived. A phase in a dimension of one has no messages. */
static bool has_all(const struct hx_collective *c, unsigned stream, unsigned phase)
{
    return c->in[stream * HX_COLLECTIVE_PHASES + phase].base == c->part[stream][phase].messages;
}

/* ---- set up ---- */

struct plan {
    uint8_t level;
    enum hx_collective_kind kind;
};

static unsigned plan_phases(const struct hx_collective_config *config, struct plan plan[HX_COLLECTIVE_PHASES])
{
    const enum hx_collective_kind kind = (enum hx_collective_kind)config->kind;
    if (config->algorithm != HX_BY_TORUS) {
        plan[0] = (struct plan){FIRST_DIMENSION, kind};
        return 1;
    }
    bool gathers = kind == HX_ALL_GATHER;
    plan[0] = (struct plan){gathers ? SECOND_DIMENSION : FIRST_DIMENSION, gathers ? kind : HX_REDUCE_SCATTER};
    plan[1] = (struct plan){gathers ? FIRST_DIMENSION : SECOND_DIMENSION, kind};
    plan[2] = (struct plan){FIRST_DIMENSION, HX_ALL_GATHER};
    return kind == HX_ALL_REDUCE ? 3 : 2;
}

static int part_init(const struct hx_collective_config *config, struct hx_collective_part *part, struct hx_range range,
                     const struct hx_ring_stand *ring, enum hx_collective_kind kind)
{
    *part = (struct hx_collective_part){.first = range.first,
                                        .elements = range.count,
                                        .size = ring->size,
                                        .position = ring->position,
                                        .shift = kind != HX_ALL_GATHER,
                                        .to = true,
                                        .from = true};
    uint64_t largest = (range.count + ring->size - 1) / ring->size;
    uint64_t chunks = hx_chunks(config, largest, &part->chunk);
    uint64_t steps = (uint64_t)(ring->size - 1) * (kind == HX_ALL_REDUCE ? 2 : 1);
    if (chunks > ((uint32_t)1 << HX_TAG_NUMBER_BITS) || chunks * steps > ((uint32_t)1 << HX_TAG_NUMBER_BITS))
        return HX_E_RANGE;
    part->chunks = (uint32_t)chunks;
    part->messages = (uint32_t)(chunks * steps);
    part->reduces = kind == HX_ALL_GATHER ? 0 : (uint32_t)(chunks * (ring->size - 1));
    hx_part_neighbours(config, ring, part);
    return HX_OK;
}

static int stream_init(struct hx_collective *c, unsigned stream)
{
    struct plan plan[HX_COLLECTIVE_PHASES];
    const struct hx_range all = {0, c->config.bytes / sizeof(float)};
    const struct hx_range share = hx_range_part(all, stream, c->streams);
    struct hx_ring_stand ring[2];
    c->phases = (uint8_t)plan_phases(&c->config, plan);
    hx_stream_ring(&c->config, stream, FIRST_DIMENSION, hx_collective_stand(&c->config), &ring[FIRST_DIMENSION]);
    if (c->phases > 1)
        hx_stream_ring(&c->config, stream, SECOND_DIMENSION, hx_collective_stand(&c->config), &ring[SECOND_DIMENSION]);
    const struct hx_range own = hx_range_part(share, ring[0].position, ring[0].size);
    for (unsigned phase = 0; phase < c->phases; phase++) {
        const struct plan *p = &plan[phase];
        struct hx_collective_part *part = &c->part[stream][phase];
        int error = part_init(&c->config, part, p->level == FIRST_DIMENSION ? share : own, &ring[p->level], p->kind);
        if (error)
            return error;
        c->left += (uint64_t)part->messages * 2;
    }
    return HX_OK;
}

uint64_t hx_walk_staging(const struct hx_collective_config *config)
{
    const struct hx_range all = {0, config->bytes / sizeof(float)};
    uint64_t elements = 0;
    for (unsigned stream = 0; config->algorithm == HX_BY_TORUS && stream < hx_streams(config); stream++) {
        struct hx_ring_stand ring;
        hx_stream_ring(config, stream, FIRST_DIMENSION, hx_collective_stand(config), &ring);
        const struct hx_range share = hx_range_part(all, stream, hx_streams(config));
        elements += hx_range_part(share, ring.position, ring.size).count;
    }
    return elements;
}

int hx_walk_init(struct hx_collective *c)
{
    c->streams = c->lanes = (uint8_t)hx_streams(&c->config);
    for (unsigned stream = 0; stream < c->streams; stream++) {
        int error = stream_init(c, stream);
        if (error)
            return error;
        hx_walk_settle(c, stream);
    }
    return HX_OK;
}

/* ---- sending ---- */

uint32_t hx_walk_first(const struct hx_collective *c, unsigned stream, unsigned phase)
{
    uint32_t first = 0;
    for (unsigned i = 0; i < phase; i++)
        first += c->part[stream][i].messages;
    return first;
}

void hx_walk_settle(struct hx_collective *c, unsigned stream)
{
    struct hx_collective_out *out = &c->out[stream];
    while (out->phase < c->phases && out->next == hx_walk_first(c, stream, out->phase + 1U))
        out->phase++;
}

static bool may_begin(const struct hx_collective *c, unsigned stream, unsigned phase)
{
    for (unsigned earlier = 0; earlier < phase; earlier++) {
        if (!has_all(c, stream, earlier))
            return false;
    }
    return phase < c->phases;
}

bool hx_walk_ready(const struct hx_collective *c, unsigned lane, struct hx_tag *tag, struct hx_stand *to)
{
    const struct hx_collective_out *out = &c->out[lane];
    unsigned phase = out->phase;
    if (!may_begin(c, lane, phase))
        return false;
    const struct hx_collective_part *part = &c->part[lane][phase];
    uint32_t number = out->next - hx_walk_first(c, lane, phase);
    if (number >= part->chunks && !hx_track_has(&c->in[lane * HX_COLLECTIVE_PHASES + phase], number - part->chunks))
        return false;
    *tag = (struct hx_tag){.number = number, .phase = (uint8_t)phase, .edge = (uint8_t)lane};
    *to = (struct hx_stand){part->to_gx, part->to_gy};
    return true;
}

struct hx_range hx_walk_range(const struct hx_collective_part *part, uint32_t number, bool sending)
{
    const struct hx_range all = {part->first, part->elements};
    uint32_t back = part->shift + number / part->chunks + (sending ? 0 : 1);
    uint32_t segment = (part->position + 2 * part->size - back) % part->size;
    return hx_range_chunk(hx_range_part(all, segment, part->size), number % part->chunks, part->chunk);
}

/* ---- receiving ---- */

/* Returns the element of staging where a stream's second dimension begins. */
static uint64_t aside_of(const struct hx_collective *c, unsigned stream)
{
    uint64_t at = 0;
    for (unsigned i = 0; i < stream; i++)
        at += c->part[i][1].elements;
    return at;
}

bool hx_walk_arrival(struct hx_collective *c, struct hx_tag tag, struct hx_arrival *a)
{
    if (tag.edge >= c->streams || tag.phase >= c->phases)
        return false;
    const struct hx_collective_part *part = &c->part[tag.edge][tag.phase];
    if (tag.number >= part->messages)
        return false;
    bool adds = tag.number < part->reduces;
    bool aside = adds && adds_aside(c, tag.edge, tag.phase);
    *a = (struct hx_arrival){.range = hx_walk_range(part, tag.number, false),
                             .in = in_of(c, tag.edge, tag.phase),
                             .landing = aside  ? HX_LAY_ASIDE
                                        : adds ? HX_ADD
                                               : HX_COPY,
                             .gx = part->from_gx,
                             .gy = part->from_gy};
    a->aside = aside ? aside_of(c, tag.edge) + (a->range.first - part->first) : 0;
    return true;
}

static void add_aside(struct hx_collective *c, unsigned stream, uint32_t number)
{
    struct hx_arrival a;
    const struct hx_tag tag = {.number = number, .phase = 1, .edge = (uint8_t)stream};
    if (hx_walk_arrival(c, tag, &a) && a.landing == HX_LAY_ASIDE)
        hx_collective_add_aside(c, a.range, a.aside);
}

/* Adds staged sums: all when the first dimension completes, later ones on arrival. */
void hx_walk_received(struct hx_collective *c, struct hx_tag tag)
{
    if (!c->vector || c->phases < 2 || !adds_aside(c, tag.edge, 1) || !has_all(c, tag.edge, 0))
        return;
    if (tag.phase == 1)
        add_aside(c, tag.edge, tag.number);
    if (tag.phase != 0)
        return;
    const struct hx_collective_track *in = in_of(c, tag.edge, 1);
    for (uint32_t number = 0; number < in->base + HX_COLLECTIVE_MAX_WINDOW; number++) {
        if (hx_track_has(in, number))
            add_aside(c, tag.edge, number);
    }
}
