/* capture.h - from the rings of a tap (hal/tap_ring.h) into pcapng files: the one consumer, for both clocks.
 *
 *     capture_open(&c, &plan, &problem)            the file begins: section, interfaces
 *     while (...) capture_drain(&c, now, false)    records in the order of time, and what is ready is handed over
 *     capture_drain(&c, now, true)                 the rest, once nobody taps any more
 *     capture_close(&c)                            statistics
 *
 * Records of several rings are merged by time, at one time by rank (hal/tap_ring.h), then by interface. A record is
 * written when no ring can bring an earlier one: each has a later one, or its floor is later. By real time the floor is
 * when a ring was looked at, and a worker that is just writing is waited for, for HOLD_NS at most. Simulated time waits
 * itself: who waits for room has a record in its ring, and who waits for other workers has told its floor, so none of
 * them waits for ever.
 *
 * What cannot be written is counted, and the first error stays in c->report.error: who drains goes on, so that the
 * counts stay true. */
#ifndef CAPTURE_H
#define CAPTURE_H

#include "base/pcapng/write.h"
#include "fabric-emu/capture/annotations.h"
#include "fabric-emu/capture/memory.h"
#include "fabric-emu/capture/report.h"

struct capture_plan {
    const struct capture_memory *memory;
    const struct capture_ports *ports;
    const char *file;        /* "-" is stdout */
    const char *filter;      /* for the description of interfaces; NULL: none */
    const char *note;        /* the section's comment: what fabric this is */
    const char *application; /* who writes */
    uint64_t epoch_ns;       /* added to the records' times */
    uint64_t most;           /* frames to write, then capture_is_full(); 0: any number */
    uint64_t rotate_bytes;   /* begin another file behind so many; 0: never */
    uint64_t rotate_files;   /* keep the last so many; 0: all */
    bool simulated;          /* times are simulated, and rings tell their floors */
};

struct capture_lane {
    struct hx_tap_consumer in;
    struct hx_tap_record *next;
    uint64_t floor; /* what follows is not before this time */
};

struct capture {
    struct capture_plan plan;
    struct capture_report report;
    struct capture_lane *lane; /* [rings] */
    uint64_t *dropped;         /* [interfaces]: as the last record said */
    uint64_t *unwritten;       /* [interfaces] */
    struct hx_pcapng_writer writer;
    struct hx_pcapng_fd out;
    uint64_t offered; /* frames given to the writer for the present file */
    uint8_t *room;
    struct capture_annotations annotations;
    uint64_t begun_ns, last_ns; /* when the capture began, and the latest record; with epoch_ns */
    bool reader_left;           /* who read along has closed the pipe */
};

/* false: the file cannot be opened or written. *plan and what it points to must outlive the capture. */
bool capture_open(struct capture *c, const struct capture_plan *plan, uint64_t now, struct hx_problem *problem);

/* Takes records out. now: read by the clock of the records before the call, of no meaning to simulated time; `all`: to
 * the last one. Returns how many. */
uint64_t capture_drain(struct capture *c, uint64_t now, bool all);

/* One record, which is the next. */
void capture_write(struct capture *c, struct hx_tap_record *r);

/* Who reads along gets what was written up to now. */
void capture_flush(struct capture *c);

bool capture_is_full(const struct capture *c);

/* Ends the file; the report is complete. */
void capture_close(struct capture *c);

/* The note of a run's capture says "span=part" until the run has come to its end, so that a file that was cut off does
 * not claim to be whole; then capture_say_whole makes it "span=run". What cannot be written again, such as a pipe, has
 * to say "span=run" from the start. */
bool capture_can_say_more(const char *file);
void capture_say_whole(const struct capture_report *r);

/* Adds up what the tap has counted. */
void capture_count(struct capture_report *report, const struct capture_memory *memory);

/* Forgets a capture that another process goes on with, a fork of this one. */
void capture_leave(struct capture *c);

/* Name of the n-th (1, 2, ...) of rotating files: run.pcapng is run.00001.pcapng. */
void capture_file_name(char *name, size_t bytes, const char *file, uint64_t n);

#endif
