/* flows.h - traffic from a file: a list of messages, or a matrix of bytes.
 *
 *     start,source,destination,bytes      a list: each message begins at its time from the start of the run,
 *     0,0,5,64KiB                         messages of one source in file order. A place is a rank, gx:gy, agx:gy or
 *     10us,a1:0,"a5,3",1MiB               "gx,gy" in quotes. Columns may be in any order
 *
 *     0,4096,0,...                        a matrix: line i, column j has the bytes that rank i sends to rank j in one
 *     ...                                 message from the start on; 0: none. One line and column for each accelerator
 *
 * Blank lines and lines that begin with '#' are skipped. The file is read once, before workers are forked; they share
 * it: 20 bytes a message. Messages from or to accelerators of failed boards are left out, and counted. */
#ifndef FLOWS_H
#define FLOWS_H

#include "spec/spec.h"

struct flows {
    uint32_t accelerators;
    uint64_t left_out;
    uint64_t *first; /* [accelerators + 1]: index of a source's first message in the arrays below */
    uint64_t *start_ns;
    uint64_t *bytes;
    uint32_t *to;           /* rank */
    uint32_t *destinations; /* [accelerators]: number of hosts that it sends to */
    uint32_t *peers;        /* [accelerators]: upper bound of hosts that it sends to or receives from */
};

/* Reads a file. Its messages must begin at latest_ns at the latest. Returns false on an error; the problem names file,
 * line and column. */
bool flows_read(struct flows *f, const char *path, const struct hx_spec *spec, const struct hx_fabric *g,
                uint64_t latest_ns, struct hx_problem *problem);
/* The file of these settings; NULL: their traffic is a pattern. Dies with one line on an error. */
struct flows *flows_load(const struct hx_settings *settings, const struct hx_spec *spec, const struct hx_fabric *g);
/* flows_clear() frees what flows_read() filled; flows_free() also frees *f of flows_load(). NULL is allowed. */
void flows_clear(struct flows *f);
void flows_free(struct flows *f);

static inline uint64_t flows_of(const struct flows *f, uint32_t rank)
{
    return f->first[rank + 1] - f->first[rank];
}

static inline uint64_t flows_count(const struct flows *f)
{
    return f->first[f->accelerators];
}

#endif
