/* external.h - the supervisor's part of external accelerators: opens their cables, starts QEMU images (machines.h),
 * waits for them, reports.
 *
 *     opened before any worker is forked -> workers bridge (bridge.h) -> all up: the run begins -> ... -> reported, closed
 *
 * A run succeeds when all messages to them are acknowledged, all theirs have arrived (where the traffic is counted),
 * and their cables are quiet. It fails with one line when one is away for longer than its `wait`: code 4 if it never
 * came, 1 later. It fails with 1 when its messages are due and none arrives for that long. */
#ifndef EXTERNAL_H
#define EXTERNAL_H

#include "fabric.h"
#include "hal/wire/wire.h"
#include "machines.h"
#include "workload/traffic.h"

#include <jansson.h>

/* State of one external entry. */
struct external_state {
    uint64_t due_to, due_from; /* messages with local hosts, in all; both 0: unlimited */
    uint64_t away_ns;          /* time since when it is away; 0: present */
};

struct external {
    const struct fab_fabric *f;
    struct wire *wire;            /* [spec.externals][HX_CABLE_PORTS]; NULL: there are none */
    struct external_state *state; /* [spec.externals] */
    struct machines machines;
    uint64_t watched_ns; /* time of the first external_watch() */
};

/* Opens all cables. Returns false: the machine refused (HX_EXIT_ENVIRONMENT), or a plane does not exist. *f must
 * outlive *x. */
bool external_open(struct external *x, const struct fab_fabric *f, struct hx_problem *problem);
void external_close(struct external *x);

/* Sets the messages that are due, for traffic that is counted. */
void external_expect(struct external *x, const struct traffic *traffic);

/* Accepts connections, starts machines, and checks that none is away. Returns false: one is away for too long, or a
 * machine does not start. Call it every few milliseconds. */
bool external_watch(struct external *x, uint64_t now, struct hx_problem *problem);

/* Reports the traffic of each cable. Without external accelerators, external_print() prints no line. */
json_t *external_json(const struct external *x);
void external_print(const struct external *x);

#endif
