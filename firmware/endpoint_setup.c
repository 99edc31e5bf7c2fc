/* endpoint_setup.c - initialisation of an endpoint, and its table of peers (include/hxmesh/endpoint.h). */
#include "endpoint_parts.h"
#include "frame_parts.h"
#include "hal_port.h"
#include "hxmesh/endpoint.h"
#include "hxmesh/error.h"
#include "hxmesh/memory.h"
#include "send_set.h"

enum {
    LINE = 64,       /* bytes of a cache line: pieces of memory are aligned if the whole is */
    FIRST_PEERS = 64 /* peers for which the hash has room at first */
};

static size_t rounded(size_t bytes)
{
    return (bytes + LINE - 1) & ~(size_t)(LINE - 1);
}

static bool by_rank(const struct hx_endpoint_config *c)
{
    return c->peers == 0;
}

static uint32_t peers_of(const struct hx_endpoint_config *c)
{
    return by_rank(c) ? (uint32_t)c->columns * c->rows : c->peers;
}

/* Returns the size of a hash: at least half stays empty, so searches are short. */
static uint32_t buckets_for(uint32_t peers)
{
    uint32_t places = 1;
    while (places < 2 * peers)
        places *= 2;
    return places;
}

static uint32_t buckets_of(const struct hx_endpoint_config *c)
{
    return by_rank(c) ? 0 : buckets_for(c->peers);
}

static size_t words_for(unsigned bits)
{
    return (bits + 63U) / 64;
}

/* Returns the places of messages in order. Up to half of them are of messages that ended, so gaps are rarely closed. */
static unsigned places_of(const struct hx_endpoint_config *c)
{
    return !c->at_once ? 0 : 2 * c->sends < HX_MAX_SENDS ? 2U * c->sends : HX_MAX_SENDS;
}

/* Returns the words of the sets of due and of idle sends. */
static size_t words_of(const struct hx_endpoint_config *c)
{
    return words_for(c->at_once ? places_of(c) : c->sends) + words_for(c->sends);
}

/* Returns the bytes of a peer's further slots: a multiple of a cache line. */
static size_t slot_bytes_of(unsigned window)
{
    return rounded((window - 1) * sizeof(struct hx_receive) + (window - HX_PEER_WINDOW) * sizeof(uint16_t));
}

size_t hx_endpoint_rest_bytes(unsigned window)
{
    return slot_bytes_of(window) + sizeof(struct hx_peer_rest) + window * sizeof(struct hx_map);
}

/* Returns the answers that may be owed at once: to each peer an acknowledgement of each message, and a hello. */
static size_t answers_of(const struct hx_endpoint_config *c)
{
    return (size_t)peers_of(c) * (c->window + 1U);
}

struct hx_endpoint_sizes hx_endpoint_sizes(const struct hx_endpoint_config *c)
{
    size_t peers = peers_of(c);
    return (struct hx_endpoint_sizes){
        .often = rounded(words_of(c) * sizeof(uint64_t)) + rounded((peers + 1) * sizeof(uint32_t)) +
                 rounded(peers * sizeof(struct hx_peer)) + rounded(buckets_of(c) * sizeof(uint32_t)) +
                 rounded((c->at_once ? c->sends : 0U) * sizeof(uint16_t)) + rounded(places_of(c) * sizeof(uint16_t)),
        .pending = rounded(c->sends * sizeof(struct hx_send)) + rounded(answers_of(c) * sizeof(uint32_t)),
        .second = peers * slot_bytes_of(c->window),
        .maps = rounded(peers * sizeof(struct hx_peer_rest)) + peers * c->window * sizeof(struct hx_map) +
                rounded(c->sends * sizeof(struct hx_map)),
        .reports = rounded(c->sends * sizeof(struct hx_map)) + rounded(HX_REPORTS * sizeof(struct hx_report))};
}

size_t hx_endpoint_bytes(const struct hx_endpoint_config *c)
{
    struct hx_endpoint_sizes bytes = hx_endpoint_sizes(c);
    return bytes.often + bytes.pending + bytes.second + bytes.maps + bytes.reports;
}

/* Enters peer `index` into the hash. */
static void enter(struct hx_endpoint *ep, uint32_t index)
{
    uint32_t at = hx_endpoint_bucket(ep, ep->peer[index].rank);
    while (ep->bucket[at])
        at = (at + 1) & ep->bucket_mask;
    ep->bucket[at] = index + 1;
}

/* Doubles the part of the hash in use. */
static void grow_hash(struct hx_endpoint *ep)
{
    memset(ep->bucket, 0, (ep->bucket_mask + (size_t)1) * sizeof *ep->bucket);
    ep->bucket_mask = 2 * ep->bucket_mask + 1;
    for (uint32_t index = 0; index < ep->known; index++)
        enter(ep, index);
}

struct hx_peer *hx_endpoint_add_peer(struct hx_endpoint *ep, uint32_t rank)
{
    struct hx_peer *peer = hx_endpoint_peer(ep, rank);
    if (peer || !ep->bucket || ep->known == ep->peers)
        return peer; /* without a hash all are known */
    if (2 * ep->known > ep->bucket_mask)
        grow_hash(ep);
    ep->peer[ep->known].rank = rank;
    enter(ep, ep->known);
    return &ep->peer[ep->known++];
}

static void *piece(uint8_t **at, size_t bytes)
{
    void *here = *at;
    *at += rounded(bytes);
    return here;
}

/* Returns the finest unit that fits 16 bits a sample at least_ns and 31 bits for unreachable_ns. */
static uint8_t unit_shift_of(const struct hx_endpoint_config *c)
{
    unsigned shift = 63 - (unsigned)__builtin_clzll(c->least_ns >> 10 | 1);
    while (c->unreachable_ns != UINT64_MAX && c->unreachable_ns >> shift > UINT32_MAX / 2)
        shift++;
    return (uint8_t)shift;
}

int hx_endpoint_init(struct hx_endpoint *ep, const struct hx_endpoint_config *c, struct hal_endpoint *hal, void *memory)
{
    struct hx_endpoint_sizes bytes = hx_endpoint_sizes(c);
    uint8_t *at = memory;
    struct hx_endpoint_memory pieces = {.often = at};
    pieces.pending = at += bytes.often;
    pieces.second = at += bytes.pending;
    pieces.maps = at += bytes.second;
    pieces.reports = at + bytes.maps;
    return hx_endpoint_init_apart(ep, c, hal, &pieces);
}

int hx_endpoint_init_apart(struct hx_endpoint *ep, const struct hx_endpoint_config *c, struct hal_endpoint *hal,
                           const struct hx_endpoint_memory *memory)
{
    const unsigned window = c->window;
    if (c->addr_hi >= c->columns || c->addr_lo >= c->rows || c->plane_set == 0 || c->plane_set >> HX_MAX_PLANES ||
        window < HX_PEER_WINDOW || window > HX_MOST_PEER_WINDOW || window & (window - 1) || c->sends < 1 ||
        c->sends > HX_MAX_SENDS || c->epoch == 0 || c->least_ns == 0 || c->least_ns > c->timeout_ns ||
        c->timeout_ns > c->most_ns)
        return HX_E_RANGE;
    uint32_t peers = peers_of(c);
    *ep = (struct hx_endpoint){.config = *c,
                               .hal = hal,
                               .peers = peers,
                               .bucket_mask = buckets_for(peers < FIRST_PEERS ? peers : FIRST_PEERS) - 1,
                               .ack_slots = (uint32_t)answers_of(c),
                               .window = (uint8_t)window,
                               .answer_bits = (uint8_t)(__builtin_ctz(window) + 1),
                               .slot_bytes = (uint16_t)slot_bytes_of(window),
                               .epoch_check = hx_epoch_check(c->epoch),
                               .plane_end = (uint8_t)(32 - __builtin_clz(c->plane_set)),
                               .places = (uint16_t)places_of(c),
                               .unit_shift = unit_shift_of(c),
                               .soonest = UINT64_MAX,
                               .sweep = UINT64_MAX};
    const struct hx_header own = {
        .credit_vc = HX_NO_CREDIT, .src_addr_hi = c->addr_hi, .src_addr_lo = c->addr_lo, .epoch = c->epoch};
    hx_frame_encode(ep->own, &own);
    uint8_t *at = memory->pending;
    ep->send = piece(&at, c->sends * sizeof(struct hx_send));
    ep->ack = piece(&at, ep->ack_slots * sizeof(uint32_t));
    ep->slots = memory->second;
    at = memory->maps;
    ep->rest = piece(&at, peers * sizeof(struct hx_peer_rest));
    ep->map = piece(&at, (size_t)peers * window * sizeof(struct hx_map));
    ep->send_map = piece(&at, c->sends * sizeof(struct hx_map));
    at = memory->reports;
    ep->send_lost = piece(&at, c->sends * sizeof(struct hx_map));
    ep->report = piece(&at, HX_REPORTS * sizeof(struct hx_report));
    at = memory->often;
    ep->due.word = piece(&at, words_of(c) * sizeof(uint64_t));
    ep->idle.word = ep->due.word + words_of(c) - words_for(c->sends);
    for (unsigned index = 0; index < c->sends; index++)
        hx_send_set_put(&ep->idle, index, true);
    ep->rest_of = piece(&at, (peers + (size_t)1) * sizeof(uint32_t));
    ep->peer = piece(&at, peers * sizeof(struct hx_peer));
    if (c->at_once) {
        ep->place = piece(&at, c->sends * sizeof(uint16_t));
        ep->sender = piece(&at, ep->places * sizeof(uint16_t));
    }
    if (!by_rank(c)) {
        ep->bucket = piece(&at, buckets_of(c) * sizeof(uint32_t));
        return HX_OK;
    }
    ep->known = peers;
    return HX_OK;
}
