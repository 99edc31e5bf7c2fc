/* match.c - matches messages with receives, and completes operations (provider.h). */
#include "provider.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS = 32 };

/* Completes a receive; fails it if the message exceeds its buffer. */
static void received(struct hxfi_endpoint *e, struct hxfi_operation *o, uint32_t peer, uint64_t tag, uint64_t bytes)
{
    if (bytes > o->bytes)
        hxfi_queue_fail(e->receives, o, FI_ETRUNC, o->bytes, bytes - o->bytes, tag);
    else
        hxfi_queue_complete(e->receives, o, bytes, tag, hxfi_address_of(e->vector, peer));
    hxfi_operation_end(e, o);
}

static bool fits(const struct hxfi_operation *o, uint32_t peer, uint64_t tag)
{
    uint64_t differ = (tag ^ o->tag) & ~(o->ignore & HXFI_TAG) & ~HXFI_WITH_DATA;
    return (o->host == HXFI_ANY_HOST || o->host == peer) && differ == 0;
}

/* ---- posted receives ---- */

static struct hxfi_operation *take_posted(struct hxfi_endpoint *e, uint32_t peer, uint64_t tag)
{
    for (struct hxfi_operation **at = &e->posted; *at; at = &(*at)->next) {
        struct hxfi_operation *o = *at;
        if (!fits(o, peer, tag))
            continue;
        *at = o->next;
        if (!o->next)
            e->posted_end = at;
        return o;
    }
    return NULL;
}

int hxfi_cancel(struct hxfi_endpoint *e, const void *context)
{
    for (struct hxfi_operation **at = &e->posted; *at; at = &(*at)->next) {
        struct hxfi_operation *o = *at;
        if (o->context != context)
            continue;
        *at = o->next;
        if (!o->next)
            e->posted_end = at;
        hxfi_queue_fail(e->receives, o, FI_ECANCELED, 0, 0, o->tag);
        hxfi_operation_end(e, o);
        return 0;
    }
    return -FI_ENOENT;
}

/* ---- unexpected messages ---- */

static void keep(struct hxfi_endpoint *e, const struct hx_program_event *event)
{
    bool is_long = event->type == HX_PROGRAM_ANNOUNCED;
    struct hxfi_unexpected *u = calloc(1, sizeof *u + (is_long ? 0 : event->bytes));
    if (!u) { /* the message is lost: later calls return the error */
        e->broken = -FI_ENOMEM;
        return;
    }
    u->peer = event->peer;
    u->tag = event->tag;
    u->bytes = event->bytes;
    u->is_long = is_long;
    u->ticket = event->ticket;
    u->note = event->note;
    if (!is_long)
        memcpy(u->data, event->data, event->bytes);
    *e->unexpected_end = u;
    e->unexpected_end = &u->next;
}

struct hxfi_unexpected *hxfi_find(struct hxfi_endpoint *e, const struct hxfi_operation *o, const void *claimed_by)
{
    struct hxfi_unexpected *u = e->unexpected;
    while (u && (u->claimed != claimed_by || (!claimed_by && !fits(o, u->peer, u->tag))))
        u = u->next;
    return u;
}

static void take_out(struct hxfi_endpoint *e, struct hxfi_unexpected *u)
{
    struct hxfi_unexpected **at = &e->unexpected;
    while (*at != u)
        at = &(*at)->next;
    *at = u->next;
    if (!u->next)
        e->unexpected_end = at;
}

/* Accepts a long message. A message longer than the buffer is truncated and then fails, so its excess length is
 * kept. */
static void accept_long(struct hxfi_endpoint *e, struct hxfi_operation *o, uint32_t ticket, uint64_t bytes)
{
    o->is_beyond = bytes > o->bytes ? bytes - o->bytes : 0;
    if (hx_program_accept(e->program, ticket, o->buffer, o->bytes, o) != 0) {
        hxfi_queue_fail(e->receives, o, FI_EIO, 0, 0, o->tag);
        hxfi_operation_end(e, o);
    }
}

static void deliver(struct hxfi_endpoint *e, struct hxfi_operation *o, uint32_t peer, uint64_t tag, const void *data,
                    uint64_t bytes)
{
    size_t fitting = bytes < o->bytes ? bytes : o->bytes;
    if (fitting)
        memcpy(o->buffer, data, fitting);
    received(e, o, peer, tag, bytes);
}

void hxfi_receive(struct hxfi_endpoint *e, struct hxfi_operation *o)
{
    struct hxfi_unexpected *u = hxfi_find(e, o, o->claims ? o->context : NULL);
    if (!u) {
        *e->posted_end = o;
        e->posted_end = &o->next;
        return;
    }
    take_out(e, u);
    o->note = u->note;
    if (u->is_long)
        accept_long(e, o, u->ticket, u->bytes);
    else
        deliver(e, o, u->peer, u->tag, u->data, u->bytes);
    free(u);
}

void hxfi_forget_unexpected(struct hxfi_endpoint *e)
{
    while (e->unexpected) {
        struct hxfi_unexpected *u = e->unexpected;
        e->unexpected = u->next;
        free(u);
    }
}

/* ---- events ---- */

static void take_message(struct hxfi_endpoint *e, const struct hx_program_event *event)
{
    struct hxfi_operation *o = take_posted(e, event->peer, event->tag);
    if (o)
        o->note = event->note;
    if (!o)
        keep(e, event);
    else if (event->type == HX_PROGRAM_ANNOUNCED)
        accept_long(e, o, event->ticket, event->bytes);
    else
        deliver(e, o, event->peer, event->tag, event->data, event->bytes);
    if (event->type == HX_PROGRAM_ARRIVED)
        hx_program_release(e->program, event);
}

static void take_end(struct hxfi_endpoint *e, const struct hx_program_event *event)
{
    struct hxfi_operation *o = event->context;
    bool sent = (o->flags & FI_SEND) != 0;
    struct hxfi_queue *q = sent ? e->sends : e->receives;
    if (event->type == HX_PROGRAM_RECEIVED) {
        received(e, o, event->peer, event->tag, event->bytes + o->is_beyond);
        return;
    }
    if (event->type == HX_PROGRAM_FAILED)
        hxfi_queue_fail(q, o, -event->error, 0, 0, o->tag);
    else
        hxfi_queue_complete(q, o, o->bytes, o->tag, FI_ADDR_NOTAVAIL);
    hxfi_operation_end(e, o);
}

int hxfi_progress(struct hxfi_endpoint *e)
{
    struct hx_program_event event[EVENTS];
    int n = EVENTS;
    while (n == EVENTS) {
        n = hx_program_poll(e->program, event, EVENTS);
        for (int i = 0; i < n; i++) {
            if (event[i].type == HX_PROGRAM_ARRIVED || event[i].type == HX_PROGRAM_ANNOUNCED)
                take_message(e, &event[i]);
            else if (event[i].type != HX_PROGRAM_GONE) /* libfabric has no event for it without connections */
                take_end(e, &event[i]);
        }
    }
    return n < 0 ? n : e->broken;
}
