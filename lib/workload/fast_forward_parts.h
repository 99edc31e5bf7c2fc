/* fast_forward_parts.h - what the files of fast-forward (fast_forward.h) share.
 *
 *     fast_forward.c           what executors say: collectives begin, are held or carried out, and end
 *     fast_forward_ports.c     the ports that collectives and messages use
 *     fast_forward_records.c   what collectives did, and what links carried */
#ifndef WORKLOAD_FAST_FORWARD_PARTS_H
#define WORKLOAD_FAST_FORWARD_PARTS_H

#include "base/table.h"
#include "workload/collective_loads.h"
#include "workload/fast_forward.h"

enum { MOST_RECORDS = 16 /* of a collective */, NO_FLIGHT = 0 };
enum { PROVED = 2 /* collectives with equal ends, so that others are held by their record */ };
enum { NEAR = 5 /* times the tolerance: by a record with such begins a collective may still end */ };
enum { LEAST_DELAYS = 50 /* in the duration of what is held: its delay is no error then */ };

/* What a collective did when it was alone. Times: ps from the last begin. */
struct record {
    uint64_t *begin;                  /* [size]: before it */
    uint64_t *end;                    /* [size]: after it */
    struct executor_carried *carried; /* [size] */
    uint64_t *link;                   /* [planes * ports * 2]: packets and blocks, of all `taken` */
    unsigned taken;                   /* collectives with these begins and ends that were simulated */
    uint64_t duration;                /* to the last end */
};

/* A collective of a group, by what it is: kind, bytes, algorithm. */
struct kind {
    const struct executor_choice *choice; /* the key */
    uint32_t *port;                       /* [ports]: with bytes of it, ascending */
    uint32_t ports, size;
    bool eligible;
    bool holds;            /* the last one that was simulated ended as a record says, and none began otherwise since */
    struct record *record; /* [records], the newest last */
    size_t records, room;
};

enum stage { PLAIN, RECORDED, HELD };

/* A collective in progress. */
struct flight {
    uint64_t key;
    uint32_t number; /* of its place in `flight`, from 1 */
    struct job *job;
    struct kind *kind;
    enum stage stage;
    bool audited; /* recorded, and compared with the records */
    uint32_t begun, ended;
    uint64_t *begin, *end; /* [size] */
    struct executor_carried *carried;
    uint64_t *link;          /* as in struct record; at the begin */
    uint64_t last;           /* the last begin */
    const struct record *by; /* held, and all have begun */
};

struct found_flight {
    uint64_t key; /* group << 32 | ordinal */
    struct flight *flight;
};

struct found_kind {
    uint64_t key; /* address of the choice */
    struct kind *kind;
};

struct found_pair {
    uint64_t key;   /* from << 32 | to, ranks */
    uint32_t *port; /* [ports] */
    uint32_t ports;
};

struct job {
    struct fast_forward *f;
    const struct schedule_job *plan;
    struct executor **executor; /* [ranks] */
    struct executor_skips skips;
    uint64_t last; /* ps: end of a held flight */
    struct hx_table flights, kinds, pairs;
};

struct fast_forward {
    struct fast_forward_config config;
    const struct hx_fabric *g;
    struct collective_loads loads;
    double *load;           /* [ports]: work space, zero */
    uint32_t *plain;        /* [ports]: what carries messages there, and is not recorded or held */
    uint32_t *owner;        /* [ports]: number of the flight that is recorded or held there; NO_FLIGHT */
    struct flight **flight; /* [flights], by number - 1; NULL: free */
    size_t flights, flights_room;
    struct job *job; /* [jobs] */
    struct fast_forward_counts counts;
    uint64_t audits; /* begun and not given up */
};

/* ---- fast_forward_ports.c ---- */

/* The kind of a collective that begins; found once. */
struct kind *ports_kind(struct job *j, const struct executor_collective *c);
/* The paths of a message between two ranks, until the next call. */
const struct found_pair *ports_pair(struct job *j, uint32_t from, uint32_t to);

/* ---- fast_forward_records.c ---- */

/* Notes what links carried when a flight begins. */
void records_begin(struct flight *l);
/* Sets the time of the last begin. */
void records_find_last(struct flight *l);
/* The record with the nearest begins, of those of so many collectives at least; NULL: none. Sets the most by which a
 * begin differs, as a share of the duration. */
const struct record *records_nearest(const struct flight *l, unsigned taken, double *apart);
/* A simulated flight has ended: compares it if it is audited, and keeps what it did. Returns whether a record with such
 * begins has such ends. */
bool records_end(struct flight *l);
/* Links carried a share of what a held flight's record says. */
void records_add_links(const struct flight *l, double share);

#endif
