/* writer.h - the process that writes the capture of a run: a child of the supervisor, so that a disk that hangs blocks
 * no other process.
 *
 *     capture_writer_start     before the workers
 *     capture_writer_stop      after the workers: writes the rest
 *
 * It ends when the supervisor stops it, or is gone. A run that did not come to its end leaves a file with
 * "span=part". */
#ifndef CAPTURE_WRITER_H
#define CAPTURE_WRITER_H

#include "fabric-emu/capture/capture.h"

struct capture_writer {
    struct capture *capture; /* begun */
    bool patched;            /* the file says "span=part" until it is complete */
    int supervisor;          /* its process id */
    int pid;                 /* of the writer */
    int ends;                /* descriptor that becomes readable when the writer ends */
    struct capture_writer_shared *shared;
};

/* The writer's work: calls capture_writer_begins(), takes records while capture_writer_goes_on(), takes the rest,
 * closes the capture. Returns false if it cannot begin. */
typedef bool capture_writer_work(struct capture_writer *w, void *of, struct hx_problem *problem);

/* Starts the writer and waits until it has begun; dies with one line if it cannot. The writer owns the capture after
 * this call. */
void capture_writer_start(struct capture_writer *w, struct capture *c, bool patched, capture_writer_work *work,
                          void *of);

/* For the writer's work. */
void capture_writer_begins(const struct capture_writer *w);
bool capture_writer_goes_on(const struct capture_writer *w);

/* Waits for the rest to be written, after all workers ended. whole: the run came to its end. report->error is
 * EOWNERDEAD if the writer was killed. */
void capture_writer_stop(struct capture_writer *w, bool whole, struct capture_report *report);

#endif
