/* recording.h - captures a running fabric into a file: from another process, or in a child of the run's supervisor. */
#ifndef RECORDING_H
#define RECORDING_H

#include "attach.h"
#include "fabric-emu/capture/writer.h"
#include "spec/capture_settings.h"

/* What is captured, and where the options that say so come from. */
struct recording_plan {
    const struct hx_capture_settings *settings;
    const char *ports_option, *filter_option; /* for errors */
    bool whole_run;                           /* from before the first packet to the end */
    unsigned wait_slots; /* the fabric waits for room (fabric-emu/capture/memory.h); 0: it does not */
    uint64_t most;       /* frames; 0: any number */
    uint64_t rotate_bytes, rotate_files;
};

/* The fabric, as this process sees it. */
struct recording_fabric {
    const struct hx_metrics_head *metrics;
    const struct fab_head *head;
    struct fab_control *control;
    struct shm_arena arena; /* stays its owner's */
    const struct hx_fabric *g;
};

struct recording {
    struct recording_fabric fabric;
    struct shm_clock clock;
    struct capture_ports ports;
    struct capture_memory memory;
    struct capture capture;
    char note[FAB_NOTE_BYTES];
    bool whole_later;     /* the file says "span=part" until the run has come to its end */
    int faults;           /* the log of faults */
    uint64_t faults_seen; /* of control->faults: these are remarked */
    uint64_t faults_felt; /* .. and those before are felt no more */
    int slot;             /* -1: none taken */
    struct capture_writer writer;
};

/* Prepares everything and begins the file; taps nothing yet. */
bool recording_open(struct recording *r, const struct recording_plan *plan, const struct recording_fabric *fabric,
                    struct hx_problem *problem);
/* Taps. false: other captures have all slots. */
bool recording_tap(struct recording *r, struct hx_problem *problem);
/* Waits until every worker taps; for two seconds at most. Returns how many do. */
unsigned recording_await(const struct recording *r);
/* Writes until `more` says no; then taps no longer and writes what is left. `wake`: a descriptor that cuts waiting
 * short, -1: none. */
void recording_run(struct recording *r, int wake, bool (*more)(struct recording *r, void *of), void *of);
/* Ends the file and frees; r->capture.report stays. */
void recording_close(struct recording *r);

/* ---- a run, from its start, by a process of its own ---- */

/* Dies with one line if that cannot be. Call before any worker runs. */
void recording_start(struct recording *r, const struct recording_plan *plan, const struct recording_fabric *fabric);
/* No worker runs any more: as capture_writer_stop() says, and frees. */
void recording_stop(struct recording *r, bool whole, struct capture_report *report);

#endif
