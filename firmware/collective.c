/* collective.c - the engine of collectives (include/hxmesh/collective.h): messages, windows and progress. It carries
 * out the steps that collective_plan.c and the methods define. */
#include "collective_parts.h"
#include "hxmesh/error.h"

/* ---- reported numbers ---- */

static bool is_ahead(const struct hx_collective_track *t, uint32_t number)
{
    return number > t->base && number - t->base <= HX_COLLECTIVE_MAX_WINDOW;
}

bool hx_track_has(const struct hx_collective_track *t, uint32_t number)
{
    return number < t->base || (is_ahead(t, number) && (t->ahead >> (number - t->base - 1) & 1U));
}

bool hx_track_is_due(const struct hx_collective_track *t, uint32_t number)
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

/* ---- messages ---- */

static bool is_one_lane(const struct hx_collective_part *part)
{
    return hx_method_of(part)->one_lane;
}

uint64_t hx_messages(const struct hx_collective_config *config, const struct hx_collective_part *part,
                     const struct hx_step *step, bool sending)
{
    uint32_t chunk;
    if ((sending ? step->to : step->from) == HX_NO_PEER)
        return 0;
    return hx_chunks(config, part, hx_range_of(config, part, sending ? step->out : step->in, sending), &chunk);
}

/* Describes message `number` of a lane of a part. Returns false if it has no such step. */
static bool describe(const struct hx_collective *c, struct hx_collective_part *part, uint32_t lane, uint32_t number,
                     struct hx_message *m)
{
    m->part = part;
    m->number = m->index = number;
    m->step = lane;
    if (is_one_lane(part)) {
        m->step = number / part->chunks.count;
        m->index = number % part->chunks.count;
    }
    if (m->step >= part->steps)
        return false;
    m->lane = &c->lane[part->lane + lane];
    hx_method_of(part)->step(&c->config, part, m->step, &m->at);
    return true;
}

bool hx_message_find(const struct hx_collective *c, uint32_t part, uint32_t lane, uint32_t number, struct hx_message *m)
{
    if (part >= (uint32_t)c->streams * c->phases || lane >= hx_lanes_of(&c->part[part]))
        return false;
    m->stream = part / c->phases;
    m->phase = part % c->phases;
    return describe(c, &c->part[part], lane, number, m);
}

/* ---- progress ---- */

static bool has_received(const struct hx_collective *c, const struct hx_collective_part *part)
{
    if (part->steps && is_one_lane(part))
        return c->lane[part->lane].in.base == part->steps * part->chunks.count;
    return part->progress.complete == part->steps;
}

/* Whether the messages of a chain's first step, which are sent from the vector, are acknowledged. m: of its last
 * step. */
static bool chain_is_acknowledged(const struct hx_collective *c, const struct hx_message *m)
{
    struct hx_step s = m->at;
    uint32_t first = m->step;
    while (!(s.chain & HX_CHAIN_BEGINS))
        hx_method_of(m->part)->step(&c->config, m->part, --first, &s);
    return (m->lane - (m->step - first))->acked.base >= hx_messages(&c->config, m->part, &s, true);
}

/* Messages of a step that may be added: those that arrived in sequence; of children, as many as of the child before. */
static uint32_t addable(const struct hx_collective *c, const struct hx_message *m)
{
    const uint32_t arrived = m->lane->in.base;
    const struct hx_collective_lane *before = m->lane;
    if (!m->at.adds || !hx_method_of(m->part)->by_chunk)
        return arrived;
    for (uint32_t earlier = m->step; earlier > 0; earlier--) {
        struct hx_step s;
        before--;
        hx_method_of(m->part)->step(&c->config, m->part, earlier - 1, &s);
        if (s.from != HX_NO_PEER && s.adds)
            return before->added < arrived ? before->added : arrived;
    }
    return arrived;
}

/* Adds what lies aside of messages that arrived. Returns true if all messages of the step arrived and are added. */
static bool settle_step(struct hx_collective *c, struct hx_message *m)
{
    struct hx_collective_lane *lane = m->lane;
    if (m->at.from == HX_NO_PEER)
        return true;
    if ((m->at.chain & HX_CHAIN_ENDS) && !chain_is_acknowledged(c, m))
        return false;
    for (const uint32_t until = addable(c, m); lane->added < until; lane->added++) {
        m->number = m->index = lane->added;
        if (m->at.adds && hx_landing_of(m) == HX_LAY_ASIDE)
            hx_add_aside(c, m);
    }
    return lane->added == hx_messages(&c->config, m->part, &m->at, false);
}

static void settle_steps(struct hx_collective *c, unsigned stream, unsigned phase, struct hx_collective_part *part)
{
    bool by_chunk = hx_method_of(part)->by_chunk;
    bool whole = true;
    for (uint32_t step = part->progress.complete; step < part->steps && (whole || by_chunk); step++) {
        struct hx_message m = {.stream = stream, .phase = phase};
        if (!describe(c, part, step, 0, &m))
            return;
        whole = settle_step(c, &m) && whole;
        part->progress.complete += whole;
    }
}

/* Adds one message of a ring that lies aside. */
static void add_ring_message(struct hx_collective *c, unsigned stream, unsigned phase, uint32_t number)
{
    struct hx_message m = {.stream = stream, .phase = phase};
    if (describe(c, &c->part[stream * c->phases + phase], 0, number, &m) && m.at.adds &&
        hx_landing_of(&m) == HX_LAY_ASIDE)
        hx_add_aside(c, &m);
}

/* The phase is the first that is not complete: adds all that came early. */
static void begin_ring(struct hx_collective *c, unsigned stream, unsigned phase)
{
    const struct hx_collective_part *part = &c->part[stream * c->phases + phase];
    if (part->steps == 0 || !is_one_lane(part) || phase == 0)
        return;
    const struct hx_collective_track *in = &c->lane[part->lane].in;
    const uint64_t end = (uint64_t)in->base + HX_COLLECTIVE_MAX_WINDOW + 1;
    for (uint64_t number = 0; c->vector && number < end && number < UINT32_MAX; number++) {
        if (hx_track_has(in, (uint32_t)number))
            add_ring_message(c, stream, phase, (uint32_t)number);
    }
}

void hx_settle(struct hx_collective *c, unsigned stream)
{
    while (c->receiving[stream] < c->phases) {
        const unsigned phase = c->receiving[stream];
        struct hx_collective_part *part = &c->part[stream * c->phases + phase];
        if (part->steps && !is_one_lane(part))
            settle_steps(c, stream, phase, part);
        if (!has_received(c, part))
            return;
        c->receiving[stream]++;
        if (c->receiving[stream] < c->phases)
            begin_ring(c, stream, phase + 1);
    }
}

/* ---- sending ---- */

static bool is_taken(const struct hx_collective *c, const struct hx_collective_part *part, uint32_t step)
{
    struct hx_step s;
    hx_method_of(part)->step(&c->config, part, step, &s);
    return c->lane[part->lane + step].next >= hx_messages(&c->config, part, &s, true);
}

static bool has_sent(const struct hx_collective *c, struct hx_collective_part *part)
{
    if (part->steps && is_one_lane(part))
        return c->lane[part->lane].next == part->steps * part->chunks.count;
    while (part->progress.cursor < part->steps && is_taken(c, part, part->progress.cursor))
        part->progress.cursor++;
    return part->progress.cursor == part->steps;
}

void hx_advance(struct hx_collective *c, unsigned stream)
{
    while (c->sending[stream] < c->phases && has_sent(c, &c->part[stream * c->phases + c->sending[stream]]))
        c->sending[stream]++;
}

static bool may_leave(const struct hx_collective *c, const struct hx_message *m)
{
    const struct hx_step *s = &m->at;
    const uint32_t lane = m->part->lane;
    switch ((enum hx_gate)s->gate) {
    case HX_WHEN_COMPLETE:
        return is_one_lane(m->part) || m->part->progress.complete >= s->of;
    case HX_WHEN_ADDED:
        return m->number < c->lane[lane + s->of].added;
    default:
        break;
    }
    return is_one_lane(m->part) ? hx_track_has(&m->lane->in, m->number - m->part->chunks.count)
                                : hx_track_has(&c->lane[lane + s->of].in, m->number);
}

/* Number of a lane for the platform, which refuses lanes by bits. */
static uint8_t lane_bit(const struct hx_collective *c, unsigned stream, uint32_t lane)
{
    return (uint8_t)((stream + c->streams * lane) % 32);
}

/* Messages of a lane in flight; of rings, those of all phases of the stream. */
static uint32_t in_flight(const struct hx_collective *c, const struct hx_collective_part *part, uint32_t step)
{
    const struct hx_collective_lane *lane = &c->lane[part->lane + step];
    uint32_t messages = lane->next - lane->acked.base;
    unsigned phase = (unsigned)(part - c->part) % c->phases;
    for (; phase > 0 && is_one_lane(part) && is_one_lane(part - 1); phase--) {
        part--;
        if (part->steps)
            messages += c->lane[part->lane].next - c->lane[part->lane].acked.base;
    }
    return messages;
}

/* Finds the next message of a step. */
static bool step_is_ready(const struct hx_collective *c, unsigned stream, uint32_t step, uint32_t refused,
                          struct hx_message *m)
{
    struct hx_collective_part *part = &c->part[stream * c->phases + c->sending[stream]];
    const struct hx_collective_lane *lane = &c->lane[part->lane + step];
    m->stream = stream;
    m->phase = c->sending[stream];
    if ((refused >> lane_bit(c, stream, step) & 1U) || in_flight(c, part, step) >= c->config.window ||
        !describe(c, part, step, lane->next, m) || m->at.to == HX_NO_PEER)
        return false;
    return (is_one_lane(part) || m->index < hx_messages(&c->config, part, &m->at, true)) && may_leave(c, m);
}

static bool stream_is_ready(const struct hx_collective *c, unsigned stream, uint32_t refused, struct hx_message *m)
{
    if (c->sending[stream] >= c->phases || c->receiving[stream] < c->sending[stream])
        return false;
    const struct hx_collective_part *part = &c->part[stream * c->phases + c->sending[stream]];
    if (is_one_lane(part))
        return step_is_ready(c, stream, 0, refused, m);
    const uint32_t most = hx_method_of(part)->span;
    const uint32_t span = part->steps - part->progress.cursor < most ? part->steps - part->progress.cursor : most;
    for (uint32_t n = 0; n < span; n++) {
        if (step_is_ready(c, stream, part->progress.cursor + (part->turn + n) % span, refused, m))
            return true;
    }
    return false;
}

bool hx_collective_next(const struct hx_collective *c, uint32_t refused, struct hx_collective_send *send)
{
    struct hx_message m;
    for (unsigned n = 0; n < c->streams; n++) {
        const unsigned stream = (c->turn + n) % c->streams;
        if (!stream_is_ready(c, stream, refused, &m))
            continue;
        const uint32_t lane = (uint32_t)(m.lane - c->lane) - m.part->lane;
        *send = (struct hx_collective_send){
            .to = m.at.to,
            .bytes =
                (uint32_t)(hx_message_elements(c, &m) * hx_collective_element((enum hx_collective_type)c->config.type)),
            .tag = hx_tag_of(c, (uint32_t)(m.part - c->part), lane, m.number),
            .lane = lane_bit(c, stream, lane)};
        return true;
    }
    return false;
}

void hx_collective_take(struct hx_collective *c, const struct hx_collective_send *send)
{
    struct hx_message m;
    if (!hx_tag_find(c, send->tag, &m))
        return;
    m.lane->next++;
    /* The first streams of a hierarchy go first, so that the others are in earlier phases: a pipeline. */
    c->turn = c->config.algorithm == HX_BY_HIERARCHY ? 0 : (uint8_t)((m.stream + 1) % c->streams);
    hx_advance(c, m.stream);
    m.part->turn =
        is_one_lane(m.part) || m.part->progress.cursor > m.step ? 0 : (uint8_t)(m.step + 1 - m.part->progress.cursor);
}

int hx_collective_sent(struct hx_collective *c, uint32_t tag)
{
    struct hx_message m;
    if (!hx_tag_find(c, tag, &m) || m.number >= m.lane->next || !hx_track_is_due(&m.lane->acked, m.number))
        return HX_E_RANGE;
    mark(&m.lane->acked, m.number);
    c->left--;
    if (m.at.chain && c->receiving[m.stream] == m.phase)
        hx_settle(c, m.stream);
    return HX_OK;
}

/* ---- receiving ---- */

int hx_collective_received(struct hx_collective *c, uint32_t from, uint32_t tag)
{
    struct hx_message m;
    if (!hx_tag_find(c, tag, &m) || m.at.from != from || from == HX_NO_PEER ||
        m.index >= hx_messages(&c->config, m.part, &m.at, false) || !hx_track_is_due(&m.lane->in, m.number))
        return HX_E_RANGE;
    mark(&m.lane->in, m.number);
    c->left--;
    if (c->receiving[m.stream] != m.phase)
        return HX_OK;
    if (is_one_lane(m.part) && m.phase > 0)
        add_ring_message(c, m.stream, m.phase, m.number);
    hx_settle(c, m.stream);
    return HX_OK;
}

bool hx_collective_done(const struct hx_collective *c)
{
    return c->left == 0;
}
