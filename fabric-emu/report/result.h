/* result.h - the result of a run: gathered after the workers ended, then only printed. */
#ifndef RESULT_H
#define RESULT_H

#include "fabric-emu/report/collective_report.h"
#include "fabric-emu/report/fault_report.h"
#include "fabric-emu/report/healthy_report.h"
#include "hxmesh/endpoint.h"
#include "workload/fast_forward.h"
#include "workload/jobs.h"
#include "workload/schedule_plan.h"
#include "workload/traffic.h"

#include <jansson.h>

/* Periods of a run that were left out, since it repeated itself (hxmesh run --repeats cut). */
struct repeats_count {
    uint64_t states;     /* of the fabric at rest */
    uint64_t pairs;      /* of states with equal digests of what decides */
    uint64_t by_chance;  /* of these pairs: between them, packets with several paths */
    uint64_t unlike;     /* differ nevertheless */
    uint64_t too_late;   /* alike, but no whole period was left before a repeat ended or a timer came */
    uint64_t cuts;       /* alike, and periods were left out */
    uint64_t periods;    /* left out */
    uint64_t iterations; /* of the repeats of a rank in them, most */
    uint64_t skipped_ps; /* simulated time in them */
};

/* What the end of a run at a rate says about its load. */
enum stability {
    STABILITY_UNKNOWN, /* it was interrupted */
    STABILITY_STABLE,
    STABILITY_LATE,   /* some messages of the measured interval had not arrived at the limit */
    STABILITY_GROWING /* the latency grew while it was measured: more was offered than carried */
};

/* Of a run with sources that send at a rate for a time, under the virtual clock (fabric-emu/virtual/open_loop.h). */
struct open_outcome {
    bool on;
    bool stopped;       /* its sources stopped by themselves */
    bool finds, steady; /* the run chose its warm-up; the load was steady then */
    uint64_t marked,
        arrived;         /* messages generated in the measured interval; those of them that arrived within the limit */
    uint64_t drained_ps; /* from the end of the interval until the last of these acknowledgements */
    uint64_t limit_ps;   /* longest drained_ps */
    double half_ps[2];   /* mean latency of packets generated in each half of the interval */
};

struct outcome {
    bool interrupted; /* by SIGINT, SIGTERM or SIGHUP */
    bool cut_short;   /* virtual clock: interrupted twice, so some workers did not report */
    bool complete;    /* every message is acknowledged, and no worker stayed down */
    unsigned deaths;  /* of workers */
    int exit_code;    /* of a worker that ended by itself */
    /* Measured interval: from start, or the end of the warm-up, to the end of sending or the last acknowledgement. */
    uint64_t elapsed_ns;
    uint64_t drained_ns; /* from start until no packet was in flight; virtual clock: real time */
    uint64_t virtual_ps; /* virtual clock: the measured interval, from the warm-up to the last delivery; else 0 */
    /* Sums at the end of the measured interval. */
    uint64_t bytes_delivered, packets_delivered, hops;
    uint64_t window_wait_ps;  /* virtual clock, sum over hosts: they waited for windows with nothing to inject */
    uint64_t *job_bytes;      /* [jobs]: live, bytes_delivered of each; NULL: not measured */
    uint64_t buffers_missing; /* packet buffers missing at the end: a bug */
    bool cuts_repeats;        /* `repeats` says how often */
    struct repeats_count repeats;
    double fast_forward; /* tolerance; 0: all packets were simulated */
    struct fast_forward_counts forwarded;
    struct open_outcome open;
};

struct link_use {
    uint32_t node;
    uint16_t port;
    uint8_t plane;
    uint64_t packets;
    double busy; /* share of the time that link_rate needs for its bytes */
};

struct result_job {
    uint16_t tag;
    uint32_t accelerators; /* alive */
    double injection;      /* mean of an accelerator, bytes a second */
    struct hx_endpoint_stats sum;
    uint64_t messages_begun;
    uint64_t packets_lost, packets_in_flight; /* as of the run */
    uint64_t bytes_corrupted;
    uint64_t last_ps;          /* from the start of the run to the last packet that arrived */
    uint64_t bytes_measured;   /* delivered in the measured interval */
    double share_of_injection; /* of its own accelerators, in the measured interval */
    double share_of_own_time;  /* the same, from its start to its last packet */
    struct fab_histogram latency, network;
};

/* What a report needs beside the counts of the workers. Pointers must outlive the result. */
struct result_context {
    const struct hx_common *common;                 /* of the command line */
    const struct hx_fault_settings *fault_settings; /* NULL: no faults */
    const struct traffic *traffic;                  /* NULL: see `instead` */
    const struct collective_plan *collective;       /* NULL: messages */
    const struct schedule_plan *schedule;           /* NULL: none */
    const struct healthy *healthy;                  /* NULL: the run is not compared */
    const char *instead;     /* what replaced the workload, such as "programs"; NULL: the workload ran */
    struct hx_timing timing; /* complete; virtual clock */
    bool hide_links;         /* not in the JSON report */
};

struct result {
    struct result_context context;
    const struct hx_spec *spec;
    const struct hx_fabric *g;
    unsigned workers;
    struct hx_settings settings;
    struct collective_count collective_count;
    struct fault_report *fault; /* [faults], by time */
    size_t faults;
    struct circuits_report circuits;
    struct outcome outcome;
    struct hx_endpoint_stats sum;
    uint64_t messages_begun;
    uint32_t senders;           /* accelerators that began messages */
    uint64_t packets_lost;      /* should have arrived */
    uint64_t packets_in_flight; /* when the run was interrupted */
    uint64_t bytes_corrupted;
    uint64_t packet_hops; /* packets sent by switches, deliveries included */
    uint32_t max_vc;
    uint64_t drops[HX_DROP_COUNT];
    uint64_t stalls[HX_STALL_COUNT];
    struct fab_histogram latency, network; /* struct job_count */
    struct result_job *job;                /* [jobs]: reported where the spec names jobs */
    uint32_t jobs;
    double *collective_seconds; /* [jobs of the collective plan]: from its start to its last packet; NULL: no plan */
    double link_rate;           /* bytes a second of a link: the unit of all shares */
    double share_of_injection, bound, share_of_bound;
    double cpu_seconds;
    double verify_seconds; /* real time of all workers spent on writing, summing and checking payload */
    uint64_t peak_memory_bytes;
    struct link_use *link; /* every link between two switches, by plane, node and port */
    uint32_t links;
    uint64_t *moved;       /* [accelerators]: packets its switches sent, all planes */
    double *receive_share; /* [accelerators]: payload received until its last packet, over injection; NULL: unknown */
};

void result_add_stats(struct hx_endpoint_stats *to, const struct hx_endpoint_stats *from);
/* What an accelerator can inject on its links of all planes, bytes a second: mean, and of one. */
double result_injection(const struct result *r);
double result_host_injection(const struct result *r, uint32_t rank);
/* Computes the derived figures. Call after all gathering. */
void result_finish(struct result *r);
void result_free(struct result *r);

/* Makes the jobs with their counters, and the fabric's latency. Counters of endpoints are added by the caller. */
void result_jobs(struct result *r, const struct jobs *jobs, const struct job_count *count);

/* Whether the job is tag 0 of a spec that names jobs: boards of no job, which send nothing. */
bool result_job_is_idle(const struct result *r, const struct result_job *job);
/* Seconds from the start of a job to its last packet. */
double result_job_seconds(const struct result *r, const struct result_job *job);

/* Share of the workers' time spent on writing, summing and checking payload. */
double result_verify_share(const struct result *r);

/* Seconds of the measured interval, by the run's clock. */
double result_seconds(const struct result *r);
/* Share of the measured interval in which senders waited for windows of pairs with nothing to inject; virtual clock. */
double result_window_wait(const struct result *r);

/* Growth of the latency in the measured interval, ps a ps. A fabric that carries a share c of its load falls behind by
 * 1/c - 1 of the time, and the latency grows by as much. */
double result_growth(const struct result *r);
/* Whether the load of a run at a rate was stable; outcome.open.on is set. It grows if the growth is above 2 %, and the
 * mean latency of the second half of the interval above 1.2 times that of the first. */
enum stability result_stability(const struct result *r);
/* Whether latencies mean something: those of an unstable load depend on the length of the run. */
bool result_has_latency(const struct result *r);

/* Figures of the collectives; context.collective is set. */
struct collective_result result_collective(const struct result *r);

/* Messages of a file; NULL: the traffic follows a pattern, or there is none. */
const struct flows *result_flows(const struct result *r);

/* Whether nothing is lost or corrupted, no buffer is missing, and each message is acknowledged (or the user ended the
 * run). */
/* Packets that were simulated, of all (--fast-forward). */
double result_simulated_share(const struct result *r);
/* Whether a collective that was compared ended otherwise than --fast-forward allows. */
bool result_audit_failed(const struct result *r);
bool result_is_good(const struct result *r);

void result_print(const struct result *r);
/* Prints a map of accelerators, shaded by the packets that each switch sent. */
void result_print_map(const struct result *r);
/* The report (docs/report.md). A new reference. */
enum { RESULT_SCHEMA = 5 /* grows when a key changes its meaning or is removed, or results change */ };
json_t *result_json(const struct result *r);
/* What --compare-healthy compares. */
struct healthy_figures result_healthy_figures(const struct result *r);

/* Parts of the report: the fabric with failed boards and boards of jobs; all options, and a command line that repeats
 * the run (the caller frees it); the start, in UTC. */
json_t *result_fabric_json(const struct result *r);
void result_settings(const struct result *r, json_t **settings, char **again);
enum { RESULT_DATE = sizeof "2000-01-01T00:00:00Z" };
void result_date(const struct result *r, char text[RESULT_DATE]);

/* Writes the figures of a report as CSV: a line of names, one of the run, and one of each job. */
void result_csv(const json_t *report, const char *path);

#endif
