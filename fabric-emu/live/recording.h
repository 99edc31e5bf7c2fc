/* recording.h - captures a running fabric into a file: from another process, or in a child of the run's supervisor. */
#ifndef RECORDING_H
#define RECORDING_H

#include "attach.h"
#include "fabric-emu/capture/writer.h"
#include "spec/capture_settings.h"

/* Settings of a capture, and the options that set them. */
struct recording_plan {
    const struct hx_capture_settings *settings;
    const char *ports_option, *filter_option; /* for error messages */
    bool whole_run;                           /* from before the first packet to the end */
    unsigned wait_slots; /* frames for which the fabric waits (fabric-emu/capture/memory.h); 0: it drops */
    uint64_t most;       /* frames; 0: unlimited */
    uint64_t rotate_bytes, rotate_files;
};

/* The fabric as this process maps it. */
struct recording_fabric {
    const struct hx_metrics_head *metrics;
    const struct fab_head *head;
    struct fab_control *control;
    struct shm_arena arena; /* not owned */
    const struct hx_fabric *g;
};

struct recording {
    struct recording_fabric fabric;
    struct shm_clock clock;
    struct capture_ports ports;
    struct capture_memory memory;
    struct capture capture;
    char note[FAB_NOTE_BYTES];
    bool whole_later;         /* the note says "span=part" until the run has ended */
    int faults;               /* descriptor of the fault log */
    uint64_t faults_seen;     /* of control->faults.begun: annotated so far */
    uint64_t faults_settled;  /* of control->faults.settled: annotated so far */
    uint64_t faults_relevant; /* faults below this number affect no later frame */
    int slot;                 /* -1: none */
    struct capture_writer writer;
};

/* Prepares everything and begins the file. Taps nothing yet. */
bool recording_open(struct recording *r, const struct recording_plan *plan, const struct recording_fabric *fabric,
                    struct hx_problem *problem);
/* Begins to tap. Returns false: all slots are in use. */
bool recording_tap(struct recording *r, struct hx_problem *problem);
/* Waits, at most two seconds, until every worker taps. Returns how many do. */
unsigned recording_await(const struct recording *r);
/* Writes until `more` returns false; then stops tapping and writes the rest. `wake`: descriptor that ends a pause; -1:
 * none. */
void recording_run(struct recording *r, int wake, bool (*more)(struct recording *r, void *of), void *of);
/* Ends the file and frees memory; r->capture.report stays. */
void recording_close(struct recording *r);

/* ---- a whole run, by a process of its own ---- */

/* Starts the capture before any worker runs. Ends the program on an error. */
void recording_start(struct recording *r, const struct recording_plan *plan, const struct recording_fabric *fabric);
/* Ends the capture after the workers, as capture_writer_stop() does, and frees memory. */
void recording_stop(struct recording *r, bool whole, struct capture_report *report);

#endif
