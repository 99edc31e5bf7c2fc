/* collective_data.c - ranges, payload and pieces of a collective (collective_parts.h). */
#include "collective_parts.h"
#include "hxmesh/error.h"
#include "hxmesh/frame.h"
#include "hxmesh/memory.h"

enum {
    LEAST_PIECE = 1024, /* bytes: a shorter message takes little time beside its latency */
    MOST_PIECES = 2     /* of a plane: half of its window, so that the next segment leaves while this is acknowledged */
};

static unsigned element_of(const struct hx_collective *c)
{
    return hx_collective_element((enum hx_collective_type)c->config.type);
}

uint64_t hx_elements(const struct hx_collective_config *config)
{
    return config->bytes / hx_collective_element((enum hx_collective_type)config->type);
}

/* ---- ranges ---- */

/* First element of a segment; of the one after the last: the end. */
static uint64_t segment_begin(const struct hx_collective_config *config, const struct hx_collective_phase *phase,
                              uint32_t segment, bool sending)
{
    const uint64_t *sizes = sending ? config->outgoing : config->incoming;
    if (phase->kind == HX_COLLECTIVE_ALL_TO_ALL && sizes)
        return sizes[segment];
    return phase->elements * segment / phase->segments;
}

struct hx_range hx_range_of(const struct hx_collective_config *config, const struct hx_collective_phase *phase,
                            struct hx_segments segments, bool sending)
{
    const uint64_t first = segment_begin(config, phase, segments.first, sending);
    const uint64_t last = (uint64_t)segments.first + segments.count;
    if (last <= phase->segments)
        return (struct hx_range){first, segment_begin(config, phase, (uint32_t)last, sending) - first};
    const uint64_t rest = segment_begin(config, phase, (uint32_t)(last - phase->segments), sending);
    return (struct hx_range){first, phase->elements - first + rest};
}

/* Elements of each of the chunks that planes carry side by side, one packet each; 0: the elements are so few or so many
 * that they need no such chunks. Larger ones have enough packets to spread over planes. */
static uint32_t side_by_side(const struct hx_collective_config *config, uint64_t elements)
{
    const unsigned element = hx_collective_element((enum hx_collective_type)config->type);
    const uint64_t a_packet_each = (uint64_t)config->planes * HX_MAX_PAYLOAD;
    const uint64_t bytes = elements * element;
    if (config->planes < 2 || bytes < (uint64_t)config->planes * LEAST_PIECE || bytes > MOST_PIECES * a_packet_each)
        return 0;
    const uint64_t pieces = (bytes + a_packet_each - 1) / a_packet_each * config->planes;
    const uint64_t each = (elements + pieces - 1) / pieces;
    return each * element <= config->chunk ? (uint32_t)each : 0;
}

uint64_t hx_divide(const struct hx_collective_config *config, uint64_t elements, uint32_t *chunk)
{
    *chunk = side_by_side(config, elements);
    if (*chunk)
        return (elements + *chunk - 1) / *chunk;
    const unsigned element = hx_collective_element((enum hx_collective_type)config->type);
    const uint32_t unit = config->chunk >= HX_MAX_PAYLOAD ? HX_MAX_PAYLOAD / element : 1;
    const uint32_t most = config->chunk / element / unit * unit;
    uint64_t chunks = elements ? (elements + most - 1) / most : 1;
    uint64_t even = (elements + chunks - 1) / chunks;
    *chunk = (uint32_t)((even + unit - 1) / unit * unit);
    *chunk = *chunk ? *chunk : 1;
    return chunks;
}

uint64_t hx_chunks(const struct hx_collective_config *config, const struct hx_collective_phase *phase,
                   struct hx_range range, uint32_t *chunk)
{
    if (!hx_method_of(phase)->one_queue)
        return hx_divide(config, range.count, chunk);
    *chunk = phase->chunks.elements;
    return phase->chunks.count;
}

/* Elements of chunk `index` of a range: `at` elements after its first; the last ones may be short or empty. */
static struct hx_range chunk_of(const struct hx_collective_phase *phase, struct hx_range range, uint32_t index,
                                uint32_t chunk, uint64_t *at)
{
    *at = (uint64_t)index * chunk;
    *at = *at < range.count ? *at : range.count;
    const uint64_t rest = range.count - *at;
    uint64_t first = range.first + *at;
    if (phase->kind != HX_COLLECTIVE_ALL_TO_ALL && first >= phase->elements && phase->elements)
        first -= phase->elements;
    return (struct hx_range){first, rest < chunk ? rest : chunk};
}

static struct hx_range range_of(const struct hx_collective *c, const struct hx_message *m, bool sending, uint64_t *at)
{
    const struct hx_range all = hx_range_of(&c->config, m->phase, sending ? m->at.out : m->at.in, sending);
    uint32_t chunk;
    (void)hx_chunks(&c->config, m->phase, all, &chunk);
    return chunk_of(m->phase, all, m->index, chunk, at);
}

uint64_t hx_message_elements(const struct hx_collective *c, const struct hx_message *m)
{
    uint64_t at;
    return range_of(c, m, true, &at).count;
}

uint64_t hx_collective_sums(const struct hx_collective *c, uint32_t tag)
{
    struct hx_message m;
    uint64_t at;
    if (!hx_tag_find(c, tag, &m) || m.at.from == HX_NO_PEER || !m.at.adds)
        return 0;
    return range_of(c, &m, false, &at).count * element_of(c);
}

void hx_collective_move(const struct hx_collective_config *config, unsigned stripe, unsigned phase, uint32_t step,
                        struct hx_collective_move *move)
{
    const unsigned element = hx_collective_element((enum hx_collective_type)config->type);
    struct hx_collective_phase p;
    struct hx_step s;
    hx_plan_phase(config, stripe, phase, &p);
    hx_method_of(&p)->step(config, &p, step, &s);
    *move = (struct hx_collective_move){.to = s.to, .from = s.from, .forwards = s.gate != HX_WHEN_COMPLETE};
    move->waits = s.gate == HX_WHEN_COMPLETE && s.of > 0;
    move->sent = s.to == HX_NO_PEER ? 0 : hx_range_of(config, &p, s.out, true).count * element;
    move->received = s.from == HX_NO_PEER ? 0 : hx_range_of(config, &p, s.in, false).count * element;
}

/* ---- where received elements go ---- */

static bool lies_aside(unsigned k, const struct hx_step *step)
{
    return step->from != HX_NO_PEER && step->adds && (k > 0 || step->chain || !step->first);
}

uint64_t hx_aside_elements(const struct hx_collective_config *config, const struct hx_collective_phase *phase,
                           unsigned k, const struct hx_step *step)
{
    if (!lies_aside(k, step))
        return 0;
    return hx_method_of(phase)->one_queue ? phase->elements : hx_range_of(config, phase, step->in, false).count;
}

enum hx_landing hx_landing_of(const struct hx_message *m)
{
    if (m->phase->kind == HX_COLLECTIVE_ALL_TO_ALL || lies_aside(m->k, &m->at))
        return HX_LAY_ASIDE;
    return m->at.adds ? HX_ADD : HX_COPY;
}

/* Element of staging of a message's first element. */
static uint64_t aside_of(const struct hx_message *m, struct hx_range range, uint64_t at)
{
    if (m->phase->kind == HX_COLLECTIVE_ALL_TO_ALL)
        return range.first;
    return m->queue->aside + (hx_method_of(m->phase)->one_queue ? range.first : at);
}

/* ---- vector ---- */

enum use { READ, ADD, COPY };

static void combine(const struct hx_collective *c, uint8_t *to, const uint8_t *from, uint64_t count)
{
    hx_combine((enum hx_collective_type)c->config.type, (enum hx_collective_operation)c->config.operation, to, from,
               count);
}

/* Reads, adds or copies elements `first` .. of a phase's range, which may pass its end. */
static void use_vector(const struct hx_collective *c, const struct hx_collective_phase *phase, enum use use,
                       struct hx_range range, void *bytes)
{
    const unsigned element = element_of(c);
    uint8_t *data = bytes;
    bool cyclic = phase->kind != HX_COLLECTIVE_ALL_TO_ALL;
    while (range.count) {
        uint64_t end = cyclic ? phase->elements : range.first + range.count;
        range.first = cyclic && range.first >= end ? range.first - end : range.first;
        const uint64_t count = range.count < end - range.first ? range.count : end - range.first;
        uint8_t *at = c->vector + (phase->first + range.first) * element;
        if (use == READ)
            memcpy(data, at, (size_t)(count * element));
        else if (use == COPY)
            memcpy(at, data, (size_t)(count * element));
        else
            combine(c, at, data, count);
        data += count * element;
        range.first += count;
        range.count -= count;
    }
}

static bool sends_aside(const struct hx_step *s)
{
    return s->chain && !(s->chain & HX_CHAIN_BEGINS);
}

/* Elements of a chain's message that a step sends from staging. */
static uint8_t *chained(const struct hx_collective *c, const struct hx_message *m, uint64_t at)
{
    return c->staging + (m->queue[-1].aside + at) * element_of(c);
}

void hx_add_aside(const struct hx_collective *c, const struct hx_message *m)
{
    uint64_t at;
    if (!c->vector)
        return;
    const struct hx_range range = range_of(c, m, false, &at);
    uint8_t *aside = c->staging + aside_of(m, range, at) * element_of(c);
    if (!m->at.chain) {
        use_vector(c, m->phase, ADD, range, aside);
        return;
    }
    const uint8_t *sent = c->vector + (m->phase->first + range.first) * element_of(c);
    combine(c, aside, sends_aside(&m->at) ? chained(c, m, at) : sent, range.count);
    if (m->at.chain & HX_CHAIN_ENDS)
        use_vector(c, m->phase, COPY, range, aside);
}

void hx_collective_fill(const struct hx_collective *c, uint32_t tag, uint64_t offset, void *to, uint32_t bytes)
{
    struct hx_message m;
    uint64_t at;
    if (!c->vector || bytes == 0 || !hx_tag_find(c, tag, &m) || m.at.to == HX_NO_PEER)
        return;
    const struct hx_range range = range_of(c, &m, true, &at);
    const uint64_t size = range.count * element_of(c);
    if (offset > size || bytes > size - offset)
        return;
    if (sends_aside(&m.at)) {
        memcpy(to, chained(c, &m, at) + offset, bytes);
        return;
    }
    use_vector(c, m.phase, READ, (struct hx_range){range.first + offset / element_of(c), bytes / element_of(c)}, to);
}

int hx_collective_place(struct hx_collective *c, uint32_t tag, uint64_t offset, const void *payload, uint32_t bytes)
{
    struct hx_message m;
    uint64_t at;
    const unsigned element = element_of(c);
    if (!hx_tag_find(c, tag, &m) || m.at.from == HX_NO_PEER ||
        m.index >= hx_messages(&c->config, m.phase, &m.at, false) || !hx_track_is_due(&m.queue->in, m.number))
        return HX_E_RANGE;
    struct hx_range range = range_of(c, &m, false, &at);
    const uint64_t size = range.count * element;
    if (offset > size || bytes > size - offset || offset % element || bytes % element)
        return HX_E_RANGE;
    if (!c->vector || bytes == 0)
        return HX_OK;
    const enum hx_landing landing = hx_landing_of(&m);
    if (landing == HX_LAY_ASIDE) {
        memcpy(c->staging + (aside_of(&m, range, at)) * element + offset, payload, bytes);
        return HX_OK;
    }
    range = (struct hx_range){range.first + offset / element, bytes / element};
    use_vector(c, m.phase, landing == HX_ADD ? ADD : COPY, range, (void *)(uintptr_t)payload);
    return HX_OK;
}

/* ---- ownership ---- */

bool hx_collective_piece(const struct hx_collective *c, unsigned index, uint64_t *offset, uint64_t *bytes)
{
    const unsigned kind = c->config.kind;
    bool before = kind == HX_ALL_GATHER || kind == HX_GATHER;
    bool after = kind == HX_REDUCE_SCATTER || kind == HX_SCATTER;
    *offset = 0;
    *bytes = c->config.bytes;
    if (!before && !after)
        return index == 0;
    if (index >= c->stripes)
        return false;
    const struct hx_collective_phase *phase = &c->phase[index * c->phases + (after ? c->phases - 1U : 0U)];
    const uint32_t own = phase->segments > 1 ? hx_method_of(phase)->own(&c->config, phase) : 0;
    const struct hx_range range = hx_range_of(&c->config, phase, (struct hx_segments){own, 1}, true);
    *offset = (phase->first + range.first) * element_of(c);
    *bytes = range.count * element_of(c);
    return true;
}
