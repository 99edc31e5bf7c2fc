/* post.c - messages, collectives and timers of the library (library.h). */
#include "base/compare.h"
#include "library.h"
#include "schedule/choices.h"
#include "workload/collective_choice.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool is_host(struct hx_sim *f, const char *what, uint32_t host)
{
    if (host >= f->setup.m.g->hosts)
        return library_refuse(f, "%s %u: hosts are 0 to %u", what, host, f->setup.m.g->hosts - 1) == HX_SIM_OK;
    if (!f->driver[host])
        return library_refuse(f, "%s %u is on a failed board", what, host) == HX_SIM_OK;
    return true;
}

static bool may_post(struct hx_sim *f)
{
    if (f->broken)
        return false;
    if (f->posted && !f->ended)
        return true;
    return library_refuse(f, "nothing can be posted: %s",
                          f->ended
                              ? "the report has ended the run"
                              : "the fabric has traffic of its own (--traffic, or traffic: or jobs: of its file)") ==
           HX_SIM_OK;
}

/* ---- messages ---- */

static int send_message(struct hx_sim *f, void *of)
{
    const struct posted_message *m = of;
    posted_send(f->posted, m);
    library_wake(f, m->from);
    return HX_SIM_OK;
}

int hx_sim_send(struct hx_sim *f, uint32_t from, uint32_t to, uint64_t bytes, uint32_t tag, uint64_t cookie)
{
    struct posted_message m = {.from = from, .to = to, .tag = tag, .bytes = bytes, .cookie = cookie};
    if (!may_post(f) || !is_host(f, "sender", from) || !is_host(f, "receiver", to))
        return f->broken ? HX_SIM_BROKEN : HX_SIM_INVALID;
    if (from == to)
        return library_refuse(f, "host %u sends to itself", from);
    if (bytes > HX_MOST_MESSAGE)
        return library_refuse(f, "%" PRIu64 " bytes: a message has 2^44 at most", bytes);
    return library_call(f, send_message, &m);
}

/* ---- collectives ---- */

struct request {
    unsigned kind, algorithm; /* enum hx_collective_kind, enum hx_algorithm */
    const uint32_t *host;
    uint32_t hosts;
    uint64_t bytes, cookie;
};

static bool plan(struct hx_sim *f, const struct request *r, struct collective_job *job)
{
    struct hx_problem problem;
    const struct schedule_operation o = {.collective = (uint8_t)r->kind, .amount = r->bytes};
    const struct collective_family family = {r->host, r->hosts, 1, NULL};
    if (!f->loads_open)
        collective_open_choice(&f->loads, f->setup.m.g);
    f->loads_open = f->loads.quiet = true;
    *job = (struct collective_job){.root_host = r->host[0]};
    schedule_set_vector(&o, r->hosts, &job->config);
    return collective_plan_group(job, &f->setup.traffic, &family, 0, r->algorithm, &f->loads, &problem) ||
           library_refuse(f, "%s", problem.what) == HX_SIM_OK;
}

static int begin_collective(struct hx_sim *f, void *of)
{
    const struct request *r = of;
    struct collective_job job;
    if (!plan(f, r, &job)) {
        collective_job_free(&job);
        return HX_SIM_INVALID;
    }
    posted_collective(f->posted, &job.config, job.host, r->cookie);
    collective_job_free(&job);
    for (uint32_t i = 0; i < r->hosts; i++)
        library_wake(f, r->host[i]);
    return HX_SIM_OK;
}

/* Whether all are hosts, each once. */
static bool are_hosts(struct hx_sim *f, const uint32_t *host, uint32_t hosts)
{
    for (uint32_t i = 0; i < hosts; i++)
        if (!is_host(f, "host", host[i]))
            return false;
    uint32_t *sorted = malloc(hosts * sizeof *sorted);
    if (!sorted)
        return library_refuse(f, "out of memory") == HX_SIM_OK;
    memcpy(sorted, host, hosts * sizeof *sorted);
    qsort(sorted, hosts, sizeof *sorted, hx_compare_uint32);
    bool good = true;
    for (uint32_t i = 1; good && i < hosts; i++)
        good = sorted[i] != sorted[i - 1] || library_refuse(f, "host %u is in the group twice", sorted[i]) == HX_SIM_OK;
    free(sorted);
    return good;
}

int hx_sim_collective(struct hx_sim *f, const char *kind, const uint32_t *host, uint32_t hosts, uint64_t bytes,
                      const char *algorithm, uint64_t cookie)
{
    struct request r = {.host = host, .hosts = hosts, .bytes = bytes, .cookie = cookie};
    char why[HX_WHY_TEXT];
    if (!may_post(f))
        return f->broken ? HX_SIM_BROKEN : HX_SIM_INVALID;
    const char *wrong = hx_value_choice(kind, hx_collective_kind_names, &r.kind, why);
    if (!wrong && algorithm)
        wrong = hx_value_choice(algorithm, hx_algorithm_names, &r.algorithm, why);
    if (wrong)
        return library_refuse(f, "%s", wrong);
    if (hosts < 2 || hosts > f->setup.m.g->hosts)
        return library_refuse(f, "a group of %u hosts: 2 to %u are possible", hosts, f->setup.m.g->hosts);
    if (!are_hosts(f, host, hosts))
        return HX_SIM_INVALID;
    if (bytes > HX_MOST_MESSAGE || (bytes == 0 && r.kind != HX_BARRIER))
        return library_refuse(f, "%" PRIu64 " bytes: a vector has 1 to 2^44", bytes);
    return library_call(f, begin_collective, &r);
}

/* ---- timers ---- */

static int add_timer(struct hx_sim *f, void *of)
{
    struct timer *t = of;
    struct time_key own = {.time = t->key.time};
    time_heap_push(&f->timers, &t->key);
    if (t->host == HX_SIM_NO_HOST)
        return HX_SIM_OK;
    time_heap_push(&f->of_host[t->host], &own);
    library_limit(f, t->host);
    return HX_SIM_OK;
}

int hx_sim_timer(struct hx_sim *f, uint32_t host, uint64_t time, uint64_t cookie)
{
    struct timer t = {.key = {.time = time}, .cookie = cookie, .host = host};
    if (f->ended)
        return library_refuse(f, "no timer: the report has ended the run");
    if (host != HX_SIM_NO_HOST && !is_host(f, "timer at host", host))
        return HX_SIM_INVALID;
    if (time < f->now || time > HX_SIM_MOST)
        return library_refuse(f, "a timer at %" PRIu64 " ps: it is %" PRIu64 " ps, and 2^62 are possible", time,
                              f->now);
    return library_call(f, add_timer, &t);
}
