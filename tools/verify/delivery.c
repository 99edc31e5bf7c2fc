/* delivery.c - checks end to end that every injected packet is delivered, once. */
#include "tools/verify/verify.h"

#include <stddef.h>

struct sight {
    uint64_t frame, time_ns; /* 0: none */
    uint32_t port;
    bool sound; /* its checksum was present and right */
};

struct account {
    struct hx_key key;
    int64_t balance;                  /* injections less deliveries */
    uint64_t injections;              /* since the balance was 0 */
    struct sight injected, delivered; /* the latest */
};

/* Delivered packets among 64 of a message, or the highest acknowledgement of a message. */
struct chunk {
    uint16_t src_addr_hi, src_addr_lo, dst_addr_hi, dst_addr_lo;
    uint32_t message, first, epoch;
    uint16_t job;
    uint8_t kind, reserved;
    uint64_t there; /* data: a bit for each packet; acknowledgements: 1 + the highest offset */
};
enum { CHUNK = 64 };

void hx_verify_delivery_begin(struct hx_verify *v)
{
    v->balance = hx_table_make(sizeof(struct hx_key), sizeof(struct account));
    v->lost = hx_table_make(sizeof(struct hx_key), sizeof(struct hx_lost));
    v->delivered = hx_table_make(offsetof(struct chunk, there), sizeof(struct chunk));
}

static struct chunk chunk_of(const struct hx_header *h)
{
    return (struct chunk){.src_addr_hi = h->src_addr_hi,
                          .src_addr_lo = h->src_addr_lo,
                          .dst_addr_hi = h->dst_addr_hi,
                          .dst_addr_lo = h->dst_addr_lo,
                          .message = h->message,
                          .first = h->kind == HX_DATA ? h->offset / CHUNK : 0,
                          .job = h->job,
                          .epoch = h->epoch,
                          .kind = h->kind};
}

static void settle(struct hx_verify *v, const struct hx_capture_frame *s, int change)
{
    struct account *a = hx_table_find_or_add(&v->balance, &s->seen.key);
    a->balance += change;
    a->injections += change > 0;
    struct sight *latest = change > 0 ? &a->injected : &a->delivered;
    *latest = (struct sight){s->frame, s->time_ns, s->port, s->seen.crc == HX_SEEN_CRC_GOOD};
    if (a->balance == 0)
        hx_table_remove(&v->balance, a);
}

/* Checks at an injection that the packet was not delivered before, except as a copy. Only simulated captures are in the
 * order of time. */
static void validate_early(struct hx_verify *v, const struct hx_capture_frame *s)
{
    const struct account *a = hx_table_find(&v->balance, &s->seen.key);
    if (!a || v->partial || v->c->fabric.facts.clock != HX_CLOCK_VIRTUAL ||
        -a->balance <= (int64_t)hx_copies_of(&v->copies, &a->key))
        return;
    const struct sight *d = &a->delivered;
    const struct hx_seen_at at = {d->frame, d->time_ns, d->port, &a->key};
    unsigned by = HX_ALLOW_COPIES | HX_ALLOW_UNSEEN | (d->sound ? 0 : HX_ALLOW_DAMAGE);
    hx_verify_find(v, &at, by, false, HX_RULE_DELIVERY, "is delivered before it is injected (frame %llu)",
                   (unsigned long long)s->frame);
}

void hx_verify_injected(struct hx_verify *v, const struct hx_capture_frame *s)
{
    v->counts.injected++;
    validate_early(v, s);
    settle(v, s, 1);
}

void hx_verify_delivered(struct hx_verify *v, const struct hx_capture_frame *s)
{
    v->counts.delivered++;
    settle(v, s, -1);
    const struct hx_header *h = &s->seen.data;
    if (h->kind != HX_DATA && h->kind != HX_ACK)
        return;
    struct chunk key = chunk_of(h);
    struct chunk *p = hx_table_find_or_add(&v->delivered, &key);
    if (h->kind == HX_ACK) {
        if (p->there <= h->offset)
            p->there = (uint64_t)h->offset + 1;
        return;
    }
    uint64_t bit = 1ULL << h->offset % CHUNK;
    v->counts.repeats += (p->there & bit) != 0;
    p->there |= bit;
}

/* Notes where the packet was seen last. */
static void note_place(struct hx_lost *l, const struct hx_seen_at *at, const struct hx_loss *how)
{
    if (at->frame <= l->frame)
        return;
    l->frame = at->frame;
    l->time_ns = at->time_ns;
    l->port = at->port;
    l->by = how->by | how->or_repaired;
    l->next = how->next;
    l->came = how->came;
}

/* Cables of wires lose packets. Nothing is lost in an emulator or in a node, unless a fault says so. */
static bool loses_nothing(const struct hx_verify *v, const struct hx_loss *how)
{
    return v->strict || how->came || v->c->fabric.facts.link != HX_CAPTURE_WIRE;
}

void hx_verify_lose(struct hx_verify *v, const struct hx_seen_at *at, const struct hx_loss *how)
{
    struct hx_lost *l = hx_table_find_or_add(&v->lost, at->key);
    bool allowed = hx_fault_allowed(v, at->port, at->time_ns, how->by);
    bool for_a_time = allowed || hx_fault_allowed(v, at->port, at->time_ns, how->or_repaired);
    note_place(l, at, how);
    l->seen++;
    l->allowed = l->allowed || allowed;
    l->missed = l->missed || !allowed;
    l->odd = l->odd || (!for_a_time && loses_nothing(v, how));
}

/* Causes of a loss that the capture does not show. */
static const unsigned may_lose = HX_ALLOW_GAPS | HX_ALLOW_LOSS | HX_ALLOW_DAMAGE | HX_ALLOW_UNSEEN | HX_ALLOW_SINCE;

/* Records a packet that was injected and not delivered. It is allowed if a loss seen on its path was, or if a fault
 * after its injection may have lost it unseen. A killed worker takes its records with it. */
static void lose_between(struct hx_verify *v, const struct account *a)
{
    const struct sight *i = &a->injected;
    struct hx_lost *l = hx_table_find_or_add(&v->lost, &a->key);
    note_place(l, &(struct hx_seen_at){i->frame, i->time_ns, i->port, &a->key},
               &(struct hx_loss){.by = may_lose, .next = HX_NO_INDEX, .came = true});
    bool allowed = l->allowed || hx_fault_allowed(v, i->port, i->time_ns, may_lose);
    l->missed = l->missed || !allowed;
}

static bool local_is_complete(const struct hx_verify *v, unsigned plane, unsigned gx, unsigned gy)
{
    const struct hx_fabric *g = v->c->fabric.g;
    const uint64_t place[2] = {(uint64_t)plane << 32 | hx_fabric_host(g, gx, gy), HX_LOCAL};
    const struct hx_numbered *known = hx_table_find(&v->by_place, place);
    if (!known)
        return false;
    const struct hx_cap_port *port = &v->c->ports[known->number];
    return port->dropped == 0 && !port->filtered;
}

static bool ends_are_complete(const struct hx_verify *v, const struct hx_header *h)
{
    return local_is_complete(v, h->plane, h->src_addr_hi, h->src_addr_lo) &&
           local_is_complete(v, h->plane, h->dst_addr_hi, h->dst_addr_lo);
}

/* Whether another copy was delivered; for an acknowledgement, one with an equal or higher offset. Probes and hellos are
 * repeated by their sender. */
static bool is_repaired(const struct hx_verify *v, const struct hx_header *h)
{
    if (h->kind != HX_DATA && h->kind != HX_ACK)
        return h->kind != HX_UNREACHABLE;
    struct chunk key = chunk_of(h);
    const struct chunk *p = hx_table_find(&v->delivered, &key);
    if (!p)
        return false;
    return h->kind == HX_ACK ? p->there > h->offset : (p->there >> h->offset % CHUNK & 1) != 0;
}

/* Whether its loss needs a fault, and none explains it. A run with faults ends while late packets and repeats are on
 * their way. A data packet that was delivered all the same was repeated. */
static bool is_odd(const struct hx_verify *v, const struct hx_lost *l, const struct hx_header *h)
{
    unsigned kinds = v->fault_allowances.kinds;
    const struct account *a = hx_table_find(&v->balance, &l->key);
    bool repeated = h->kind == HX_DATA || (a && a->injections > 1);
    if (!(kinds & (HX_ALLOW_COPIES | HX_ALLOW_ORDER)))
        return l->odd;
    return l->odd && !(kinds & (HX_ALLOW_COPIES | HX_ALLOW_LATE)) && !repeated;
}

/* Whether it vanished more often than its endpoints say. Then it went on from one of those places, in a frame that the
 * capture lacks. A link that the capture does not show may have repeated it. */
static bool went_on(struct hx_verify *v, const struct hx_lost *l, const struct hx_header *h)
{
    const struct account *a = hx_table_find(&v->balance, &l->key);
    int64_t short_of = (a ? a->balance : 0) + (int64_t)hx_copies_of(&v->copies, &l->key);
    return l->missed && l->seen > (short_of > 0 ? (uint64_t)short_of : 0) && ends_are_complete(v, h) &&
           !hx_fault_allowed(v, l->port, l->time_ns, HX_ALLOW_GAPS | HX_ALLOW_COPIES | HX_ALLOW_UNSEEN);
}

static void let_lost_pass(struct hx_verify *v, const struct hx_lost *l, const char *what)
{
    const struct hx_seen_at at = {l->frame, l->time_ns, l->port, &l->key};
    hx_verify_let_pass(v, what, &at, l->by);
}

static void find_lost(struct hx_verify *v, const struct hx_lost *l, const struct hx_header *h, const char *since)
{
    char packet[HX_PACKET_TEXT];
    bool known = l->next != HX_NO_INDEX;
    hx_find(&v->found, true, l->frame, HX_RULE_DELIVERY, "%s %s %s here: its frame%s%s is missing%s",
            hx_cap_packet_text(packet, &v->c->fabric, h), l->came ? "came in by" : "left by", v->c->ports[l->port].name,
            known ? " at " : " behind it", known ? v->c->ports[l->next].name : "", since);
}

static void validate_lost(struct hx_verify *v, const struct hx_lost *l)
{
    struct hx_header h = hx_key_header(&l->key);
    bool made_up = hx_fault_allowances_made_up(&v->fault_allowances, &l->key);
    if (v->partial) {
        v->counts.in_flight++;
    } else if (is_repaired(v, &h) && !made_up && (is_odd(v, l, &h) || went_on(v, l, &h))) {
        find_lost(v, l, &h, v->strict ? "" : ", though nothing was lost there");
    } else if (is_repaired(v, &h)) {
        *(h.kind == HX_DATA ? &v->counts.lost_repaired : &v->counts.lost_covered) += 1;
        let_lost_pass(v, l, h.kind == HX_DATA ? hx_tally_repaired : hx_tally_covered);
    } else if (!l->missed || made_up) {
        v->counts.lost_to_faults++;
        let_lost_pass(v, l, hx_tally_lost);
    } else {
        find_lost(v, l, &h, "");
    }
}

static void validate_surplus(struct hx_verify *v, const struct account *a, const struct hx_header *h)
{
    const struct sight *d = &a->delivered;
    const struct hx_seen_at at = {d->frame, d->time_ns, d->port, &a->key};
    unsigned by = HX_ALLOW_GAPS | HX_ALLOW_COPIES | HX_ALLOW_UNSEEN;
    by |= a->injected.frame || d->sound ? 0 : HX_ALLOW_DAMAGE;
    char packet[HX_PACKET_TEXT];
    if (!v->partial && -a->balance > (int64_t)hx_copies_of(&v->copies, &a->key))
        hx_verify_find(v, &at, by, false, HX_RULE_DELIVERY, "%s is delivered at %s %s",
                       hx_cap_packet_text(packet, &v->c->fabric, h), v->c->ports[d->port].name,
                       a->injected.frame ? "more often than it was injected" : "without having been injected");
}

static uint64_t count_endpoints(const struct hx_verify *v)
{
    uint64_t whole = 0;
    for (uint32_t i = 0; i < v->port_count; i++)
        whole += v->ports[i].node != HX_NO_INDEX && v->ports[i].far.node == HX_NOWHERE && v->c->ports[i].dropped == 0 &&
                 !v->c->ports[i].filtered;
    return whole;
}

void hx_verify_delivery_end(struct hx_verify *v)
{
    uint64_t not_validated = 0;
    v->counts.endpoints_validated = count_endpoints(v);
    size_t at = 0;
    for (const struct account *a; (a = hx_table_each(&v->balance, &at)) != NULL;) {
        struct hx_header h = hx_key_header(&a->key);
        if (!ends_are_complete(v, &h))
            not_validated++;
        else if (a->balance > 0)
            lose_between(v, a);
        else
            validate_surplus(v, a, &h);
    }
    at = 0;
    for (const struct hx_lost *l; (l = hx_table_each(&v->lost, &at)) != NULL;)
        validate_lost(v, l);
    hx_note(&v->found,
            "%llu {packet was|packets were} seen at one of {its|their} endpoints only: {its|their} delivery was not "
            "checked",
            not_validated);
}
