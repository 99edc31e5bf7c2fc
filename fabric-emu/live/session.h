/* session.h - shared by `run`, `send` and `demo`: creates a fabric, runs it once, verifies and removes it. */
#ifndef SESSION_H
#define SESSION_H

#include "external.h"
#include "netns_holder.h"
#include "recording.h"
#include "supervisor.h"

struct session {
    struct fab_fabric f;
    struct external external;
    struct netns_holder netns_holder; /* where programs run on hosts */
    struct packets packets;
    struct attachments attachments; /* for programs that send messages */
    int *wake;                      /* as in struct fab_fabric */
    struct traffic traffic;
    struct run_plan plan;
    struct faults faults;          /* filled before the run by faults_schedule() */
    struct result_context context; /* common, fault_settings and hide_links are set before the run */
    struct progress progress;
    struct warm_up warm_up;
    struct result result;
    struct collective_plan collective;         /* job NULL: none */
    struct schedule_plan schedule;             /* job NULL: none */
    bool watched;                              /* show the run in hxmesh-top; set before the run */
    const struct hx_capture_settings *capture; /* set before the run; NULL: none */
    struct recording recording;
    struct capture_report captured;
};

/* Creates the fabric. Takes over *spec. */
void session_open(struct session *s, struct hx_spec *spec, const struct fab_options *options);
/* Also sets its traffic, for session_run_traffic(). *flows must outlive *s; NULL: a pattern. */
void session_open_traffic(struct session *s, struct hx_spec *spec, const struct fab_options *options,
                          const struct hx_settings *settings, const struct flows *flows);

/* Plans faults and changes, and frees *faults; closes the session and dies with one line if one is impossible here. */
void session_schedule(struct session *s, struct hx_faults *faults);

/* Runs the traffic; the result is in s->result. */
void session_run_traffic(struct session *s, bool restart, bool quiet);
/* Transfers a file. */
void session_run_transfer(struct session *s, const struct transfer *transfer, bool quiet);

/* Gives each host namespaces, an interface and an attachment, and carries its programs' packets until a signal. Calls
 * begun(of) when all is ready; NULL: no call. */
void session_run_packets(struct session *s, unsigned mtu, bool quiet, void (*begun)(void *of), void *of);

/* Lets programs send until a signal, or for duration_ns if not 0. */
void session_run_programs(struct session *s, struct attachments *attachments, uint64_t duration_ns);

/* Reports the result and the capture, as JSON and as text. */
json_t *session_json(const struct session *s);
void session_print(const struct session *s);

/* Returns 0, 1 (lost or corrupted), a worker's own code, or 130. */
int session_exit_code(const struct session *s);
void session_close(struct session *s);

#endif
