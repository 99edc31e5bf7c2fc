/* external.c - external accelerators, as the supervisor sees them (external.h). */
#include "external.h"
#include "base/error.h"
#include "base/json.h"
#include "base/value.h"
#include "foreign_frames.h"
#include "topology/name.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    return hx_host_at(x->f->g, e->addr_hi, e->addr_lo);
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

/* Returns the MTU for the largest frame of a cable. */
static unsigned mtu_of(const struct external *x, unsigned cable)
{
    return (owner_of(x, cable)->authenticated ? (unsigned)WIRE_MAX_FRAME : (unsigned)HX_MAX_FRAME) -
           WIRE_ETHERNET_HEADER;
}

static const char *reason_of(enum hx_cable_kind kind, int error, unsigned mtu, unsigned least, char reason[128])
{
    switch (error) {
    case -EADDRINUSE:
        return "another process listens there already";
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
                              &machines_of(&x->machines, cable / HX_CABLE_PORTS)->cable[cable % HX_CABLE_PORTS]);
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

bool external_open(struct external *x, const struct fab_fabric *f, struct hx_problem *problem)
{
    *x = (struct external){.f = f};
    if (f->spec.externals == 0)
        return true;
    for (unsigned i = 0; i < f->spec.externals; i++) {
        const struct hx_external *e = &f->spec.external[i];
        if (e->plane >= f->g->planes)
            return hx_fail(problem, HX_EXIT_CONFIG, f->spec.source, "external accelerator a%u,%u is in plane %u of %u",
                           e->addr_hi, e->addr_lo, e->plane, f->g->planes);
    }
    x->wire = hx_allocate(cables(x), sizeof *x->wire);
    x->state = hx_allocate(f->spec.externals, sizeof *x->state);
    machines_open(&x->machines, f);
    if (open_all(x, problem))
        return true;
    external_close(x);
    return false;
}

void external_close(struct external *x)
{
    for (unsigned cable = 0; x->wire && cable < cables(x); cable++)
        wire_close(&x->wire[cable]);
    machines_close(&x->machines);
    free(x->wire);
    free(x->state);
    x->wire = NULL;
    x->state = NULL;
}

/* ---- messages that are due ---- */

void external_expect(struct external *x, const struct traffic *traffic)
{
    const struct fab_fabric *f = x->f;
    for (unsigned i = 0; i < f->spec.externals; i++) {
        uint32_t rank = rank_of(x, &f->spec.external[i]);
        for (uint32_t other = 0; fab_external(f, rank) == i && other < f->g->hosts; other++) {
            bool here = !fab_is_external(f, other);
            x->state[i].due_from += here ? traffic_messages_between(traffic, rank, other) : 0;
            x->state[i].due_to += here ? traffic_messages_between(traffic, other, rank) : 0;
        }
    }
}

static void add(struct fab_sum *sum, const struct fab_sum *more)
{
    sum->messages += more->messages;
    sum->packets += more->packets;
    sum->bytes += more->bytes;
}

/* Sums over all local hosts. */
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

static bool fail_missing(const struct external *x, unsigned cable, struct hx_problem *problem)
{
    const struct hx_external *e = owner_of(x, cable);
    char name[HX_NAME_BYTES];
    char text[HX_CABLE_TARGET_BYTES + 8];
    char wait[HX_VALUE_TEXT];
    char foreign_frames[FOREIGN_FRAMES_TEXT];
    (void)hx_value_print_duration(wait, e->wait_ns);
    if (foreign_frames_text(foreign_frames, &x->f->cable[cable], &x->wire[cable], e->plane))
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, name_of(x, cable, name),
                       "no neighbour came to %s within %s: %s (look at what is at its other end)",
                       text_of(x, cable, text), wait, foreign_frames);
    return hx_fail(problem, HX_EXIT_ENVIRONMENT, name_of(x, cable, name),
                   "no node came to %s within %s (start its node, or give the fabric a longer wait)",
                   text_of(x, cable, text), wait);
}

/* Checks, before the run, that no cable is down for longer than its limit. */
static bool check_cables(const struct external *x, uint64_t now, struct hx_problem *problem)
{
    for (unsigned cable = 0; cable < cables(x); cable++) {
        bool missed = !is_out(x, cable) && !is_up(x, cable);
        if (missed && now - x->watched_ns > owner_of(x, cable)->wait_ns)
            return fail_missing(x, cable, problem);
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

/* Whether it is away for longer than its limit. */
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

/* Sets `left` of its cables: messages that need them fail. */
static void set_left(const struct external *x, unsigned external, bool left)
{
    for (unsigned port = 0; port < HX_CABLE_PORTS; port++)
        atomic_store(&x->f->cable[external * HX_CABLE_PORTS + port].left, left);
}

/* Returns false: messages are due, and none has arrived within the limit. */
static bool is_active(const struct external *x, unsigned external, uint64_t received, uint64_t now,
                      struct hx_problem *problem)
{
    const struct hx_external *e = &x->f->spec.external[external];
    uint64_t last_heard = x->f->control->started_ns;
    char name[HX_NAME_BYTES];
    char wait[HX_VALUE_TEXT];
    for (unsigned port = 0; port < HX_CABLE_PORTS; port++) {
        const struct fab_cable *c = &x->f->cable[external * HX_CABLE_PORTS + port];
        uint64_t at = atomic_load_explicit(&c->heard_ns, memory_order_relaxed);
        last_heard = at > last_heard ? at : last_heard;
    }
    uint64_t due = x->state[external].due_from;
    return received >= due || x->state[external].away_ns || now <= last_heard + e->wait_ns ||
           hx_fail(problem, HX_EXIT_FAILED, hx_node_name(name, x->f->g, e->plane, rank_of(x, e)),
                   "%" PRIu64 " of its %" PRIu64
                   " messages came, and then nothing for %s (is its traffic this fabric's?)",
                   received, due, hx_value_print_duration(wait, e->wait_ns));
}

/* An accelerator that has done its part may leave; the run goes on without it. */
static bool watch_one(struct external *x, unsigned external, uint64_t now, struct hx_problem *problem)
{
    bool away = is_away(x, external, now);
    unsigned first = fab_external(x->f, rank_of(x, &x->f->spec.external[external]));
    const struct external_state *s = &x->state[first];
    const struct fab_exchange done = exchange_of(x, first);
    bool counted = s->due_to || s->due_from;
    bool has_done_its_part = counted && done.to.messages >= s->due_to && done.from.messages >= s->due_from;
    set_left(x, external, away && has_done_its_part);
    if (has_done_its_part)
        return true;
    if (away)
        return fail_away(x, external, problem);
    bool running = atomic_load(&x->f->control->phase) == FAB_RUNNING;
    return !running || is_active(x, external, done.from.messages, now, problem);
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
    if (!machines_attend(&x->machines, problem))
        return false;
    if (atomic_load(&x->f->control->phase) == FAB_STARTING)
        return check_cables(x, now, problem);
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
    json_t *o =
        json_pack("{s:s, s:o}", "port", name_of(x, cable, name), "cable", hx_json_text(text_of(x, cable, text)));
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
    return json_pack("{s:o, s:o, s:o, s:o}", "to", sum_json(&all.to), "from", sum_json(&all.from), "cables", list,
                     "machines", machines_json(&x->machines));
}

void external_print(const struct external *x)
{
    if (!x->wire)
        return;
    const struct fab_exchange all = exchange_of_all(x);
    printf("  external       %" PRIu64 " messages acknowledged by, %" PRIu64 " come from accelerators elsewhere\n",
           all.to.messages, all.from.messages);
    machines_print(&x->machines);
    for (unsigned cable = 0; cable < cables(x); cable++) {
        const struct fab_cable_count *c = &x->f->cable[cable].count;
        char name[HX_NAME_BYTES];
        char text[HX_CABLE_TARGET_BYTES + 8];
        if (!is_out(x, cable))
            printf("    %-14s %s: %" PRIu64 " packets in, %" PRIu64 " out, %" PRIu64 " sessions, %" PRIu64 " dropped\n",
                   name_of(x, cable, name), text_of(x, cable, text), c->data_in, c->data_out, c->sessions, c->dropped);
    }
}
