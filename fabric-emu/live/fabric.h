/* fabric.h - one running fabric: who owns what, and where everything lies in shared memory.
 *
 * Built once by the supervisor before it forks; workers inherit it and never change it. What changes lies in the
 * arena. Who writes:
 *
 *     metrics          counters for readers outside (topology/metrics.h), which begin the arena
 *     head             supervisor, before the run       read by all, and by processes that attach (attach.h)
 *     control          supervisor                       read by all
 *     control->tap     who captures; cleared by the supervisor when it died (taps.h)
 *     control->collective_ended   any worker
 *     control->request            who asks, then the supervisor (request.h)
 *     control->faults             supervisor                 read by who captures
 *     control->changes            supervisor, and workers whose cables come and go
 *     condition[p]     supervisor                       read by the worker of the receiving end
 *     faulted[p]       worker of the receiving end      read by the supervisor
 *     cable[e]         worker of the external accelerator   read by all
 *     exchange[e][r]   worker of accelerator r          read by the supervisor
 *     area[w]          worker w                         read by the supervisor (progress, report)
 *     job[s]           the worker of slot s (workload/jobs.h)   read by the supervisor
 *     accelerator[r]   worker of accelerator r          read by the supervisor
 *     pool rings       ring[from][home]: head by `from`, tail by `home`       (hal/shm/pool.h)
 *     links            heads by the sender's worker, tails by the receiver's  (hal/shm/link.h)
 *     faulty links     the receiver's worker                                  (hal/shm/faulty.h)
 *     buffers          whoever holds the buffer, and injected_ns of it likewise
 *
 * When a worker is dead the supervisor, and then its successor, writes in its stead.
 *
 * What is believed of it. Only this user's processes can write here (base/arena.h); a stray store of one of them may
 * hit any word. What is used as an index, an offset or a length is checked by whoever uses it: positions of rings and
 * links, buffers, descriptors, records (a copy of them), messages a predecessor had under way, slots of captures. Pids,
 * which workers live, the phase, when the run began and who is gone are the supervisor's own, and what stands here of
 * them is written again within a tick; indices of rings and links, and counts of endpoints, within some 50 ms, by the
 * worker they belong to (publish.h). Counts are judged before they are reported (validate.h).
 *
 * Believed without a check, and what a stray store does there:
 *     slots of pool rings, indices until they are written again   buffers are lost or in two places: packets are corrupted,
 *                                                                 seen by their CRC, and buffers are missing at the end
 *     entries of a living worker's record while it publishes      it dies, or others see a wrong index, as above
 *     frames, and with --no-verify nobody looks at their CRC                   corrupted payload (counted), or a packet that is dropped
 *     small wrong counts (within the laws)                        are reported; asleep, wake: a nap of 2 ms more or less
 *     collective_ended, up or left of a cable                     the collective, or that cable, ends
 *     faults that have begun                                      a capture has a wrong comment
 *     condition of a link                                         it is faulty, or well, until its next fault
 *
 * Which worker owns which nodes: workload/layout.h. */
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
    FAB_VERSION = 7,
    FAB_NOTE_BYTES = 16384,
    FAB_SENDS = WORKLOAD_SENDS, /* messages under way from one accelerator */
    FAB_SILENT = 16             /* hosts that one accelerator says it cannot answer */
};

/* What processes that capture or replay need beside the head of the metrics: follows that one in the arena. */
struct fab_head {
    uint32_t version, head_bytes; /* FAB_VERSION, sizeof(struct fab_head) */
    uint64_t control_at;          /* offset of the control */
    struct shm_clock clock;       /* what time is in this run */
    uint64_t realtime_ns;         /* to be added for nanoseconds since 1970 */
    int32_t netns_holder; /* process that holds the namespaces of its hosts (netns_holder.h); 0: they have none */
    uint8_t external[HX_MAX_ACCELERATORS / 8]; /* accelerators that run elsewhere, bit by rank */
    char note[FAB_NOTE_BYTES];                 /* the fabric as a capture file describes it (spec/pcapng/fabric.h) */
};

/* As readers outside know them. */
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

/* What another process asks of the supervisor (request.h), and its answer. asked == answered: nothing is under way, the
 * line belongs to who asks next; else the line and the answer belong to the supervisor. */
enum { FAB_REQUEST_BYTES = 256, FAB_ANSWER_BYTES = 65536 };
struct fab_request {
    _Atomic uint32_t asked;    /* raised by who asks: its ticket */
    _Atomic uint32_t answered; /* the ticket of the answer */
    int32_t code;              /* an exit code */
    char line[FAB_REQUEST_BYTES], answer[FAB_ANSWER_BYTES];
};

/* Faults that have begun, for who captures (fault_log.h). */
struct fab_fault_log {
    _Atomic uint64_t begun; /* ever: so many entries can be read */
    uint64_t file;          /* slot_word() of the supervisor's descriptor */
};

struct fab_control {
    _Atomic uint32_t phase;            /* enum fab_phase */
    _Atomic uint32_t changes;          /* grows whenever workers or cables go down or come back */
    _Atomic uint32_t conditions;       /* grows whenever conditions of links change */
    _Atomic uint64_t gone;             /* workers that are down and will not come back, bit by worker */
    uint64_t started_ns;               /* when the phase became RUNNING */
    _Atomic uint32_t taps_changed;     /* grows with every change of tap[] and feed */
    _Atomic uint64_t tap[SHM_TAPS];    /* who captures: slot_word(); 0: nobody */
    _Atomic uint64_t feed;             /* who replays, likewise */
    _Atomic uint32_t collective_ended; /* set by any worker: a message was given up, so nobody can finish */
    struct fab_request request;
    struct fab_fault_log faults;
};

/* What one worker reports. */
struct fab_area {
    alignas(64) _Atomic uint32_t asleep; /* 1: sleeps on `wake`, wake it if you have something for it */
    _Atomic uint32_t wake;               /* futex word */
    alignas(64) _Atomic uint32_t state;  /* enum fab_worker_state */
    _Atomic uint32_t changes_seen;
    _Atomic uint32_t conditions_seen; /* control->conditions, once its nodes route by them */
    uint32_t incarnation;             /* 1 at first; written by the supervisor while the worker is down */
    _Atomic uint32_t built;           /* nodes set up so far */
    uint64_t finished_ns;             /* when the state last became DONE */
    _Atomic uint64_t hops;            /* packets its switches have moved */
    uint64_t private_bytes;           /* memory beside the arena, at the end */
    uint64_t bytes_corrupted;
    uint64_t verify_ns;   /* for writing, summing and checking payload */
    uint64_t fed;         /* frames of a replay that it has sent */
    uint64_t hit;         /* messages under way of which packets were repeated, or that waited for a way */
    uint64_t hit_ever;    /* messages that were, or were given up */
    uint64_t hit_over_ns; /* when the last one of these was acknowledged or given up */
    uint32_t max_vc;
    uint64_t drops[HX_DROP_COUNT];
    alignas(64) struct shm_redo redo;
};

/* Messages between an accelerator here and one that runs elsewhere: acknowledged by it, or come whole from it. */
struct fab_sum {
    uint64_t messages, packets, bytes;
};
struct fab_exchange {
    struct fab_sum to, from;
};

struct fab_silence {
    _Atomic uint64_t since_ns; /* when that was found */
    _Atomic uint32_t host;     /* rank + 1, 0: none */
};

/* What an accelerator's endpoint has done, and what a successor needs to carry on: messages under way. */
struct fab_accelerator {
    alignas(64) struct hx_endpoint_stats stats;
    uint64_t issued;            /* messages begun */
    uint64_t asked;             /* of these, such that a program asked for beside packets */
    uint64_t flying[FAB_SENDS]; /* number + 1 of a message under way, 0: none */
    struct transfer_received file;
    _Atomic uint32_t collective_done;         /* its part of a collective, checked if that was asked for */
    struct fab_silence silent_to[FAB_SILENT]; /* hosts to which no way leads from here */
};

/* The condition of a link. The supervisor may write it while workers read it: each word is read whole, and who sees
 * some of a change looks again, for control->conditions, which says that there is one, grows after all of it is
 * written. */
struct fab_condition {
    _Atomic uint64_t word[sizeof(struct shm_condition) / sizeof(uint64_t)];
};
_Static_assert(sizeof(struct shm_condition) % sizeof(uint64_t) == 0, "a condition is whole words");

/* A cable of an external accelerator (bridge.h). */
struct fab_cable_count {
    uint64_t data_in, data_out, credits_in, credits_out;
    uint64_t credits_lost; /* on purpose */
    uint64_t dropped;      /* frames that came and were not taken, for whatever reason */
    uint64_t reflected;    /* credit frames that were this end's own */
    uint64_t strangers;    /* credit frames of another session than the present one */
    uint64_t sessions;     /* begun here: somebody connected, or was silent, or came anew */
};
/* The last frame that came by a cable and is none of it, and how many did. */
struct fab_foreign_frames {
    uint64_t frames;
    uint32_t bytes;
    uint16_t ethertype;
    uint8_t version, plane;
    bool unauthenticated; /* right but for its seal */
};
struct fab_cable {
    alignas(64) _Atomic uint32_t up; /* somebody is there and counts with us */
    _Atomic uint32_t left;           /* by the supervisor, each tick: its node did its part and is not waited for */
    _Atomic uint64_t heard_ns;       /* when the last data frame came */
    _Atomic uint64_t moved_ns;       /* when the last one came or went */
    struct fab_cable_count count;
    struct fab_foreign_frames foreign_frames;
};

struct fab_fabric {
    struct hx_spec spec;
    const struct hx_fabric *g;
    unsigned workers;
    unsigned slots;     /* of a link's ring per VC, a power of two */
    uint32_t per_home;  /* buffers of one home */
    uint32_t ring_size; /* slots of a pool ring, a power of two >= per_home */
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
    struct fab_condition *condition;     /* [fab_ports()]: of what leaves by that port */
    struct hx_fault_cost *faulted;       /* [fab_ports()] */
    struct fab_cable *cable;             /* [spec.externals][HX_CABLE_PORTS] */
    struct fab_exchange *exchange;       /* [spec.externals][accelerators]: with it, at the first of its entries */
    uint8_t *rings;
    uint8_t *link_base;
    uint8_t *faulty_base;
    uint64_t *injected_ns;      /* [workers * per_home]: of the packet in a buffer */
    struct shm_buffer *buffers; /* [workers * per_home] */
    /* [workers]: eventfds that wake them, where they wait for more than each other; NULL: futexes do */
    const int *wake;
};

struct fab_options {
    unsigned workers;              /* 0: one a core */
    const char *name;              /* of the arena; NULL: by process number */
    const struct traffic *traffic; /* for what endpoints will need; NULL: few have few peers */
    bool quiet;                    /* no bar while memory is reserved */
};

/* Lays out and creates the shared memory; dies with one line if the machine refuses, or has not what the run will need
 * (memory_estimate.h), and ends with 130 if it is told to meanwhile. Takes over *spec. */
void fab_create(struct fab_fabric *f, struct hx_spec *spec, const struct fab_options *options);
void fab_destroy(struct fab_fabric *f);

/* Fills in the heads: from now on other processes may attach. */
void fab_announce(struct fab_fabric *f, const struct shm_clock *clock, enum hx_capture_crc crc);
/* No worker runs any more: what the arena says now is the end. */
void fab_end(struct fab_fabric *f);

/* Where the head is, and bytes from the arena's start that a process which attaches needs: heads and control. */
size_t fab_head_at(void);
size_t fab_attach_bytes(void);

/* Number of the node's port 0 among the ports of all planes (hal/tap_ring.h), and how many there are. */
uint32_t fab_first_port(const struct fab_fabric *f, unsigned plane, uint32_t node);
uint32_t fab_ports(const struct fab_fabric *f);

/* Link leaving (plane, node, port). Port LOCAL of an accelerator: to its endpoint. */
struct shm_link *fab_link(const struct fab_fabric *f, unsigned plane, uint32_t node, unsigned port);
/* Link from an accelerator's endpoint to its switch. */
struct shm_link *fab_inject_link(const struct fab_fabric *f, unsigned plane, uint32_t node);
/* Link that arrives at (plane, node, port), or NULL. Port LOCAL: fab_inject_link. */
struct shm_link *fab_incoming(const struct fab_fabric *f, unsigned plane, uint32_t node, unsigned port);

/* The condition of what leaves by a port, numbered as fab_first_port() counts. Who sets it then raises
 * control->conditions. */
struct shm_condition fab_condition(const struct fab_fabric *f, uint32_t number);
bool fab_link_is_down(const struct fab_fabric *f, uint32_t number); /* its .down alone */
void fab_set_condition(struct fab_fabric *f, uint32_t number, const struct shm_condition *condition);

/* What stands between the link that leaves by a port and its receiver while that link is faulty; number of the port as
 * fab_first_port() counts. */
struct shm_link *fab_faulty(const struct fab_fabric *f, uint32_t number);

struct shm_pool_ring *fab_ring(const struct fab_fabric *f, unsigned from, unsigned home);

bool fab_worker_is_down(const struct fab_fabric *f, unsigned worker);

/* The first entry of an accelerator that runs elsewhere, in whatever plane; spec.externals: it runs here. */
unsigned fab_external(const struct fab_fabric *f, uint32_t node);
bool fab_is_external(const struct fab_fabric *f, uint32_t node);
/* Whether something may be sent to (plane, node, port): false at a cable of an external accelerator that is down. */
bool fab_port_is_up(const struct fab_fabric *f, unsigned plane, uint32_t node, unsigned port);
/* Whether any cable that an external accelerator should have is down: and may come up again, or its node has left. */
bool fab_misses_cable(const struct fab_fabric *f);
bool fab_node_has_left(const struct fab_fabric *f);

/* Buffers that lie in some ring now; all of them when nothing moves. Call while no worker runs. */
uint64_t fab_count_buffers(const struct fab_fabric *f);

/* Wakes a sleeping worker. */
void fab_wake(const struct fab_fabric *f, unsigned worker);

#endif
