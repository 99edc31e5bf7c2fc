/* endpoint.h - messages between accelerators: cut into packets, sprayed, placed, checked, acknowledged, repeated.
 *
 * Data that flows. A message is a number of bytes for a peer. The endpoint cuts it into packets of 8,192 B (the last
 * may be shorter), and gives each to the plane whose switch has the most room, equal ones in turn. Arriving payload is
 * placed by offset at once (spraying reorders; there is no reorder buffer). When every byte is there the message is
 * complete and acknowledged.
 *
 * Silence. How long an answer takes is measured (round_trip.h), of each peer and of all; later than the slower of the two
 * estimates says, it is late. Then the sender does not repeat anything yet: it asks, with a probe of 64 bytes, what is
 * there, and waits twice as long for each further answer. What the answer does not name may be lost. It is if a second
 * probe, as much later as answers take, brings no news of it; then it goes out again. But if an answer itself took
 * longer than the estimate, everything does: that is taken into the estimate, and nothing is repeated. So a slow fabric
 * costs probes, and a loss costs what was lost.
 *
 * A plane that loses packets looks roomy. So probes take the planes in turn, and wait longer only when all were asked
 * once more; what is sent again goes by the plane whose probe was answered, and an acknowledgement by the plane that
 * its data or probe came on. What is reported to have found no way, data or acknowledgement, goes out again at once, by
 * another plane: the one that it was reported by is left out on the way to that peer for most_ns, or until routes
 * change or nobody answers. When all planes have reported a message unreachable, it waits for a change of routes
 * (hx_endpoint_routes_changed), of which not everyone hears: so it also asks, at once if it was getting through until
 * then, and now and then: no more than a third of unreachable_ns passes from question to question.
 *
 * Exactly once. Messages of a (source, destination) pair are numbered 0, 1, 2, ... and at most HX_PEER_WINDOW (4) of
 * them are under way; number m waits until m - 4 is acknowledged. So a receiver needs four slots a peer to tell new,
 * partial and finished messages apart, whatever is repeated. Of one message at most HX_MESSAGE_WINDOW packets are
 * ahead of the acknowledged ones.
 *
 *     sender     free -> active (ready to inject | waits for acknowledgement) -> free       events: SENT, FAILED
 *     receiver   empty -> active -> done -> active (next message of the slot)               event:  RECEIVED
 *
 * Restart. Every incarnation of an endpoint has an epoch, a random number. The first packet of a peer tells its epoch;
 * packets of another one are dropped as stale, and so are packets for a former epoch of this endpoint. Either makes it
 * ask the peer who it is, with a nonce (a hello). Only an answer that has this nonce changes what is known: it empties
 * it, sends unfinished messages to the peer from the start, and makes the peer do likewise. So neither late nor forged
 * packets of any epoch end anything, and a restart costs two round trips.
 *
 * Numbers. A slot takes the next two numbers that it may get. Further ones, which come where messages were given up, or
 * are forged, are taken when the peer has said in a hello which its next one is; and so is found out what the peer
 * never sent.
 *
 * No protocol deadlock: arrivals are always consumed, whether or not anything can be injected; acknowledgements wait
 * in a list that holds every slot at most once.
 *
 * Memory is handed over at init and never grows; what is for a peer is first touched when there is a message to it or
 * from it, so that where the system gives memory page by page an endpoint costs what it uses.
 *
 * One owner thread. Calls go down by name; events come up by hal_event(), from within hx_endpoint_step(). */
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
    HX_PEER_WINDOW = 4,      /* messages of one pair under way */
    HX_PEER_ANSWERS,         /* what a peer may be owed at once: an acknowledgement of each, and a hello */
    HX_MESSAGE_WINDOW = 512, /* packets of one message under way */
    HX_MAX_SENDS = 4096,     /* messages under way from one endpoint */
    HX_NO_SEND = HX_MAX_SENDS,
    HX_REPORTS = 128,  /* packets without a way whose senders are yet to be told */
    HX_ACK_EVERY = 64, /* packets of one message from acknowledgement to acknowledgement */
    HX_MAP_WORDS = HX_MESSAGE_WINDOW / 32,
    HX_MAPLESS = 32 /* packets of a message that does without a map, in whatever order they come */
};

enum hx_event_type {
    HX_EVENT_SENT,     /* the peer has all of it */
    HX_EVENT_RECEIVED, /* all of it is here */
    HX_EVENT_FAILED    /* given up: .error says why */
};

struct hx_event {
    enum hx_event_type type;
    int error;                 /* FAILED: HX_E_UNREACHABLE (no way, `retries` probes in vain, or abandoned) */
    uint16_t addr_hi, addr_lo; /* the peer */
    uint32_t message;
    uint32_t tag;
    uint64_t bytes;
    uint64_t cookie; /* SENT, FAILED: as given to hx_endpoint_send */
};

/* What an endpoint is told once. */
struct hx_endpoint_config {
    uint16_t addr_hi, addr_lo; /* itself */
    uint16_t columns;          /* of the fabric: what d0 is below */
    uint16_t rows;             /* what d1 is below */
    uint8_t plane_set;         /* planes that it has, bit by plane; not 0 */
    uint8_t retries;           /* probes, without that more arrives, before a message is given up */
    uint16_t sends;            /* messages under way at once: 1 .. HX_MAX_SENDS */
    uint16_t job;              /* job tag of its packets */
    uint32_t epoch; /* incarnation: any number but 0 that no other one is likely to have had, random where it can be */
    uint64_t key;   /* random: of its nonces */
    uint32_t peers; /* accelerators it can know at once; 0: all. A message to or from one more is refused */
    /* Below HX_ACK_EVERY: of a message that is longer than that the first acknowledgement is due so many packets
     * sooner. Receivers that say different ones do not acknowledge all that one sender has under way to them at
     * once. */
    uint8_t first_ack;
    bool check;          /* compute and check the CRC. false only where memory carries the frames */
    uint64_t timeout_ns; /* an answer is late after so long where none has ever come, */
    uint64_t least_ns;   /* elsewhere never earlier than this, */
    uint64_t most_ns;    /* and never later than this, however often it was. 0 < least <= timeout <= most */
    uint64_t
        unreachable_ns; /* how long a message that all planes reported unreachable waits for a way; 0: it is given up
                            at once, where routes never change; UINT64_MAX: until it is abandoned */
};

/* A message on its way out. Invariant: acked <= resend <= next <= packets, next - acked <= HX_MESSAGE_WINDOW. What
 * waits neither times nor probes. */
struct hx_send {
    uint32_t peer; /* rank */
    uint16_t dst_addr_hi, dst_addr_lo;
    uint32_t message, packets;
    uint32_t tag;
    uint32_t acked;  /* packets known to be there, without a gap */
    uint32_t resend; /* packets before it are not to be repeated now */
    uint32_t next;   /* first packet never sent */
    uint64_t quiet;  /* ns: since when an answer is awaited */
    uint64_t cookie;
    uint32_t since;                 /* units: when the timed packet went out, or the wait for a way began */
    uint16_t timed : 10;            /* packet, modulo 1,024 */
    uint16_t unanswered : 6;        /* probes since the last answer */
    uint16_t last_length : 14;      /* payload of the last packet */
    uint16_t reported : 1;          /* some packets are known to have found no way, and go out again: send_lost */
    uint16_t mapped : 1;            /* some packets after `acked` are known to be there: send_map, else not looked at */
    uint16_t younger;               /* send with the next message to this peer, or HX_NO_SEND */
    uint16_t peer_epoch;            /* hx_epoch_check() of the peer's incarnation, 0: not known */
    uint8_t tries;                  /* probes since the last news */
    uint8_t probes;                 /* number of the newest one, 0: there was none */
    uint8_t unreachable_planes : 4; /* planes that are left out, bit by plane: they do not lead to the peer */
    bool active : 1;
    bool ready : 1;          /* may inject now */
    bool behind : 1;         /* an older message to this peer may */
    bool timing : 1;         /* the acknowledgement of `timed` tells how long one takes: nothing was repeated */
    bool probing : 1;        /* the newest probe may be answered; it went out when `quiet` began */
    bool waits : 1;          /* all planes have reported it unreachable */
    bool loss_suspected : 1; /* the last answer to a probe came in good time, and packets were missing */
    bool given_up : 1;
    bool again : 1; /* it began anew: of what went out before the peer may have more than has gone out since */
};
HX_STATIC_ASSERT(sizeof(struct hx_send) == 64, "a send is a cache line");

/* Bit p % HX_MESSAGE_WINDOW: packet p of a message is there, though one before it is not. Apart from what every packet
 * needs, since packets in order do without. */
struct hx_map {
    uint32_t word[HX_MAP_WORDS];
};

/* A slot for arriving messages of one peer with the same number modulo HX_PEER_WINDOW. Invariant: base <= received;
 * `early` and the slot's map are empty where they are equal, so packets in order need not look at them. `early` is in
 * place of the map's first word: a message of 32 packets or less does without the map. */
struct hx_receive {
    uint32_t message; /* number; of an empty slot the least one that it takes */
    uint32_t packets;
    uint32_t base;          /* packets here without a gap */
    uint32_t received;      /* packets here */
    uint32_t reported;      /* `received` at the last acknowledgement; at first as if there had been one before */
    uint32_t reported_base; /* likewise `base` */
    uint32_t tag;
    uint32_t early;
    uint16_t last_length;
    uint8_t state;
    uint8_t plane; /* by which its last packet came */
    uint8_t probe; /* number of the probe that is to be answered, 0: none */
    bool queued;   /* is in the list of acknowledgements */
};

/* What is known of an accelerator since the first packet to or from it: with one message at a time all that a packet in
 * order needs. */
struct hx_peer {
    uint32_t rank;
    uint32_t next_message;           /* number of the next message to it */
    uint16_t send[HX_PEER_WINDOW];   /* which hx_send, or HX_NO_SEND */
    uint32_t epoch;                  /* its incarnation, 0: not known */
    struct hx_receive first;         /* slot 0 */
    struct hx_round_trip round_trip; /* of answers from it */
};
HX_STATIC_ASSERT(sizeof(struct hx_peer) == 64, "a peer is a cache line");

/* Who it is, in doubt. */
struct hx_peer_hello {
    uint32_t nonce[2];               /* of the peer, to be answered, low word first; 0: none */
    uint32_t asked;                  /* units: when it was asked last */
    uint32_t answers;                /* taken from it: a nonce is good for one */
    uint32_t before[HX_PEER_WINDOW]; /* numbers of messages in its slots when the nonce first went out */
    bool has_asked;
    bool open;    /* the nonce has gone out, and no answer has come */
    bool ask;     /* it is to be asked */
    bool forgets; /* it is to be told that nothing is known of what it sent so far */
    bool queued;  /* is in the list of acknowledgements */
};

/* What is not asked for before its second message, a packet out of order of a long one, or doubt, is in two parts, of
 * which short messages need the first alone. Entries of both are given out as they are asked for, so that those in use
 * lie together: with many peers it is looks into page tables that cost. */
struct hx_peer_slots {
    struct hx_receive in[HX_PEER_WINDOW - 1]; /* slots 1 and up */
    uint32_t fill[2];
};
HX_STATIC_ASSERT(sizeof(struct hx_peer_slots) == 128, "two cache lines");

struct hx_peer_rest {
    struct hx_map map[HX_PEER_WINDOW]; /* of packets at and after a slot's base; word 0: see hx_receive */
    struct hx_peer_hello hello;
    uint32_t unreachable_planes; /* planes that do not lead to it as far as is known, bit by plane */
    uint32_t unreachable_since;  /* units: when one of them was found out last */
    uint32_t fill[4];
};
HX_STATIC_ASSERT(sizeof(struct hx_peer_rest) % 64 == 0, "its maps are a cache line each");

struct hx_endpoint_stats {
    uint64_t messages_sent;     /* acknowledged in full */
    uint64_t messages_received; /* complete */
    uint64_t messages_failed;
    uint64_t packets_sent; /* data packets injected the first time */
    uint64_t packets_repeated;
    uint64_t probes_sent;
    uint64_t packets_delivered; /* data packets placed */
    uint64_t bytes_delivered;
    uint64_t acks_sent;
};

/* Whom to tell what: a packet of (src_addr_hi, src_addr_lo) to (dst_addr_hi, dst_addr_lo) found no way on from here. */
struct hx_report {
    uint16_t src_addr_hi, src_addr_lo, dst_addr_hi, dst_addr_lo;
    uint32_t message, offset, message_packets, tag;
    uint16_t epoch; /* hx_epoch_check() of the sender's */
    uint8_t plane;
    uint8_t kind; /* data, acknowledgement or probe */
};

struct hal_endpoint;

/* Sends, bit by index. Invariant: bit i of `filled` is set where word[i] is not 0. */
struct hx_send_set {
    uint64_t filled;
    uint64_t *word; /* [sends / 64, rounded up] */
};

struct hx_endpoint {
    struct hx_endpoint_config config;
    uint8_t own[HX_HEADER_BYTES]; /* header of a frame, with what all of its own have in common */
    struct hal_endpoint *hal;
    struct hx_endpoint_stats stats;
    struct hx_send_set due;  /* sends that may inject now, and are not behind another */
    struct hx_send_set idle; /* sends without a message */
    uint16_t active;         /* sends under way */
    /* per plane: slot from which the next due message is searched, 0 .. HX_MAX_SENDS - 1 */
    uint16_t turn[HX_MAX_PLANES];
    uint16_t timer;    /* whose deadline is looked at next */
    uint8_t plane_end; /* planes that it has are below */
    /* what is measured is in units of 2^unit_shift ns: 1,024 to 2,047 of them are least_ns, or fewer if that many are
     * not enough for unreachable_ns in 31 bits */
    uint8_t unit_shift;
    uint16_t epoch_check;            /* hx_epoch_check() of its own epoch */
    bool plane_failures;             /* of some peer not all planes are known to lead to it */
    bool abandons;                   /* some sends are given up and have not ended yet */
    uint64_t soonest;                /* no deadline is earlier */
    uint64_t sweep;                  /* soonest deadline seen or set since `timer` was 0 */
    struct hx_round_trip round_trip; /* of answers from anybody */
    uint32_t acks_first, acks_count; /* list of acknowledgements, circular */
    uint32_t ack_slots;
    uint16_t reports_first, reports_count; /* in report[], circular */
    struct hx_send *send;                  /* [sends] */
    struct hx_map *send_map;               /* [sends]: of packets after `acked` that are known to be there, if any */
    uint32_t peers;                        /* entries of peer */
    uint32_t known;                        /* of these, in use; all of them where every accelerator has its own */
    uint32_t bucket_mask;                  /* entries of bucket less one */
    struct hx_map *send_lost;              /* [sends]: of packets after `acked` that were reported to have found no way,
                                  where there are such */
    struct hx_peer *peer;                  /* [peers]; by rank where every accelerator has its own */
    struct hx_peer_slots *slots;           /* [peers]: those before rest_of[peers] are given out */
    struct hx_peer_rest *rest;             /* likewise */
    uint32_t *rest_of;        /* [peers + 1]: by index in peer, which of slots and rest is its, plus one; 0: none yet */
    uint32_t *bucket;         /* open hash of ranks: index in peer plus one, 0: empty. NULL where none is needed */
    struct hx_report *report; /* [HX_REPORTS] */
    uint32_t *ack;            /* [ack_slots]: index in peer * HX_PEER_ANSWERS + slot, or + HX_PEER_WINDOW: a hello */
};

/* Bytes of memory an endpoint of this configuration needs (8-byte aligned). */
size_t hx_endpoint_bytes(const struct hx_endpoint_config *config);

/* `memory` is all zero. HX_E_RANGE: a field of the configuration is outside its range. */
int hx_endpoint_init(struct hx_endpoint *ep, const struct hx_endpoint_config *config, struct hal_endpoint *hal,
                     void *memory);

/* The same in pieces that may lie apart, each 8-byte aligned and zero, for where memory that is not touched costs
 * nothing. */
struct hx_endpoint_sizes {
    size_t often;   /* who the peers are, and which sends are due */
    size_t pending; /* sends, the first for as many as have been under way at once, and the list of answers owed */
    size_t second;  /* slots of arriving messages: not touched by a peer's first, fifth, ... */
    size_t seldom;  /* maps, and doubts: not touched by messages in order, or of HX_MAPLESS packets or less */
    size_t rare;    /* not touched before a packet finds no way */
};
struct hx_endpoint_memory {
    void *often, *pending, *second, *seldom, *rare;
};
struct hx_endpoint_sizes hx_endpoint_sizes(const struct hx_endpoint_config *config);
int hx_endpoint_init_apart(struct hx_endpoint *ep, const struct hx_endpoint_config *config, struct hal_endpoint *hal,
                           const struct hx_endpoint_memory *memory);

/* Takes over a message of `bytes` bytes (0 and up; at most 2^32-1 packets) for (d0, d1). `tag` travels with every
 * packet, `cookie` stays here. HX_E_BUSY: all sends are taken, or four messages to this peer are under way.
 * HX_E_RANGE: no such accelerator, or too long. HX_E_CAPACITY: it would be one peer too many. */
int hx_endpoint_send(struct hx_endpoint *ep, unsigned addr_hi, unsigned addr_lo, uint64_t bytes, uint32_t tag,
                     uint64_t cookie);

/* Whether hx_endpoint_send() would take one more message, as far as sends are concerned. */
static inline bool hx_endpoint_takes(const struct hx_endpoint *ep)
{
    return ep->active < ep->config.sends;
}

/* Routes may have changed: messages that were reported unreachable, by some plane or by all, are sent again, and late
 * answers are asked for at once. Tries made so far do not count. */
void hx_endpoint_routes_changed(struct hx_endpoint *ep);

/* Gives up the messages to (d0, d1) that are under way: their FAILED come in the next steps. */
void hx_endpoint_abandon(struct hx_endpoint *ep, unsigned addr_hi, unsigned addr_lo);

/* Likewise one message, that of ep->send[send], which is active. */
static inline void hx_endpoint_abandon_one(struct hx_endpoint *ep, unsigned send)
{
    ep->send[send].given_up = true;
    ep->abandons = true;
}

/* Nanoseconds of hal_now(), before which no step has to be made for the sake of time; UINT64_MAX: never. */
static inline uint64_t hx_endpoint_deadline(const struct hx_endpoint *ep)
{
    return ep->active ? ep->soonest : UINT64_MAX;
}

/* Consumes arrivals, acknowledges, injects, asks for what is late; commits. Returns packets taken and given. A step
 * looks at one deadline: as many steps as there are sends look at all. */
unsigned hx_endpoint_step(struct hx_endpoint *ep);

/* Whether nothing is under way: no message unacknowledged, no acknowledgement or report to send. */
bool hx_endpoint_idle(const struct hx_endpoint *ep);

#include "hxmesh/end.h"

#endif
