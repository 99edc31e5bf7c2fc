/* longer.c - long messages: announced, accepted, granted in parts, sent to the receiver's regions (parts.h).
 *
 *     sender                          receiver
 *     ANNOUNCE tag, bytes        ->   ANNOUNCED ... hx_program_accept()
 *     copies a part, if needed   <-   GRANT region, offset, length: up to PARTS_AHEAD parts of a message
 *     the part, into the region  ->   copies it, if needed; grants the next
 *     SENT                            RECEIVED
 *
 * The receiver's regions bound the data in flight. Messages are granted parts in turn. */
#include "program/parts.h"

#include <errno.h>
#include <string.h>

static bool is_present(const struct hx_program *p, uint32_t peer, uint32_t session)
{
    return p->pair[peer].session == session;
}

/* ---- sending ---- */

int long_begin(struct hx_program *p, uint32_t to, uint64_t tag, uint32_t note, const void *data, uint64_t bytes,
               void *context)
{
    unsigned ticket = 0;
    while (ticket < LONG_SENDS && p->send[ticket].used)
        ticket++;
    if (ticket == LONG_SENDS || !pair_may(p, to, CHANNEL_SHORT))
        return -EAGAIN;
    p->send[ticket] = (struct long_send){
        .used = true, .peer = to, .session = p->pair[to].session, .data = data, .bytes = bytes, .context = context};
    struct head head = {.kind = HEAD_ANNOUNCE, .ticket = (uint16_t)ticket, .tag = tag, .bytes = bytes, .length = note};
    struct note request = {.purpose = ANNOUNCE, .peer = to, .bounce = -1};
    pair_send(p, &request, CHANNEL_SHORT, &head, NULL, 0);
    return 0;
}

/* Ends a send; its entry stays in use until its parts in flight end. */
static void end_send(struct hx_program *p, struct long_send *s, int error)
{
    if (!s->failed)
        program_notify(p, &(struct hx_program_event){.type = error ? HX_PROGRAM_FAILED : HX_PROGRAM_SENT,
                                                     .error = error,
                                                     .peer = s->peer,
                                                     .context = s->context});
    s->failed = error != 0;
    s->used = s->parts > 0;
}

static bool expects_grant(const struct long_send *s, uint32_t peer)
{
    return s->used && !s->failed && !s->last_granted && s->peer == peer;
}

/* Granted parts and sent parts with requests in progress: at most PARTS_AHEAD of each. */
static bool is_grant(const struct long_send *s, const struct head *head)
{
    return head->kind == HEAD_GRANT && head->bytes <= s->bytes && head->length <= s->bytes - head->bytes &&
           head->length <= ATTACHMENT_PART_BYTES && s->parts < 2 * PARTS_AHEAD;
}

void long_granted(struct hx_program *p, uint32_t peer, const struct head *head)
{
    struct long_send *s = &p->send[head->ticket % LONG_SENDS];
    if (!expects_grant(s, peer) || !is_grant(s, head))
        return;
    s->last_granted = head->last;
    if (head->length == 0) {
        if (s->last_granted && s->parts == 0)
            end_send(p, s, 0);
        return;
    }
    s->parts++;
    p->grants[(p->grants_first + p->grants_count++) % GRANTS] = (struct grant){.ticket = head->ticket % LONG_SENDS,
                                                                               .region = (uint16_t)head->tag,
                                                                               .last = head->last,
                                                                               .length = head->length,
                                                                               .offset = head->bytes};
}

static void post_part(struct hx_program *p, const struct grant *g, const uint8_t *data, int bounce)
{
    const struct long_send *s = &p->send[g->ticket];
    const struct note note = {
        .purpose = PART, .peer = s->peer, .session = s->session, .ticket = g->ticket, .bounce = (int16_t)bounce};
    request_post(p, &note, attachment_tag(ATTACHMENT_TO_REGION, s->session, p->session, g->region), NULL, data,
                 g->length);
}

/* Sends a granted part; false: no room. */
static bool send_part(struct hx_program *p, const struct grant *g)
{
    struct long_send *s = &p->send[g->ticket];
    const uint8_t *data = s->data + g->offset;
    int bounce = -1;
    if (s->failed) {
        s->parts--;
        s->used = s->parts > 0;
        return true;
    }
    if (!request_may(p, s->peer))
        return false;
    if (!memory_is_ours(p, data, g->length)) {
        bounce = memory_take(&p->bounce_parts);
        if (bounce < 0)
            return false;
        memcpy(memory_bounce_part(p, (unsigned)bounce), data, g->length);
        data = memory_bounce_part(p, (unsigned)bounce);
    }
    post_part(p, g, data, bounce);
    return true;
}

void long_part_sent(struct hx_program *p, const struct note *note)
{
    struct long_send *s = &p->send[note->ticket];
    s->parts--;
    if (s->failed)
        s->used = s->parts > 0;
    else if (s->last_granted && s->parts == 0)
        end_send(p, s, 0);
}

/* ---- receiving ---- */

bool long_announced(struct hx_program *p, uint32_t peer, const struct head *head)
{
    uint32_t ticket = 0;
    while (ticket < LONG_RECEIVES && p->receive[ticket].used)
        ticket++;
    if (ticket == LONG_RECEIVES)
        return false;
    p->receive[ticket] = (struct long_receive){.used = true,
                                               .peer = peer,
                                               .session = p->pair[peer].session,
                                               .ticket = head->ticket,
                                               .tag = head->tag,
                                               .bytes = head->bytes};
    program_notify(p, &(struct hx_program_event){.type = HX_PROGRAM_ANNOUNCED,
                                                 .peer = peer,
                                                 .ticket = ticket,
                                                 .tag = head->tag,
                                                 .bytes = head->bytes,
                                                 .note = head->length});
    return true;
}

static void end_receive(struct hx_program *p, struct long_receive *r, int error)
{
    program_notify(p, &(struct hx_program_event){.type = error ? HX_PROGRAM_FAILED : HX_PROGRAM_RECEIVED,
                                                 .error = error,
                                                 .peer = r->peer,
                                                 .tag = r->tag,
                                                 .bytes = r->room,
                                                 .data = r->data,
                                                 .context = r->context});
    r->used = false;
    pairs_unstick(p);
}

int hx_program_accept(struct hx_program *p, uint32_t ticket, void *data, uint64_t bytes, void *context)
{
    struct long_receive *r = ticket < LONG_RECEIVES ? &p->receive[ticket] : NULL;
    if (!r || !r->used || r->accepted)
        return -EINVAL;
    r->accepted = true;
    r->data = data;
    r->room = bytes < r->bytes ? bytes : r->bytes;
    r->context = context;
    if (!is_present(p, r->peer, r->session)) {
        end_receive(p, r, -ECONNRESET);
        return 0;
    }
    p->accepted[(p->accepted_first + p->accepted_count++) % LONG_RECEIVES] = (uint16_t)ticket;
    long_step(p);
    return 0;
}

static int free_region(const struct hx_program *p)
{
    int number = 0;
    while (number < ATTACHMENT_REGIONS && p->region[number].used)
        number++;
    return number < ATTACHMENT_REGIONS ? number : -1;
}

static void arm_region(struct hx_program *p, unsigned number, const struct long_receive *r)
{
    struct region *region = &p->region[number];
    const uint8_t *to = region->landing < 0 ? r->data + region->offset : memory_landing(p, (unsigned)region->landing);
    struct attachment_slot *s = &p->at.slot[attachment_region(&p->at, number)];
    region->turn = (uint16_t)((region->turn + 1U) % (1U << (ATTACHMENT_VALUE_BITS - ATTACHMENT_REGION_BITS)));
    s->offset = (uint64_t)(to - p->at.memory);
    s->bytes = region->length;
    s->source = r->peer;
    s->session = (uint16_t)r->session;
    s->turn = region->turn;
    atomic_store_explicit(&s->state, ATTACHMENT_ARMED, memory_order_release);
}

static void send_grant(struct hx_program *p, const struct long_receive *r, unsigned number)
{
    const struct region *region = &p->region[number];
    struct head head = {.kind = HEAD_GRANT,
                        .last = r->last_granted,
                        .ticket = r->ticket,
                        .tag = (uint64_t)region->turn << ATTACHMENT_REGION_BITS | number,
                        .bytes = region->offset,
                        .length = region->length};
    struct note note = {.purpose = GRANT, .peer = r->peer, .bounce = -1};
    pair_send(p, &note, CHANNEL_CONTROL, &head, NULL, 0);
}

/* Grants nothing and ends the message: the program wants no byte of it. */
static void refuse(struct hx_program *p, struct long_receive *r)
{
    struct head head = {.kind = HEAD_GRANT, .last = 1, .ticket = r->ticket};
    struct note note = {.purpose = GRANT, .peer = r->peer, .bounce = -1};
    r->last_granted = true;
    pair_send(p, &note, CHANNEL_CONTROL, &head, NULL, 0);
    end_receive(p, r, 0);
}

/* Grants the next part; false: no room. */
static bool grant_part(struct hx_program *p, unsigned ticket)
{
    struct long_receive *r = &p->receive[ticket];
    uint64_t left = r->room - r->granted;
    if (r->parts == PARTS_AHEAD || !pair_may(p, r->peer, CHANNEL_CONTROL))
        return false;
    if (r->room == 0) {
        refuse(p, r);
        return true;
    }
    int number = free_region(p);
    bool lands_there = memory_is_ours(p, r->data, r->room);
    if (number < 0 || (!lands_there && !p->landings))
        return false;
    struct region *region = &p->region[number];
    region->used = true;
    region->receive = (uint16_t)ticket;
    region->landing = lands_there ? -1 : (int16_t)memory_take(&p->landings);
    region->length = left < ATTACHMENT_PART_BYTES ? (uint32_t)left : ATTACHMENT_PART_BYTES;
    region->offset = r->granted;
    r->granted += region->length;
    r->parts++;
    r->last_granted = r->granted == r->room;
    arm_region(p, (unsigned)number, r);
    send_grant(p, r, (unsigned)number);
    return true;
}

static void free_part(struct hx_program *p, struct region *region)
{
    if (region->landing >= 0)
        p->landings |= (uint64_t)1 << region->landing;
    region->used = false;
    p->receive[region->receive].parts--;
}

void long_part_arrived(struct hx_program *p, unsigned number, uint32_t bytes)
{
    struct region *region = &p->region[number];
    if (number >= ATTACHMENT_REGIONS || !region->used || bytes != region->length)
        return;
    struct long_receive *r = &p->receive[region->receive];
    if (region->landing >= 0)
        memcpy(r->data + region->offset, memory_landing(p, (unsigned)region->landing), bytes);
    free_part(p, region);
    if (r->last_granted && r->parts == 0)
        end_receive(p, r, 0);
}

/* ---- both ---- */

void long_step(struct hx_program *p)
{
    for (uint32_t left = p->grants_count; left; left--) {
        struct grant g = p->grants[p->grants_first];
        p->grants_first = (p->grants_first + 1) % GRANTS;
        p->grants_count--;
        if (!send_part(p, &g))
            p->grants[(p->grants_first + p->grants_count++) % GRANTS] = g;
    }
    for (uint32_t left = p->accepted_count; left; left--) {
        uint16_t ticket = p->accepted[p->accepted_first];
        struct long_receive *r = &p->receive[ticket];
        p->accepted_first = (p->accepted_first + 1) % LONG_RECEIVES;
        p->accepted_count--;
        while (r->used && r->accepted && !r->last_granted && grant_part(p, ticket))
            ;
        if (r->used && r->accepted && !r->last_granted)
            p->accepted[(p->accepted_first + p->accepted_count++) % LONG_RECEIVES] = ticket;
    }
}

void long_forget(struct hx_program *p, uint32_t peer)
{
    for (unsigned i = 0; i < LONG_SENDS; i++) {
        struct long_send *s = &p->send[i];
        if (s->used && !s->failed && s->peer == peer)
            end_send(p, s, -ECONNRESET);
    }
    for (unsigned i = 0; i < ATTACHMENT_REGIONS; i++) {
        struct region *region = &p->region[i];
        if (!region->used || p->receive[region->receive].peer != peer)
            continue;
        atomic_store(&p->at.slot[attachment_region(&p->at, i)].state, ATTACHMENT_IDLE);
        free_part(p, region);
    }
    for (unsigned i = 0; i < LONG_RECEIVES; i++) {
        struct long_receive *r = &p->receive[i];
        if (r->used && r->accepted && r->peer == peer)
            end_receive(p, r, -ECONNRESET);
    }
}
