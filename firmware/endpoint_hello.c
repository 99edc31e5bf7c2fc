/* endpoint_hello.c - epochs of peers, and how a change is confirmed.
 *
 *     here       packet of an unknown epoch, or for another epoch than this one: dropped; the peer is asked
 *     hello ->   asks, with a nonce
 *     <- hello   returns the nonce, under the peer's present epoch
 *     here       if the epoch differs: clears what came from the peer, restarts what goes to it
 *                always: takes the peer's next message number, which reveals forged numbers and closes gaps
 *     hello ->   "nothing known of what you sent": the peer restarts its sends as well
 *
 * A nonce is a keyed hash of the peer and of the number of its answered nonces. So it is unpredictable, valid for one
 * answer, and needs no memory. */
#include "bytes.h"
#include "endpoint_parts.h"
#include "hxmesh/error.h"
#include "siphash.h"

enum { ASK_SHARE = 8 /* share of least_ns between questions */ };
enum { FORGETS = 1 /* tag of a hello: nothing is known of the peer's messages */ };

static struct hx_peer_hello *hello_of(const struct hx_endpoint *ep, const struct hx_peer *peer)
{
    return &hx_endpoint_rest(ep, peer)->hello;
}

static uint64_t nonce_for(const struct hx_endpoint *ep, const struct hx_peer *peer)
{
    const uint64_t key[2] = {ep->config.key, ep->config.epoch};
    uint64_t nonce = hx_siphash(key, (uint64_t)hx_endpoint_rank(ep, peer) << 32 | hello_of(ep, peer)->answers);
    return nonce ? nonce : 1;
}

static void queue_hello(struct hx_endpoint *ep, const struct hx_peer *peer)
{
    struct hx_peer_hello *hello = hello_of(ep, peer);
    if (hello->queued)
        return;
    hello->queued = true;
    hx_endpoint_queue_answer(ep, peer, ep->window);
}

/* An answer holds from when its nonce was first sent: keeps the slots' numbers of that time. */
static void open_question(const struct hx_endpoint *ep, struct hx_peer *peer, struct hx_peer_hello *hello)
{
    for (unsigned slot = 0; slot < ep->window; slot++)
        hello->before[slot] = hx_endpoint_number_at(ep, peer, slot);
    hello->open = true;
}

void hx_endpoint_ask(struct hx_endpoint *ep, struct hx_peer *peer)
{
    struct hx_peer_hello *hello = hello_of(ep, peer);
    uint32_t now = hx_endpoint_clock(ep);
    if (hello->has_asked && (uint64_t)(now - hello->asked) << ep->unit_shift < ep->config.least_ns / ASK_SHARE)
        return;
    hello->has_asked = hello->ask = true;
    hello->asked = now;
    if (!hello->open)
        open_question(ep, peer, hello);
    queue_hello(ep, peer);
}

static void set_epoch(struct hx_endpoint *ep, struct hx_peer *peer, uint32_t epoch)
{
    peer->epoch = epoch;
    hx_endpoint_note_epoch(ep, peer);
}

bool hx_endpoint_check_epoch(struct hx_endpoint *ep, const struct hx_header *h, struct hx_peer *peer)
{
    if (peer->epoch == 0)
        set_epoch(ep, peer, h->epoch);
    bool good = hx_endpoint_is_known(ep, h, peer);
    if (!good)
        hx_endpoint_ask(ep, peer);
    return good;
}

/* Accepts the peer's confirmed epoch and next message number. */
static void accept_hello(struct hx_endpoint *ep, struct hx_peer *peer, uint32_t epoch, uint32_t next)
{
    struct hx_peer_hello *hello = hello_of(ep, peer);
    bool other = peer->epoch != epoch;
    hello->answers++;
    hello->ask = hello->open = false;
    if (other)
        hx_endpoint_forget_arrivals(ep, peer);
    hx_endpoint_take_number(ep, peer, next, hello->before);
    if (!other)
        return;
    set_epoch(ep, peer, epoch);
    hx_endpoint_restart_sends(ep, peer);
    hello->forgets = true;
    queue_hello(ep, peer);
}

void hx_endpoint_take_hello(struct hx_endpoint *ep, const struct hx_header *h, struct hx_peer *peer,
                            const uint8_t *payload)
{
    struct hx_peer_hello *hello = hello_of(ep, peer);
    uint64_t asks = hx_get64(payload);
    uint64_t answers = hx_get64(payload + sizeof asks);
    if (asks) { /* from any sender */
        hello->nonce[0] = (uint32_t)asks;
        hello->nonce[1] = (uint32_t)(asks >> 32);
        queue_hello(ep, peer);
    }
    if (answers && hello->has_asked && answers == nonce_for(ep, peer))
        accept_hello(ep, peer, h->epoch, h->message);
    if (!hx_endpoint_check_epoch(ep, h, peer))
        hal_endpoint_drop(ep->hal, HX_DROP_STALE);
    else if (h->tag == FORGETS && h->peer_epoch)
        hx_endpoint_restart_sends(ep, peer);
}

void hx_endpoint_write_hello(struct hx_endpoint *ep, struct hx_peer *peer, struct hx_header *h, uint8_t *payload)
{
    struct hx_peer_hello *hello = hello_of(ep, peer);
    *h = (struct hx_header){.kind = HX_HELLO,
                            .dst_addr_hi = (uint16_t)(hx_endpoint_rank(ep, peer) % ep->config.columns),
                            .dst_addr_lo = (uint16_t)(hx_endpoint_rank(ep, peer) / ep->config.columns),
                            .message = peer->next_message,
                            .peer_epoch = hx_epoch_check(peer->epoch),
                            .length = HX_HELLO_BYTES,
                            .tag = hello->forgets ? FORGETS : 0};
    hx_put64(payload, hello->ask ? nonce_for(ep, peer) : 0);
    hx_put64(payload + sizeof(uint64_t), (uint64_t)hello->nonce[1] << 32 | hello->nonce[0]);
    hello->nonce[0] = hello->nonce[1] = 0;
    hello->ask = hello->forgets = hello->queued = false;
}
