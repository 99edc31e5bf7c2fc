/* writer.h - the process that writes the capture of a run: a child of the supervisor, so that a disk that hangs stops
 * nobody.
 *
 *     capture_writer_start     before the workers
 *     capture_writer_stop      after the workers: the rest is written
 *
 * It ends when the supervisor says so, or is gone. A run that did not come to its end leaves a file that says
 * "span=part". */
#ifndef CAPTURE_WRITER_H
#define CAPTURE_WRITER_H

#include "fabric-emu/capture/capture.h"

struct capture_writer {
    struct capture *capture; /* begun */
    bool patched;            /* the file says "span=part" until all is well */
    int supervisor;          /* its process */
    int pid;                 /* of the writer */
    int ends;                /* descriptor that becomes readable when the writer ends */
    struct capture_writer_shared *shared;
};

/* What the writer does: tells capture_writer_begins(), takes records while capture_writer_goes_on(), takes the rest,
 * closes the capture. false: it cannot begin. */
typedef bool capture_writer_work(struct capture_writer *w, void *of, struct hx_problem *problem);

/* Returns when the writer has begun; dies with one line if that cannot be. The capture is the writer's from now on. */
void capture_writer_start(struct capture_writer *w, struct capture *c, bool patched, capture_writer_work *work,
                          void *of);

/* For the writer. */
void capture_writer_begins(const struct capture_writer *w);
bool capture_writer_goes_on(const struct capture_writer *w);

/* No worker waits for the writer any more. */
void capture_writer_give_up(const struct capture_writer *w);

/* No worker runs any more: waits for the rest to be written. whole: the run came to its end. report->error is
 * EOWNERDEAD if the writer was killed. */
void capture_writer_stop(struct capture_writer *w, bool whole, struct capture_report *report);

#endif
