/* support_loopback.h - parts of the example platform, for tests of switches, endpoints and whole fabrics.
 *
 *     rig     one switch without wires: the test puts packets into its inputs and sets the credit of its outputs
 *     cloud   endpoints joined by a network that may lose, repeat, corrupt and reorder packets
 *     fabric  a whole HammingMesh, all planes
 *
 * Memory is the lab's. */
#ifndef HXMESH_TESTS_SUPPORT_LOOPBACK_H
#define HXMESH_TESTS_SUPPORT_LOOPBACK_H

#include "hal_port.h"
#include "tests/support/loopback/support_platforms.h"
#include "tests/support/support_lab.h"
#include "tests/support/support_messages.h"

/* ---- parts ---- */

/* `sends`: messages that an endpoint may have in flight; 0: a switch. */
void lab_node(struct loopback_node *n, unsigned ports, unsigned vcs, unsigned blocks, unsigned sends);
void lab_wire(struct loopback_wire *w, unsigned blocks, uint32_t latency);

/* ---- one switch ---- */

struct rig {
    const struct switch_calls *calls; /* its platform's; set by rig_init_on() */
    struct hal_switch hal;
    struct hx_switch sw;
    struct loopback_wire *wire; /* [ports]: outputs */
    uint8_t sets[256];          /* outputs, [ports] */
    uint8_t any[256];           /* accelerator, x_table: ports for gx, written by the test */
    uint64_t tree[256];         /* router: ports for gx */
    uint64_t all[256];          /* router: ports for gy, all ones */
    uint64_t from[HX_MAX_RADIX], returns[HX_MAX_RADIX];
    unsigned blocks;
    uint64_t now;
};

/* Packet at an output, read from the bytes of its frame. */
struct rig_packet {
    unsigned via;
    uint32_t id;
    unsigned vc, hops, length, gx, gy;
    bool intact; /* payload and header are unchanged */
};

enum { RIG_JOB = 7 };

/* Makes a switch of `kind` with free routes: destination (gx, any gy) may leave by rig.sets[gx] (rig.tree[gx]).
 * `incrementing`: ports that lead off the board. No output has room. */
void rig_init(struct rig *r, enum hx_node_kind kind, unsigned ports, unsigned incrementing, unsigned blocks);
/* The same with the constants of another platform. */
void rig_init_on(struct rig *r, const struct switch_calls *calls, enum hx_node_kind kind, unsigned ports,
                 unsigned incrementing, unsigned blocks);
/* A packet arrives. Returns false if the buffer has no room. */
bool rig_arrive(struct rig *r, unsigned input, unsigned vc, uint32_t id, unsigned gx, unsigned length);
/* A packet with these fields arrives; the buffer must have room. */
void rig_arrive_as(struct rig *r, unsigned input, unsigned vc, uint32_t id, const struct hx_desc *d);
/* A tree switch with links at the ports `up`, of which those in `above` lead to spines. */
void rig_links(struct rig *r, uint64_t up, uint64_t above);
/* Sets the credit of an output on a VC, in blocks. */
void rig_room(struct rig *r, unsigned output, unsigned vc, unsigned blocks);
void rig_room_everywhere(struct rig *r, unsigned blocks);
unsigned rig_room_left(const struct rig *r, unsigned output, unsigned vc);
unsigned rig_step(struct rig *r);
/* The same by the calls for single events, as the virtual clock makes them: grants, then arrivals. */
unsigned rig_events(struct rig *r);
/* Passes the packet that arrived first on `vc` of `input`; no waiting packet may leave. */
unsigned rig_pass(struct rig *r, unsigned input, unsigned vc);
/* Grants a waiting packet this output, the only one with credit; no packet arrived. */
uint64_t rig_grant(struct rig *r, unsigned output);
/* Takes the next packet that left by the output. */
bool rig_take(struct rig *r, unsigned output, struct rig_packet *p);
/* Takes that packet, and asserts that it is packet `id`, unchanged. */
void rig_expect(struct rig *r, unsigned output, uint32_t id);
/* Free blocks of the (input, VC). */
unsigned rig_space(const struct rig *r, unsigned input, unsigned vc);
/* Asserts that no packet waits, all buffers are free and all credit is returned. */
void rig_validate_empty(const struct rig *r);

/* ---- endpoints and a bad network ---- */

enum {
    CLOUD_ENDS = 4, /* at most, where the number is random */
    CLOUD_FRAMES = 1024,
    CLOUD_MESSAGES = 256,
    CLOUD_TURN = 1000 /* ns */
};

/* A packet in the network. */
struct cloud_frame {
    uint8_t *bytes;  /* HX_MAX_FRAME */
    uint16_t length; /* payload */
    uint8_t plane;
    unsigned to;
};

/* Faults of the network, in percent of packets. */
struct cloud_faults {
    unsigned lose, repeat, corrupt;
    unsigned keep; /* kept for another turn, which changes the order */
};

struct cloud_end {
    struct cloud *cloud;
    struct hx_endpoint_config config;
    struct hal_endpoint hal;
    struct hx_endpoint ep;
    struct hal_endpoint network_side;            /* the network's end of the endpoint's links */
    struct loopback_wire wire[2][HX_MAX_PLANES]; /* from and to the network */
    void *memory;
    uint32_t session;
    unsigned rank;
    int last_error; /* of the last FAILED */
    bool mute;      /* no credit to inject */
    bool off;       /* not stepped */
};

struct cloud {
    unsigned ends, planes, blocks;
    struct cloud_end *end;                  /* [ends] */
    struct cloud_frame frame[CLOUD_FRAMES]; /* unordered; those from `frames` on have a free buffer */
    unsigned frames;
    struct cloud_faults faults;
    struct messages messages;
    bool still; /* packets stay, in order */
    uint64_t now, random;
    uint64_t entered; /* packets */
    /* Looks at each packet that enters; false: the packet is lost. NULL: all enter. */
    bool (*gate)(struct cloud *, struct cloud_frame *);
    void *of_gate;
};

/* Makes `ends` endpoints at (0,0), (1,0), ... on one row, or with the columns of the configuration. All have the
 * same configuration; their ports have `blocks` per VC. */
void cloud_init(struct cloud *c, unsigned ends, const struct hx_endpoint_config *config, unsigned blocks,
                uint64_t seed);
/* The endpoint restarts with its next incarnation. */
void cloud_restart(struct cloud *c, unsigned end);
/* Sends a message; returns its number or an error. */
int cloud_send(struct cloud *c, unsigned from, unsigned to, uint64_t bytes);
void cloud_step(struct cloud *c);
/* Steps until the network is empty and all endpoints that are on are idle; false: not within that many steps. */
bool cloud_run(struct cloud *c, unsigned steps);
uint64_t cloud_drops(const struct cloud *c, unsigned end, enum hx_drop reason);

/* ---- a whole fabric ---- */

struct fabric_plan {
    unsigned a, b, x, y, planes, radix, taper;
    unsigned blocks;               /* buffer of a (port, VC) */
    struct loopback_faults faults; /* of every wire, with different seeds */
    uint64_t seed;
    const uint8_t *blocked; /* as in struct hx_blocked_boards */
    uint64_t timeout_ns;    /* of endpoints */
    uint8_t retries;
    bool check; /* of CRCs */
};

enum { FABRIC_JOB = 77 };

struct fabric_end {
    struct fabric *fabric;
    struct hal_endpoint hal;
    struct hx_endpoint ep;
    unsigned rank;
};

struct fabric_cable {
    struct loopback_wire wire[2];
    struct loopback_port *port[2]; /* wire[i] leads from port[i] */
};

struct fabric {
    struct hx_geometry g;
    struct fabric_plan plan;
    struct hal_switch *hal; /* [planes][nodes] */
    struct hx_switch *sw;   /* [planes][nodes] */
    struct fabric_end *end; /* by rank */
    struct fabric_cable *cable;
    unsigned cables;
    struct messages messages;
    uint64_t now, random;
    /* Looks at each packet as it is placed. */
    void (*placed)(struct fabric *, const struct hx_header *);
};

void fabric_init(struct fabric *f, const struct fabric_plan *plan, unsigned messages);
/* Whether the message was taken. */
bool fabric_send(struct fabric *f, unsigned from, unsigned to, uint64_t bytes);
/* Every switch and endpoint polls and steps once; time goes on. */
void fabric_step(struct fabric *f);
bool fabric_idle(const struct fabric *f);
/* Sum of a drop counter over all nodes and endpoints. */
uint64_t fabric_drops(const struct fabric *f, enum hx_drop reason);
/* Sessions that were begun because a link was suspect. */
unsigned fabric_suspected(const struct fabric *f);
/* Steps on until every block of credit is back; fails the test if it is not, or if a buffer is not free. */
void fabric_validate_empty(struct fabric *f);

#endif
