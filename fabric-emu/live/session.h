/* session.h - what `run`, `send` and `demo` share: a fabric is created, run once, judged and removed. */
#ifndef SESSION_H
#define SESSION_H

#include "external.h"
#include "netns_holder.h"
#include "recording.h"
#include "supervisor.h"

struct session {
    struct fab_fabric f;
    struct external external;
    struct netns_holder netns_holder; /* where programs run on the hosts */
    struct packets packets;
    struct attachments attachments; /* by which these programs send messages of their own */
    int *wake;                      /* as struct fab_fabric has it */
    struct traffic traffic;
    struct run_plan plan;
    struct faults faults;                           /* faults_schedule(): before the run */
    const struct hx_fault_settings *fault_settings; /* that they follow from; set it before the run; NULL: none */
    struct progress progress;
    struct warm_up warm_up;
    struct result result;
    bool has_traffic;
    struct collective_plan collective;         /* job NULL: none */
    bool watched;                              /* set it before the run: hxmesh-top shows it */
    const struct hx_capture_settings *capture; /* set it before the run; NULL: none */
    struct recording recording;
    struct capture_report captured;
};

/* Takes over *spec. */
void session_open(struct session *s, struct hx_spec *spec, const struct fab_options *options);
/* Likewise, for session_run_traffic(): with traffic by the settings. *flows (NULL: a pattern) must outlive *s. */
void session_open_traffic(struct session *s, struct hx_spec *spec, const struct fab_options *options,
                          const struct hx_settings *settings, const struct flows *flows);

/* Runs the traffic that it was opened with; the result is in s->result. */
void session_run_traffic(struct session *s, bool restart, bool quiet);
/* Carries a file. */
void session_run_transfer(struct session *s, const struct transfer *transfer, bool quiet);

/* Gives each host namespaces, an interface and an attachment, and carries what programs on them send until somebody
 * ends it. begun(of): called when all of it is ready; NULL: nobody wants to know. */
void session_run_packets(struct session *s, unsigned mtu, bool quiet, void (*begun)(void *of), void *of);

/* Lets programs send, until it is told to end or, if duration_ns is not 0, for so long. */
void session_run_programs(struct session *s, struct attachments *attachments, uint64_t duration_ns);

/* The report of DESIGN section 7, and what was captured: for programs, and for a person. */
json_t *session_json(const struct session *s);
void session_print(const struct session *s);

/* 0, 1 (lost or corrupted), a worker's own code, or 130. */
int session_exit_code(const struct session *s);
void session_close(struct session *s);

#endif
