/* machine.h - an accelerator that the supervisor starts: an image without an operating system (nodes/bare/) in QEMU.
 *
 *     machine_open -> machine_start -> machine_read, machine_send ... -> machine_stop -> machine_close
 *                          ^  '- it ended, or was killed: machine_ended -'
 *
 * Its cables are socket pairs. QEMU inherits one end of each, the supervisor keeps both open: a restarted image finds
 * its cables unchanged. QEMU ends with the supervisor in any case (PR_SET_PDEATHSIG).
 *
 * Both talk over the console, as nodes/bare/main.c describes. Other lines of the console are shown as warnings. Counts
 * are sums over all starts of this accelerator. */
#ifndef MACHINE_H
#define MACHINE_H

#include "fabric.h"
#include "topology/name.h"
#include "workload/traffic.h"

#include <jansson.h>
#include <sys/types.h>

enum { MACHINE_COUNTS = 40, MACHINE_LINE = 1024 };

struct machine_count {
    char name[32];        /* "": end of the list */
    uint64_t before, now; /* before: sum of ended runs, 0 for a state; now: of the last run */
    bool is_state;
};

struct machine {
    unsigned external; /* index in spec.external */
    uint32_t rank;
    unsigned harts;
    char name[HX_NAME_BYTES];  /* "a1,1/p0" */
    int cable[HX_CABLE_PORTS]; /* QEMU's ends; -1: none */
    int to, from;              /* console; -1: not running */
    pid_t pid;                 /* 0: not running */
    unsigned starts;           /* of QEMU */
    unsigned hopeless;         /* consecutive ends before it was ready */
    char sent;                 /* the last letter sent */
    uint64_t stop_by;          /* ns: deadline after a request to stop */
    bool ready;
    struct machine_count count[MACHINE_COUNTS + 1];
    char line[MACHINE_LINE]; /* being read */
    unsigned line_bytes;
    unsigned lines; /* of this run, beside counts */
};

/* Returns the configuration of an image (nodes/bare/config.h), with new random numbers each time. For free(). */
char *machine_text(const struct fab_fabric *f, const struct hx_external *e, const struct traffic *traffic);

/* Whether an image can carry that traffic; false: *problem says why not. */
bool machine_supports(const struct traffic *traffic, uint32_t rank, const char *name, struct hx_problem *problem);

/* Initializes the machine of an external entry; its cables are set later. */
void machine_open(struct machine *m, const struct fab_fabric *f, unsigned external);

/* Starts QEMU. Returns false: the environment refused. */
bool machine_start(struct machine *m, const char *text, struct hx_problem *problem);

/* Reads console output. */
void machine_read(struct machine *m);
/* Sends a letter, unless it was the last one sent. */
void machine_send(struct machine *m, char letter);

/* Its process has ended by itself: adds up its counts. */
void machine_ended(struct machine *m);
/* Requests a stop, for machine_stop(): several machines then stop at the same time. */
void machine_ask_to_stop(struct machine *m);
/* Reads output until the machine ends or its deadline passes, then kills it. Does nothing if none runs. */
void machine_stop(struct machine *m);
void machine_close(struct machine *m);

/* Returns a count over all runs; 0: never reported. */
uint64_t machine_number(const struct machine *m, const char *name);
json_t *machine_json(const struct machine *m);

#endif
