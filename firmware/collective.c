/* collective.c - the engine of collectives (include/hxmesh/collective.h): messages, queues and progress. It carries
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

static bool is_one_queue(const struct hx_collective_phase *phase)
{
    return hx_method_of(phase)->one_queue;
}

uint64_t hx_messages(const struct hx_collective_config *config, const struct hx_collective_phase *phase,
                     const struct hx_step *step, bool sending)
{
    uint32_t chunk;
    if ((sending ? step->to : step->from) == HX_NO_PEER)
        return 0;
    return hx_chunks(config, phase, hx_range_of(config, phase, sending ? step->out : step->in, sending), &chunk);
}

/* Describes message `number` of a queue of a phase. Returns false if it has no such step. */
static bool describe(const struct hx_collective *c, struct hx_collective_phase *phase, uint32_t queue, uint32_t number,
                     struct hx_message *m)
{
    m->phase = phase;
    m->number = m->index = number;
    m->step = queue;
    if (is_one_queue(phase)) {
        m->step = number / phase->chunks.count;
        m->index = number % phase->chunks.count;
    }
    if (m->step >= phase->steps)
        return false;
    m->queue = &c->queue[phase->queue + queue];
    hx_method_of(phase)->step(&c->config, phase, m->step, &m->at);
    return true;
}

bool hx_message_find(const struct hx_collective *c, uint32_t phase, uint32_t queue, uint32_t number,
                     struct hx_message *m)
{
    if (phase >= (uint32_t)c->stripes * c->phases || queue >= hx_queues_of(&c->phase[phase]))
        return false;
    m->stripe = phase / c->phases;
    m->k = phase % c->phases;
    return describe(c, &c->phase[phase], queue, number, m);
}

/* ---- progress ---- */

static bool has_received(const struct hx_collective *c, const struct hx_collective_phase *phase)
{
    if (phase->steps && is_one_queue(phase))
        return c->queue[phase->queue].in.base == phase->steps * phase->chunks.count;
    return phase->progress.complete == phase->steps;
}

/* Whether the messages of a chain's first step, which are sent from the vector, are acknowledged. m: of its last
 * step. */
static bool chain_is_acknowledged(const struct hx_collective *c, const struct hx_message *m)
{
    struct hx_step s = m->at;
    uint32_t first = m->step;
    while (!(s.chain & HX_CHAIN_BEGINS))
        hx_method_of(m->phase)->step(&c->config, m->phase, --first, &s);
    return (m->queue - (m->step - first))->acked.base >= hx_messages(&c->config, m->phase, &s, true);
}

/* Messages of a step that may be added: those that arrived in sequence; of children, as many as of the child before. */
static uint32_t addable(const struct hx_collective *c, const struct hx_message *m)
{
    const uint32_t arrived = m->queue->in.base;
    const struct hx_collective_queue *before = m->queue;
    if (!m->at.adds || !hx_method_of(m->phase)->by_chunk)
        return arrived;
    for (uint32_t earlier = m->step; earlier > 0; earlier--) {
        struct hx_step s;
        before--;
        hx_method_of(m->phase)->step(&c->config, m->phase, earlier - 1, &s);
        if (s.from != HX_NO_PEER && s.adds)
            return before->added < arrived ? before->added : arrived;
    }
    return arrived;
}

/* Adds what lies aside of messages that arrived. Returns true if all messages of the step arrived and are added. */
static bool settle_step(struct hx_collective *c, struct hx_message *m)
{
    struct hx_collective_queue *queue = m->queue;
    if (m->at.from == HX_NO_PEER)
        return true;
    if ((m->at.chain & HX_CHAIN_ENDS) && !chain_is_acknowledged(c, m))
        return false;
    for (const uint32_t until = addable(c, m); queue->added < until; queue->added++) {
        m->number = m->index = queue->added;
        if (m->at.adds && hx_landing_of(m) == HX_LAY_ASIDE)
            hx_add_aside(c, m);
    }
    return queue->added == hx_messages(&c->config, m->phase, &m->at, false);
}

static void settle_steps(struct hx_collective *c, unsigned stripe, unsigned k, struct hx_collective_phase *phase)
{
    bool by_chunk = hx_method_of(phase)->by_chunk;
    bool whole = true;
    for (uint32_t step = phase->progress.complete; step < phase->steps && (whole || by_chunk); step++) {
        struct hx_message m = {.stripe = stripe, .k = k};
        if (!describe(c, phase, step, 0, &m))
            return;
        whole = settle_step(c, &m) && whole;
        phase->progress.complete += whole;
    }
}

/* Adds one message of a ring that lies aside. */
static void add_ring_message(struct hx_collective *c, unsigned stripe, unsigned k, uint32_t number)
{
    struct hx_message m = {.stripe = stripe, .k = k};
    if (describe(c, &c->phase[stripe * c->phases + k], 0, number, &m) && m.at.adds && hx_landing_of(&m) == HX_LAY_ASIDE)
        hx_add_aside(c, &m);
}

/* The phase is the first that is not complete: adds all that came early. */
static void begin_ring(struct hx_collective *c, unsigned stripe, unsigned k)
{
    const struct hx_collective_phase *phase = &c->phase[stripe * c->phases + k];
    if (phase->steps == 0 || !is_one_queue(phase) || k == 0)
        return;
    const struct hx_collective_track *in = &c->queue[phase->queue].in;
    const uint64_t end = (uint64_t)in->base + HX_COLLECTIVE_MAX_WINDOW + 1;
    for (uint64_t number = 0; c->vector && number < end && number < UINT32_MAX; number++) {
        if (hx_track_has(in, (uint32_t)number))
            add_ring_message(c, stripe, k, (uint32_t)number);
    }
}

void hx_settle(struct hx_collective *c, unsigned stripe)
{
    while (c->receiving[stripe] < c->phases) {
        const unsigned k = c->receiving[stripe];
        struct hx_collective_phase *phase = &c->phase[stripe * c->phases + k];
        if (phase->steps && !is_one_queue(phase))
            settle_steps(c, stripe, k, phase);
        if (!has_received(c, phase))
            return;
        c->receiving[stripe]++;
        if (c->receiving[stripe] < c->phases)
            begin_ring(c, stripe, k + 1);
    }
}

/* ---- sending ---- */

static bool is_taken(const struct hx_collective *c, const struct hx_collective_phase *phase, uint32_t step)
{
    struct hx_step s;
    hx_method_of(phase)->step(&c->config, phase, step, &s);
    return c->queue[phase->queue + step].next >= hx_messages(&c->config, phase, &s, true);
}

static bool has_sent(const struct hx_collective *c, struct hx_collective_phase *phase)
{
    if (phase->steps && is_one_queue(phase))
        return c->queue[phase->queue].next == phase->steps * phase->chunks.count;
    while (phase->progress.cursor < phase->steps && is_taken(c, phase, phase->progress.cursor))
        phase->progress.cursor++;
    return phase->progress.cursor == phase->steps;
}

void hx_advance(struct hx_collective *c, unsigned stripe)
{
    while (c->sending[stripe] < c->phases && has_sent(c, &c->phase[stripe * c->phases + c->sending[stripe]]))
        c->sending[stripe]++;
}

static bool may_leave(const struct hx_collective *c, const struct hx_message *m)
{
    const struct hx_step *s = &m->at;
    const uint32_t queue = m->phase->queue;
    switch ((enum hx_gate)s->gate) {
    case HX_WHEN_COMPLETE:
        return is_one_queue(m->phase) || m->phase->progress.complete >= s->of;
    case HX_WHEN_ADDED:
        return m->number < c->queue[queue + s->of].added;
    default:
        break;
    }
    return is_one_queue(m->phase) ? hx_track_has(&m->queue->in, m->number - m->phase->chunks.count)
                                  : hx_track_has(&c->queue[queue + s->of].in, m->number);
}

/* Number of a queue for the platform, which refuses queues by bits. */
static uint8_t queue_bit(const struct hx_collective *c, unsigned stripe, uint32_t queue)
{
    return (uint8_t)((stripe + c->stripes * queue) % 32);
}

/* Messages of a queue in flight; of rings, those of all phases of the stripe. */
static uint32_t in_flight(const struct hx_collective *c, const struct hx_collective_phase *phase, uint32_t step)
{
    const struct hx_collective_queue *queue = &c->queue[phase->queue + step];
    uint32_t messages = queue->next - queue->acked.base;
    unsigned k = (unsigned)(phase - c->phase) % c->phases;
    for (; k > 0 && is_one_queue(phase) && is_one_queue(phase - 1); k--) {
        phase--;
        if (phase->steps)
            messages += c->queue[phase->queue].next - c->queue[phase->queue].acked.base;
    }
    return messages;
}

/* Finds the next message of a step. */
static bool step_is_ready(const struct hx_collective *c, unsigned stripe, uint32_t step, uint32_t refused,
                          struct hx_message *m)
{
    struct hx_collective_phase *phase = &c->phase[stripe * c->phases + c->sending[stripe]];
    const struct hx_collective_queue *queue = &c->queue[phase->queue + step];
    m->stripe = stripe;
    m->k = c->sending[stripe];
    if ((refused >> queue_bit(c, stripe, step) & 1U) || in_flight(c, phase, step) >= c->config.window ||
        !describe(c, phase, step, queue->next, m) || m->at.to == HX_NO_PEER)
        return false;
    return (is_one_queue(phase) || m->index < hx_messages(&c->config, phase, &m->at, true)) && may_leave(c, m);
}

static bool stripe_is_ready(const struct hx_collective *c, unsigned stripe, uint32_t refused, struct hx_message *m)
{
    if (c->sending[stripe] >= c->phases || c->receiving[stripe] < c->sending[stripe])
        return false;
    const struct hx_collective_phase *phase = &c->phase[stripe * c->phases + c->sending[stripe]];
    if (is_one_queue(phase))
        return step_is_ready(c, stripe, 0, refused, m);
    const uint32_t most = hx_method_of(phase)->span;
    const uint32_t span = phase->steps - phase->progress.cursor < most ? phase->steps - phase->progress.cursor : most;
    for (uint32_t n = 0; n < span; n++) {
        if (step_is_ready(c, stripe, phase->progress.cursor + (phase->turn + n) % span, refused, m))
            return true;
    }
    return false;
}

bool hx_collective_next(const struct hx_collective *c, uint32_t refused, struct hx_collective_send *send)
{
    struct hx_message m;
    for (unsigned n = 0; n < c->stripes; n++) {
        const unsigned stripe = (c->turn + n) % c->stripes;
        if (!stripe_is_ready(c, stripe, refused, &m))
            continue;
        const uint32_t queue = (uint32_t)(m.queue - c->queue) - m.phase->queue;
        *send = (struct hx_collective_send){
            .to = m.at.to,
            .bytes =
                (uint32_t)(hx_message_elements(c, &m) * hx_collective_element((enum hx_collective_type)c->config.type)),
            .tag = hx_tag_of(c, (uint32_t)(m.phase - c->phase), queue, m.number),
            .queue = queue_bit(c, stripe, queue)};
        return true;
    }
    return false;
}

void hx_collective_take(struct hx_collective *c, const struct hx_collective_send *send)
{
    struct hx_message m;
    if (!hx_tag_find(c, send->tag, &m))
        return;
    m.queue->next++;
    /* The first stripes of a hierarchy go first, so that the others are in earlier phases: a pipeline. */
    c->turn = c->config.algorithm == HX_BY_HIERARCHY ? 0 : (uint8_t)((m.stripe + 1) % c->stripes);
    hx_advance(c, m.stripe);
    m.phase->turn = is_one_queue(m.phase) || m.phase->progress.cursor > m.step
                        ? 0
                        : (uint8_t)(m.step + 1 - m.phase->progress.cursor);
}

int hx_collective_sent(struct hx_collective *c, uint32_t tag)
{
    struct hx_message m;
    if (!hx_tag_find(c, tag, &m) || m.number >= m.queue->next || !hx_track_is_due(&m.queue->acked, m.number))
        return HX_E_RANGE;
    mark(&m.queue->acked, m.number);
    c->left--;
    if (m.at.chain && c->receiving[m.stripe] == m.k)
        hx_settle(c, m.stripe);
    return HX_OK;
}

/* ---- receiving ---- */

int hx_collective_received(struct hx_collective *c, uint32_t from, uint32_t tag)
{
    struct hx_message m;
    if (!hx_tag_find(c, tag, &m) || m.at.from != from || from == HX_NO_PEER ||
        m.index >= hx_messages(&c->config, m.phase, &m.at, false) || !hx_track_is_due(&m.queue->in, m.number))
        return HX_E_RANGE;
    mark(&m.queue->in, m.number);
    c->left--;
    if (c->receiving[m.stripe] != m.k)
        return HX_OK;
    if (is_one_queue(m.phase) && m.k > 0)
        add_ring_message(c, m.stripe, m.k, m.number);
    hx_settle(c, m.stripe);
    return HX_OK;
}

bool hx_collective_done(const struct hx_collective *c)
{
    return c->left == 0;
}
