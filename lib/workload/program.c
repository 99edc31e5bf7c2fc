/* program.c - a host with a program as its source of traffic: requests of its attachment become messages of the
 * endpoint. What arrives is written to slots that the program has armed (hal/program/attachment.h).
 *
 * Everything in the attachment is validated (see there). Requests are numbered from the start of the fabric, through
 * all sessions and incarnations of the worker. So the record of messages in flight (live/fabric.h) names the messages
 * that a successor repeats; it finds them in the ring. A second delivery meets a slot that is not armed. */
#include "workload/kinds.h"
#include "workload/programs.h"

#include <errno.h>
#include <string.h>

enum {
    LOOK_MS = 20,   /* period of checks whether the program lives */
    PART_MS = 2000, /* longest wait for notifications of peers at the end of a session */
    SESSIONS = 255
};
#define MS_PS (UINT64_C(1000000) * WORKLOAD_PS)

/* A session ends in steps. Each step begins when nothing of the previous one is in flight. */
enum stage {
    SERVES, /* the program's session is open, or there is no program */
    ENDS,   /* the program has left, or another has come: messages in flight fail */
    PARTS,  /* peers that greeted the program are notified */
    PARTED  /* the next session may begin */
};

struct program {
    struct workload base;
    const struct hx_fabric *g;
    struct attachment at;
    uint32_t served;  /* copy of the head's `wanted`; 0: none */
    uint32_t session; /* current or last session */
    enum stage stage;
    uint64_t now, look_at, parts_until;    /* ps */
    uint32_t part;                         /* PARTS: hosts below it are notified */
    uint64_t parts_begun, parts_completed; /* requests begun and completed before PARTS */
    uint64_t completed;                    /* also in the head, for a successor */
    uint64_t arrived;
    struct attachment_request taken[ATTACHMENT_REQUESTS]; /* by number: validated copies */
    uint64_t taken_for[ATTACHMENT_REQUESTS]; /* number + 1 of the message that is sent from this copy; 0: none */
};

static struct program *program_of(struct workload *w)
{
    return (struct program *)w;
}

/* ---- sending ---- */

static void complete(struct program *p, uint64_t number, int error)
{
    p->taken_for[number % ATTACHMENT_REQUESTS] = 0;
    p->at.completion[p->completed % ATTACHMENT_REQUESTS] =
        (struct attachment_completion){.number = number, .error = error};
    atomic_store_explicit(&p->at.head->completed, ++p->completed, memory_order_release);
    attachment_ring(&p->at);
}

/* Whether a message in flight uses the place of request `number`. Validation: the program may not have waited for the
 * place. */
static bool is_taken(const struct program *p, uint64_t number)
{
    uint64_t by = p->taken_for[number % ATTACHMENT_REQUESTS];
    return by != 0 && by != number + 1;
}

/* Copies request `number`. Returns false if it is not valid. */
static bool copy_request(struct program *p, uint64_t number)
{
    struct attachment_request *r = &p->taken[number % ATTACHMENT_REQUESTS];
    memcpy(r, &p->at.request[number % ATTACHMENT_REQUESTS], sizeof *r);
    bool good = r->to < p->g->hosts && r->to != p->base.rank && attachment_kind(r->tag) < ATTACHMENT_OTHERS &&
                (r->head_bytes == 0 || r->head_bytes == ATTACHMENT_HEAD) && r->bytes <= p->at.memory_bytes &&
                r->offset <= p->at.memory_bytes - r->bytes;
    if (!good)
        *r = (struct attachment_request){.to = p->base.rank};
    p->taken_for[number % ATTACHMENT_REQUESTS] = good ? number + 1 : 0;
    return good;
}

static struct workload_message message_of(const struct program *p, uint64_t number)
{
    const struct attachment_request *r = &p->taken[number % ATTACHMENT_REQUESTS];
    return (struct workload_message){
        .to = r->to, .tag = r->tag, .bytes = (uint64_t)r->head_bytes + r->bytes, .number = number};
}

static bool message(const struct workload *w, uint64_t number, struct workload_message *m)
{
    struct program *p = (struct program *)(uintptr_t)w; /* renews the copy */
    if (number >= *w->begun + ATTACHMENT_REQUESTS || number + ATTACHMENT_REQUESTS <= *w->begun || is_taken(p, number) ||
        !copy_request(p, number))
        return false;
    *m = message_of(p, number);
    return true;
}

/* The next notification of a peer that the session ended. It is written into the request ring at an unused place, so
 * that a successor finds it. */
static bool next_parting(struct program *p, struct workload_message *m)
{
    uint64_t number = *p->base.begun;
    for (; p->part < p->at.hosts && !is_taken(p, number); p->part++) {
        uint32_t greeting = atomic_load_explicit(&p->at.mail[p->part].greeting, memory_order_relaxed);
        if (attachment_kind(greeting) != ATTACHMENT_HELLO)
            continue;
        uint32_t tag = attachment_tag(ATTACHMENT_BYE, attachment_sender(greeting), p->session, 0);
        p->at.request[number % ATTACHMENT_REQUESTS] = (struct attachment_request){.to = p->part, .tag = tag};
        if (!copy_request(p, number))
            continue;
        *m = message_of(p, number);
        return true;
    }
    return false;
}

static bool next(struct workload *w, uint64_t now, uint32_t refused, struct workload_message *m)
{
    struct program *p = program_of(w);
    (void)now;
    if (refused)
        return false;
    if (p->stage == PARTS)
        return next_parting(p, m);
    if (p->stage != SERVES || !p->served)
        return false;
    uint64_t requested = atomic_load_explicit(&p->at.head->requested, memory_order_acquire);
    while (*w->begun < requested && requested - *w->begun <= ATTACHMENT_REQUESTS && !is_taken(p, *w->begun)) {
        if (copy_request(p, *w->begun)) {
            *m = message_of(p, *w->begun);
            return true;
        }
        complete(p, (*w->begun)++, -EINVAL);
    }
    return false;
}

static void take(struct workload *w, const struct workload_message *m)
{
    struct program *p = program_of(w);
    (void)m;
    p->part += p->stage == PARTS;
}

static void give_up(struct workload *w, const struct workload_message *m)
{
    take(w, m);
    complete(program_of(w), m->number, -EHOSTUNREACH);
}

/* Writes the message's head and bytes as one sequence. */
static void fill(const struct workload *w, const struct hx_send *s, uint32_t packet, uint8_t *to, unsigned bytes)
{
    const struct program *p = (const struct program *)w;
    const struct attachment_request *r = &p->taken[s->cookie % ATTACHMENT_REQUESTS];
    uint64_t at = (uint64_t)packet * HX_MAX_PAYLOAD;
    if (at < r->head_bytes) { /* in the first packet */
        unsigned part = bytes < r->head_bytes ? bytes : r->head_bytes;
        memcpy(to, r->head, part);
        to += part;
        bytes -= part;
        at += part;
    }
    if (bytes)
        memcpy(to, p->at.memory + r->offset + (at - r->head_bytes), bytes);
}

/* ---- receiving ---- */

/* Whether a slot is armed for messages of this tag from this host. *s: a copy of the slot. */
static bool is_armed(const struct program *p, uint32_t tag, uint32_t source, uint32_t *index, struct attachment_slot *s)
{
    bool in_pair = attachment_kind(tag) == ATTACHMENT_TO_SLOT;
    unsigned bits = in_pair ? ATTACHMENT_SLOT_BITS : ATTACHMENT_REGION_BITS;
    unsigned number = attachment_value(tag) & ((1U << bits) - 1);
    if (!p->served || p->stage != SERVES || attachment_receiver(tag) != p->session ||
        number >= (in_pair ? ATTACHMENT_SLOTS : ATTACHMENT_REGIONS))
        return false;
    *index = in_pair ? attachment_slot_of(source, number) : attachment_region(&p->at, number);
    const struct attachment_slot *shared = &p->at.slot[*index];
    if (atomic_load_explicit(&shared->state, memory_order_acquire) != ATTACHMENT_ARMED)
        return false;
    memcpy(s, shared, sizeof *s);
    return s->turn == attachment_value(tag) >> bits && s->source == source && s->session == attachment_sender(tag) &&
           s->bytes <= p->at.memory_bytes && s->offset <= p->at.memory_bytes - s->bytes;
}

static uint64_t place(struct workload *w, const struct hx_header *h, const uint8_t *payload)
{
    struct program *p = program_of(w);
    struct attachment_slot s;
    uint32_t index;
    uint64_t at = (uint64_t)h->offset * HX_MAX_PAYLOAD;
    uint32_t source = hx_fabric_host(p->g, h->src_addr_hi, h->src_addr_lo);
    if (h->length && source < p->at.hosts && is_armed(p, h->tag, source, &index, &s) && at <= s.bytes &&
        h->length <= s.bytes - at)
        memcpy(p->at.memory + s.offset + at, payload, h->length);
    return 0;
}

static void fill_slot(struct program *p, uint32_t tag, uint32_t source, uint64_t bytes)
{
    struct attachment_slot s;
    uint32_t index;
    if (!is_armed(p, tag, source, &index, &s) || bytes > s.bytes)
        return;
    atomic_store_explicit(&p->at.slot[index].state, ATTACHMENT_FILLED, memory_order_relaxed);
    p->at.arrival[p->arrived & (p->at.arrivals - 1)] =
        (struct attachment_arrival){.slot = index, .bytes = (uint32_t)bytes};
    atomic_store_explicit(&p->at.head->arrived, ++p->arrived, memory_order_release);
    attachment_ring(&p->at);
}

/* A greeting without a program stays for the next one. */
static void take_mail(struct program *p, uint32_t tag, uint32_t source)
{
    struct attachment_mail *mail = &p->at.mail[source];
    if (attachment_kind(tag) != ATTACHMENT_CREDIT)
        atomic_store_explicit(&mail->greeting, tag, memory_order_relaxed);
    else if (p->served && attachment_receiver(tag) == p->session)
        atomic_store_explicit(&mail->credit[attachment_value(tag) >> 11], tag, memory_order_relaxed);
    else
        return;
    atomic_fetch_or_explicit(&p->at.mailed[source / 64], (uint64_t)1 << source % 64, memory_order_release);
    attachment_ring(&p->at);
}

static int event(struct workload *w, uint64_t now, const struct hx_event *e)
{
    (void)now;
    struct program *p = program_of(w);
    if (e->type != HX_EVENT_RECEIVED) {
        complete(p, e->cookie, e->type == HX_EVENT_SENT ? 0 : -EHOSTUNREACH);
        return HX_OK;
    }
    uint32_t source = hx_fabric_host(p->g, e->addr_hi, e->addr_lo);
    unsigned kind = attachment_kind(e->tag);
    if (source >= p->at.hosts)
        return HX_OK;
    if (kind == ATTACHMENT_TO_SLOT || kind == ATTACHMENT_TO_REGION)
        fill_slot(p, e->tag, source, e->bytes);
    else if (kind == ATTACHMENT_HELLO || kind == ATTACHMENT_BYE || kind == ATTACHMENT_CREDIT)
        take_mail(p, e->tag, source);
    return HX_OK;
}

/* ---- sessions ---- */

/* The program that holds the attachment, by its own entry; 0 if it died. */
static uint32_t current_program(struct program *p)
{
    struct attachment_head *head = p->at.head;
    uint32_t wanted = atomic_load_explicit(&head->wanted, memory_order_acquire);
    if (!p->served || p->now < p->look_at)
        return wanted;
    p->look_at = p->now + LOOK_MS * MS_PS;
    if (wanted == p->served && !attachment_is_held(&p->at) && atomic_compare_exchange_strong(&head->wanted, &wanted, 0))
        return 0;
    return wanted;
}

static bool all_notified(const struct program *p)
{
    return p->part == p->at.hosts && *p->base.begun - p->parts_begun == p->completed - p->parts_completed;
}

static bool drains(struct workload *w, uint64_t now)
{
    struct program *p = program_of(w);
    p->now = now;
    if (p->stage == SERVES && current_program(p) != p->served)
        p->stage = p->served ? ENDS : PARTED;
    if (p->stage == PARTS && (now >= p->parts_until || all_notified(p)))
        p->stage = PARTED;
    return p->stage == ENDS || p->stage == PARTED;
}

/* Starts a session, with nothing in flight. Disarms slots of the previous program, keeps greetings, and rewrites
 * constants that it may have overwritten. */
static void begin_session(struct program *p)
{
    struct attachment_head *head = p->at.head;
    for (uint32_t i = 0; i < p->at.slots; i++)
        atomic_store_explicit(&p->at.slot[i].state, ATTACHMENT_IDLE, memory_order_relaxed);
    for (uint32_t i = 0; i < p->at.hosts; i++) {
        atomic_store_explicit(&p->at.mail[i].credit[0], 0, memory_order_relaxed);
        atomic_store_explicit(&p->at.mail[i].credit[1], 0, memory_order_relaxed);
        if (atomic_load_explicit(&p->at.mail[i].greeting, memory_order_relaxed))
            atomic_fetch_or_explicit(&p->at.mailed[i / 64], (uint64_t)1 << i % 64, memory_order_relaxed);
    }
    p->session = p->session % SESSIONS + 1;
    atomic_store_explicit(&head->requested, *p->base.begun, memory_order_relaxed);
    atomic_store_explicit(&head->first, *p->base.begun, memory_order_relaxed);
    atomic_store_explicit(&head->session, p->session, memory_order_relaxed);
    atomic_store_explicit(&head->completed, p->completed, memory_order_relaxed);
    atomic_store_explicit(&head->arrived, p->arrived, memory_order_relaxed);
}

static void begin_parting(struct program *p)
{
    p->stage = PARTS;
    p->part = 0;
    p->parts_begun = *p->base.begun;
    p->parts_completed = p->completed;
    p->parts_until = p->now + PART_MS * MS_PS;
}

static void drained(struct workload *w)
{
    struct program *p = program_of(w);
    struct attachment_head *head = p->at.head;
    if (p->stage == ENDS) {
        begin_parting(p);
        return;
    }
    uint32_t wanted = atomic_load_explicit(&head->wanted, memory_order_acquire);
    if (wanted)
        begin_session(p);
    p->served = wanted;
    p->stage = SERVES;
    atomic_store_explicit(&head->served, wanted, memory_order_release);
    attachment_ring(&p->at);
}

static bool is_over(const struct workload *w)
{
    (void)w;
    return false;
}

static const struct workload_ops ops = {WORKLOAD_OPS(struct program),
                                        .take = take,
                                        .message = message,
                                        .give_up = give_up,
                                        .event = event,
                                        .drains = drains,
                                        .drained = drained};

static size_t bytes_of(const struct workload_plan *plan, uint32_t rank)
{
    (void)plan;
    (void)rank;
    return sizeof(struct program);
}

/* Continues a predecessor's session. */
static struct workload *make(const struct workload_plan *plan, uint32_t rank, const struct workload_memory *m)
{
    struct program *p = m->memory;
    *p = (struct program){
        .base = {.ops = &ops, .carries = true}, .g = plan->programs->g, .at = plan->programs->at[rank]};
    const struct attachment_head *head = p->at.head;
    p->served = atomic_load(&head->served);
    p->session = atomic_load(&head->session) % (SESSIONS + 1);
    p->completed = atomic_load(&head->completed);
    p->arrived = atomic_load(&head->arrived);
    return &p->base;
}

const struct workload_kind program_kind = {.bytes = bytes_of, .make = make};
