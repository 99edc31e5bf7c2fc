/* verify.h - judges a capture against the rules of routing and of links, without asking the firmware.
 *
 * Data that flows: sightings (tools/capture/capture_index.h) come in as the file has them. Each is looked at alone
 * (frame.c), with what the same packet did at the same node (node.c), at the other end of the same cable (link.c,
 * credit.c) and at its two endpoints (delivery.c). Frames of one node must stand in an order in which they can have
 * happened; between nodes, and between the two ends of a cable, the file's order means nothing but for credits of links
 * in memory. What a capture says of faults (fault_allowances.h) is heard first, and what they allow is no breach.
 *
 * Memory: what is under way in the capture, a bit for each packet delivered, the ports, and what crossed links that
 * repeat packets in the last seconds. Not thread safe. */
#ifndef HXMESH_TOOLS_VERIFY_H
#define HXMESH_TOOLS_VERIFY_H

#include "tools/capture/capture_index.h"
#include "tools/verify/copies.h"
#include "tools/verify/fault_allowances.h"

#define HX_NO_INDEX UINT32_MAX

/* A packet seen at one end of a cable and not yet at the other. */
struct hx_pending {
    struct hx_key key;
    uint64_t frame, time_ns;
    uint64_t overtaker; /* frame of a packet that was sent later and came sooner; 0: none */
    uint8_t vc, hops;
    bool sound;  /* its checksum was there, and right */
    bool unsure; /* its overtaker was sent before it, too, and which of the two came first none can tell */
};

struct hx_pendings {
    struct hx_pending *items;
    uint32_t first, count, room; /* items[first .. first + count - 1] */
};

/* A cable in one direction, both ends of which are captured. */
struct hx_cable {
    uint32_t from, to; /* ports */
    bool given_up;     /* one end shows nothing: not judged */
    uint64_t sent, came;
    struct hx_pendings out[HX_VCS], in[HX_VCS], passed[HX_VCS];
    int64_t held[HX_VCS]; /* memory and port links: units under way or in the receiver's buffer */
    uint64_t leak;        /* first frame of a packet that went missing with its place in the buffer; 0: none */
    /* first frame by which that was too much, but for what faults that were told of since allow; 0: none */
    uint64_t over;
    uint64_t over_ns;
    unsigned over_vc;
    int64_t over_held;
};

/* Credit on a wire, as seen at the port of one end: what it sends and what it is granted. */
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
    unsigned captured, cabled; /* ports */
    uint64_t dropped;          /* at the end: frames the capture lost at its ports */
    bool filtered;
};

/* What is kept of a frame of data: of the first ones, to know them when they stand in the file once more, and of those
 * set aside. */
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

/* A record of by_place: plane and node in one word, and the port, or HX_NO_INDEX for the node. */
struct hx_numbered {
    uint64_t place[2];
    uint32_t number;
};

struct hx_verify_counts {
    uint64_t data, credit, foreign, cut;
    uint64_t odd_credit; /* credit frames of links that have none */
    uint64_t nowhere;    /* at ports that are not the fabric's, or without a direction */
    uint64_t crc_validated, crc_cut, crc_none;
    uint64_t without_time, of_one_time; /* of_one_time: all have that of the first */
    uint64_t gone_back;                 /* times of the wall clock */
    uint64_t injected, delivered;
    uint64_t repeats;        /* data packets delivered again after a repeat */
    uint64_t lost_repaired;  /* data packets lost, but repeated and then delivered */
    uint64_t lost_covered;   /* acknowledgements and the like lost, but a later one was delivered */
    uint64_t lost_to_faults; /* and not delivered */
    uint64_t in_flight;      /* at the end of a partial capture */
    uint64_t rerouted;       /* on cables of no minimal way, for links are down */
    uint64_t turned_back;    /* delivered short of their destination, as unreachable */
    uint64_t given_back;     /* by networks without a way */
    uint64_t forgotten;      /* not followed, to bound memory */
    uint64_t links_validated, credit_links_validated, nodes_validated;
};

struct hx_verify {
    struct hx_capture_index *c;
    bool partial; /* the capture begins or ends while packets are under way */
    struct hx_findings_list found;
    struct hx_verify_counts counts;

    struct hx_verify_port *ports; /* [c->ports] */
    uint32_t port_count, port_room;
    struct hx_verify_node *nodes;
    uint32_t node_count, node_room;
    struct hx_kept_frame first[HX_FIRST_FRAMES];
    unsigned firsts;
    uint64_t last_first_ns; /* the latest time of them */
    struct hx_cable *cables;
    uint32_t cable_count, cable_room;
    struct hx_map by_place;  /* port of the fabric -> number of the captured port; node -> number of the node */
    struct hx_map residents; /* (packet, node): came in and has not left, or left and has not come in */
    struct hx_map balance;   /* packet: injected less delivered, where that is not 0 */
    struct hx_map lost;      /* packet: struct hx_lost */
    struct hx_map delivered; /* 64 packets of a message: a bit each */
    uint16_t *board_job;     /* inferred: the job of a board's own packets; [boards] */
    bool *board_job_known;
    bool partial_given, whole_given;
    bool ending; /* nothing is set aside any more */
    struct hx_fault_allowances fault_allowances;
    struct hx_copies copies;
    struct hx_map given_back;     /* packet: where a network gave it back */
    struct hx_deferred *deferred; /* frames that are not where their sources would have sent them */
    uint32_t deferred_count, deferred_room;
};

/* Whether anything was judged: a capture without a frame of a fabric is not good. */
static inline bool hx_verify_validated(const struct hx_verify *v)
{
    return v->counts.data + v->counts.credit > 0 || v->found.count > 0;
}

/* partial, whole: what the user says; otherwise what the capture says, otherwise it is whole. */
void hx_verify_begin(struct hx_verify *v, struct hx_capture_index *c, bool partial, bool whole);
void hx_verify_frame(struct hx_verify *v, const struct hx_capture_frame *s);
/* After the last frame: what is missing, and what was not judged. */
void hx_verify_end(struct hx_verify *v);
void hx_verify_free(struct hx_verify *v);

/* ---- the parts; not for callers ---- */

/* A breach, unless a fault allows it: any of `by` (enum hx_fault_allowance) at that place and time. */
__attribute__((format(printf, 6, 7))) void hx_verify_find(struct hx_verify *v, const struct hx_seen_at *at, unsigned by,
                                                          bool loss, enum hx_rule rule, const char *format, ...);

/* Whether the capture shows the link at that port from end to end, and all of it. */
bool hx_verify_shows(struct hx_verify *v, const struct hx_port_at *at);
/* Whether the capture lacks frames at either end of the port's link (by HX_ALLOW_CAPTURE_LOSS), or frames or ports of its
 * node (MISSED). */
bool hx_verify_lacks(struct hx_verify *v, uint32_t port, unsigned by);
/* HX_ALLOW_UNSEEN, where the frame may have come by links that the capture does not show; else 0. */
unsigned hx_verify_unseen(struct hx_verify *v, const struct hx_capture_frame *s);

/* frame.c: false: the frame is not fit for more. */
bool hx_verify_alone(struct hx_verify *v, const struct hx_capture_frame *s);

/* Whether it is where it may be, with the hops and the VC that it must have there. */
void hx_verify_path(struct hx_verify *v, const struct hx_capture_frame *s);

/* times.c: of a data frame. */
void hx_verify_time(struct hx_verify *v, const struct hx_capture_frame *s);
/* Before times are told of: whether they say anything. */
void hx_verify_times_end(struct hx_verify *v);

/* returned.c */
void hx_verify_returned_begin(struct hx_verify *v);
void hx_verify_returned_free(struct hx_verify *v);
/* A packet came to a node by port `in` and left by `out` with so many hops: whether a network gave it back. */
bool hx_verify_gives_back(struct hx_verify *v, const struct hx_key *key, uint32_t in, uint32_t out, unsigned hops);
/* The frame is not where its source would have sent it. false: judge it now. */
bool hx_verify_defer(struct hx_verify *v, const struct hx_capture_frame *s);
/* It leaves an accelerator by the port that it came in by, in frame `came`. false: judge it now. */
bool hx_verify_defer_turn(struct hx_verify *v, const struct hx_capture_frame *s, uint64_t came);
void hx_verify_returned_end(struct hx_verify *v);

/* node.c */
void hx_verify_nodes_begin(struct hx_verify *v);
void hx_verify_arrive(struct hx_verify *v, const struct hx_capture_frame *s);
void hx_verify_depart(struct hx_verify *v, const struct hx_capture_frame *s);
bool hx_verify_covered(const struct hx_verify_node *n);
void hx_verify_nodes_end(struct hx_verify *v);

/* link.c */
void hx_verify_sent(struct hx_verify *v, const struct hx_capture_frame *s);
void hx_verify_came(struct hx_verify *v, const struct hx_capture_frame *s);
/* The packet that had come in by that port left the node. */
void hx_verify_freed(struct hx_verify *v, uint32_t port, unsigned vc, unsigned length);
/* A packet that was sent over, or came in by, that cable is missing since `frame`. */
void hx_verify_leak(struct hx_verify *v, uint32_t cable, uint64_t frame);
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

/* A packet that was seen last in `frame` and is missing since. It may have been sent, and lost, several times. */
struct hx_lost {
    struct hx_key key;
    uint64_t frame;
    bool allowed, missed; /* once at least a fault allows it; none does */
};
/* by: the faults (enum hx_fault_allowance) that would allow it at that place and time. */
void hx_verify_lose(struct hx_verify *v, const struct hx_seen_at *at, unsigned by);

#endif
