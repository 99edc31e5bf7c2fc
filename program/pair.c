/* pair.c - this host and a peer: sessions, credits, messages in order (parts.h). */
#include "program/parts.h"

#include <errno.h>
#include <string.h>

static const unsigned slots_of[CHANNELS] = {ATTACHMENT_SHORT, ATTACHMENT_CONTROL};
static const unsigned bytes_of[CHANNELS] = {ATTACHMENT_SHORT_BYTES, ATTACHMENT_CONTROL_BYTES};

enum { CREDIT_BITS = 11 };

void pair_stir(struct hx_program *p, uint32_t peer)
{
    struct pair *pair = &p->pair[peer];
    if (pair->dirty)
        return;
    pair->dirty = true;
    p->dirty[(p->dirty_first + p->dirty_count++) % p->at.hosts] = peer;
}

void pairs_unstick(struct hx_program *p)
{
    for (uint32_t peer = 0; p->stuck && peer < p->at.hosts; peer++)
        pair_stir(p, peer);
    p->stuck = false;
}

/* Slots of CHANNEL_SHORT, then those of CHANNEL_CONTROL. */
static unsigned slot_of(enum channel_name channel, uint32_t sequence)
{
    return sequence % slots_of[channel] + (channel == CHANNEL_SHORT ? 0 : ATTACHMENT_SHORT);
}

static unsigned turn_of(enum channel_name channel, uint32_t sequence)
{
    return sequence / slots_of[channel] % (1U << (ATTACHMENT_VALUE_BITS - ATTACHMENT_SLOT_BITS));
}

/* Arms the slot for the message with this sequence number. */
static void arm(struct hx_program *p, uint32_t peer, enum channel_name channel, uint32_t sequence)
{
    struct attachment_slot *s = &p->at.slot[attachment_slot_of(peer, slot_of(channel, sequence))];
    s->offset = (uint64_t)(memory_slot(p, peer, channel, sequence % slots_of[channel]) - p->at.memory);
    s->bytes = bytes_of[channel];
    s->source = peer;
    s->turn = (uint16_t)turn_of(channel, sequence);
    s->session = (uint16_t)p->pair[peer].session;
    atomic_store_explicit(&s->state, ATTACHMENT_ARMED, memory_order_release);
}

/* ---- sending ---- */

bool pair_may(struct hx_program *p, uint32_t peer, enum channel_name channel)
{
    struct pair *pair = &p->pair[peer];
    const struct channel *c = &pair->channel[channel];
    if (pair->state != PAIR_MET && !pair->wanted) {
        pair->wanted = true;
        pair_stir(p, peer);
    }
    return pair->state == PAIR_MET && request_may(p, peer) && c->sent - c->allowed < slots_of[channel] &&
           !(c->busy >> c->sent % slots_of[channel] & 1U);
}

/* Writes the credits into a message. They count as known to the peer: the message arrives, unless the peer leaves. */
static void write_credits(struct pair *pair, struct head *head)
{
    for (unsigned channel = 0; channel < CHANNELS; channel++) {
        struct channel *c = &pair->channel[channel];
        head->released[channel] = (uint16_t)c->released;
        c->published = c->released;
    }
}

void pair_send(struct hx_program *p, struct note *note, enum channel_name channel, struct head *head, const void *data,
               uint32_t bytes)
{
    struct pair *pair = &p->pair[note->peer];
    struct channel *c = &pair->channel[channel];
    unsigned slot = c->sent % slots_of[channel];
    write_credits(pair, head);
    unsigned value = turn_of(channel, c->sent) << ATTACHMENT_SLOT_BITS | slot_of(channel, c->sent);
    head->sequence = c->sent++;
    c->busy |= 1U << slot;
    note->session = pair->session;
    note->slot = (uint8_t)slot;
    request_post(p, note, attachment_tag(ATTACHMENT_TO_SLOT, pair->session, p->session, value), head, data, bytes);
}

static void post_mail(struct hx_program *p, uint32_t peer, enum purpose purpose, uint32_t tag)
{
    const struct note note = {.purpose = purpose, .peer = peer, .session = p->pair[peer].session, .bounce = -1};
    request_post(p, &note, tag, NULL, NULL, 0);
}

/* ---- receiving ---- */

static void take_credit(struct channel *c, unsigned slots, uint32_t released, unsigned bits)
{
    uint32_t more = (released - c->allowed) & ((1U << bits) - 1);
    if (more <= slots && more <= c->sent - c->allowed)
        c->allowed += more;
}

static void give_back(struct hx_program *p, uint32_t peer, enum channel_name channel, uint32_t sequence)
{
    struct channel *c = &p->pair[peer].channel[channel];
    unsigned slots = slots_of[channel];
    arm(p, peer, channel, sequence + slots);
    c->given_back |= 1U << sequence % slots;
    for (; c->given_back >> c->released % slots & 1U; c->released++)
        c->given_back &= ~(1U << c->released % slots);
    pair_stir(p, peer);
}

/* Hands a message to the program; its bytes stay in the slot until the program releases them. */
static void lend(struct hx_program *p, uint32_t peer, const struct head *head, uint8_t *data)
{
    p->pair[peer].lent++;
    program_notify(p, &(struct hx_program_event){.type = HX_PROGRAM_ARRIVED,
                                                 .peer = peer,
                                                 .ticket = head->sequence,
                                                 .tag = head->tag,
                                                 .bytes = head->bytes,
                                                 .data = data,
                                                 .note = head->length});
}

/* Takes the message in a slot; false: no room. */
static bool take_slot(struct hx_program *p, uint32_t peer, enum channel_name channel, unsigned slot, uint32_t bytes)
{
    struct pair *pair = &p->pair[peer];
    struct channel *c = &pair->channel[channel];
    uint8_t *data = memory_slot(p, peer, channel, slot);
    struct head head;
    memcpy(&head, data, sizeof head);
    bool short_one = channel == CHANNEL_SHORT && head.kind == HEAD_MESSAGE;
    if (bytes < sizeof head || head.sequence != c->taken || (short_one && head.bytes != bytes - sizeof head)) {
        arm(p, peer, channel, c->taken); /* invalid: no library sends it */
        return true;
    }
    if (channel == CHANNEL_SHORT && head.kind == HEAD_ANNOUNCE && !long_announced(p, peer, &head))
        return false;
    for (unsigned n = 0; n < CHANNELS; n++)
        take_credit(&pair->channel[n], slots_of[n], head.released[n], 16);
    c->taken++;
    if (channel == CHANNEL_CONTROL)
        long_granted(p, peer, &head);
    if (short_one)
        lend(p, peer, &head, data + sizeof head);
    else
        give_back(p, peer, channel, head.sequence);
    return true;
}

/* Takes messages in order of sending; later ones wait in their slots. */
static void take_filled(struct hx_program *p, uint32_t peer, enum channel_name channel)
{
    struct channel *c = &p->pair[peer].channel[channel];
    unsigned slots = slots_of[channel];
    for (unsigned slot = c->taken % slots; c->filled >> slot & 1U; slot = c->taken % slots) {
        c->filled &= ~(1U << slot);
        if (take_slot(p, peer, channel, slot, c->bytes[slot]))
            continue;
        c->filled |= 1U << slot;
        p->stuck = true;
        return;
    }
}

void pair_arrived(struct hx_program *p, uint32_t index, uint32_t bytes)
{
    uint32_t pairs = p->at.hosts * ATTACHMENT_SLOTS;
    if (index >= pairs) {
        long_part_arrived(p, index - pairs, bytes);
        return;
    }
    uint32_t peer = index / ATTACHMENT_SLOTS;
    unsigned value = index % ATTACHMENT_SLOTS;
    enum channel_name channel = value < ATTACHMENT_SHORT ? CHANNEL_SHORT : CHANNEL_CONTROL;
    unsigned slot = channel == CHANNEL_SHORT ? value : value - ATTACHMENT_SHORT;
    struct channel *c = &p->pair[peer].channel[channel];
    if (p->pair[peer].state == PAIR_ABSENT)
        return;
    p->pair[peer].end_is_news = true;
    c->filled |= 1U << slot;
    c->bytes[slot] = bytes;
    take_filled(p, peer, channel);
}

void hx_program_release(struct hx_program *p, const struct hx_program_event *arrived)
{
    struct pair *pair = &p->pair[arrived->peer];
    if (pair->lent_before) {
        pair->lent_before--;
        pair_stir(p, arrived->peer);
    } else if (pair->lent) {
        pair->lent--;
        give_back(p, arrived->peer, CHANNEL_SHORT, arrived->ticket);
    }
}

/* ---- sessions ---- */

static void disarm(struct hx_program *p, uint32_t peer)
{
    for (unsigned value = 0; value < ATTACHMENT_SLOTS; value++)
        atomic_store(&p->at.slot[attachment_slot_of(peer, value)].state, ATTACHMENT_IDLE);
}

/* Ends the session: the peer's program has gone. */
static void part(struct hx_program *p, uint32_t peer)
{
    struct pair *pair = &p->pair[peer];
    if (pair->state == PAIR_ABSENT)
        return;
    disarm(p, peer);
    bool is_news = pair->end_is_news;
    pair->state = PAIR_ABSENT;
    pair->session = pair->confirmed = 0;
    pair->end_is_news = pair->asked = false;
    pair->lent_before += pair->lent;
    pair->lent = 0;
    memset(pair->channel, 0, sizeof pair->channel);
    long_forget(p, peer);
    if (is_news)
        program_notify(p, &(struct hx_program_event){.type = HX_PROGRAM_GONE, .peer = peer});
}

/* Begins a session with a new program of the peer. */
static void see(struct hx_program *p, uint32_t peer, uint32_t session)
{
    struct pair *pair = &p->pair[peer];
    pair->state = PAIR_SEEN;
    pair->session = session;
    for (unsigned channel = 0; channel < CHANNELS; channel++) {
        for (unsigned slot = 0; slot < slots_of[channel]; slot++)
            arm(p, peer, channel, slot);
    }
}

void pair_meet_self(struct hx_program *p)
{
    struct pair *pair = &p->pair[p->self];
    see(p, p->self, p->session);
    pair->state = PAIR_MET;
    pair->confirmed = pair->session;
    pair->end_is_news = true;
}

static void take_bye(struct hx_program *p, uint32_t peer, uint32_t session)
{
    struct pair *pair = &p->pair[peer];
    if (session == pair->session && pair->state != PAIR_ABSENT)
        pair->state = PAIR_LEAVING;
    pair_stir(p, peer);
}

/* A new program's messages use the same slots as the last program's. So its greeting waits until those are released. */
static void take_greeting(struct hx_program *p, uint32_t peer, uint32_t tag)
{
    struct pair *pair = &p->pair[peer];
    uint32_t session = attachment_sender(tag);
    pair->successor = 0;
    if (attachment_kind(tag) == ATTACHMENT_BYE) {
        take_bye(p, peer, session);
        return;
    }
    if (session != pair->session)
        part(p, peer);
    if (session == 0)
        return;
    if (pair->lent_before) {
        pair->successor = tag;
        return;
    }
    if (pair->state == PAIR_ABSENT)
        see(p, peer, session);
    if (pair->state == PAIR_SEEN && attachment_receiver(tag) == p->session) {
        pair->state = PAIR_MET;
        pair->end_is_news = true;
    }
    pair_stir(p, peer);
}

static void take_mail(struct hx_program *p, uint32_t peer)
{
    const struct attachment_mail *mail = &p->at.mail[peer];
    struct pair *pair = &p->pair[peer];
    uint32_t greeting = atomic_load_explicit(&mail->greeting, memory_order_acquire);
    if (greeting && greeting != pair->greeted) {
        pair->greeted = greeting;
        take_greeting(p, peer, greeting);
    }
    for (unsigned channel = 0; channel < CHANNELS; channel++) {
        uint32_t tag = atomic_load_explicit(&mail->credit[channel], memory_order_acquire);
        if (tag && attachment_sender(tag) == pair->session)
            take_credit(&pair->channel[channel], slots_of[channel], attachment_value(tag), CREDIT_BITS);
    }
}

void pairs_take(struct hx_program *p)
{
    for (uint32_t word = 0; word < (p->at.hosts + 63) / 64; word++) {
        if (!atomic_load_explicit(&p->at.mailed[word], memory_order_relaxed))
            continue;
        uint64_t bits = atomic_exchange_explicit(&p->at.mailed[word], 0, memory_order_acquire);
        for (; bits; bits &= bits - 1) {
            uint32_t peer = word * 64 + (uint32_t)__builtin_ctzll(bits);
            if (peer < p->at.hosts && peer != p->self)
                take_mail(p, peer);
        }
    }
    uint64_t arrived = atomic_load_explicit(&p->at.head->arrived, memory_order_acquire);
    for (; p->arrived < arrived; p->arrived++) {
        struct attachment_arrival a = p->at.arrival[p->arrived & (p->at.arrivals - 1)];
        pair_arrived(p, a.slot, a.bytes);
    }
}

/* ---- mail to send ---- */

static bool wants_credit(const struct channel *c, unsigned slots)
{
    return c->released != c->published && (c->released - c->published >= slots / 2 || c->taken - c->published >= slots);
}

static void greet_if_due(struct hx_program *p, uint32_t peer)
{
    struct pair *pair = &p->pair[peer];
    bool ask = pair->wanted && pair->state != PAIR_MET && !pair->asked;
    if (pair->greeting || !(ask || pair->confirmed != pair->session) || !request_may(p, peer))
        return;
    pair->greeting = pair->asked = true;
    pair->confirmed = pair->session;
    post_mail(p, peer, GREETING, attachment_tag(ATTACHMENT_HELLO, pair->session, p->session, 0));
}

static void credit_if_due(struct hx_program *p, uint32_t peer)
{
    struct pair *pair = &p->pair[peer];
    if (pair->state != PAIR_MET)
        return;
    for (unsigned channel = 0; channel < CHANNELS; channel++) {
        struct channel *c = &pair->channel[channel];
        if (pair->crediting || !wants_credit(c, slots_of[channel]) || !request_may(p, peer))
            continue;
        unsigned value = channel << CREDIT_BITS | (c->released & ((1U << CREDIT_BITS) - 1));
        pair->crediting = true;
        c->published = c->released;
        post_mail(p, peer, CREDIT, attachment_tag(ATTACHMENT_CREDIT, pair->session, p->session, value));
    }
}

/* A host needs no mail from itself. */
static void credit_self(struct pair *self)
{
    for (unsigned channel = 0; channel < CHANNELS; channel++)
        self->channel[channel].allowed = self->channel[channel].released;
}

/* Does all pending work of a pair. Work without room waits until a request of the pair ends. */
static void step(struct hx_program *p, uint32_t peer)
{
    struct pair *pair = &p->pair[peer];
    if (pair->state == PAIR_LEAVING && pair->in_flight == 0)
        part(p, peer);
    if (pair->successor && !pair->lent_before)
        take_greeting(p, peer, pair->successor);
    take_filled(p, peer, CHANNEL_SHORT);
    if (peer == p->self) {
        credit_self(pair);
        return;
    }
    greet_if_due(p, peer);
    credit_if_due(p, peer);
    p->stuck = p->stuck || !requests_have_room(p);
}

void pairs_step(struct hx_program *p)
{
    for (uint32_t left = p->dirty_count; left; left--) {
        uint32_t peer = p->dirty[p->dirty_first];
        p->dirty_first = (p->dirty_first + 1) % p->at.hosts;
        p->dirty_count--;
        p->pair[peer].dirty = false;
        step(p, peer);
    }
}
