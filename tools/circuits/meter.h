/* meter.h - times of demands that follow each other and differ little, as those of a Markov chain (chain.h).
 *
 * It keeps the loads of each exchange and adds only what changed: an exchange costs (servers + links x changes), not
 * links x servers. */
#ifndef HXMESH_TOOLS_CIRCUITS_METER_H
#define HXMESH_TOOLS_CIRCUITS_METER_H

#include "tools/circuits/time.h"

/* Where demands are timed. circuits_time_warm() has been called, so that all threads may read it at once. */
struct circuits_ground {
    struct network_of_servers *network;
    const struct circuits_ring *ring;
    unsigned rings;
};

struct circuits_meter;

struct circuits_meter *circuits_meter_new(const struct circuits_ground *g);
/* NULL is allowed. */
void circuits_meter_free(struct circuits_meter *m);

/* Seconds of an iteration, that of circuits_time_of() but for rounding: relative errors are below 1e-9. */
double circuits_meter_seconds(struct circuits_meter *m, const struct circuits_demand *d);

#endif
