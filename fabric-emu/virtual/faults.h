/* faults.h - faults under the virtual clock: times of detection and notification, and their cost.
 *
 *     0         the link is dead; it loses packets on it and packets sent to it (hal/virtual/fault.h)
 *     detect    both ends missed credit frames for that long: they close their ports and reroute; the same when the
 *               link has been up for that long
 *     + notify  the fabric is notified: routers with searched routes get new tables (topology/updown.h), and endpoints
 *               retry messages that wait for a path
 *
 * Traffic is repaired (`whole`) when each message that lost a packet is acknowledged or reported as failed to its
 * sender. Source, destination and number identify a message. */
#ifndef FAULTS_H
#define FAULTS_H

#include "model.h"

struct worker;

enum {
    FAULTS_SILENT_PERIODS = 3 /* missed credit frames until a link counts as dead; their time is `detect` */
};

/* Time between two credit frames, ps. */
static inline uint64_t faults_period(const struct model *m)
{
    return m->detect_ns * 1000 / FAULTS_SILENT_PERIODS;
}

struct faults;

/* Binds links with faults and notes the times of their events. Call after all links are bound. */
struct faults *faults_start(struct worker *w, struct virtual_sim_node *const *of_node);

/* Notes that a message of this worker's accelerator ended. */
void faults_note_end(struct faults *f, uint32_t from, uint32_t to, uint32_t message, uint64_t now);

/* Finds when the messages that lost packets on any worker ended. All workers call it after the last window; it takes a
 * turn. */
void faults_settle(struct faults *f);

struct result;
/* Adds up the counts of all workers, after they ended. */
void faults_gather(struct result *r, const struct model *m);

#endif
