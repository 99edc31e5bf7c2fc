/* flows.h - messages that a file lists one by one, or a matrix of bytes: traffic of a user's own.
 *
 *     start,source,destination,bytes      a list: each message begins at its time, counted from the start of the run, those
 *     0,0,5,64KiB                         of one source in the order of the file. A place is a rank, or gx:gy, agx:gy or
 *     10us,a1:0,"a5,3",1MiB               "gx,gy" in quotes. The columns may stand in any order
 *
 *     0,4096,0,...                        a matrix: line i, column j are the bytes that rank i sends to rank j as one
 *     ...                                 message from the start on, 0: none; as many lines and columns as accelerators
 *
 * Blank lines and those that begin with '#' do not count. Read once, before workers are forked, which share it: 20
 * bytes a message. Messages from or to accelerators of failed boards are left out, and counted. */
#ifndef FLOWS_H
#define FLOWS_H

#include "spec/spec.h"

struct flows {
    uint32_t accelerators;
    uint64_t left_out;
    uint64_t *first; /* [accelerators + 1]: where the messages of a source begin in what follows */
    uint64_t *start_ns;
    uint64_t *bytes;
    uint32_t *to;           /* rank */
    uint32_t *destinations; /* [accelerators]: how many others it sends to */
    uint32_t *peers;        /* [accelerators]: how many it sends to or receives from, at most */
};

/* Reads the file, of which no message may begin later than at latest_ns. What is wrong names file, line and column. */
bool flows_read(struct flows *f, const char *path, const struct hx_spec *spec, const struct hx_fabric *g,
                uint64_t latest_ns, struct hx_problem *problem);
/* The file of these settings, or dies; NULL: their traffic is a pattern. */
struct flows *flows_load(const struct hx_settings *settings, const struct hx_spec *spec, const struct hx_fabric *g);
/* What flows_read() filled; of flows_load() the rest too. Nothing is done to NULL. */
void flows_clear(struct flows *f);
void flows_free(struct flows *f);

/* Messages of one source, and of all. */
static inline uint64_t flows_of(const struct flows *f, uint32_t rank)
{
    return f->first[rank + 1] - f->first[rank];
}

static inline uint64_t flows_count(const struct flows *f)
{
    return f->first[f->accelerators];
}

#endif
