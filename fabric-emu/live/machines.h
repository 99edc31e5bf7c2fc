/* machines.h - all accelerators of a fabric that the supervisor starts itself (machine.h), from the first start to the
 * report. */
#ifndef MACHINES_H
#define MACHINES_H

#include "machine.h"

struct machines {
    const struct fab_fabric *f;
    const struct traffic *traffic;
    struct machine *list; /* [count]; NULL: there are none */
    unsigned count;
    bool restart; /* those that end */
};

/* Those that the fabric's file names. *f must outlive *m. */
void machines_open(struct machines *m, const struct fab_fabric *f);
void machines_close(struct machines *m);

/* The one of an entry of the file, which is one. */
struct machine *machines_of(const struct machines *m, unsigned external);

/* The traffic of the run, which outlives *m. false: an image cannot carry its part. */
bool machines_expect(struct machines *m, const struct traffic *traffic, bool restart, struct hx_problem *problem);

/* Starts those that do not run, hears what they say, and tells them in which phase the run is. false: one cannot be
 * started, or ends again and again. */
bool machines_attend(struct machines *m, struct hx_problem *problem);

/* A child of this process has ended: the machine that it was, NULL: none. */
const struct machine *machines_ended(struct machines *m, pid_t pid);

/* Ends all of them, and takes in what they say last. */
void machines_stop(struct machines *m);

/* Messages that images are to send, of traffic that ends. */
uint64_t machines_messages(const struct machines *m);
/* Whether no image has received a wrong byte or given up a message. */
bool machines_are_good(const struct machines *m);

json_t *machines_json(const struct machines *m);
void machines_print(const struct machines *m);

#endif
