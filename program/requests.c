/* requests.c - rings between library and worker: requests and completions (parts.h). */
#include "program/parts.h"

#include <errno.h>
#include <string.h>

enum { RING = ATTACHMENT_REQUESTS };

/* True if a request may be posted. An entry stays until its request ends, so the ring is full if the oldest has not.
 * All requests in flight may need a retry. */
bool requests_have_room(const struct hx_program *p)
{
    return p->note[p->requested % RING].purpose == FREE && p->in_flight + p->retry_count < RING;
}

bool request_may(const struct hx_program *p, uint32_t peer)
{
    return requests_have_room(p) && p->pair[peer].in_flight < ATTACHMENT_PAIR_WINDOW;
}

/* Delivers a request to this host itself, at once. */
static void carry(struct hx_program *p, const struct attachment_request *r)
{
    unsigned value = attachment_value(r->tag);
    uint32_t slot = attachment_kind(r->tag) == ATTACHMENT_TO_SLOT
                        ? attachment_slot_of(p->self, value % (1U << ATTACHMENT_SLOT_BITS))
                        : attachment_region(&p->at, value % ATTACHMENT_REGIONS);
    uint8_t *to = p->at.memory + p->at.slot[slot].offset;
    memcpy(to, r->head, r->head_bytes);
    memcpy(to + r->head_bytes, p->at.memory + r->offset, r->bytes);
    pair_arrived(p, slot, r->head_bytes + r->bytes);
}

static void end(struct hx_program *p, const struct note *n, int error);

static void post(struct hx_program *p, const struct note *note, const struct attachment_request *request)
{
    p->pair[note->peer].in_flight++;
    if (note->peer == p->self) {
        carry(p, request);
        end(p, note, 0);
        return;
    }
    p->at.request[p->requested % RING] = *request;
    p->note[p->requested % RING] = *note;
    p->in_flight++;
    atomic_store_explicit(&p->at.head->requested, ++p->requested, memory_order_release);
    attachment_wakeup(&p->at);
}

void request_post(struct hx_program *p, const struct note *note, uint32_t tag, const struct head *head,
                  const void *data, uint32_t bytes)
{
    struct attachment_request r = {.offset = data ? (uint64_t)((const uint8_t *)data - p->at.memory) : 0,
                                   .bytes = bytes,
                                   .to = note->peer,
                                   .tag = tag,
                                   .head_bytes = head ? ATTACHMENT_HEAD : 0};
    if (head)
        memcpy(r.head, head, sizeof *head);
    post(p, note, &r);
}

static void give_bounce_back(struct hx_program *p, const struct note *n)
{
    uint64_t *which = n->purpose == PART ? &p->bounce_parts : &p->bounces;
    if (n->bounce >= 0)
        *which |= (uint64_t)1 << n->bounce;
}

static void end_slot(struct pair *pair, const struct note *n)
{
    struct channel *c = &pair->channel[n->purpose == GRANT ? CHANNEL_CONTROL : CHANNEL_SHORT];
    c->busy &= ~(1U << n->slot);
}

/* Ends a request. A message for a program that has gone is lost, even if its host received it. */
static void end(struct hx_program *p, const struct note *n, int error)
{
    struct pair *pair = &p->pair[n->peer];
    bool present = pair->session == n->session;
    error = present || n->purpose == GREETING ? error : -ECONNRESET;
    pair->in_flight--;
    give_bounce_back(p, n);
    if (n->purpose == GREETING)
        pair->greeting = false;
    if (n->purpose == CREDIT)
        pair->crediting = false;
    if (present && (n->purpose == SHORT || n->purpose == ANNOUNCE || n->purpose == GRANT))
        end_slot(pair, n);
    if (n->purpose == SHORT)
        program_notify(p, &(struct hx_program_event){.type = error ? HX_PROGRAM_FAILED : HX_PROGRAM_SENT,
                                                     .error = error,
                                                     .peer = n->peer,
                                                     .context = n->context});
    if (n->purpose == PART)
        long_part_sent(p, n);
    pair_stir(p, n->peer);
}

/* Keeps a request that had no path for a retry, which keeps the order per peer; the fabric may be repaired. */
static void keep_for_retry(struct hx_program *p, uint64_t number, const struct note *n)
{
    p->pair[n->peer].in_flight--;
    p->retry[(p->retry_first + p->retry_count++) % RING] =
        (struct retry){.request = p->at.request[number % RING], .note = *n};
}

static void retry(struct hx_program *p)
{
    for (uint32_t left = p->retry_count; left; left--) {
        struct retry r = p->retry[p->retry_first];
        p->retry_first = (p->retry_first + 1) % RING;
        p->retry_count--;
        bool present = p->pair[r.note.peer].session == r.note.session || r.note.purpose == GREETING;
        if (present && request_may(p, r.note.peer)) {
            post(p, &r.note, &r.request);
        } else if (present) {
            p->retry[(p->retry_first + p->retry_count++) % RING] = r;
        } else {
            p->pair[r.note.peer].in_flight++;
            end(p, &r.note, -ECONNRESET);
        }
    }
}

void requests_take(struct hx_program *p)
{
    if (p->retry_count)
        retry(p);
    uint64_t completed = atomic_load_explicit(&p->at.head->completed, memory_order_acquire);
    for (; p->completed < completed; p->completed++) {
        const struct attachment_completion *c = &p->at.completion[p->completed % RING];
        struct note *at = &p->note[c->number % RING];
        struct note n = *at;
        if (n.purpose == FREE || c->number >= p->requested || c->number + RING < p->requested)
            continue; /* a duplicate, from a worker and its successor */
        at->purpose = FREE;
        p->in_flight--;
        if (c->error == -EHOSTUNREACH)
            keep_for_retry(p, c->number, &n);
        else
            end(p, &n, c->error);
    }
    if (requests_have_room(p))
        pairs_unstick(p);
}
