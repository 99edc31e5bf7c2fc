/* external.c - accelerators that run elsewhere, as the supervisor sees them (external.h). */
#include "external.h"
#include "came.h"
#include "host/error.h"
#include "host/name.h"
#include "host/value.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static unsigned cables(const struct external *x)
{
    return x->f->spec.externals * HX_CABLE_PORTS;
}

static const struct hx_external *owner_of(const struct external *x, unsigned cable)
{
    return &x->f->spec.external[cable / HX_CABLE_PORTS];
}

static const struct hx_external_port *port_of(const struct external *x, unsigned cable)
{
    return &owner_of(x, cable)->port[cable % HX_CABLE_PORTS];
}

static bool is_out(const struct external *x, unsigned cable)
{
    return port_of(x, cable)->cable == HX_CABLE_OUT;
}

static uint32_t rank_of(const struct external *x, const struct hx_external *e)
{
    return hx_fabric_host(x->f->g, e->d0, e->d1);
}

static const char *name_of(const struct external *x, unsigned cable, char name[HX_NAME_BYTES])
{
    const struct hx_external *e = owner_of(x, cable);
    return hx_port_name(name, x->f->g, e->plane, rank_of(x, e), cable % HX_CABLE_PORTS);
}

/* "memif:/run/hx/e.sock" */
static const char *text_of(const struct external *x, unsigned cable, char text[HX_CABLE_TARGET_BYTES + 8])
{
    const struct hx_external_port *p = port_of(x, cable);
    (void)snprintf(text, HX_CABLE_TARGET_BYTES + 8, "%s:%s", hx_cable_words[p->cable], p->target);
    return text;
}

/* ---- opening ---- */

/* What the largest frame of a cable needs. */
static unsigned mtu_of(const struct external *x, unsigned cable)
{
    return (owner_of(x, cable)->sealed ? (unsigned)WIRE_MAX_FRAME : (unsigned)HX_MAX_FRAME) - WIRE_ETHERNET_HEADER;
}

static const char *reason_of(enum hx_cable_kind kind, int error, unsigned mtu, unsigned least, char reason[128])
{
    switch (error) {
    case -EADDRINUSE:
        return "somebody listens there already";
    case -EEXIST:
        return "there is a file of that name that is no socket";
    case -EMSGSIZE:
        (void)snprintf(reason, 128, "its MTU is %u, frames need %u (ip link set NAME mtu 9000)", mtu, least);
        return reason;
    case -ENETDOWN:
        return "the interface is down (ip link set NAME up)";
    case -ENODEV:
        return "there is no such interface";
    case -EPERM:
    case -EACCES:
        if (kind == HX_CABLE_MEMIF)
            return error == -EPERM ? "what stands there is another user's" : "no permission to make a socket there";
        return "no permission (packet sockets need CAP_NET_RAW, TAPs CAP_NET_ADMIN or an owner)";
    default:
        return strerror(-error);
    }
}

static int open_cable(struct external *x, unsigned cable, unsigned *mtu)
{
    const char *target = port_of(x, cable)->target;
    switch (port_of(x, cable)->cable) {
    case HX_CABLE_MEMIF:
        return wire_open_memif(&x->wire[cable], target);
    case HX_CABLE_VETH:
        return wire_open_packet(&x->wire[cable], target, mtu);
    case HX_CABLE_TAP:
        return wire_open_tap(&x->wire[cable], target, mtu);
    case HX_CABLE_QEMU:
        return wire_open_pair(&x->wire[cable], target,
                              &x->machine[cable / HX_CABLE_PORTS].cable[cable % HX_CABLE_PORTS]);
    default:
        return 0;
    }
}

static bool open_all(struct external *x, struct hx_problem *problem)
{
    for (unsigned cable = 0; cable < cables(x); cable++) {
        char name[HX_NAME_BYTES];
        char text[HX_CABLE_TARGET_BYTES + 8];
        char reason[128];
        unsigned mtu = mtu_of(x, cable);
        int error = open_cable(x, cable, &mtu);
        if (error)
            return hx_fail(problem, HX_EXIT_ENVIRONMENT, text_of(x, cable, text), "cannot be the cable of %s: %s",
                           name_of(x, cable, name),
                           reason_of(port_of(x, cable)->cable, error, mtu, mtu_of(x, cable), reason));
    }
    return true;
}

static void name_machines(struct external *x)
{
    x->machine = hx_allocate(x->f->spec.externals, sizeof *x->machine);
    for (unsigned i = 0; i < x->f->spec.externals; i++) {
        const struct hx_external *e = &x->f->spec.external[i];
        struct machine *m = &x->machine[i];
        m->to = m->from = -1;
        for (unsigned port = 0; port < HX_CABLE_PORTS; port++)
            m->cable[port] = -1;
        if (e->node == HX_NODE_QEMU)
            (void)hx_node_name(m->name, x->f->g, e->plane, rank_of(x, e));
    }
}

bool external_open(struct external *x, const struct fab_fabric *f, struct hx_problem *problem)
{
    *x = (struct external){.f = f};
    if (f->spec.externals == 0)
        return true;
    for (unsigned i = 0; i < f->spec.externals; i++) {
        const struct hx_external *e = &f->spec.external[i];
        if (e->plane >= f->g->planes)
            return hx_fail(problem, HX_EXIT_CONFIG, f->spec.source, "external accelerator %u,%u is in plane %u of %u",
                           e->d0, e->d1, e->plane, f->g->planes);
    }
    x->wire = hx_allocate(cables(x), sizeof *x->wire);
    x->state = hx_allocate(f->spec.externals, sizeof *x->state);
    name_machines(x);
    if (open_all(x, problem))
        return true;
    external_close(x);
    return false;
}

void external_close(struct external *x)
{
    for (unsigned cable = 0; x->wire && cable < cables(x); cable++)
        wire_close(&x->wire[cable]);
    for (unsigned i = 0; x->machine && i < x->f->spec.externals; i++)
        machine_close(&x->machine[i]);
    free(x->wire);
    free(x->state);
    free(x->machine);
    x->wire = NULL;
    x->state = NULL;
    x->machine = NULL;
}

/* ---- what is due ---- */

bool external_expect(struct external *x, const struct traffic *traffic, bool restart, struct hx_problem *problem)
{
    const struct fab_fabric *f = x->f;
    x->traffic = traffic;
    x->restart = restart;
    for (unsigned i = 0; i < f->spec.externals; i++) {
        uint32_t rank = rank_of(x, &f->spec.external[i]);
        if (x->machine[i].name[0] && !machine_takes(traffic, rank, x->machine[i].name, problem))
            return false;
        for (uint32_t other = 0; fab_external(f, rank) == i && other < f->g->hosts; other++) {
            bool here = !fab_is_external(f, other);
            x->state[i].due_from += here ? traffic_messages_between(traffic, rank, other) : 0;
            x->state[i].due_to += here ? traffic_messages_between(traffic, other, rank) : 0;
        }
    }
    return true;
}

/* ---- machines ---- */

enum { MOST_HOPELESS = 3 /* machines in a row that ended before they were ready */ };

static bool start_machine(struct external *x, unsigned external, struct hx_problem *problem)
{
    struct machine *m = &x->machine[external];
    if (m->pid || (m->starts && !x->restart))
        return true;
    if (m->hopeless >= MOST_HOPELESS)
        return hx_fail(problem, HX_EXIT_FAILED, m->name,
                       "its machine ended %u times in a row before it was ready: it is not started again", m->hopeless);
    char *text = machine_text(x->f, &x->f->spec.external[external], x->traffic);
    bool started = machine_start(m, text, problem);
    free(text);
    return started;
}

/* What an image counts is shown as any accelerator's. */
static void show_machine(const struct external *x, unsigned external)
{
    const struct machine *m = &x->machine[external];
    const struct hx_endpoint_stats stats = {.messages_sent = machine_number(m, "messages_sent"),
                                            .messages_received = machine_number(m, "messages_received"),
                                            .messages_failed = machine_number(m, "messages_failed"),
                                            .packets_sent = machine_number(m, "packets_sent"),
                                            .packets_repeated = machine_number(m, "packets_repeated"),
                                            .packets_delivered = machine_number(m, "packets_delivered"),
                                            .bytes_delivered = machine_number(m, "bytes_delivered")};
    hx_metrics_set_accelerator(&x->f->metrics.accelerator[rank_of(x, &x->f->spec.external[external])], &stats);
}

/* Images send from when the run begins, as accelerators here do, until no more is to be sent. */
static bool attend_machines(struct external *x, struct hx_problem *problem)
{
    uint32_t phase = atomic_load(&x->f->control->phase);
    for (unsigned i = 0; i < x->f->spec.externals; i++) {
        struct machine *m = &x->machine[i];
        if (!m->name[0])
            continue;
        if (!start_machine(x, i, problem))
            return false;
        if (phase != FAB_STARTING)
            machine_tell(m, phase == FAB_RUNNING ? 'g' : 'd');
        machine_hear(m);
        show_machine(x, i);
    }
    return true;
}

bool external_ended(struct external *x, pid_t pid, int status)
{
    for (unsigned i = 0; x->machine && i < x->f->spec.externals; i++) {
        struct machine *m = &x->machine[i];
        if (m->pid != pid)
            continue;
        machine_ended(m);
        bool killed = WIFSIGNALED(status);
        hx_warn(m->name, "its machine (process %d) %s %d%s", (int)pid,
                killed ? "was killed by signal" : "ended with code", killed ? WTERMSIG(status) : WEXITSTATUS(status),
                x->restart ? "; it is started again" : "");
        return true;
    }
    return false;
}

void external_stop(struct external *x)
{
    for (unsigned i = 0; x->machine && i < x->f->spec.externals; i++) {
        machine_stop(&x->machine[i]);
        if (x->machine[i].name[0])
            show_machine(x, i);
    }
}

uint64_t external_messages(const struct external *x)
{
    uint64_t sum = 0;
    for (unsigned i = 0; x->machine && i < x->f->spec.externals; i++)
        sum += x->machine[i].name[0] ? traffic_messages(x->traffic, rank_of(x, &x->f->spec.external[i])) : 0;
    return sum;
}

bool external_is_good(const struct external *x)
{
    bool good = true;
    for (unsigned i = 0; x->machine && i < x->f->spec.externals; i++)
        good = good && machine_number(&x->machine[i], "bytes_corrupted") == 0 &&
               machine_number(&x->machine[i], "messages_failed") == 0;
    return good;
}

static void add(struct fab_sum *sum, const struct fab_sum *more)
{
    sum->messages += more->messages;
    sum->packets += more->packets;
    sum->bytes += more->bytes;
}

/* With all accelerators here. */
static struct fab_exchange exchange_of(const struct external *x, unsigned external)
{
    struct fab_exchange sum = {.to = {0}};
    for (uint32_t rank = 0; rank < x->f->g->hosts; rank++) {
        const struct fab_exchange *e = &x->f->exchange[(size_t)external * x->f->g->hosts + rank];
        add(&sum.to, &e->to);
        add(&sum.from, &e->from);
    }
    return sum;
}

static struct fab_exchange exchange_of_all(const struct external *x)
{
    struct fab_exchange sum = {.to = {0}};
    for (unsigned i = 0; i < x->f->spec.externals; i++) {
        const struct fab_exchange e = exchange_of(x, i);
        add(&sum.to, &e.to);
        add(&sum.from, &e.from);
    }
    return sum;
}

/* ---- watching ---- */

static bool is_up(const struct external *x, unsigned cable)
{
    return atomic_load(&x->f->cable[cable].up);
}

static bool nobody_came(const struct external *x, unsigned cable, struct hx_problem *problem)
{
    const struct hx_external *e = owner_of(x, cable);
    char name[HX_NAME_BYTES];
    char text[HX_CABLE_TARGET_BYTES + 8];
    char wait[HX_VALUE_TEXT];
    char came[CAME_TEXT];
    (void)hx_value_print_duration(wait, e->wait_ns);
    if (came_text(came, &x->f->cable[cable], &x->wire[cable], e->plane))
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, name_of(x, cable, name),
                       "no neighbour came to %s within %s: %s (look at what is at its other end)",
                       text_of(x, cable, text), wait, came);
    return hx_fail(problem, HX_EXIT_ENVIRONMENT, name_of(x, cable, name),
                   "nobody came to %s within %s (start its node, or give the fabric a longer wait)",
                   text_of(x, cable, text), wait);
}

/* Before the run every cable must be up. */
static bool await(const struct external *x, uint64_t now, struct hx_problem *problem)
{
    for (unsigned cable = 0; cable < cables(x); cable++) {
        bool missed = !is_out(x, cable) && !is_up(x, cable);
        if (missed && now - x->watched_ns > owner_of(x, cable)->wait_ns)
            return nobody_came(x, cable, problem);
    }
    return true;
}

static bool is_there(const struct external *x, unsigned external)
{
    bool any = false;
    for (unsigned port = 0; port < HX_CABLE_PORTS; port++)
        any = any || is_up(x, external * HX_CABLE_PORTS + port);
    return any;
}

/* For longer than is waited for it. */
static bool is_away(struct external *x, unsigned external, uint64_t now)
{
    uint64_t *away_ns = &x->state[external].away_ns;
    *away_ns = is_there(x, external) ? 0 : *away_ns ? *away_ns : now;
    return *away_ns && now - *away_ns > x->f->spec.external[external].wait_ns;
}

static bool fail_away(const struct external *x, unsigned external, struct hx_problem *problem)
{
    const struct hx_external *e = &x->f->spec.external[external];
    char name[HX_NAME_BYTES];
    char wait[HX_VALUE_TEXT];
    return hx_fail(problem, HX_EXIT_FAILED, hx_node_name(name, x->f->g, e->plane, rank_of(x, e)),
                   "its node has been away for %s", hx_value_print_duration(wait, e->wait_ns));
}

/* Nobody waits for its cables any more: what has no way without them is given up. */
static void let_go(const struct external *x, unsigned external, bool left)
{
    for (unsigned port = 0; port < HX_CABLE_PORTS; port++)
        atomic_store(&x->f->cable[external * HX_CABLE_PORTS + port].left, left);
}

/* false: it is there and messages of it are due, but it says nothing any more. */
static bool is_heard(const struct external *x, unsigned external, uint64_t come, uint64_t now,
                     struct hx_problem *problem)
{
    const struct hx_external *e = &x->f->spec.external[external];
    uint64_t heard = x->f->control->started_ns;
    char name[HX_NAME_BYTES];
    char wait[HX_VALUE_TEXT];
    for (unsigned port = 0; port < HX_CABLE_PORTS; port++) {
        const struct fab_cable *c = &x->f->cable[external * HX_CABLE_PORTS + port];
        uint64_t at = atomic_load_explicit(&c->heard_ns, memory_order_relaxed);
        heard = at > heard ? at : heard;
    }
    uint64_t due = x->state[external].due_from;
    return come >= due || x->state[external].away_ns || now <= heard + e->wait_ns ||
           hx_fail(problem, HX_EXIT_FAILED, hx_node_name(name, x->f->g, e->plane, rank_of(x, e)),
                   "%" PRIu64 " of its %" PRIu64
                   " messages came, and then nothing for %s (is its traffic this fabric's?)",
                   come, due, hx_value_print_duration(wait, e->wait_ns));
}

/* One that has done its part may go; the others go on without it. */
static bool watch_one(struct external *x, unsigned external, uint64_t now, struct hx_problem *problem)
{
    bool away = is_away(x, external, now);
    unsigned first = fab_external(x->f, rank_of(x, &x->f->spec.external[external]));
    const struct external_state *s = &x->state[first];
    const struct fab_exchange done = exchange_of(x, first);
    bool counted = s->due_to || s->due_from;
    bool did_its_part = counted && done.to.messages >= s->due_to && done.from.messages >= s->due_from;
    let_go(x, external, away && did_its_part);
    if (did_its_part)
        return true;
    if (away)
        return fail_away(x, external, problem);
    bool running = atomic_load(&x->f->control->phase) == FAB_RUNNING;
    return !running || is_heard(x, external, done.from.messages, now, problem);
}

bool external_watch(struct external *x, uint64_t now, struct hx_problem *problem)
{
    if (!x->wire)
        return true;
    for (unsigned cable = 0; cable < cables(x); cable++) {
        if (!is_out(x, cable))
            wire_serve(&x->wire[cable]);
    }
    x->watched_ns = x->watched_ns ? x->watched_ns : now;
    if (!attend_machines(x, problem))
        return false;
    if (atomic_load(&x->f->control->phase) == FAB_STARTING)
        return await(x, now, problem);
    for (unsigned external = 0; external < x->f->spec.externals; external++) {
        if (!watch_one(x, external, now, problem))
            return false;
    }
    return true;
}

/* ---- the report ---- */

static json_t *sum_json(const struct fab_sum *s)
{
    return json_pack("{s:I, s:I, s:I}", "messages", (json_int_t)s->messages, "packets", (json_int_t)s->packets, "bytes",
                     (json_int_t)s->bytes);
}

static json_t *cable_json(const struct external *x, unsigned cable)
{
    const struct fab_cable_count *c = &x->f->cable[cable].count;
    char name[HX_NAME_BYTES];
    char text[HX_CABLE_TARGET_BYTES + 8];
    json_t *o = json_pack("{s:s, s:s}", "port", name_of(x, cable, name), "cable", text_of(x, cable, text));
#define SET(key) (void)json_object_set_new(o, #key, json_integer((json_int_t)c->key))
    SET(data_in);
    SET(data_out);
    SET(credits_in);
    SET(credits_out);
    SET(credits_lost);
    SET(dropped);
    SET(reflected);
    SET(strangers);
    SET(sessions);
#undef SET
    return o;
}

json_t *external_json(const struct external *x)
{
    const struct fab_exchange all = exchange_of_all(x);
    json_t *list = json_array();
    for (unsigned cable = 0; cable < cables(x); cable++) {
        if (!is_out(x, cable))
            (void)json_array_append_new(list, cable_json(x, cable));
    }
    json_t *machines = json_array();
    for (unsigned i = 0; i < x->f->spec.externals; i++) {
        if (x->machine[i].name[0])
            (void)json_array_append_new(machines, machine_json(&x->machine[i]));
    }
    return json_pack("{s:o, s:o, s:o, s:o}", "to", sum_json(&all.to), "from", sum_json(&all.from), "cables", list,
                     "machines", machines);
}

void external_print(const struct external *x)
{
    if (!x->wire)
        return;
    const struct fab_exchange all = exchange_of_all(x);
    printf("  external       %" PRIu64 " messages acknowledged by, %" PRIu64 " come from accelerators elsewhere\n",
           all.to.messages, all.from.messages);
    for (unsigned i = 0; i < x->f->spec.externals; i++) {
        const struct machine *m = &x->machine[i];
        if (m->name[0])
            printf("    %-14s image in QEMU: %" PRIu64 " messages sent, %" PRIu64 " received, %" PRIu64
                   " bytes corrupted, %" PRIu64 " packet-hops, started %u times\n",
                   m->name, machine_number(m, "messages_sent"), machine_number(m, "messages_received"),
                   machine_number(m, "bytes_corrupted"), machine_number(m, "hops"), m->starts);
    }
    for (unsigned cable = 0; cable < cables(x); cable++) {
        const struct fab_cable_count *c = &x->f->cable[cable].count;
        char name[HX_NAME_BYTES];
        char text[HX_CABLE_TARGET_BYTES + 8];
        if (!is_out(x, cable))
            printf("    %-14s %s: %" PRIu64 " packets in, %" PRIu64 " out, %" PRIu64 " sessions, %" PRIu64 " dropped\n",
                   name_of(x, cable, name), text_of(x, cable, text), c->data_in, c->data_out, c->sessions, c->dropped);
    }
}
