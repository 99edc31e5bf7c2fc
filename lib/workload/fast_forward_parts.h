/* fast_forward_parts.h - what the files of fast-forward (fast_forward.h) share.
 *
 *     fast_forward.c            what executors say: collectives begin, are held or simulated, and end
 *     fast_forward_shapes.c     collectives that load links alike: the shape, and the ports of each group
 *     fast_forward_contexts.c   the collectives beside one, and whether two had the same beside them
 *     fast_forward_examples.c   what was simulated, and which of it a collective may end by
 *     fast_forward_hold.c       collectives that are held: they end by an example, or are carried out after all
 *     fast_forward_links.c      ports in use, and what links would have carried */
#ifndef WORKLOAD_FAST_FORWARD_PARTS_H
#define WORKLOAD_FAST_FORWARD_PARTS_H

#include "base/table.h"
#include "workload/collective_loads.h"
#include "workload/fast_forward.h"

enum { MOST_EXAMPLES = 64 /* of a shape */ };
enum { PROVED = 2 /* examples alike, so that others are held by one of them, where chance chooses among paths */ };
enum { LEAST_DELAYS = 50 /* in the duration of what is held: its delay is no error then */ };
#define TINY 0.002 /* of a duration: begins that differ so little are equal */
enum { MANY = 4 /* examples with other begins that took equally long: begins do not matter */ };
enum { RARE = 32 /* of so many flights one may find no example: else most are simulated */ };
enum { OFTEN = 4 /* of so many flights one may be carried out */ };
#define NOT_YET UINT64_MAX

/* What a port does for a collective, in the order of a walk from the hosts of its members. Collectives with equal forms
 * load links alike. */
struct form {
    double bytes;             /* of the collective's messages */
    double slowness, latency; /* of the link: seconds a byte, seconds */
    uint32_t behind;          /* number of the node behind, in the order of the walk */
};

/* Collectives with one configuration and equal ports. */
struct shape {
    uint64_t number;                      /* from 1 */
    const struct executor_choice *choice; /* of the first of them */
    struct form *form;                    /* [ports] */
    uint32_t ports, size;
    double bytes;            /* that its members send */
    uint64_t alone;          /* ps: of the fullest link */
    uint64_t latency;        /* ps: by which the shortest example with nothing beside it took longer */
    uint64_t duration;       /* ps: of the last example; before, `alone` */
    bool eligible;           /* may be held */
    unsigned proved;         /* examples alike, so that others are held by one of them: chance may choose among paths */
    struct flight **example; /* [examples], the newest last */
    unsigned examples;
    unsigned held, cut; /* flights held to the end, and carried out while they ended by an example */
    unsigned missed;    /* carried out without one */
    unsigned simulated; /* never held */
    uint64_t *link;     /* [planes * ports * 2]: packets and blocks, of all `measured`; NULL: none */
    unsigned measured;  /* examples with nothing beside them */
    bool owed;          /* a flight began otherwise than is known to matter or not: the next one is simulated */
    double harmless;    /* the most by which begins differed, as a share of the duration, with like durations */
    double harmful;     /* the least with unlike ones */
    unsigned turn;      /* the next of several that fit equally well */
};

/* A collective of a group: kind, bytes, algorithm. */
struct kind {
    const struct executor_choice *choice; /* the key */
    uint32_t number;                      /* from 0 */
    struct shape *shape;
    uint32_t *port; /* [shape->ports], in the order of the walk */
};

/* A collective beside a flight, which shares links with it. Times: ps. */
struct neighbour {
    uint64_t id;                 /* of its shape and the links in common */
    uint64_t first, last;        /* its begins; last NOT_YET: a member has not begun */
    uint64_t end;                /* NOT_YET: it is in progress */
    const struct flight *flight; /* while it is in progress */
};

enum stage {
    SIMULATED,
    HELD,    /* no messages */
    CARRIED, /* was held, and is simulated since */
};

/* A collective in progress, or an example: one that was simulated, with what was beside it. Times: ps.
 *
 * Invariant: a flight that is held has only held ones beside it, until its first end is due. */
struct flight {
    uint64_t key;
    struct job *job;
    struct kind *kind;
    enum stage stage;
    bool whole;   /* simulated, or held until something came beside it, without a message on its links */
    bool kept;    /* an example of its shape */
    bool audited; /* simulated to be compared */
    bool done;    /* all members ended */
    bool cutting; /* waits to be carried out */
    bool any;     /* held: by an example with other begins, which do not matter */
    bool ending;  /* held: an end is due, so that no other example is taken */
    uint32_t begun, ended;
    uint64_t *begin, *end;            /* [size]: NOT_YET */
    struct executor_carried *carried; /* [size]: once ended; carried out: of before */
    uint64_t first, last;             /* begins; last NOT_YET: a member has not begun */
    uint64_t first_end, last_end;
    uint64_t undecided;     /* held: since the last begin: until then neighbours may come that tell examples apart */
    uint64_t look;          /* held: it looks again whether its example fits; NOT_YET: not planned */
    uint64_t stamp;         /* of the search that found it last */
    struct flight **beside; /* [besides]: in progress, with links in common */
    size_t besides, besides_room;
    struct neighbour *neighbour; /* [neighbours]: by id, then by first begin */
    size_t neighbours, neighbours_room;
    uint64_t *link;           /* what its links had carried when it began, with nothing beside it; else NULL */
    struct flight *by;        /* the example that it ends by; NULL: not found yet */
    struct flight **follower; /* [followers]: held, and end by this one */
    size_t followers, followers_room;
};

/* ps since the last begin. Executors are at times that differ by a window of the clock. */
static inline uint64_t flight_passed(const struct flight *l, uint64_t now)
{
    return now > l->last ? now - l->last : 0;
}

/* ps: of an example; one in progress is taken to be as long as the last of its shape. */
static inline uint64_t flight_duration(const struct flight *l)
{
    return l->done ? l->last_end - l->last : l->kind->shape->duration;
}

static inline void carried_add(struct executor_carried *to, const struct executor_carried *more)
{
    to->messages += more->messages;
    to->packets += more->packets;
    to->bytes += more->bytes;
}

struct found_flight {
    uint64_t key; /* group << 32 | ordinal */
    struct flight *flight;
};

struct found_group {
    uint64_t key;  /* of the schedule */
    uint64_t ends; /* ps: from the first to the last end of its last collective */
};

struct found_kind {
    uint64_t key; /* address of the choice */
    struct kind *kind;
};

struct found_pair {
    uint64_t key;   /* from << 32 | to, ranks */
    uint32_t *port; /* [ports] */
    uint32_t ports;
    uint32_t messages; /* of sends, in flight */
};

struct found_shape {
    uint64_t key; /* hash */
    struct shape *shape;
};

struct found_overlap {
    uint64_t key; /* number of a kind << 32 | number of the one beside it */
    uint64_t id;  /* 0: they have no links in common */
};

struct job {
    struct fast_forward *f;
    const struct schedule_job *plan;
    struct executor **executor; /* [ranks] */
    struct executor_skips skips;
    uint64_t last; /* ps: end of a held flight */
    struct hx_table flights, groups, kinds, pairs;
};

/* What uses a port. */
struct use {
    struct flight **flight; /* [flights]: in progress */
    size_t flights, room;
    uint32_t pairs; /* with messages of sends in flight */
};

struct fast_forward {
    struct fast_forward_config config;
    const struct hx_fabric *g;
    struct collective_loads loads;
    double *load;     /* [ports]: work space, zero */
    uint32_t *number; /* [nodes] of the walk, or [ports]: work space, zero */
    struct use *use;  /* [ports] */
    struct job *job;  /* [jobs] */
    struct hx_table shapes, overlaps;
    uint32_t kinds;
    uint64_t shape_count, stamp;
    struct flight **cut; /* [cuts]: to be carried out */
    size_t cuts, cuts_room;
    struct fast_forward_counts counts;
    uint64_t audits; /* begun and not given up */
};

/* ---- fast_forward_shapes.c ---- */

/* The kind of a collective that begins; found once. */
struct kind *shapes_kind(struct job *j, const struct executor_collective *c);
/* The ports of a message between two ranks, until the next call. */
struct found_pair *shapes_pair(struct job *j, uint32_t from, uint32_t to);
/* What `beside` is to a kind: its shape, and the links in common. 0: none. */
uint64_t shapes_overlap(struct fast_forward *f, const struct kind *of, const struct kind *beside);

/* ---- fast_forward_links.c ---- */

/* A flight uses its ports, and those that do are beside it. */
void links_take(struct flight *l);
void links_leave(struct flight *l);
/* Whether a message is in flight on a port of it. */
bool links_have_messages(const struct flight *l);
/* Notes what links carry while a flight is in progress with nothing beside it. */
void links_begin(struct flight *l);
void links_end(struct flight *l);
/* Links carried a share of a held flight, with so much in all. */
void links_add(const struct flight *l, double share, const struct executor_carried *carried);

/* ---- fast_forward_contexts.c ---- */

/* Members of a flight that have begun do so later by so much. */
void contexts_delay(struct flight *l, uint64_t by);
/* A flight becomes a neighbour of those beside it, and they of it. */
void contexts_begin(struct flight *l);
/* All of its members have begun. */
void contexts_begun(struct flight *l);
/* A flight that was simulated or held has ended. */
void contexts_ended(struct flight *l, uint64_t now);
/* The most by which neighbours, and begins if so asked, of two flights differ, ps, from the last begin of each until so
 * much later; NOT_YET: more than `slack`, or other neighbours. */
uint64_t contexts_apart(const struct flight *l, const struct flight *by, uint64_t until, uint64_t slack, bool begins);
/* The most by which begins differ, ps. */
uint64_t contexts_begins_apart(const struct flight *l, const struct flight *by);
/* Whether what is beside a flight that begins was beside an example that began, but for what begins or ends then. */
bool contexts_begin_alike(const struct flight *l, const struct flight *by, uint64_t now);
/* The first time after `after`, relative to the last begin, at which a neighbour begins or ends. */
uint64_t contexts_next(const struct flight *l, uint64_t after);

/* ---- fast_forward_examples.c ---- */

/* Whether a flight that begins may be held: an example began beside the same. */
bool examples_hold(const struct flight *l, uint64_t now);
/* A flight that is simulated becomes an example, as yet without ends. */
void examples_keep(struct flight *l);
/* It is none. */
void examples_drop(struct flight *l);
/* It has ended. */
void examples_end(struct flight *l);
/* The example by which a held flight may end, as far as can be seen now; NULL: none. Sets by how much they differ, ps,
 * l->any and l->undecided. */
struct flight *examples_choose(struct flight *l, uint64_t now, uint64_t *apart);
/* An audited flight has ended: compares it. Returns whether there was an example. */
bool examples_audit(struct flight *l);
/* Frees a flight that is neither in progress nor an example, and by which none ends. */
void examples_free_unused(struct flight *l);
/* By how much begins differ, as a share of the example's duration. */
double examples_begins_differ(const struct flight *l, const struct flight *by);
/* What may differ in a flight that ends by an example, ps. */
uint64_t examples_slack(const struct flight *by);

/* ---- fast_forward_hold.c ---- */

/* For how long its first member waits for the others, ps. */
uint64_t hold_wait(const struct flight *l);
/* A held flight has begun at a member: if others do not soon, it is carried out. */
void hold_first(const struct flight *l, uint32_t member);
/* All members of a held flight have begun: it looks for an example soon. */
void hold_begun(struct flight *l, uint64_t now);
/* A time of asking has come: members that have not begun are late, or it looks. */
void hold_asked(struct flight *l, uint64_t now);
/* Something began or ended beside held flights: each looks again when its example had time to do the same. */
void hold_look_beside(const struct flight *l, uint64_t now);
/* Holding is not right: the flight, and all that are held beside it and so on, are carried out by hold_carry_out(). */
void hold_cut(struct flight *l);
/* What a simulated flight does has something else on its links: it is no example. */
void hold_spoil(struct flight *l, uint64_t now);
void hold_carry_out(struct fast_forward *f, uint64_t now);
/* A member of an example has ended: so do those of its followers. */
void hold_follow(struct flight *by, uint32_t member, uint64_t now);
/* A flight that was held to its end has ended. */
void hold_end(struct flight *l);

struct executor *fast_forward_executor(const struct flight *l, uint32_t member);
uint32_t fast_forward_host(const struct flight *l, uint32_t member);

#endif
