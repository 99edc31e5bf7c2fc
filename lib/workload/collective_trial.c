/* collective_trial.c - the engines of all members of some groups, on links (collective_trial.h). */
#include "workload/collective_trial.h"
#include "base/error.h"
#include "hxmesh/error.h"
#include "schedule/shares.h"
#include "workload/collective_packets.h"

#include <math.h>
#include <stdlib.h>

struct member {
    struct hx_collective c;
    const struct collective_job *job;
    void *state;
};

struct trial {
    struct packets packets;
    struct collective_loads *loads;
    struct member *member; /* [hosts]; job NULL: not in a group */
    uint32_t *place;       /* [hosts]: position in its group */
    uint64_t members, done;
    uint64_t due, told; /* messages to arrive and to be acknowledged, and those that were */
};

static void send_all(struct trial *t, uint32_t host)
{
    struct member *m = &t->member[host];
    struct hx_collective_send s;
    for (uint32_t refused = 0; packets_may_send(&t->packets, host) && hx_collective_next(&m->c, refused, &s);) {
        if (packets_send(&t->packets, host, m->job->host[s.to], s.bytes, s.tag))
            hx_collective_take(&m->c, &s);
        else
            refused |= (uint32_t)1 << s.queue;
    }
    packets_inject(&t->packets, host);
}

static bool add_member(struct trial *t, const struct collective_job *job, uint32_t position)
{
    const uint32_t host = job->host[position];
    struct member *m = &t->member[host];
    struct hx_collective_config config = job->config;
    shares_move(&config, position);
    m->job = job;
    m->state = hx_allocate(1, hx_collective_state(&config));
    t->place[host] = position;
    t->members++;
    if (hx_collective_init(&m->c, &config, m->state, NULL, NULL) != HX_OK)
        return false;
    t->done += hx_collective_done(&m->c);
    t->due += m->c.left;
    return true;
}

static bool add_members(struct trial *t, const struct collective_job *job, uint32_t jobs)
{
    for (uint32_t i = 0; i < jobs; i++) {
        for (uint32_t position = 0; position < job[i].config.size; position++) {
            if (!add_member(t, &job[i], position))
                return false;
        }
    }
    return true;
}

/* Tells the engine what happened, and lets it send. */
static bool tell(struct trial *t, const struct packets_message *m)
{
    const uint32_t host = m->acknowledges ? m->from : m->to;
    struct hx_collective *c = &t->member[host].c;
    const bool was_done = hx_collective_done(c);
    const int told = m->acknowledges ? hx_collective_sent(c, (uint32_t)m->cookie)
                                     : hx_collective_received(c, t->place[m->from], (uint32_t)m->cookie);
    t->done += !was_done && hx_collective_done(c);
    t->told++;
    send_all(t, host);
    return told == HX_OK;
}

static double run(struct trial *t, double limit, uint64_t hops)
{
    struct packets_message m;
    double latest = 0;
    for (uint32_t host = 0; host < t->loads->g->hosts; host++) {
        if (t->member[host].job)
            send_all(t, host);
    }
    while (t->done < t->members && packets_next(&t->packets, &m)) {
        latest = m.acknowledges ? latest : t->packets.now;
        if (!tell(t, &m) || latest > limit)
            return INFINITY;
        if (t->packets.hops > hops)
            return t->packets.now * (double)t->due / (double)t->told;
    }
    return t->done == t->members ? latest : INFINITY;
}

double collective_trial(const struct collective_job *job, uint32_t jobs, struct collective_loads *loads, double limit,
                        uint64_t hops)
{
    const uint32_t hosts = loads->g->hosts;
    struct trial t = {.loads = loads};
    t.member = hx_allocate(hosts, sizeof *t.member);
    t.place = hx_allocate(hosts, sizeof *t.place);
    packets_open(&t.packets, loads);
    const double seconds = add_members(&t, job, jobs) ? run(&t, limit, hops) : INFINITY;
    packets_close(&t.packets);
    for (uint32_t host = 0; host < hosts; host++)
        free(t.member[host].state);
    HX_FREE(t.member, t.place);
    return seconds;
}
