/* machine.h - an accelerator that the supervisor starts itself: an image without an operating system (bare-node/) in
 * QEMU.
 *
 *     machine_open -> machine_start -> machine_hear, machine_tell ... -> machine_stop -> machine_close
 *                          ^  '- it ended, or was killed: machine_ended -'
 *
 * Its cables are pairs of sockets, of which QEMU inherits one end each and the supervisor keeps both open: so an image
 * that is started again finds its cables as they were. QEMU ends with the supervisor, however that ends
 * (PR_SET_PDEATHSIG).
 *
 * The console is how both speak: bare-node/main.c says what goes over it. What else is said there is shown to the user
 * as warnings. Counts are summed over all that ran for this accelerator. */
#ifndef MACHINE_H
#define MACHINE_H

#include "fabric.h"
#include "topology/name.h"
#include "workload/traffic.h"

#include <jansson.h>
#include <sys/types.h>

enum { MACHINE_COUNTS = 40, MACHINE_LINE = 1024 };

struct machine_count {
    char name[32];        /* "" ends the list */
    uint64_t before, now; /* of those that have ended, 0 of a state; of the one that runs, or ran last */
    bool is_state;
};

struct machine {
    unsigned external; /* which entry of the file */
    uint32_t rank;
    unsigned harts;
    char name[HX_NAME_BYTES];  /* "a1,1/p0" */
    int cable[HX_CABLE_PORTS]; /* QEMU's ends; -1: no cable */
    int to, from;              /* the console; -1: none runs */
    pid_t pid;                 /* 0: none runs */
    unsigned starts;           /* of QEMU */
    unsigned hopeless;         /* ends in a row before it was ready */
    char told;                 /* the last letter */
    uint64_t stop_by;          /* of one that was asked to end: when it is ended */
    bool ready;
    struct machine_count count[MACHINE_COUNTS + 1];
    char line[MACHINE_LINE]; /* the one that is being read */
    unsigned line_bytes;
    unsigned lines; /* that were shown, or were to be, in this life */
};

/* What an image is told (bare-node/config.h), with random numbers of its own each time. To be freed. */
char *machine_text(const struct fab_fabric *f, const struct hx_external *e, const struct traffic *traffic);

/* Whether an image can carry that traffic; false: it cannot, and why. */
bool machine_takes(const struct traffic *traffic, uint32_t rank, const char *name, struct hx_problem *problem);

/* Of an entry of the file; its cables are plugged in afterwards. */
void machine_open(struct machine *m, const struct fab_fabric *f, unsigned external);

/* Starts QEMU; false: the machine (this one) refused. */
bool machine_start(struct machine *m, const char *text, struct hx_problem *problem);

/* Reads what it said. */
void machine_hear(struct machine *m);
/* Says a letter, unless it was the last one said. */
void machine_tell(struct machine *m, char letter);

/* Its process has ended by itself. */
void machine_ended(struct machine *m);
/* Asks it to end; machine_stop() then ends it. When several are asked first, they take no longer than one. */
void machine_ask_to_stop(struct machine *m);
/* Hears all that it says until it ends, but no longer than a while after it was asked, and ends it. Nothing if none
 * runs. */
void machine_stop(struct machine *m);
void machine_close(struct machine *m);

/* A number of all that ran; 0: none has said it. */
uint64_t machine_number(const struct machine *m, const char *name);
json_t *machine_json(const struct machine *m);

#endif
