/* machines.h - all accelerators that the supervisor starts itself (machine.h), from their start to the report. */
#ifndef MACHINES_H
#define MACHINES_H

#include "machine.h"

struct machines {
    const struct fab_fabric *f;
    const struct traffic *traffic;
    struct machine *list; /* [count]; NULL: none */
    unsigned count;
    bool restart; /* machines that end */
};

/* Initializes the machines of the fabric file. *f must outlive *m. */
void machines_open(struct machines *m, const struct fab_fabric *f);
void machines_close(struct machines *m);

/* Returns the machine of an external entry, which must have one. */
struct machine *machines_of(const struct machines *m, unsigned external);

/* Sets the run's traffic, which must outlive *m. Returns false: an image cannot carry its part. */
bool machines_expect(struct machines *m, const struct traffic *traffic, bool restart, struct hx_problem *problem);

/* Starts machines that do not run, reads their output, and sends them the phase. Returns false: one cannot start, or
 * ends again and again. */
bool machines_attend(struct machines *m, struct hx_problem *problem);

/* Returns the machine of the ended process `pid`; NULL: none. */
const struct machine *machines_ended(struct machines *m, pid_t pid);

/* Ends all, and reads their last output. */
void machines_stop(struct machines *m);

/* Returns the messages that images have to send, of finite traffic. */
uint64_t machines_messages(const struct machines *m);
/* Whether no image received a wrong byte or failed a message. */
bool machines_are_good(const struct machines *m);

json_t *machines_json(const struct machines *m);
void machines_print(const struct machines *m);

#endif
