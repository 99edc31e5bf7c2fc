/* capture.h - from the rings of a tap (hal/tap_ring.h) to pcapng files: the only consumer, for both clocks.
 *
 *     capture_open(&c, &plan, &problem)           begins the file: section, interfaces
 *     while (...) capture_drain(&c, now, false)   writes records in the order of time, frees their room
 *     capture_drain(&c, now, true)                writes the rest, after all taps stopped
 *     capture_close(&c)                           writes statistics
 *
 * Records of several rings are merged by time, then by rank (hal/tap_ring.h), then by interface. A record is written
 * when no ring can bring an earlier one: each ring has a later record or a later floor.
 * Wall clock: the floor is the time of the last look at the ring. A worker that is writing holds the merge for at most
 * HOLD_NS.
 * Virtual clock: workers publish floors. A worker that waits for room has a record in its ring; one that waits for
 * other workers has published its floor. So the merge never blocks.
 *
 * Failed writes are counted, and c->report.error keeps the first error. Draining continues, so the counts stay true. */
#ifndef CAPTURE_H
#define CAPTURE_H

#include "base/pcapng/write.h"
#include "fabric-emu/capture/annotations.h"
#include "fabric-emu/capture/capture_report.h"
#include "fabric-emu/capture/memory.h"

struct capture_plan {
    const struct capture_memory *memory;
    const struct capture_ports *ports;
    const char *file;        /* "-" is stdout */
    const char *filter;      /* text for the description of interfaces; NULL: none */
    const char *note;        /* comment of the section: the fabric */
    const char *application; /* name of the program */
    uint64_t epoch_ns;       /* added to the records' times */
    uint64_t most;           /* frames to write until capture_is_full(); 0: no limit */
    uint64_t rotate_bytes;   /* size of a file before the next one begins; 0: no limit */
    uint64_t rotate_files;   /* number of files to keep; 0: all */
    bool simulated;          /* times are simulated, and rings have floors */
};

struct capture_source {
    struct hx_tap_consumer in;
    struct hx_tap_record *next;
    uint64_t floor; /* lower bound of times to come */
};

struct capture {
    struct capture_plan plan;
    struct capture_report report;
    struct capture_source *source; /* [rings] */
    uint64_t *dropped;             /* [interfaces]: from the last record */
    uint64_t *unwritten;           /* [interfaces] */
    struct hx_pcapng_writer writer;
    struct hx_pcapng_fd out;
    uint64_t offered; /* frames given to the writer for the current file */
    uint8_t *room;
    struct capture_annotations annotations;
    uint64_t begun_ns, last_ns; /* start of the capture, and latest record; with epoch_ns */
    bool reader_left;           /* the pipe's reader closed it */
};

/* Begins the first file. Returns false if it cannot be opened or written. *plan and its targets must outlive the
 * capture. */
bool capture_open(struct capture *c, const struct capture_plan *plan, uint64_t now, struct hx_problem *problem);

/* Writes records that are due, or all. now: the records' clock, read before the call; unused for simulated time.
 * Returns the number of records. */
uint64_t capture_drain(struct capture *c, uint64_t now, bool all);

/* Writes one record, the next in order. */
void capture_write(struct capture *c, struct hx_tap_record *r);

/* Flushes, so that a reader of the pipe gets all records. */
void capture_flush(struct capture *c);

bool capture_is_full(const struct capture *c);

/* Ends the file and completes the report. */
void capture_close(struct capture *c);

/* The note of a run's capture says "span=part" until the run ends, so that a file that was cut off is not taken for
 * complete. capture_say_whole() makes it "span=run". A pipe cannot be rewritten, so its note says "span=run" from the
 * start. */
bool capture_can_say_more(const char *file);
void capture_say_whole(const struct capture_report *r);

void capture_count(struct capture_report *report, const struct capture_memory *memory);

/* Forgets a capture that a forked process continues. */
void capture_leave(struct capture *c);

/* Name of the n-th (1, 2, ...) of rotating files: run.pcapng gives run.00001.pcapng. */
void capture_file_name(char *name, size_t bytes, const char *file, uint64_t n);

#endif
