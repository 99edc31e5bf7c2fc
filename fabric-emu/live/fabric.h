/* fabric.h - one running fabric: ownership and layout of its shared memory.
 *
 * The supervisor builds it once before it forks. Workers inherit it and never change it. Mutable data are in the arena:
 *
 *     data                        writer
 *     metrics                     counters for readers outside (topology/metrics.h), at the start of the arena
 *     head                        supervisor, before the run; read by all, and by processes that attach (attach.h)
 *     control                     supervisor; read by all
 *     control->tap                capturing process; cleared by the supervisor when that died (taps.h)
 *     control->collective_ended   any worker
 *     control->request            asking process, then the supervisor (request.h)
 *     control->faults             supervisor; read by capturing processes
 *     control->changes            supervisor, and workers with external cables
 *     condition[p]                supervisor; read by the worker of the receiving end
 *     faulted[p]                  worker of the receiving end; read by the supervisor
 *     cable[e]                    worker of the external accelerator; read by all
 *     exchange[e][r]              worker of host r; read by the supervisor
 *     area[w]                     worker w; read by the supervisor (progress, report)
 *     job[s]                      worker of slot s (workload/jobs.h); read by the supervisor
 *     accelerator[r]              worker of host r; read by the supervisor
 *     pool rings                  ring[from][home]: head by `from`, tail by `home` (hal/shm/pool.h)
 *     links                       heads by the sender's worker, tails by the receiver's (hal/shm/link.h)
 *     faulty links                the receiver's worker (hal/shm/faulty.h)
 *     buffers, injected_ns        owner of the buffer
 *
 * For a dead worker the supervisor writes, then its successor.
 *
 * Trust. Only this user's processes can write here (base/arena.h), but a stray store may hit any word. Readers check
 * everything that they use as index, offset or length: ring and link positions, buffers, descriptors, records (in a
 * copy), a predecessor's messages, capture slots. The supervisor keeps its own pids, worker states, phase, start time
 * and `gone`, and writes them again each tick. Workers rewrite indices of rings and links, and endpoint counts, about
 * every 50 ms (publish.h). Counts are validated before they are reported (validate.h).
 *
 * Not checked, and the effect of a stray store:
 *     slots of pool rings; indices until rewritten    buffers are lost or doubled: corrupted packets fail their CRC, and
 *                                                     buffers are missing at the end
 *     a living worker's record while it publishes     it dies, or others see a wrong index, as above
 *     frames                                          corrupted payload (counted; unseen with --no-verify), or a drop
 *     small wrong counts that are possible            are reported
 *     asleep, wake                                    an idle wait of 2 ms more or less
 *     collective_ended; up or left of a cable         the collective, or that cable, ends
 *     faults that have begun                          a capture has a wrong comment
 *     condition of a link                             wrong until its next fault
 *
 * workload/layout.h assigns nodes to workers. */
#ifndef FABRIC_H
#define FABRIC_H

#include "base/arena.h"
#include "faulty.h"
#include "hal_port.h"
#include "spec/faults/faults.h"
#include "spec/pcapng/fabric.h"
#include "spec/spec.h"
#include "tap.h"
#include "topology/metrics.h"
#include "workload/jobs.h"
#include "workload/workload.h"

enum {
    FAB_VERSION = 9,
    FAB_NOTE_BYTES = 16384,
    FAB_SENDS = WORKLOAD_SENDS /* messages in flight of one host */
};

/* What capturing or replaying processes need; follows the head of the metrics. */
struct fab_head {
    uint32_t version, head_bytes; /* FAB_VERSION, sizeof(struct fab_head) */
    uint64_t control_at;          /* offset in the arena */
    struct shm_clock clock;       /* clock of this run */
    uint64_t realtime_ns;         /* offset to nanoseconds since 1970 */
    int32_t netns_holder;         /* pid of the holder of the hosts' namespaces (netns_holder.h); 0: no namespaces */
    uint8_t external[HX_MAX_ACCELERATORS / 8]; /* external accelerators, bit by rank */
    char note[FAB_NOTE_BYTES];                 /* the fabric, as a capture file describes it (spec/pcapng/fabric.h) */
};

/* Values that readers outside know. */
enum fab_phase {
    FAB_STARTING = HX_PHASE_STARTING,
    FAB_RUNNING = HX_PHASE_RUNNING,
    FAB_DRAINING = HX_PHASE_DRAINING,
    FAB_STOPPING = HX_PHASE_STOPPING
};
enum fab_worker_state {
    FAB_WORKER_STARTING = HX_WORKER_STARTING,
    FAB_WORKER_RUNNING = HX_WORKER_RUNNING,
    FAB_WORKER_DONE = HX_WORKER_DONE,
    FAB_WORKER_DOWN = HX_WORKER_DOWN
};

/* A request to the supervisor (request.h). asked == answered: idle, the next requester owns the line. Otherwise line
 * and answer are the supervisor's. */
enum { FAB_REQUEST_BYTES = 256, FAB_ANSWER_BYTES = 65536 };
struct fab_request {
    _Atomic uint32_t asked;    /* ticket of the last request */
    _Atomic uint32_t answered; /* ticket of the last answer */
    int32_t code;              /* an exit code */
    char line[FAB_REQUEST_BYTES], answer[FAB_ANSWER_BYTES];
};

/* Begun faults, for capturing processes (fault_log.h). */
struct fab_fault_log {
    _Atomic uint64_t begun;   /* entries that can be read */
    _Atomic uint64_t settled; /* of these, the first ones: all workers route by the planned changes among them */
    uint64_t file;            /* slot_word() of the supervisor's descriptor */
};

struct fab_control {
    _Atomic uint32_t phase;            /* enum fab_phase */
    _Atomic uint32_t changes;          /* incremented when workers or cables change state */
    _Atomic uint32_t conditions;       /* incremented when link conditions change */
    _Atomic uint64_t gone;             /* workers that are down for good, bit by worker */
    uint64_t started_ns;               /* time of phase RUNNING */
    _Atomic uint32_t taps_changed;     /* incremented with each change of tap[] and feed */
    _Atomic uint64_t tap[SHM_TAPS];    /* slot_word() of a capturing process; 0: free */
    _Atomic uint64_t feed;             /* slot_word() of the replaying process; 0: free */
    _Atomic uint32_t collective_ended; /* set by any worker: a message failed, so no collective can finish */
    struct fab_request request;
    struct fab_fault_log faults;
};

/* Report of one worker. */
struct fab_area {
    alignas(64) _Atomic uint32_t asleep; /* 1: sleeps on `wake`; wake it after publishing for it */
    _Atomic uint32_t wake;               /* futex word */
    alignas(64) _Atomic uint32_t state;  /* enum fab_worker_state */
    _Atomic uint32_t changes_seen;
    _Atomic uint32_t conditions_seen; /* control->conditions that its routes include */
    _Atomic uint64_t conditions_ns;   /* time since when they do */
    uint32_t incarnation;             /* from 1; the supervisor writes it while the worker is down */
    _Atomic uint32_t built;           /* nodes set up so far */
    uint64_t finished_ns;             /* time of the last change to DONE */
    _Atomic uint64_t hops;            /* packets that its switches moved */
    uint64_t private_bytes;           /* outside the arena, at the end */
    uint64_t bytes_corrupted;
    uint64_t verify_ns;   /* time for writing, summing and checking payload */
    uint64_t fed;         /* replayed frames that it sent */
    uint64_t hit;         /* messages in flight that wait for a path or had packets repeated */
    uint64_t hit_ever;    /* past messages that were hit, or failed */
    uint64_t hit_over_ns; /* when the last hit message ended */
    uint64_t rerouted;    /* packets that waited for a port when it closed as planned */
    uint32_t max_vc;
    uint64_t drops[HX_DROP_COUNT];
    uint64_t stalls[HX_STALL_COUNT];
    alignas(64) struct shm_redo redo;
};

/* Messages between a local host and an external one: acknowledged by it, or received completely from it. */
struct fab_sum {
    uint64_t messages, packets, bytes;
};
struct fab_exchange {
    struct fab_sum to, from;
};

/* State of a host's endpoint: counts, and messages in flight for a successor. */
struct fab_accelerator {
    alignas(64) struct hx_endpoint_stats stats;
    uint64_t issued;            /* messages begun */
    uint64_t asked;             /* of these, messages that a program requested besides packets */
    uint64_t flying[FAB_SENDS]; /* number + 1 of a message in flight; 0: free */
    struct transfer_received file;
    _Atomic uint32_t collective_done; /* its part of a collective is done, and checked if requested */
};

/* The condition of a link. Workers read it word by word while the supervisor writes. A partial view is corrected:
 * control->conditions grows after all words are written. */
struct fab_condition {
    _Atomic uint64_t word[sizeof(struct shm_condition) / sizeof(uint64_t)];
};
_Static_assert(sizeof(struct shm_condition) % sizeof(uint64_t) == 0, "a condition is whole words");

/* Counters of an external accelerator's cable (bridge.h). */
struct fab_cable_count {
    uint64_t data_in, data_out, credits_in, credits_out;
    uint64_t credits_lost; /* by a set fault */
    uint64_t dropped;      /* received frames that were discarded */
    uint64_t reflected;    /* credit frames of this end itself */
    uint64_t strangers;    /* credit frames of another session */
    uint64_t sessions;     /* begun here: by a new connection, silence, or a new peer */
};
/* Foreign frames of a cable: their number, and the last one. */
struct fab_foreign_frames {
    uint64_t frames;
    uint32_t bytes;
    uint16_t ethertype;
    uint8_t version, plane;
    bool unauthenticated; /* only its authentication tag is wrong */
};
struct fab_cable {
    alignas(64) _Atomic uint32_t up; /* the peer is connected and counts with us */
    _Atomic uint32_t was_up;         /* at some time */
    _Atomic uint32_t left;           /* set by the supervisor each tick: its node has done its part */
    _Atomic uint64_t heard_ns;       /* when the last data frame arrived */
    _Atomic uint64_t moved_ns;       /* when the last data frame arrived or left */
    struct fab_cable_count count;
    struct fab_foreign_frames foreign_frames;
};

struct fab_fabric {
    struct hx_spec spec;
    const struct hx_fabric *g;
    unsigned workers;
    unsigned slots;     /* of a link's ring per VC; power of two */
    uint32_t per_home;  /* buffers of one worker's pool */
    uint32_t ring_size; /* slots of a pool ring: power of two >= per_home */
    struct layout layout;
    struct jobs jobs;
    struct shm_arena arena;
    size_t link_bytes;
    size_t ring_bytes;
    struct hx_metrics metrics;
    struct fab_head *head;
    struct fab_control *control;
    struct fab_area *area;               /* [workers] */
    struct job_count *job;               /* [jobs.slots] */
    struct fab_accelerator *accelerator; /* [accelerators] */
    struct fab_condition *condition;     /* [fab_ports()]: of the link that leaves the port */
    struct hx_fault_cost *faulted;       /* [fab_ports()] */
    struct fab_cable *cable;             /* [spec.externals][HX_CABLE_PORTS] */
    struct fab_exchange *exchange;       /* [spec.externals][hosts]: sum of a host's entries, at its first entry */
    uint8_t *rings;
    uint8_t *link_base;
    uint8_t *faulty_base;
    uint64_t *injected_ns;      /* [workers * per_home]: injection time of the packet in a buffer */
    struct shm_buffer *buffers; /* [workers * per_home] */
    /* [workers]: eventfds to wake workers that also wait for others; NULL: futexes */
    const int *wake;
};

struct fab_options {
    unsigned workers;              /* 0: one a core */
    const char *name;              /* of the arena; NULL: from the pid */
    const struct traffic *traffic; /* for the memory estimate; NULL: few peers */
    bool quiet;                    /* no progress bar while memory is reserved */
};

/* Creates the shared memory, and takes over *spec. Ends the program if the machine refuses, if memory does not suffice
 * (memory_estimate.h), or with 130 after a signal. */
void fab_create(struct fab_fabric *f, struct hx_spec *spec, const struct fab_options *options);
void fab_destroy(struct fab_fabric *f);

/* Fills in the heads: other processes can attach after this call. */
void fab_announce(struct fab_fabric *f, const struct shm_clock *clock, enum hx_capture_crc crc);
/* Marks the arena as final, after the workers have ended. */
void fab_end(struct fab_fabric *f);

/* Offset of the head, and bytes from the arena's start that an attached process needs: heads and control. */
size_t fab_head_at(void);
size_t fab_attach_bytes(void);

/* Number of the node's port 0 among the ports of all planes (hal/tap_ring.h), and the number of ports. */
uint32_t fab_first_port(const struct fab_fabric *f, unsigned plane, uint32_t node);
uint32_t fab_ports(const struct fab_fabric *f);

/* Link that leaves (plane, node, port). Port LOCAL of an accelerator leads to its endpoint. */
struct shm_link *fab_link(const struct fab_fabric *f, unsigned plane, uint32_t node, unsigned port);
/* Link from an endpoint to its switch. */
struct shm_link *fab_inject_link(const struct fab_fabric *f, unsigned plane, uint32_t node);
/* Link that arrives at (plane, node, port); NULL: none. Port LOCAL: fab_inject_link(). */
struct shm_link *fab_incoming(const struct fab_fabric *f, unsigned plane, uint32_t node, unsigned port);

/* Condition of the link that leaves a port, numbered as in fab_first_port(). The setter then increments
 * control->conditions. */
struct shm_condition fab_condition(const struct fab_fabric *f, uint32_t number);
bool fab_link_is_shut(const struct fab_fabric *f, uint32_t number); /* down or closed; reads only these */
void fab_set_condition(struct fab_fabric *f, uint32_t number, const struct shm_condition *condition);

/* The link between a faulty link and its receiver, by number of the sending port. */
struct shm_link *fab_faulty(const struct fab_fabric *f, uint32_t number);

struct shm_pool_ring *fab_ring(const struct fab_fabric *f, unsigned from, unsigned home);

bool fab_worker_is_down(const struct fab_fabric *f, unsigned worker);

/* Returns the first entry of an external accelerator, in any plane; spec.externals: the node is local. */
unsigned fab_external(const struct fab_fabric *f, uint32_t node);
bool fab_is_external(const struct fab_fabric *f, uint32_t node);
/* Whether (plane, node, port) can receive; false: an external accelerator's cable that is down. */
bool fab_port_is_up(const struct fab_fabric *f, unsigned plane, uint32_t node, unsigned port);
/* Whether it is an external accelerator's cable that was not up yet: its node starts later. */
bool fab_port_is_awaited(const struct fab_fabric *f, unsigned plane, uint32_t node, unsigned port);
/* Whether a cable of an external accelerator is down and may return: its node has not left. */
bool fab_misses_cable(const struct fab_fabric *f);

/* Buffers that are in a ring: all, when nothing moves. Call it while no worker runs. */
uint64_t fab_count_buffers(const struct fab_fabric *f);

/* Wakes a worker if it sleeps. */
void fab_wake(const struct fab_fabric *f, unsigned worker);

#endif
