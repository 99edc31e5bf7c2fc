/* recording.h - the capture of a run under the virtual clock: what workers tap (hal/virtual/tap.h), a process of its
 * own writes.
 *
 *     recording_open     before the workers: chooses ports, makes the memory, begins the file
 *     recording_start    begins the writer
 *     recording_tap      in each worker
 *     recording_stop     after the workers: the rest is written
 *
 * How records of several workers are merged: fabric-emu/capture/capture.h. */
#ifndef VIRTUAL_RECORDING_H
#define VIRTUAL_RECORDING_H

#include "fabric-emu/capture/writer.h"
#include "model.h"
#include "spec/capture_settings.h"

struct recording {
    struct capture_ports ports;
    struct capture_memory memory;
    struct capture capture;
    struct capture_report report; /* after recording_stop() */
    struct shm_arena arena;       /* of the run: the writer lets it go */
    struct capture_writer writer;
    uint32_t *interface; /* [planes * links]: as struct virtual_tap has it */
    unsigned workers;
    bool annotate;
    bool patched; /* the file says "span=part" until all is well */
    char note[HX_PCAPNG_MOST_NOTE];
};

/* Dies with one line if that cannot be. */
void recording_open(struct recording *r, const struct model *m, const struct hx_capture_settings *settings);
void recording_start(struct recording *r);
/* For worker `self`. */
struct virtual_tap *recording_tap(const struct recording *r, const struct model *m, unsigned self);
/* A child of this process has ended: whether it was the writer. */
bool recording_ended(const struct recording *r, int pid);
/* No worker waits for the writer any more. */
void recording_abandon(const struct recording *r);
/* No worker runs any more. whole: the run came to its end. */
void recording_stop(struct recording *r, bool whole);
void recording_close(struct recording *r);

#endif
