/* faults.h - faults under the virtual clock: who learns of them when, and what they cost.
 *
 *     0          the link is dead: what is on it, and what is sent, is lost (hal/virtual/fault.h)
 *     detect     the nodes at both ends have heard nothing for so long: they close their ports and route without them, and
 *                with them again when the link has been up for as long
 *     + tell     everybody is told that ways have changed: routers of fabrics whose ways are searched have new tables
 *                (host/topology/ways.h), and endpoints ask again for what waits for a way
 *
 * A fault is over for the traffic when every message of which it hit a packet has been acknowledged, or its sender told that it
 * cannot be: `whole`. Messages are known by source, destination and number. */
#ifndef FAULTS_H
#define FAULTS_H

#include "fault.h"
#include "model.h"

struct worker;

enum {
    FAULTS_SILENT_PERIODS = 3 /* credit frames that are missed until a link counts as dead: detect is so many periods */
};

/* What one worker counted of one fault; shared. */
struct model_fault {
    struct virtual_fault_cost cost;
    uint64_t hits;  /* packets that were lost or damaged on links it sends by */
    uint64_t whole; /* ps: when the last of the messages that its own accelerators sent ended */
    uint64_t open;  /* packets of messages of its own accelerators that had not ended with the run */
};

/* A packet that was lost or damaged; shared. */
struct model_hit {
    uint32_t from, to; /* ranks, of the message */
    uint32_t message;
    uint32_t fault;
};

/* What is known of hits across workers; shared. */
struct model_hits {
    uint64_t count;
    uint64_t unlisted; /* more than there is room for */
    struct model_hit hit[];
};
enum { MODEL_HITS = 1 << 20 /* of all workers: of more it is not known when traffic was whole, whoever has them */ };

/* Of one worker. */
struct faults;

/* Binds the links that have faults and notes when entities are told of them. After all links were bound. */
struct faults *faults_start(struct worker *w, struct virtual_entity *const *of_node);

/* The fabric as a node of this worker knows it now, by its entity. */
const struct hx_fabric *faults_fabric(struct faults *f, const struct virtual_node *n);

/* A message of an accelerator of this worker has ended. */
void faults_note_end(struct faults *f, uint32_t from, uint32_t to, uint32_t message, uint64_t now);

/* When all workers have ended: adds up when messages that were hit anywhere ended. */
void faults_settle(struct faults *f);

/* Bytes that workers share: of model_fault [workers][faults] and of hits. */
size_t faults_shared_bytes(const struct model *m);

struct result;
/* What all workers together counted, when none of them runs any more. */
void faults_gather(struct result *r, const struct model *m);

#endif
