/* support_loopback.h - what tests of switches, endpoints and whole fabrics share: parts of the example platform set up
 * for a judge to look at.
 *
 *     rig     one switch without wires: the test puts packets into its inputs and decides the room of its outputs
 *     cloud   endpoints joined by a network that may lose, repeat, corrupt and reorder packets
 *     fabric  a whole HammingMesh, all planes
 *
 * Memory is the lab's. */
#ifndef HXMESH_TESTS_SUPPORT_LOOPBACK_H
#define HXMESH_TESTS_SUPPORT_LOOPBACK_H

#include "hal_port.h"
#include "tests/support/support_lab.h"
#include "tests/support/support_messages.h"

/* ---- one switch ---- */

struct rig {
    struct hal_switch hal;
    struct hx_switch sw;
    struct loopback_wire *wire; /* [ports]: outputs */
    uint8_t sets[256];          /* accelerator: x_table. The ports for gx, to be written by the test */
    uint8_t any[256];           /* accelerator: y_table, all ones */
    uint64_t tree[256];         /* router: ports for gx */
    uint64_t all[256];          /* likewise for gy, which says nothing */
    uint64_t from[HX_MAX_RADIX], returns[HX_MAX_RADIX];
    unsigned blocks;
    uint64_t now;
};

/* A packet that is at an output, read from the bytes of its frame. */
struct rig_packet {
    unsigned via;
    uint32_t id;
    unsigned vc, hops, length, gx, gy;
    bool intact; /* payload and header are as they were put in */
};

enum { RIG_JOB = 7 };

/* A switch of `kind` whose routes are free to write: destination (gx, any gy) may leave by rig.sets[gx] (rig.tree[gx]).
 * `raise`: ports that lead off the board. No output has room. */
void rig_init(struct rig *r, enum hx_node_kind kind, unsigned ports, unsigned raise, unsigned blocks);
/* Makes a packet arrive. false: the buffer has no room. */
bool rig_arrive(struct rig *r, unsigned input, unsigned vc, uint32_t id, unsigned gx, unsigned length);
/* Likewise, with every field at the test's choice; the buffer must have room. */
void rig_arrive_as(struct rig *r, unsigned input, unsigned vc, uint32_t id, const struct hx_desc *d);
/* What an output may send on a VC from now on. */
/* A tree switch with links at the ports `up`, of which those in `above` lead to spines. */
void rig_links(struct rig *r, uint64_t up, uint64_t above);
void rig_room(struct rig *r, unsigned output, unsigned vc, unsigned blocks);
void rig_room_everywhere(struct rig *r, unsigned blocks);
unsigned rig_room_left(const struct rig *r, unsigned output, unsigned vc);
unsigned rig_step(struct rig *r);
/* The packet that came on `vc` of `input`, and nothing else did, while nobody waits. */
unsigned rig_pass(struct rig *r, unsigned input, unsigned vc);
/* Nothing came, and no output has room for who waits but this one. */
unsigned rig_grant(struct rig *r, unsigned output);
/* The next packet that left by the output. */
bool rig_take(struct rig *r, unsigned output, struct rig_packet *p);
/* It is there, is this one and is intact. */
void rig_expect(struct rig *r, unsigned output, uint32_t id);
/* Blocks that the (input, VC) can still take. */
unsigned rig_space(const struct rig *r, unsigned input, unsigned vc);
/* Nothing waits, every buffer is free and every block of credit given back. */
void rig_validate_empty(const struct rig *r);

/* ---- endpoints and a bad network ---- */

enum {
    CLOUD_ENDS = 4, /* where their number is drawn, at most */
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

/* What the network does, in percent of the packets. */
struct cloud_faults {
    unsigned lose, repeat, corrupt;
    unsigned keep; /* stays for another turn, so that the order changes */
};

struct cloud_end {
    struct cloud *cloud;
    struct hx_endpoint_config config;
    struct hal_endpoint hal;
    struct hx_endpoint ep;
    struct hal_endpoint attach_socket;           /* where the network takes its packets and hands it others */
    struct loopback_wire wire[2][HX_MAX_PLANES]; /* from it, to it */
    void *memory;
    uint32_t session;
    unsigned rank;
    int last_error; /* of the last FAILED */
    bool mute;      /* no room to inject */
    bool off;       /* not stepped */
};

struct cloud {
    unsigned ends, planes, blocks;
    struct cloud_end *end;                  /* [ends] */
    struct cloud_frame frame[CLOUD_FRAMES]; /* in no order; those from `frames` on have a buffer that is free */
    unsigned frames;
    struct cloud_faults faults;
    struct messages messages;
    bool still; /* nothing leaves it, and all keeps its order */
    uint64_t now, random;
    uint64_t entered; /* packets */
    /* Looks at each packet that enters; false: it is taken away. NULL: nobody looks. */
    bool (*gate)(struct cloud *, struct cloud_frame *);
    void *of_gate;
};

/* `ends` endpoints at (0,0), (1,0), ... of a fabric of no more columns and of one row, or of as many as the
 * configuration says, configured alike; their ports have `blocks` a VC. */
void cloud_init(struct cloud *c, unsigned ends, const struct hx_endpoint_config *config, unsigned blocks,
                uint64_t seed);
/* The endpoint begins anew as its next incarnation. */
void cloud_restart(struct cloud *c, unsigned end);
/* A message; its number, or an error. */
int cloud_send(struct cloud *c, unsigned from, unsigned to, uint64_t bytes);
void cloud_step(struct cloud *c);
/* Steps until the network is empty and all endpoints that are on are idle. false: not within so many steps. */
bool cloud_run(struct cloud *c, unsigned steps);
uint64_t cloud_drops(const struct cloud *c, unsigned end, enum hx_drop reason);

/* ---- a whole fabric ---- */

struct fabric_plan {
    unsigned a, b, x, y, planes, radix, taper;
    unsigned blocks;               /* buffer of a (port, VC) */
    struct loopback_faults faults; /* of every wire, each with its own seed */
    uint64_t seed;
    const uint8_t *blocked; /* as struct hx_blocked_boards */
    uint64_t timeout_ns;    /* of endpoints */
    uint8_t retries;
    bool check; /* of the CRC */
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
    struct hx_switch *sw;   /* likewise */
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
