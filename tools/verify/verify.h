/* verify.h - checks a capture against the rules of routing and of links, independently of the firmware.
 *
 * Frames (tools/capture/capture_index.h) come in the order of the file. Each is checked alone (frame.c), against the
 * same packet at the same node (node.c), at the other end of the cable (link.c, credit.c) and at its endpoints
 * (delivery.c). Frames of one node must be in a possible order. Between nodes, and between the ends of a cable, the
 * order in the file has no meaning, except for credits of links in memory. Annotations of a frame are read first; what
 * their faults allow is no breach (fault_allowances.h).
 *
 * Memory: packets in flight, a bit for each packet delivered, the ports, and what crossed repeating links in the last
 * seconds. Not thread safe. */
#ifndef HXMESH_TOOLS_VERIFY_H
#define HXMESH_TOOLS_VERIFY_H

#include "tools/capture/capture_index.h"
#include "tools/verify/copies.h"
#include "tools/verify/fault_allowances.h"
#include "tools/verify/tally.h"

#define HX_NO_INDEX UINT32_MAX

/* A packet seen at one end of a cable and not yet at the other. */
struct hx_pending {
    struct hx_key key;
    uint64_t frame, time_ns;
    uint64_t overtaker; /* frame of a packet that was sent later and arrived earlier; 0: none */
    uint8_t vc, hops;
    bool sound;  /* its checksum was present and right */
    bool unsure; /* its overtaker was also sent before it; unknown which sending arrived */
};

struct hx_pendings {
    struct hx_pending *items;
    uint32_t first, count, room; /* items[first .. first + count - 1] */
};

/* One direction of a cable with both ends captured. */
struct hx_cable {
    uint32_t from, to; /* ports */
    bool given_up;     /* one end shows nothing: not checked */
    uint64_t sent, came;
    struct hx_pendings out[HX_VCS], in[HX_VCS], passed[HX_VCS];
    int64_t held[HX_VCS]; /* memory and port links: units in flight or in the receiver's buffer */
    uint64_t leak;        /* first frame of a lost packet that still holds buffer space; 0: none */
    /* first frame that exceeds the buffer and is not allowed by a fault; 0: none */
    uint64_t over;
    uint64_t over_ns;
    unsigned over_vc;
    int64_t over_held;
};

/* Credit on a wire at one port: blocks sent and granted. */
struct hx_credit_seen {
    bool session_known, peer_known, open;
    uint64_t nonce, peer_nonce;
    struct {
        bool sent_known, limit_known;
        uint32_t sent, limit;
    } vc[HX_VCS];
    uint64_t wrong; /* frame of the first breach; 0: none */
    char what[HX_FINDING_TEXT];
};

struct hx_verify_port {
    struct hx_port_at far;
    uint32_t node;    /* in v->nodes; HX_NO_INDEX: not a port of the fabric */
    uint32_t out, in; /* in v->cables; HX_NO_INDEX: the other end is not captured */
    bool leaves_board;
    struct hx_credit_seen credit;
};

struct hx_verify_node {
    struct hx_port_at at;
    uint64_t frame, time_ns;   /* of its latest frame; 0: none */
    unsigned captured, cabled; /* numbers of ports */
    uint64_t dropped;          /* at the end: frames that the capture lost at its ports */
    bool filtered;
};

/* Fields kept of a data frame: of the first ones, to find repetitions in the file, and of deferred ones. */
enum { HX_FIRST_FRAMES = 16 };
struct hx_kept_frame {
    struct hx_key key;
    uint64_t frame, time_ns;
    uint32_t port;
    enum hx_pcapng_direction direction;
    uint8_t vc, hops;
};

static inline struct hx_kept_frame hx_kept(const struct hx_capture_frame *s)
{
    return (struct hx_kept_frame){.key = s->seen.key,
                                  .frame = s->frame,
                                  .time_ns = s->time_ns,
                                  .port = s->port,
                                  .direction = s->direction,
                                  .vc = s->seen.data.vc,
                                  .hops = s->seen.data.hops};
}

/* A record of by_place. place[0]: plane and node; place[1]: port, or HX_NO_INDEX for the node itself. */
struct hx_numbered {
    uint64_t place[2];
    uint32_t number;
};

struct hx_verify_counts {
    uint64_t data, credit, foreign, cut;
    uint64_t odd_credit; /* credit frames of links that have none */
    uint64_t nowhere;    /* at ports outside the fabric, or without a direction */
    uint64_t crc_validated, crc_cut, crc_none;
    uint64_t without_time, of_one_time; /* of_one_time: with the time of the first frame */
    uint64_t gone_back;                 /* decreasing wall clock times */
    uint64_t injected, delivered;
    uint64_t repeats;        /* data packets delivered again after a repeat */
    uint64_t lost_repaired;  /* data packets lost, then repeated and delivered */
    uint64_t lost_covered;   /* acknowledgements and the like lost, but a later one was delivered */
    uint64_t lost_to_faults; /* and not delivered */
    uint64_t in_flight;      /* at the end of a partial capture */
    uint64_t rerouted;       /* on cables off any minimal path, as links are down */
    uint64_t turned_back;    /* delivered elsewhere than at their destination, as unreachable */
    uint64_t given_back;     /* returned by networks without a path */
    uint64_t forgotten;      /* not followed, to bound memory */
    uint64_t links_validated, credit_links_validated, nodes_validated, endpoints_validated;
};

struct hx_verify {
    struct hx_capture_index *c;
    bool partial; /* packets were in flight when the capture began or ended */
    bool strict;  /* faults allow nothing, and nothing may be lost; set it before the first frame */
    struct hx_findings_list found;
    struct hx_verify_counts counts;

    struct hx_verify_port *ports; /* [c->ports] */
    uint32_t port_count;
    size_t port_room;
    struct hx_verify_node *nodes;
    uint32_t node_count;
    size_t node_room;
    struct hx_kept_frame first[HX_FIRST_FRAMES];
    unsigned firsts;
    uint64_t last_first_ns; /* the latest time of these */
    struct hx_cable *cables;
    uint32_t cable_count;
    size_t cable_room;
    struct hx_table by_place;  /* port of the fabric: index of the captured port; node: index of the node */
    struct hx_table residents; /* (packet, node): arrived and not departed, or departed and not arrived */
    struct hx_table balance;   /* packet: injections less deliveries, if not 0 */
    struct hx_table lost;      /* packet: struct hx_lost */
    struct hx_table delivered; /* 64 packets of a message: a bit each */
    uint16_t *board_job;       /* inferred: the job of a board's own packets; [boards] */
    bool *board_job_known;
    bool partial_given, whole_given;
    bool ending; /* no more deferring */
    struct hx_fault_allowances fault_allowances;
    struct hx_copies copies;
    struct hx_table let_pass;     /* struct hx_tally: what faults allowed, and what was lost */
    struct hx_table given_back;   /* packet: its return by a network */
    struct hx_deferred *deferred; /* frames off their minimal path */
    uint32_t deferred_count;
    size_t deferred_room;
};

/* Whether anything was checked: a capture without a frame of a fabric does not pass. */
static inline bool hx_verify_validated(const struct hx_verify *v)
{
    return v->counts.data + v->counts.credit > 0 || v->found.count > 0;
}

/* Rules that were checked on some frame, a bit by enum hx_rule. Call after hx_verify_end. */
unsigned hx_verify_checked(const struct hx_verify *v);
/* Whether the paths of packets were checked, and what became of them; else frames were checked alone. */
static inline bool hx_verify_followed(unsigned checked)
{
    return checked >> HX_RULE_DISTANCE & 1 && checked >> HX_RULE_DELIVERY & 1;
}

/* partial, whole: the user's choice; neither: as the capture says, or else whole. */
void hx_verify_begin(struct hx_verify *v, struct hx_capture_index *c, bool partial, bool whole);
void hx_verify_frame(struct hx_verify *v, const struct hx_capture_frame *s);
/* Call after the last frame: finds what is missing, and notes what was not checked. */
void hx_verify_end(struct hx_verify *v);
void hx_verify_free(struct hx_verify *v);

/* ---- internal ---- */

/* Reports a breach, unless a fault of the kinds `by` (enum hx_fault_allowance) allows it at that place and time. */
__attribute__((format(printf, 6, 7))) void hx_verify_find(struct hx_verify *v, const struct hx_seen_at *at, unsigned by,
                                                          bool loss, enum hx_rule rule, const char *format, ...);

/* Whether the capture completely shows the link at that port, at both ends. */
bool hx_verify_shows(struct hx_verify *v, const struct hx_port_at *at);
/* Whether the capture lacks frames at either end of the port's link (HX_ALLOW_CAPTURE_LOSS in `by`), or frames or ports
 * of its node (HX_ALLOW_MISSED). */
bool hx_verify_lacks(struct hx_verify *v, uint32_t port, unsigned by);
/* HX_ALLOW_UNSEEN if the frame may have come by links that the capture does not show; else 0. */
unsigned hx_verify_unseen(struct hx_verify *v, const struct hx_capture_frame *s);

/* frame.c: checks the frame alone. false: it is not fit for more checks. */
bool hx_verify_alone(struct hx_verify *v, const struct hx_capture_frame *s);

/* Checks that the frame is on a path of its packet, with the right hops and VC. */
void hx_verify_path(struct hx_verify *v, const struct hx_capture_frame *s);

/* times.c: checks the time of a data frame. */
void hx_verify_time(struct hx_verify *v, const struct hx_capture_frame *s);
/* Discards of_one_time unless all frames have the same time. */
void hx_verify_times_end(struct hx_verify *v);

/* Whether links may be dead without a fault. */
bool hx_verify_may_lack_links(const struct hx_verify *v);

/* returned.c */
void hx_verify_returned_begin(struct hx_verify *v);
void hx_verify_returned_free(struct hx_verify *v);
/* Notes that a packet came to a node by port `in` and left by `out` with `hops` hops. Returns whether a network
 * returned it. */
bool hx_verify_gives_back(struct hx_verify *v, const struct hx_key *key, uint32_t in, uint32_t out, unsigned hops);
/* Defers a frame that is off its minimal path. false: check it now. */
bool hx_verify_defer(struct hx_verify *v, const struct hx_capture_frame *s);
/* Defers a frame that leaves an accelerator by its input port; it arrived in frame `came`. false: check it now. */
bool hx_verify_defer_turn(struct hx_verify *v, const struct hx_capture_frame *s, uint64_t came);
void hx_verify_returned_end(struct hx_verify *v);

/* node.c */
void hx_verify_nodes_begin(struct hx_verify *v);
void hx_verify_arrive(struct hx_verify *v, const struct hx_capture_frame *s);
void hx_verify_depart(struct hx_verify *v, const struct hx_capture_frame *s);
bool hx_verify_covered(const struct hx_verify_node *n);
void hx_verify_nodes_end(struct hx_verify *v);
/* The captured port of that number at a node; HX_NO_INDEX: none. */
uint32_t hx_verify_port_of(struct hx_verify *v, uint32_t node, unsigned port);

/* link.c */
void hx_verify_sent(struct hx_verify *v, const struct hx_capture_frame *s);
void hx_verify_came(struct hx_verify *v, const struct hx_capture_frame *s);
/* Frees the buffer space of a packet that came in by the port and left the node. */
void hx_verify_freed(struct hx_verify *v, uint32_t port, unsigned vc, unsigned length);
/* Notes that a packet on the cable is missing since `frame`. */
void hx_verify_leak(struct hx_verify *v, uint32_t cable, uint64_t frame);
/* The port at which a cable brings the packet to the node, or takes it from there, seen at the other end only. Before
 * hx_verify_links_end. HX_NO_INDEX: none. */
uint32_t hx_verify_half_seen(struct hx_verify *v, uint32_t node, const struct hx_key *key, bool arrival);
void hx_verify_links_end(struct hx_verify *v);
void hx_verify_cable_free(struct hx_cable *c);

/* credit.c */
void hx_verify_credit_frame(struct hx_verify *v, const struct hx_capture_frame *s);
void hx_verify_credit_data(struct hx_verify *v, const struct hx_capture_frame *s);
void hx_verify_credit_end(struct hx_verify *v);

/* delivery.c */
void hx_verify_delivery_begin(struct hx_verify *v);
void hx_verify_injected(struct hx_verify *v, const struct hx_capture_frame *s);
void hx_verify_delivered(struct hx_verify *v, const struct hx_capture_frame *s);
void hx_verify_delivery_end(struct hx_verify *v);

/* A missing packet, last seen in `frame`. It may have been sent and lost several times. */
struct hx_lost {
    struct hx_key key;
    uint64_t frame, time_ns;
    uint32_t port;
    uint32_t next;        /* port at which it should have been seen next; HX_NO_INDEX: not known */
    unsigned by;          /* kinds of faults (enum hx_fault_allowance) that would allow the loss in `frame` */
    uint32_t seen;        /* places at which it vanished; not those inferred from its endpoints */
    bool came;            /* in `frame` it came in; else it left */
    bool allowed, missed; /* at least one loss that a fault allows; at least one that none allows */
    bool odd;             /* at least one where nothing is lost without a fault, not even for a time */
};
/* A place at which a packet vanished. by: kinds of faults that would allow it at that place and time; or_repaired:
 * further ones that allow it if the packet was sent again. came: the last frame is of its arrival. */
struct hx_loss {
    unsigned by, or_repaired;
    uint32_t next; /* port at which it should have been seen next; HX_NO_INDEX: not known */
    bool came;
};
void hx_verify_lose(struct hx_verify *v, const struct hx_seen_at *at, const struct hx_loss *how);

/* Counts something that was let pass, with the fault of the kinds `by` that allows it. */
void hx_verify_let_pass(struct hx_verify *v, const char *what, const struct hx_seen_at *at, unsigned by);

#endif
