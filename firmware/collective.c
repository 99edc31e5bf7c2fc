/* collective.c - the program of a collective (include/hxmesh/collective.h): tags, windows and data. collective_walk.c,
 * collective_spread.c and collective_tree.c define the messages and their dependencies. */
#include "collective_parts.h"
#include "hxmesh/error.h"
#include "hxmesh/frame.h"
#include "hxmesh/memory.h"

enum shape { WALK, SPREAD, TREE };

static enum shape shape_of(const struct hx_collective *c)
{
    if (c->config.algorithm == HX_BY_TREE)
        return TREE;
    return c->config.kind == HX_BROADCAST ? SPREAD : WALK;
}

/* ---- the grid ---- */

struct hx_stand hx_collective_stand(const struct hx_collective_config *config)
{
    return (struct hx_stand){config->column, config->row};
}

unsigned hx_collective_gx(const struct hx_collective_config *config, unsigned column)
{
    return config->gx ? config->gx[column] : column;
}

unsigned hx_collective_gy(const struct hx_collective_config *config, unsigned row)
{
    return config->gy ? config->gy[row] : row;
}

/* ---- ranges ---- */

struct hx_range hx_range_part(struct hx_range range, uint32_t index, uint32_t parts)
{
    uint64_t first = range.count * index / parts;
    uint64_t end = range.count * (index + (uint64_t)1) / parts;
    return (struct hx_range){range.first + first, end - first};
}

uint64_t hx_chunks(const struct hx_collective_config *config, uint64_t elements, uint32_t *chunk)
{
    uint32_t unit = config->chunk >= HX_MAX_PAYLOAD ? HX_MAX_PAYLOAD / sizeof(float) : 1;
    uint32_t most = config->chunk / sizeof(float) / unit * unit;
    uint64_t chunks = elements ? (elements + most - 1) / most : 1;
    uint64_t even = (elements + chunks - 1) / chunks;
    *chunk = (uint32_t)((even + unit - 1) / unit * unit);
    *chunk = *chunk ? *chunk : 1;
    return chunks;
}

struct hx_range hx_range_chunk(struct hx_range segment, uint32_t index, uint32_t chunk)
{
    uint64_t first = (uint64_t)index * chunk;
    first = first < segment.count ? first : segment.count;
    uint64_t rest = segment.count - first;
    return (struct hx_range){segment.first + first, rest < chunk ? rest : chunk};
}

/* ---- reported numbers ---- */

static bool is_ahead(const struct hx_collective_track *t, uint32_t number)
{
    return number > t->base && number - t->base <= HX_COLLECTIVE_MAX_WINDOW;
}

bool hx_track_has(const struct hx_collective_track *t, uint32_t number)
{
    return number < t->base || (is_ahead(t, number) && (t->ahead >> (number - t->base - 1) & 1U));
}

/* Returns true if the number may be reported next. */
static bool is_due(const struct hx_collective_track *t, uint32_t number)
{
    return number == t->base || (is_ahead(t, number) && !hx_track_has(t, number));
}

static void mark(struct hx_collective_track *t, uint32_t number)
{
    if (number != t->base) {
        t->ahead |= (uint32_t)1 << (number - t->base - 1);
        return;
    }
    for (t->base++; t->ahead & 1U; t->base++)
        t->ahead >>= 1;
    t->ahead >>= 1;
}

/* ---- set up ---- */

int hx_collective_check(const struct hx_collective_config *config)
{
    const uint64_t most = (uint64_t)1 << HX_COLLECTIVE_CHILDREN;
    const uint64_t largest = (uint64_t)1 << 42;
    if (config->columns == 0 || config->rows == 0 || (uint64_t)config->columns * config->rows > most ||
        config->column >= config->columns || config->row >= config->rows || config->root_column >= config->columns ||
        config->root_row >= config->rows)
        return HX_E_RANGE;
    if (config->kind > HX_ALL_REDUCE || config->algorithm > HX_BY_TORUS || config->bytes % sizeof(float) ||
        config->bytes > largest || config->chunk < sizeof(float) || config->window == 0 ||
        config->window > HX_COLLECTIVE_MAX_WINDOW)
        return HX_E_RANGE;
    return config->algorithm == HX_BY_RINGS && !hx_cycles_exist(config->columns, config->rows) ? HX_E_RANGE : HX_OK;
}

uint64_t hx_collective_staging(const struct hx_collective_config *config)
{
    if (config->algorithm == HX_BY_TREE)
        return hx_tree_staging(config) * sizeof(float);
    bool adds = config->kind == HX_REDUCE_SCATTER || config->kind == HX_ALL_REDUCE;
    return adds ? hx_walk_staging(config) * sizeof(float) : 0;
}

int hx_collective_init(struct hx_collective *c, const struct hx_collective_config *config, float *vector,
                       float *staging)
{
    if (hx_collective_check(config))
        return HX_E_RANGE;
    memset(c, 0, sizeof *c);
    c->config = *config;
    c->vector = vector;
    c->staging = staging;
    switch (shape_of(c)) {
    case TREE:
        return hx_tree_init(c);
    case SPREAD:
        return hx_spread_init(c);
    default:
        return hx_walk_init(c);
    }
}

/* ---- chunks that keep a link busy ----
 *
 * Two messages of a pair are in flight, and an acknowledgement takes about a microsecond after the last byte; at 50
 * GB/s the second message should last that long. A segment of two chunks is forwarded while it arrives. Smaller chunks
 * fill a chain sooner. */

enum { LARGE_CHUNK = 64 * 1024, SMALL_CHUNK = 16 * 1024, TREE_CHUNKS = 8 };

uint32_t hx_collective_chunk(const struct hx_collective_config *config, unsigned planes)
{
    uint64_t longer = config->columns > config->rows ? config->columns : config->rows;
    uint64_t ring = config->algorithm == HX_BY_TORUS ? longer : (uint64_t)config->columns * config->rows;
    bool tree = config->algorithm == HX_BY_TREE;
    uint64_t share = tree ? config->bytes : config->bytes / hx_streams(config);
    uint64_t parts = tree ? TREE_CHUNKS : 2 * (ring ? ring : 1);
    uint64_t packets = (share / parts + HX_MAX_PAYLOAD - 1) / HX_MAX_PAYLOAD;
    uint64_t least = (uint64_t)SMALL_CHUNK * planes;
    uint64_t most = (uint64_t)LARGE_CHUNK * planes;
    uint64_t chunk = packets * HX_MAX_PAYLOAD;
    return (uint32_t)(chunk < least ? least : chunk > most ? most : chunk);
}

/* ---- tags ---- */

static uint32_t packed(struct hx_tag tag)
{
    return (uint32_t)tag.phase << (HX_TAG_NUMBER_BITS + HX_TAG_EDGE_BITS) | (uint32_t)tag.edge << HX_TAG_NUMBER_BITS |
           tag.number;
}

static struct hx_tag unpacked(uint32_t tag)
{
    return (struct hx_tag){.number = tag & (((uint32_t)1 << HX_TAG_NUMBER_BITS) - 1),
                           .phase = (uint8_t)(tag >> (HX_TAG_NUMBER_BITS + HX_TAG_EDGE_BITS)),
                           .edge = tag >> HX_TAG_NUMBER_BITS & ((1U << HX_TAG_EDGE_BITS) - 1)};
}

static struct hx_range range_sent(const struct hx_collective *c, struct hx_tag tag)
{
    switch (shape_of(c)) {
    case TREE:
        return hx_tree_range(c, tag, true);
    case SPREAD:
        return hx_spread_range(&c->part[tag.edge][tag.phase], tag.number);
    default:
        return hx_walk_range(&c->part[tag.edge][tag.phase], tag.number, true);
    }
}

static bool arrival_of(struct hx_collective *c, struct hx_tag tag, struct hx_arrival *a)
{
    switch (shape_of(c)) {
    case TREE:
        return hx_tree_arrival(c, tag, a);
    case SPREAD:
        return hx_spread_arrival(c, tag, a);
    default:
        return hx_walk_arrival(c, tag, a);
    }
}

/* ---- sending ---- */

static bool is_ready(const struct hx_collective *c, unsigned lane, struct hx_tag *tag, struct hx_stand *to)
{
    switch (shape_of(c)) {
    case TREE:
        return hx_tree_ready(c, lane, tag, to);
    case SPREAD:
        return hx_spread_ready(c, lane, tag, to);
    default:
        return hx_walk_ready(c, lane, tag, to);
    }
}

bool hx_collective_next(const struct hx_collective *c, uint32_t refused, struct hx_collective_send *send)
{
    for (unsigned n = 0; n < c->lanes; n++) {
        unsigned lane = (c->turn + n) % c->lanes;
        const struct hx_collective_out *out = &c->out[lane];
        struct hx_tag tag;
        struct hx_stand to;
        if ((refused >> lane & 1U) || out->next - out->acked.base >= c->config.window || !is_ready(c, lane, &tag, &to))
            continue;
        *send = (struct hx_collective_send){.gx = to.column,
                                            .gy = to.row,
                                            .bytes = (uint32_t)(range_sent(c, tag).count * sizeof(float)),
                                            .tag = packed(tag),
                                            .lane = (uint8_t)lane};
        return true;
    }
    return false;
}

void hx_collective_take(struct hx_collective *c, const struct hx_collective_send *send)
{
    c->out[send->lane].next++;
    c->turn = (uint8_t)((send->lane + 1) % c->lanes);
    if (shape_of(c) == WALK)
        hx_walk_settle(c, send->lane);
}

/* Finds the lane of a sent message, and its number there. Returns false if there is none. */
static bool find_sent(const struct hx_collective *c, struct hx_tag tag, unsigned *lane, uint32_t *number)
{
    *number = tag.number;
    switch (shape_of(c)) {
    case TREE:
        *lane = hx_tree_lane(c, tag);
        return *lane < c->lanes && (tag.phase == 0) == (*lane == 0);
    case SPREAD:
        *lane = hx_spread_lane(c, tag);
        return *lane < c->lanes;
    default:
        *lane = tag.edge;
        if (tag.edge >= c->lanes || tag.phase >= c->phases || tag.number >= c->part[tag.edge][tag.phase].messages)
            return false;
        *number += hx_walk_first(c, tag.edge, tag.phase);
        return true;
    }
}

int hx_collective_sent(struct hx_collective *c, uint32_t tag)
{
    unsigned lane;
    uint32_t number;
    if (!find_sent(c, unpacked(tag), &lane, &number))
        return HX_E_RANGE;
    struct hx_collective_out *out = &c->out[lane];
    if (number >= out->next || !is_due(&out->acked, number))
        return HX_E_RANGE;
    mark(&out->acked, number);
    c->left--;
    return HX_OK;
}

/* ---- receiving ---- */

int hx_collective_received(struct hx_collective *c, unsigned gx, unsigned gy, uint32_t tag)
{
    struct hx_arrival a;
    if (!arrival_of(c, unpacked(tag), &a) || a.gx != gx || a.gy != gy || !is_due(a.in, unpacked(tag).number))
        return HX_E_RANGE;
    mark(a.in, unpacked(tag).number);
    c->left--;
    if (shape_of(c) == TREE)
        hx_tree_received(c);
    else if (shape_of(c) == WALK)
        hx_walk_received(c, unpacked(tag));
    return HX_OK;
}

bool hx_collective_done(const struct hx_collective *c)
{
    return c->left == 0;
}

/* ---- brief tags: 2 bits phase, 5 bits edge, the low bits of the number ---- */

enum { BRIEF_NUMBER_BITS = HX_COLLECTIVE_BRIEF_BITS - 2 - HX_TAG_EDGE_BITS, BRIEF_NUMBERS = 1 << BRIEF_NUMBER_BITS };
HX_STATIC_ASSERT((int)BRIEF_NUMBERS > (int)HX_COLLECTIVE_MAX_WINDOW, "numbers in flight differ in their low bits");

uint32_t hx_collective_brief(uint32_t tag)
{
    const struct hx_tag t = unpacked(tag);
    return (uint32_t)t.phase << (HX_TAG_EDGE_BITS + BRIEF_NUMBER_BITS) | (uint32_t)t.edge << BRIEF_NUMBER_BITS |
           (t.number & (BRIEF_NUMBERS - 1U));
}

/* The tag of the first number from `base` on that has these low bits. */
static uint32_t full(uint32_t brief, uint32_t base)
{
    const struct hx_tag t = {
        .number = base + ((brief - base) & (BRIEF_NUMBERS - 1U)),
        .phase = (uint8_t)(brief >> (HX_TAG_EDGE_BITS + BRIEF_NUMBER_BITS) & 3U),
        .edge = (uint8_t)(brief >> BRIEF_NUMBER_BITS & ((1U << HX_TAG_EDGE_BITS) - 1)),
    };
    return packed(t);
}

int hx_collective_arriving(const struct hx_collective *c, uint32_t brief, uint32_t *tag)
{
    const struct hx_tag t = unpacked(full(brief, 0));
    unsigned in = t.edge;
    if (shape_of(c) == WALK)
        in = (unsigned)t.edge * HX_COLLECTIVE_PHASES + t.phase;
    else if (shape_of(c) == TREE && t.phase)
        in = HX_COLLECTIVE_PARENT;
    if (in >= HX_COLLECTIVE_LANES)
        return HX_E_RANGE;
    *tag = full(brief, c->in[in].base);
    return HX_OK;
}

int hx_collective_leaving(const struct hx_collective *c, uint32_t brief, uint32_t *tag)
{
    const struct hx_tag t = unpacked(full(brief, 0));
    uint32_t first = 0;
    unsigned lane = t.edge;
    if (shape_of(c) == TREE)
        lane = hx_tree_lane(c, t);
    else if (shape_of(c) == SPREAD)
        lane = hx_spread_lane(c, t);
    else if (t.edge < c->lanes && t.phase < c->phases)
        first = hx_walk_first(c, t.edge, t.phase);
    if (lane >= c->lanes)
        return HX_E_RANGE;
    uint32_t acked = c->out[lane].acked.base;
    *tag = full(brief, acked > first ? acked - first : 0);
    return HX_OK;
}

/* ---- data ---- */

static void add(float *to, const uint8_t *from, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        float value;
        memcpy(&value, from + i * sizeof value, sizeof value);
        to[i] += value;
    }
}

void hx_collective_add_aside(struct hx_collective *c, struct hx_range range, uint64_t aside)
{
    add(c->vector + range.first, (const uint8_t *)(c->staging + aside), range.count);
}

void hx_collective_fill(const struct hx_collective *c, uint32_t tag, uint64_t offset, void *to, uint32_t bytes)
{
    if (c->vector)
        memcpy(to, c->vector + range_sent(c, unpacked(tag)).first + offset / sizeof(float), bytes);
}

int hx_collective_place(struct hx_collective *c, uint32_t tag, uint64_t offset, const void *payload, uint32_t bytes)
{
    struct hx_arrival a;
    if (!arrival_of(c, unpacked(tag), &a) || !is_due(a.in, unpacked(tag).number))
        return HX_E_RANGE;
    uint64_t size = a.range.count * sizeof(float);
    if (offset > size || bytes > size - offset || offset % sizeof(float) || bytes % sizeof(float))
        return HX_E_RANGE;
    if (!c->vector || bytes == 0)
        return HX_OK;
    uint64_t at = offset / sizeof(float);
    if (a.landing == HX_ADD)
        add(c->vector + a.range.first + at, payload, bytes / sizeof(float));
    else
        memcpy(a.landing == HX_COPY ? c->vector + a.range.first + at : c->staging + a.aside + at, payload, bytes);
    return HX_OK;
}

/* ---- ownership ---- */

bool hx_collective_piece(const struct hx_collective *c, unsigned index, uint64_t *offset, uint64_t *bytes)
{
    const bool scattered = c->config.kind == HX_REDUCE_SCATTER || c->config.kind == HX_ALL_GATHER;
    struct hx_range own = {0, c->config.bytes / sizeof(float)};
    if (index >= (scattered && shape_of(c) == WALK ? c->streams : 1U))
        return false;
    if (scattered && shape_of(c) == TREE) {
        own = hx_range_part(own, c->rank, (uint32_t)c->config.columns * c->config.rows);
    } else if (scattered) {
        unsigned phase = c->config.kind == HX_REDUCE_SCATTER ? c->phases - 1U : 0;
        const struct hx_collective_part *part = &c->part[index][phase];
        own = hx_range_part((struct hx_range){part->first, part->elements}, part->position, part->size);
    }
    *offset = own.first * sizeof(float);
    *bytes = own.count * sizeof(float);
    return true;
}
