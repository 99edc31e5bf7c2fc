/* endpoint.h - messages between accelerators: cut into packets, sprayed, placed, checked, acknowledged, retransmitted.
 *
 * Data that flows. A message is a number of bytes for a peer. The endpoint cuts it into packets of 8,192 B (the last
 * may be shorter). Packets to a peer take planes in turn, so that each carries an equal share. If that plane is full, a
 * packet takes another that is half empty. Spraying reorders, so the receiver places payload by offset, without a
 * reorder buffer. A message is complete and acknowledged when every byte is there.
 *
 * Timeouts. The endpoint estimates the round trip of each peer and of all (round_trip.h). An answer is late when it
 * exceeds the larger estimate. Then the sender sends a probe of 64 bytes, and doubles the timeout after each probe
 * without an answer. Packets that the answer does not name are suspected lost. If a second probe, one round trip later,
 * brings no news of them, they are sent again. If a probe's own answer is late, the fabric is slow: the estimate grows
 * and nothing is retransmitted. So a slow fabric costs probes, and a loss costs only what was lost.
 *
 * Planes. A plane that loses packets looks roomy. So probes rotate over planes, and the timeout doubles only after each
 * plane was probed. Retransmissions use the plane of the answered probe. Acknowledgements use the plane of their
 * data or probe. A packet that is reported unreachable is sent again at once by another plane. The reported plane is
 * avoided for that peer for most_ns, until routes change, or until probes stay unanswered. A message that all planes
 * report unreachable waits for a route change (hx_endpoint_routes_changed). Not every endpoint is notified of it, so
 * the sender also probes: at once if packets got through recently, then at intervals of at most unreachable_ns / 3.
 *
 * Giving up. A message is blocked from the time that all planes report it unreachable until there is news of it: an
 * acknowledgement of packets that were not known to be there. It fails at a check
 *     - if it is not blocked, and `retries` probes, answered or not, brought no news;
 *     - if it has been blocked for unreachable_ns, and waits for a path, or `retries` probes brought no news.
 * New routes start all counts again. An answer without news does not: the sender repeats what is missing, which may end
 * where it ended before. So a message of n packets ends, delivered or failed, after at most
 * (n + changes of routes + 1) * (retries * most_ns + unreachable_ns), besides the time that its packets wait for room.
 * With unreachable_ns = UINT64_MAX the caller limits the time that a message is blocked.
 *
 * Exactly once. Messages of a (source, destination) pair are numbered 0, 1, 2, ... with at most `window` in flight;
 * message m waits until m - window is acknowledged. So `window` slots for each peer suffice to tell new, partial and
 * finished messages apart, whatever is retransmitted. The window is four messages a plane, rounded up to a power of two
 * (hx_peer_window()), so that n planes carry n times as many messages of a packet. At most HX_MESSAGE_WINDOW packets of
 * a message are ahead of the acknowledged ones.
 *
 *     sender     free -> active (ready to inject | waits for acknowledgement) -> free       events: SENT, FAILED
 *     receiver   empty -> active -> done -> active (next message of the slot)               event:  RECEIVED
 *
 * Restart. Each incarnation of an endpoint has a random epoch. A peer's first packet sets its epoch. Packets of another
 * epoch, or for a former epoch of this endpoint, are dropped as stale, and trigger a hello that asks the peer with a
 * nonce. Only an answer with this nonce changes the known epoch: it clears the peer's state, sends unfinished messages
 * from the start, and makes the peer do the same. So late or forged packets of any epoch end nothing. A restart costs
 * two round trips.
 *
 * Numbers. A slot accepts its next two message numbers. A further one follows abandoned messages, or is forged: it is
 * accepted only after the peer confirms its next number in a hello, which also reveals forged messages.
 *
 * Deadlock. Arrivals are consumed even if injection is blocked. Acknowledgements wait in a list that holds every slot
 * at most once.
 *
 * Memory is handed over at init and never grows. A peer's memory is first touched at the first message to or from it,
 * so with demand paging an endpoint costs what it uses.
 *
 * One owner thread. Events come by hal_event(), from within hx_endpoint_step(). */
#ifndef HXMESH_ENDPOINT_H
#define HXMESH_ENDPOINT_H

#include "hxmesh/frame.h"
#include "hxmesh/round_trip.h"
#include "hxmesh/switch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hxmesh/begin.h"

enum {
    HX_PEER_WINDOW = 4, /* messages of a pair in flight on one plane */
    HX_MOST_PEER_WINDOW = HX_PEER_WINDOW * HX_MAX_PLANES,
    HX_MESSAGE_WINDOW = 512, /* packets of a message in flight */
    HX_MAX_SENDS = 4096,     /* messages of an endpoint in flight */
    HX_NO_SEND = HX_MAX_SENDS,
    HX_REPORTS = 128,  /* unreachable reports that wait to be sent */
    HX_ACK_EVERY = 64, /* packets of a message between acknowledgements */
    HX_MAP_WORDS = HX_MESSAGE_WINDOW / 32,
    HX_MAPLESS = 32 /* packets of a message that needs no map, in any order */
};

enum hx_event_type {
    HX_EVENT_SENT,     /* the peer has all of it */
    HX_EVENT_RECEIVED, /* all of it is here */
    HX_EVENT_FAILED    /* abandoned; see .error */
};

struct hx_event {
    enum hx_event_type type;
    int error;                 /* FAILED: HX_E_UNREACHABLE (no path, `retries` probes without news, or abandoned) */
    uint16_t addr_hi, addr_lo; /* the peer */
    uint32_t message;
    uint32_t tag;
    uint64_t bytes;
    uint64_t cookie; /* SENT, FAILED: as given to hx_endpoint_send */
};

/* Settings of an endpoint. */
struct hx_endpoint_config {
    uint16_t addr_hi, addr_lo; /* own address */
    uint16_t columns;          /* of the fabric: bound of addr_hi */
    uint16_t rows;             /* bound of addr_lo */
    uint8_t plane_set;         /* planes of the endpoint, bit by plane; not 0 */
    uint8_t retries;           /* probes without news before a message fails */
    uint16_t sends;            /* messages in flight: 1 .. HX_MAX_SENDS */
    uint8_t window;            /* of a pair: hx_peer_window() of the fabric's planes, the same at all its endpoints */
    uint16_t job;              /* job tag of packets */
    /* messages that send at a time, packet by packet in turn: the oldest that can. 0: all. 1: messages go in order */
    uint16_t at_once;
    uint32_t epoch; /* incarnation: not 0; unlike any earlier one, random where possible */
    uint64_t key;   /* random key of nonces */
    /* Peers known at once. Messages to or from further peers are refused. 0: all, indexed by rank, which is fastest.
     * Otherwise peers are found by a hash that grows with those met: memory that pages on demand follows them. */
    uint32_t peers;
    /* packets by which the first acknowledgement of a long message is early: 0 .. HX_ACK_EVERY - 1; different values at
     * different receivers spread the acknowledgements that a sender gets */
    uint8_t first_ack;
    bool check;          /* compute and check the CRC; false only where memory carries frames */
    uint64_t timeout_ns; /* initial timeout, ns */
    uint64_t least_ns;   /* minimum timeout, ns */
    uint64_t most_ns;    /* maximum timeout, ns; 0 < least <= timeout <= most */
    /* ns that an unreachable message waits for a path; 0: none, where routes never change; UINT64_MAX: no limit */
    uint64_t unreachable_ns;
};

/* An outgoing message. Invariant: acked <= resend <= next <= packets, next - acked <= HX_MESSAGE_WINDOW. A blocked send
 * times no packets. One that waits for a path is blocked, and has `probing` clear. */
struct hx_send {
    uint32_t peer; /* rank */
    uint16_t dst_addr_hi, dst_addr_lo;
    uint32_t message, packets;
    uint32_t tag;
    uint32_t acked;  /* packets acknowledged without a gap */
    uint32_t resend; /* first packet to send again; next: none */
    uint32_t next;   /* first packet never sent */
    uint64_t quiet;  /* ns: start of the wait for an answer */
    uint64_t cookie;
    uint32_t since;                 /* units: when the timed packet was sent, or a blocked send began to wait */
    uint16_t timed : 10;            /* number of the timed packet, modulo 1,024 */
    uint16_t unanswered : 6;        /* probes since the last answer */
    uint16_t last_length : 14;      /* payload of the last packet, bytes */
    uint16_t reported : 1;          /* some packets in send_lost were reported unreachable and must be sent again */
    uint16_t mapped : 1;            /* some packets after `acked` are there: send_map is valid */
    uint16_t younger;               /* send of the next message to this peer, or HX_NO_SEND */
    uint16_t peer_epoch;            /* hx_epoch_check() of the peer's epoch, 0: unknown */
    uint8_t tries;                  /* probes since the last news */
    uint8_t probes;                 /* number of the newest probe, 0: none */
    uint8_t unreachable_planes : 4; /* planes to avoid, bit by plane: they do not lead to the peer */
    uint8_t first_plane : 2;        /* plane for its first packet that spreads the packets to the peer evenly */
    bool active : 1;
    bool ready : 1;          /* has packets to inject */
    bool behind : 1;         /* an older message to this peer is ready */
    bool timing : 1;         /* a packet is timed; nothing was sent again since */
    bool probing : 1;        /* the newest probe, sent at `quiet`, is unanswered */
    bool waits : 1;          /* all planes reported it unreachable */
    bool loss_suspected : 1; /* the last probe was answered in time, and packets were missing */
    bool blocked : 1;        /* `waits`, or did so with no news since: `since` is when it first waited */
    bool given_up : 1;
    bool again : 1; /* was restarted: the peer may have more packets than `next` */
};
HX_STATIC_ASSERT(sizeof(struct hx_send) == 64, "a send is a cache line");

/* Bit p % HX_MESSAGE_WINDOW: packet p of a message is there, though an earlier one is not. Kept apart because packets
 * in order do not need it. */
struct hx_map {
    uint32_t word[HX_MAP_WORDS];
};

/* Slot of a peer's arriving messages of one number modulo the window. Invariant: base <= received; if they are
 * equal, `early` and the slot's map are empty, so packets in order need not read them. `early` replaces the map's first
 * word: a message of up to HX_MAPLESS packets needs no map. */
struct hx_receive {
    uint32_t message; /* number; of an empty slot the least acceptable one */
    uint32_t packets;
    uint32_t base;       /* packets received without a gap */
    uint32_t received;   /* packets received */
    uint32_t acked;      /* `received` at the last acknowledgement; initially offset by first_ack */
    uint32_t acked_base; /* `base` at the last acknowledgement; initially offset by first_ack */
    uint32_t tag;
    uint32_t early;
    uint16_t last_length;
    uint8_t state;
    uint8_t plane; /* plane of its last packet */
    uint8_t probe; /* number of the probe to answer, 0: none */
    bool queued;   /* is in the list of answers */
};

/* State of a known peer: all that a packet in order needs with one message at a time. */
struct hx_peer {
    uint32_t rank;                   /* if found by the hash, else 0 */
    uint32_t next_message;           /* number of the next message to the peer */
    uint16_t send[HX_PEER_WINDOW];   /* of the first slots: index of hx_send plus one; 0: none */
    uint32_t epoch;                  /* its incarnation, 0: unknown */
    struct hx_receive first;         /* slot 0 */
    struct hx_round_trip round_trip; /* estimate for its answers */
};
HX_STATIC_ASSERT(sizeof(struct hx_peer) == 64, "a peer is a cache line");

/* State of asking for a peer's incarnation. */
struct hx_peer_hello {
    uint32_t nonce[2];                    /* nonce of the peer to answer, low word first; 0: none */
    uint32_t asked;                       /* units: time of the last question */
    uint32_t answers;                     /* answers accepted: each nonce is valid for one */
    uint32_t before[HX_MOST_PEER_WINDOW]; /* message numbers of the slots when the nonce was first sent */
    bool has_asked;
    bool open;    /* the nonce was sent and is unanswered */
    bool ask;     /* a question must be sent */
    bool forgets; /* the peer must be notified that its messages are unknown here */
    bool queued;  /* is in the list of answers */
};

/* State that a peer needs only for hellos and where planes do not lead to it. This, further slots (hx_endpoint.slots)
 * and maps are allocated on demand, so those in use lie together: with many peers TLB misses dominate. */
struct hx_peer_rest {
    struct hx_peer_hello hello;
    uint32_t unreachable_planes; /* planes known not to lead to it, bit by plane */
    uint32_t unreachable_since;  /* units: when the last of them was reported */
};

struct hx_endpoint_stats {
    uint64_t messages_sent;     /* acknowledged in full */
    uint64_t messages_received; /* complete */
    uint64_t messages_failed;
    uint64_t packets_sent; /* data packets, first transmissions */
    uint64_t packets_repeated;
    uint64_t probes_sent;
    uint64_t packets_delivered; /* data packets placed */
    uint64_t bytes_delivered;
    uint64_t acks_sent;
};

/* Report to send: a packet from (src) to (dst) has no path from here. */
struct hx_report {
    uint16_t src_addr_hi, src_addr_lo, dst_addr_hi, dst_addr_lo;
    uint32_t message, offset, message_packets, tag;
    uint16_t epoch; /* hx_epoch_check() of the sender's epoch */
    uint8_t plane;
    uint8_t kind; /* data, acknowledgement or probe */
};

struct hal_endpoint;

/* Set of sends, bit by index. Invariant: bit i of `filled` is set if word[i] is not 0. */
struct hx_send_set {
    uint64_t filled;
    uint64_t *word; /* [sends / 64, rounded up] */
};

struct hx_endpoint {
    struct hx_endpoint_config config;
    uint8_t own[HX_HEADER_BYTES]; /* header with the fields that all own frames share */
    struct hal_endpoint *hal;
    struct hx_endpoint_stats stats;
    struct hx_send_set due;  /* places of sends that may inject and are not `behind` */
    struct hx_send_set idle; /* free sends */
    uint16_t active;         /* messages in flight */
    /* With at_once: places in the order of messages, some of them of messages that have ended. Else a send's place is
     * its index */
    uint16_t places, placed; /* places; of these in use, from 0 on */
    uint16_t *place;         /* [sends] place of a send; NULL: its index */
    uint16_t *sender;        /* [places] send at a place; NULL: its index */
    /* per plane: first place of the search for a due message, 0 .. HX_MAX_SENDS - 1 */
    uint16_t turn[HX_MAX_PLANES];
    uint16_t most_room[HX_MAX_PLANES]; /* per plane: most packets of room seen */
    uint16_t timer;                    /* send to check for its deadline next */
    uint8_t plane_end;                 /* one above the highest plane */
    /* Unit of measured times: 2^unit_shift ns. least_ns is 1,024 to 2,047 units, or fewer where unreachable_ns would
     * exceed 31 bits. */
    uint8_t unit_shift;
    uint16_t epoch_check;            /* hx_epoch_check() of the own epoch */
    uint8_t window;                  /* messages of a pair in flight: a power of two */
    uint8_t answer_bits;             /* bits of a slot in `ack`: slots 0 .. window */
    uint16_t slot_bytes;             /* entry of `slots` */
    bool plane_failures;             /* some peer has unreachable planes */
    bool abandons;                   /* some given_up sends have not ended */
    uint64_t soonest;                /* ns: lower bound of all deadlines */
    uint64_t sweep;                  /* ns: earliest deadline seen since `timer` was 0 */
    struct hx_round_trip round_trip; /* estimate for answers of all peers */
    uint32_t acks_first, acks_count; /* list of answers, circular */
    uint32_t ack_slots;
    uint32_t hellos;                       /* sent; their planes take turns */
    uint16_t reports_first, reports_count; /* report[], circular */
    struct hx_send *send;                  /* [sends] */
    struct hx_map *send_map;               /* [sends] packets received after `acked` */
    uint32_t peers;                        /* entries of peer */
    uint32_t known;                        /* entries of peer in use */
    uint32_t bucket_mask;                  /* entries of bucket in use - 1 */
    struct hx_map *send_lost;              /* [sends] packets after `acked` that were reported unreachable */
    struct hx_peer *peer;                  /* [peers] in the order they were met, or by rank */
    /* [peers] allocated up to rest_of[peers]. An entry of `slots` is, in whole cache lines: struct hx_receive
     * [window - 1], slots 1 and up; uint16_t [window - HX_PEER_WINDOW], as hx_peer.send of the slots behind. */
    uint8_t *slots;
    struct hx_peer_rest *rest;
    struct hx_map *map;       /* [peers][window] packets at and after a slot's base; word 0: see hx_receive */
    uint32_t *rest_of;        /* [peers + 1] index in slots, rest and map, plus one, by index in peer; 0: none */
    uint32_t *bucket;         /* open hash from rank to index in peer plus one, 0: empty; NULL: by rank */
    struct hx_report *report; /* [HX_REPORTS] */
    uint32_t *ack;            /* [ack_slots] index in peer << answer_bits | slot; slot `window`: a hello */
};

/* Returns the window of a pair in a fabric of `planes` planes: a power of two, since numbers are modulo 2^32. */
static inline unsigned hx_peer_window(unsigned planes)
{
    return planes > 2 ? (unsigned)HX_MOST_PEER_WINDOW : planes * HX_PEER_WINDOW;
}

/* Returns the bytes of a peer's state that is allocated on demand, in an endpoint with this window. */
size_t hx_endpoint_rest_bytes(unsigned window);

/* Returns the bytes of an endpoint's memory, 8-byte aligned. */
size_t hx_endpoint_bytes(const struct hx_endpoint_config *config);

/* Initialises an endpoint. `memory` is all zero. HX_E_RANGE: a field of the configuration is outside its range. */
int hx_endpoint_init(struct hx_endpoint *ep, const struct hx_endpoint_config *config, struct hal_endpoint *hal,
                     void *memory);

/* The same with separate pieces of memory, each 8-byte aligned and zero: untouched pieces cost nothing with demand
 * paging. */
struct hx_endpoint_sizes {
    size_t often;   /* peers and due sends */
    size_t pending; /* sends, lowest index first, and the list of answers */
    size_t second;  /* slots 1 and up: not touched by a peer's first message, fifth, ... */
    size_t maps;    /* maps and hellos: not touched by messages in order, or of up to HX_MAPLESS packets */
    size_t reports; /* reports: not touched before a packet is unreachable */
};
struct hx_endpoint_memory {
    void *often, *pending, *second, *maps, *reports;
};
struct hx_endpoint_sizes hx_endpoint_sizes(const struct hx_endpoint_config *config);
int hx_endpoint_init_apart(struct hx_endpoint *ep, const struct hx_endpoint_config *config, struct hal_endpoint *hal,
                           const struct hx_endpoint_memory *memory);

/* Takes a message of `bytes` bytes (0 and up; at most 2^32-1 packets) for (addr_hi, addr_lo). Every packet carries
 * `tag`; events carry `cookie`. HX_E_BUSY: all sends are in use, or `window` messages to this peer are in
 * flight. HX_E_RANGE: no such accelerator, or too long. HX_E_CAPACITY: too many peers. */
int hx_endpoint_send(struct hx_endpoint *ep, unsigned addr_hi, unsigned addr_lo, uint64_t bytes, uint32_t tag,
                     uint64_t cookie);

/* Returns true if a send is free. */
static inline bool hx_endpoint_takes(const struct hx_endpoint *ep)
{
    return ep->active < ep->config.sends;
}

/* Call when routes may have changed. Messages that some or all planes reported unreachable are sent again, and late
 * ones are probed at once. Earlier probes do not count. */
void hx_endpoint_routes_changed(struct hx_endpoint *ep);

/* The same for the message of ep->send[send] alone, which is active. */
void hx_endpoint_try_anew(struct hx_endpoint *ep, unsigned send);

/* Abandons the messages to (addr_hi, addr_lo) in flight. Their FAILED events come in the next steps. */
void hx_endpoint_abandon(struct hx_endpoint *ep, unsigned addr_hi, unsigned addr_lo);

/* Abandons the message of ep->send[send], which is active. */
static inline void hx_endpoint_abandon_one(struct hx_endpoint *ep, unsigned send)
{
    ep->send[send].given_up = true;
    ep->abandons = true;
}

/* Returns the hal_now() of the next timeout, ns; UINT64_MAX: none. */
static inline uint64_t hx_endpoint_deadline(const struct hx_endpoint *ep)
{
    return ep->active ? ep->soonest : UINT64_MAX;
}

/* Consumes arrivals, acknowledges, injects, probes what is late, and commits. Checks one deadline a step. Returns the
 * packets received and injected. */
unsigned hx_endpoint_step(struct hx_endpoint *ep);

/* Returns true if no message is unacknowledged and no answer or report waits to be sent. */
bool hx_endpoint_idle(const struct hx_endpoint *ep);

#include "hxmesh/end.h"

#endif
