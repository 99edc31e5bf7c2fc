/* credit.c - credits of one link and VC (include/hxmesh/credit.h). All arithmetic is modulo 2^32: a difference of two
 * counters, taken unsigned, is their distance, and one that is "too far ahead" is one that lies behind. */
#include "hxmesh/credit.h"

void hx_credit_sender_init(struct hx_credit_sender *s, uint32_t buffer_blocks)
{
    *s = (struct hx_credit_sender){.buffer = buffer_blocks};
}

uint32_t hx_credit_room(const struct hx_credit_sender *s)
{
    return s->limit - s->sent;
}

void hx_credit_spend(struct hx_credit_sender *s, uint32_t blocks)
{
    s->sent += blocks;
}

bool hx_credit_grant(struct hx_credit_sender *s, uint32_t limit)
{
    uint32_t ahead = limit - s->sent;
    if (ahead > s->buffer)
        return s->sent - limit <= s->buffer;
    if (ahead > hx_credit_room(s))
        s->limit = limit;
    return true;
}

void hx_credit_receiver_init(struct hx_credit_receiver *r, uint32_t buffer_blocks)
{
    *r = (struct hx_credit_receiver){.buffer = buffer_blocks};
}

bool hx_credit_arrive(struct hx_credit_receiver *r, uint32_t blocks)
{
    uint32_t held = r->received - r->freed;
    if (blocks > r->buffer - held)
        return false;
    r->received += blocks;
    return true;
}

void hx_credit_leave(struct hx_credit_receiver *r, uint32_t blocks)
{
    r->freed += blocks;
}

uint32_t hx_credit_limit(const struct hx_credit_receiver *r)
{
    return r->freed + r->buffer;
}

/* A credit frame may be repeated or held up in a queue, but never passes data. So all that was sent before it has
 * arrived or is lost when it arrives, and what is still under way was sent after it: received can be raised to
 * sender_sent without counting a block twice that is yet to come. A late frame only writes off less than it could. */
uint32_t hx_credit_reconcile(struct hx_credit_receiver *r, uint32_t sender_sent)
{
    uint32_t missing = sender_sent - r->received;
    if (missing > r->buffer)
        return 0;
    r->received += missing;
    r->freed += missing;
    r->lost += missing;
    return missing;
}
