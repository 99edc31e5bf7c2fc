/* recording.h - the capture of a run under the virtual clock: workers tap (hal/virtual/tap.h), a process of its own
 * writes.
 *
 *     recording_open     before the workers: chooses ports, makes the memory, begins the file
 *     recording_start    starts the writer
 *     recording_tap      in each worker
 *     recording_stop     after the workers: writes the rest
 *
 * Over ranks only the first launcher has a writer, with one ring: worker 0 gets the frames of all (hal/virtual/tap.h).
 * The memory of other launchers only counts frames, until their worker hands over its counts.
 *
 * fabric-emu/capture/capture.h says how records of several workers are merged. */
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
    struct shm_arena arena;       /* of the run; the writer closes it */
    struct capture_writer writer;
    uint32_t *interface; /* [planes * links]: as in struct virtual_tap */
    bool annotate;
    bool patched; /* the file says "span=part" until it is complete */
    char note[HX_PCAPNG_MOST_NOTE];
};

/* Opens file and memory. Dies with one line if it cannot. */
void recording_open(struct recording *r, const struct model *m, const struct hx_capture_settings *settings);
/* Only of the launcher that reports. */
void recording_start(struct recording *r);
struct virtual_tap *recording_tap(const struct recording *r, const struct model *m, unsigned self);
/* Whether the child that ended was the writer. */
bool recording_ended(const struct recording *r, int pid);
/* Lets workers continue without the writer. */
void recording_abandon(const struct recording *r);
/* Writes the rest after all workers ended. whole: the run came to its end. */
void recording_stop(struct recording *r, bool whole);
void recording_close(struct recording *r);

#endif
