/* result.h - what a run showed: gathered once after the workers have ended, then only printed. */
#ifndef RESULT_H
#define RESULT_H

#include "fabric-emu/report/collective_report.h"
#include "fabric-emu/report/fault_report.h"
#include "hxmesh/endpoint.h"
#include "workload/jobs.h"
#include "workload/traffic.h"

#include <jansson.h>

/* How a run went. */
struct outcome {
    bool interrupted; /* by SIGINT, SIGTERM or SIGHUP */
    bool cut_short;   /* virtual clock: again, before all workers had reported: what is here is not the whole */
    bool complete;    /* everything sent was acknowledged, and no worker stayed down */
    unsigned deaths;  /* of workers */
    int exit_code;    /* a worker's, if one ended by itself */
    /* The measured interval: from start, or the end of the warm-up, to the end of sending or the last
     * acknowledgement. */
    uint64_t elapsed_ns;
    uint64_t drained_ns; /* from start to when nothing was under way; virtual clock: of real time */
    uint64_t virtual_ps; /* virtual clock: the measured interval, from the warm-up to the last delivery; else 0 */
    /* Sums at the end of the measured interval. */
    uint64_t bytes_delivered, packets_delivered, hops;
    uint64_t *job_bytes;      /* [jobs]: live, bytes_delivered of each; NULL: nothing was measured */
    uint64_t buffers_missing; /* after the end: lost by a bug */
};

struct link_use {
    uint32_t node;
    uint16_t port;
    uint8_t plane;
    uint64_t packets;
    double busy; /* share of the time that a link of link_rate needs for its bytes */
};

/* What the accelerators of one job showed. */
struct result_job {
    uint16_t tag;
    uint32_t accelerators; /* alive */
    double injection;      /* of each on average, bytes a second */
    struct hx_endpoint_stats sum;
    uint64_t messages_begun;
    uint64_t packets_lost, packets_in_flight; /* as of the whole */
    uint64_t bytes_corrupted;
    uint64_t last_ps;          /* from the start of the run to the last packet that came */
    uint64_t bytes_measured;   /* delivered in the measured interval */
    double share_of_injection; /* of its own accelerators, in the measured interval */
    double share_of_own_time;  /* likewise, in that part of it from its start to its last packet */
    struct fab_histogram latency;
};

struct result {
    const struct hx_spec *spec;
    const struct hx_fabric *g;
    unsigned workers;
    struct hx_settings settings;
    struct hx_timing timing;        /* complete; virtual clock */
    const struct hx_common *common; /* of the command line; set by hand after collecting */
    /* what was carried in place of traffic, of which nothing is said then: "programs"; NULL: traffic */
    const char *instead;
    const struct collective_plan *collective; /* NULL: messages; set by hand after collecting */
    struct collective_count collective_count;
    const struct hx_fault_settings
        *fault_settings;        /* what was said of faults, NULL: nothing; set by hand after collecting */
    struct fault_report *fault; /* [faults], in the order of their times */
    size_t faults;
    const struct flows *flows; /* of a file; NULL: a pattern; set by hand after collecting */
    struct outcome outcome;
    struct hx_endpoint_stats sum;
    uint64_t messages_begun;
    uint64_t packets_lost;      /* should have arrived */
    uint64_t packets_in_flight; /* were under way when the run was interrupted */
    uint64_t bytes_corrupted;
    uint64_t packet_hops; /* packets that switches have sent on, deliveries included */
    uint32_t max_vc;
    uint64_t drops[HX_DROP_COUNT];
    struct fab_histogram latency;
    struct result_job *job; /* [jobs]: reported where the spec names jobs */
    uint32_t jobs;
    double link_rate; /* bytes a second of a link: what all shares are of */
    double share_of_injection, bound, share_of_bound;
    double share_offered; /* of injection, by a pattern; set by hand after collecting */
    double cpu_seconds;
    double verify_seconds; /* real time of all workers in which they wrote, summed and checked payload */
    uint64_t peak_memory_bytes;
    struct link_use *link; /* every link between two switches, by plane, node and port */
    uint32_t links;
    uint64_t *moved;       /* [accelerators]: packets its switches sent, all planes */
    bool hide_links;       /* the JSON report does not list them */
    double *receive_share; /* [accelerators]: payload received, as a share of injection, up to its own last; NULL: not
                        * known */
};

/* Adds up what endpoints counted. */
void result_add_stats(struct hx_endpoint_stats *to, const struct hx_endpoint_stats *from);
/* What an accelerator can inject by its links of all planes, bytes a second: on average, and one of them. */
double result_injection(const struct result *r);
double result_host_injection(const struct result *r, uint32_t rank);
/* The figures that follow from the others; call when all has been gathered. */
void result_finish(struct result *r);
void result_free(struct result *r);

/* The jobs, with what was counted of each; and the whole fabric's latency. What endpoints counted is left to the
 * caller. */
void result_jobs(struct result *r, const struct jobs *jobs, const struct job_count *count);

/* Tag 0 where jobs are named: nobody's boards, and nothing was sent. */
bool result_job_is_idle(const struct result *r, const struct result_job *job);
/* From the start of a job to its last packet. */
double result_job_seconds(const struct result *r, const struct result_job *job);

/* The share of the workers' time that went into writing, summing and checking payload. */
double result_verify_share(const struct result *r);

/* The measured interval, in the time of the run's clock. */
double result_seconds(const struct result *r);

/* Nothing lost, nothing corrupted, no buffer missing, and all that was begun is acknowledged (or was cut short by
 * the user). */
bool result_is_good(const struct result *r);

/* The report for a person, on stdout. */
void result_print(const struct result *r, const struct traffic *traffic);
/* The accelerators as a map, shaded by the packets each switch sent. */
void result_print_map(const struct result *r);
/* The report of DESIGN section 7 (docs/report.md). A new reference. */
enum { RESULT_SCHEMA = 2 /* grows when a key changes its meaning or goes */ };
json_t *result_json(const struct result *r);

/* Parts of it: boards that failed and those of jobs; what every option of such a run was, and a command line that says
 * all of them (to be freed); when it began, in UTC. */
json_t *result_fabric_json(const struct result *r);
void result_settings(const struct result *r, json_t **settings, char **again);
enum { RESULT_DATE = sizeof "2000-01-01T00:00:00Z" };
void result_date(const struct result *r, char text[RESULT_DATE]);

/* The flat figures of a report as CSV: a line of names, one of the run, and one of each of its jobs, if it has any. */
void result_csv(const json_t *report, const char *path);

#endif
