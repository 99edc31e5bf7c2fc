/* external.h - the supervisor's side of accelerators that run elsewhere: opens their cables, starts those that are
 * images in QEMU (machines.h), waits for them, reports.
 *
 *     opened before any worker is forked -> workers bridge (bridge.h) -> all up: the run begins -> ... -> reported, closed
 *
 * A run ends well when everything that is known here is done: all that was sent to them is acknowledged, all that they
 * have to send has come (where the traffic is counted), and their cables are quiet. It ends badly, with one line, when
 * one of them is away for longer than its `wait`: 4 if it never came, 1 later; and with 1 when messages of theirs are
 * still due and nothing has come for that long. */
#ifndef EXTERNAL_H
#define EXTERNAL_H

#include "fabric.h"
#include "hal/wire/wire.h"
#include "machines.h"
#include "workload/traffic.h"

#include <jansson.h>

/* Of one entry. */
struct external_state {
    uint64_t due_to, due_from; /* messages with accelerators here, in all; both 0: no end is known */
    uint64_t away_ns;          /* since when; 0: it is there */
};

struct external {
    const struct fab_fabric *f;
    struct wire *wire;            /* [spec.externals][HX_CABLE_PORTS]; NULL: there are none */
    struct external_state *state; /* [spec.externals] */
    struct machines machines;
    uint64_t watched_ns; /* when the supervisor looked first */
};

/* false: the machine refused (HX_EXIT_ENVIRONMENT), or a plane is not there. *f must outlive *x. */
bool external_open(struct external *x, const struct fab_fabric *f, struct hx_problem *problem);
void external_close(struct external *x);

/* The traffic of the run, where it is one of messages. */
void external_expect(struct external *x, const struct traffic *traffic);

/* Takes in who comes and goes, starts machines, and looks who is away. false: for too long, or a machine cannot be
 * started. Call every few milliseconds. */
bool external_watch(struct external *x, uint64_t now, struct hx_problem *problem);

/* What went over which cable. The text is nothing where there are none. */
json_t *external_json(const struct external *x);
void external_print(const struct external *x);

#endif
