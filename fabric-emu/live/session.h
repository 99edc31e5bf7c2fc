/* session.h - what `run`, `send` and `demo` share: a fabric is created, run once, judged and removed. */
#ifndef SESSION_H
#define SESSION_H

#include "supervisor.h"

struct session {
    struct fab_fabric f;
    struct traffic traffic;
    struct run_plan plan;
    struct progress progress;
    struct result result;
    bool has_traffic;
};

/* Takes over *spec. */
void session_open(struct session *s, struct hx_spec *spec, const struct fab_options *options);

/* Runs traffic by the settings; the result is in s->result. incast_target: rank. */
void session_run_traffic(struct session *s, const struct hx_settings *settings, uint32_t incast_target, bool restart,
                         bool quiet);
/* Carries a file. */
void session_run_transfer(struct session *s, const struct transfer *transfer, bool quiet);

/* 0, 1 (lost or corrupted), a worker's own code, or 130. */
int session_exit_code(const struct session *s);
void session_close(struct session *s);

#endif
