/* faults.h - faults under the virtual clock: who learns of them when, and what they cost.
 *
 *     0          the link is dead: what is on it, and what is sent, is lost (hal/virtual/fault.h)
 *     detect     the nodes at both ends have heard nothing for so long: they close their ports and route without them, and
 *                with them again when the link has been up for as long
 *     + tell     everybody is told that ways have changed: routers of fabrics whose ways are searched have new tables
 *                (topology/updown.h), and endpoints ask again for what waits for a way
 *
 * A fault is over for the traffic when every message of which it hit a packet has been acknowledged, or its sender told
 * that it cannot be: `whole`. Messages are known by source, destination and number. */
#ifndef FAULTS_H
#define FAULTS_H

#include "model.h"

struct worker;

enum {
    FAULTS_SILENT_PERIODS = 3 /* credit frames that are missed until a link counts as dead: detect is so many periods */
};

/* Of one worker. */
struct faults;

/* Binds the links that have faults and notes when entities are told of them. After all links were bound. */
struct faults *faults_start(struct worker *w, struct virtual_sim_node *const *of_node);

/* A message of an accelerator of this worker has ended. */
void faults_note_end(struct faults *f, uint32_t from, uint32_t to, uint32_t message, uint64_t now);

/* When all workers have ended: adds up when messages that were hit anywhere ended. */
void faults_settle(struct faults *f);

struct result;
/* What all workers together counted, when none of them runs any more. */
void faults_gather(struct result *r, const struct model *m);

#endif
