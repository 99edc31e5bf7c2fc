/* bridge.c - the cables of an external accelerator (bridge.h). */
#include "bridge.h"
#include "base/random.h"
#include "foreign_frames.h"
#include "workload/waits.h"

#include <stdlib.h>
#include <string.h>

enum {
    BURST = 32,                 /* frames of a port in one step */
    POLL_NS = 1000000,          /* between checks of the connection */
    CREDIT_PERIOD_NS = 100000,  /* between credit frames without need */
    QUIET_PERIOD_NS = 12800000, /* towards a quiet image in QEMU: it sleeps between credit frames */
    QUIET_NS = 2000000000       /* longer than the first three retries of an endpoint */
};
/* After a restart of the peer: retries are farther apart. */
static const uint64_t quiet_after_restart_ns = (WAIT_MOST_MS + 1000) * UINT64_C(1000000);

static unsigned vcs_of(const struct bridge *b)
{
    return b->worker->f->g->vcs;
}

/* ---- state of a cable ---- */

static void begin_session(const struct bridge *b, struct bridge_port *p)
{
    cable_begin(&p->cable, vcs_of(b), HX_MOST_CREDITS, b->worker->f->spec.credits);
    p->shared->count.sessions++;
    p->authenticated_bytes = 0;
}

/* Counts new sessions. A frame authenticated for the old session is void. */
static void follow_sessions(struct bridge_port *p)
{
    uint32_t began = cable_new_sessions(&p->cable);
    p->shared->count.sessions += began; /* sum over all workers that ran this cable */
    p->authenticated_bytes = began ? 0 : p->authenticated_bytes;
}

static void publish_up(const struct bridge *b, const struct bridge_port *p, bool up)
{
    const struct fab_fabric *f = b->worker->f;
    if (atomic_load_explicit(&p->shared->up, memory_order_relaxed) == up)
        return;
    if (up)
        atomic_store(&p->shared->was_up, true);
    atomic_store(&p->shared->up, up);
    atomic_fetch_add(&f->control->changes, 1);
    for (unsigned worker = 0; worker < f->workers; worker++)
        fab_wake(f, worker);
}

static void check_connection(struct bridge *b, struct bridge_port *p, uint64_t now)
{
    bool connected = wire_poll(p->wire);
    if (connected && (!p->connected || cable_fell_silent(&p->cable, now, CABLE_SILENCE_NS)))
        begin_session(b, p);
    p->connected = connected;
    p->authenticated_bytes = connected ? p->authenticated_bytes : 0; /* a new connection begins a session */
    publish_up(b, p, connected && p->cable.link.open);
}

/* ---- authenticated frames ---- */

/* Sends the waiting authenticated frame, if any: it counted as sent before all later ones. */
static void send_authenticated(struct bridge_port *p)
{
    if (p->authenticated_bytes && wire_send(p->wire, p->authenticated, p->authenticated_bytes))
        p->authenticated_bytes = 0;
}

/* Sends a frame with its tag, or keeps it until the wire takes it. It counts as sent: its number must not be used
 * twice, and a new tag for each refusal would cost too much. */
static void keep_authenticated(struct bridge_port *p, uint32_t bytes)
{
    p->authenticated_bytes = bytes;
    send_authenticated(p);
}

/* ---- credit frames ---- */

/* Frames of other sessions do not count as heard: the silence that follows ends the session. */
static void take_credit(const struct bridge *b, struct bridge_port *p, enum cable_verdict whose)
{
    p->shared->count.credits_in += whose == CABLE_PEER;
    p->shared->count.strangers += whose == CABLE_STRANGER;
    p->shared->count.reflected += whose == CABLE_OWN;
    cable_hear(&p->cable, whose, b->worker->shm.now);
}

/* Returns false: the wire refused it. */
static bool send_credit(struct bridge_port *p)
{
    uint8_t frame[CABLE_CREDIT_BYTES];
    if (!p->cable.key)
        return wire_send(p->wire, frame, cable_credit_write(&p->cable, frame));
    keep_authenticated(p, cable_credit_write(&p->cable, p->authenticated));
    return true;
}

static void send_due_credit(const struct bridge *b, struct bridge_port *p)
{
    if (p->authenticated_bytes || !cable_credit_is_due(&p->cable, b->worker->shm.now))
        return;
    bool lost = cable_loses_credit(&p->cable);
    if (!lost && !send_credit(p))
        return;
    p->shared->count.credits_lost += lost;
    p->shared->count.credits_out += !lost;
    cable_credit_sent(&p->cable, b->worker->shm.now);
}

/* ---- notices of dead links ---- */

/* Returns the ports of a node that the accelerator is told of. A cable that was not up yet is no dead link: its node
 * starts later. */
static uint64_t dead_ports_of(const struct bridge *b, const struct hx_dead_links *dead, uint32_t node)
{
    const struct hx_geometry *g = b->notices.g;
    const struct fab_fabric *f = b->worker->f;
    uint64_t ports = hx_dead_links_at(dead, g, node);
    for (uint64_t left = ports; left; left &= left - 1) {
        const unsigned port = (unsigned)__builtin_ctzll(left);
        const struct hx_end far = hx_far_end(g, node, port);
        if (fab_port_is_awaited(f, b->node->plane, node, port) ||
            fab_port_is_awaited(f, b->node->plane, far.node, far.port))
            ports &= ~((uint64_t)1 << port);
    }
    return ports;
}

void bridge_tell(struct bridge *b, const struct hx_dead_links *dead)
{
    const struct hx_geometry *g = b->notices.g;
    for (uint32_t node = 0; g && node < g->nodes; node++)
        if (node != b->node->id)
            (void)hx_notices_say(&b->notices, node, dead_ports_of(b, dead, node), b->worker->shm.now);
}

/* A frame that the wire refuses is lost; digests find that out. */
static void send_notices(struct bridge *b, unsigned port)
{
    struct bridge_port *p = &b->port[port];
    uint8_t frame[CABLE_NOTICE_BYTES];
    const uint64_t now = b->worker->shm.now;
    if (!b->notices.g || p->authenticated_bytes)
        return;
    cable_notices_follow(&p->cable, &b->notices, port, now);
    unsigned bytes = cable_notices_write(&p->cable, &b->notices, port, now, frame);
    if (bytes && p->cable.key) {
        memcpy(p->authenticated, frame, bytes);
        keep_authenticated(p, bytes);
    } else if (bytes) {
        (void)wire_send(p->wire, frame, bytes);
    }
}

/* Only nodes of a HammingMesh keep notices; a peer may send them on any cable. */
static void take_notices(struct bridge *b, unsigned port, uint32_t bytes)
{
    if (b->notices.g)
        cable_notices_take(&b->notices, port, b->frame, bytes, b->worker->shm.now);
}

static void open_notices(struct bridge *b)
{
    const struct hx_geometry *g = &b->worker->f->g->mesh;
    if (!g->nodes)
        return;
    b->notices_memory = hx_allocate(1, hx_notices_bytes(g));
    b->dead_memory = hx_allocate(1, hx_dead_links_bytes(g));
    hx_dead_links_init(&b->dead, g, b->dead_memory);
    hx_notices_init(&b->notices, g, &b->dead, b->notices_memory);
    b->notices.period = CABLE_NOTICE_PERIOD_NS;
}

/* ---- from the cable ---- */

static void drop(struct bridge *b, struct bridge_port *p, enum hx_drop reason)
{
    b->node->hal.drops[reason]++;
    p->shared->count.dropped++;
}

/* Drops a packet and frees its credit. */
static void drop_granted(struct bridge *b, struct bridge_port *p, const struct hx_desc *d, enum hx_drop reason)
{
    hx_credit_leave(&p->cable.link.rx[d->vc], hx_blocks(d->length));
    drop(b, p, reason);
}

/* Puts a packet into the link to the neighbour. Returns false: no room there, or no buffer. */
static bool forward(struct bridge *b, unsigned port, const struct hx_desc *of, const uint8_t *frame)
{
    struct shm_worker *shm = &b->worker->shm;
    struct hal_switch *h = &b->node->hal;
    struct hx_desc d = *of;
    if (hx_lane(hal_tx_credits(h, port), d.vc) == 0 || !shm_buffer_get(shm, &d.buffer, shm->reserve))
        return false;
    memcpy(shm->buffers[d.buffer].frame, frame, (size_t)HX_HEADER_BYTES + d.length);
    shm->injected_ns[d.buffer] = shm->now;
    shm_tap_replayed(h, port, d.vc);
    shm_transmit(h, port, &d);
    hx_credit_leave(&b->port[port].cable.link.rx[d.vc], hx_blocks(d.length));
    return true;
}

static void take_data(struct bridge *b, unsigned port, const struct hx_desc *d)
{
    struct bridge_port *p = &b->port[port];
    struct stage *stage = &p->stage[d->vc];
    p->shared->count.data_in++;
    if (d->job != b->node->sw.job)
        drop_granted(b, p, d, HX_DROP_FOREIGN_JOB);
    else if ((stage_first(stage) || !forward(b, port, d, b->frame)) && !stage_put(stage, d, b->frame))
        drop_granted(b, p, d, HX_DROP_OVERRUN);
}

/* Returns whether the frame counts as data. */
static bool take_frame(struct bridge *b, unsigned port, uint32_t bytes)
{
    struct bridge_port *p = &b->port[port];
    struct hx_desc d;
    enum cable_verdict verdict = cable_take(&p->cable, b->frame, bytes, &d);
    enum hx_drop reason = cable_drop(verdict);
    if (verdict == CABLE_DATA)
        take_data(b, port, &d);
    else if (reason != HX_DROP_COUNT)
        drop(b, p, reason);
    else if (verdict == CABLE_NOTICES)
        take_notices(b, port, bytes);
    else
        take_credit(b, p, verdict);
    if (verdict == CABLE_MALFORMED || verdict == CABLE_FORGED)
        foreign_frames_note(&p->shared->foreign_frames, b->frame, bytes, verdict == CABLE_FORGED);
    return verdict == CABLE_DATA || verdict == CABLE_OVERRUN;
}

static unsigned receive(struct bridge *b, unsigned port)
{
    unsigned data = 0;
    uint32_t bytes;
    for (unsigned n = 0; n < BURST && (bytes = wire_receive(b->port[port].wire, b->frame)) > 0; n++)
        data += take_frame(b, port, bytes);
    return data;
}

static unsigned unstage(struct bridge *b, unsigned port)
{
    unsigned moved = 0;
    for (unsigned vc = 0; vc < vcs_of(b); vc++) {
        struct stage *s = &b->port[port].stage[vc];
        const struct staged *first;
        for (; (first = stage_first(s)) && forward(b, port, &first->d, first->frame); moved++)
            stage_drop_first(s);
    }
    return moved;
}

/* ---- to the cable ---- */

/* Shared memory has no room for an authentication tag, so it goes to a copy. Returns false: try again. */
static bool send_frame(struct bridge_port *p, const uint8_t *frame, uint32_t length)
{
    if (!p->cable.key)
        return wire_send(p->wire, frame, cable_bytes(&p->cable, length));
    if (p->authenticated_bytes)
        return false;
    memcpy(p->authenticated, frame, (size_t)HX_HEADER_BYTES + length);
    cable_authenticate(&p->cable, p->authenticated, length);
    keep_authenticated(p, cable_bytes(&p->cable, length));
    return true;
}

/* Sends the packet at a link's tail, or drops it if its descriptor is impossible. Returns false: try again. */
static bool send_packet(struct bridge *b, struct bridge_port *p, unsigned vc, const struct hx_desc *at)
{
    struct shm_worker *shm = &b->worker->shm;
    struct hx_desc d = shm_read_desc(at);
    d.vc = (uint8_t)vc;
    bool known = d.buffer / shm->per_home < shm->workers;
    if (!known || d.length > HX_MAX_PAYLOAD) {
        if (known)
            shm_buffer_put(shm, d.buffer);
        drop(b, p, HX_DROP_MALFORMED);
        return true;
    }
    if (hx_credit_room(&p->cable.link.tx[vc]) < hx_blocks(d.length))
        return false;
    uint8_t *frame = shm->buffers[d.buffer].frame;
    cable_write_hop(&p->cable, frame, &d);
    if (!send_frame(p, frame, d.length))
        return false;
    cable_sent(&p->cable, &d);
    p->shared->count.data_out++;
    shm_buffer_put(shm, d.buffer);
    return true;
}

static unsigned transmit(struct bridge *b, unsigned port)
{
    static const uint64_t none_waits[HX_VCS];
    const unsigned vcs = vcs_of(b);
    struct bridge_port *p = &b->port[port];
    struct hal_switch *h = &b->node->hal;
    uint64_t tail = hal_consumed(h, port);
    uint64_t heads = hal_arrived(h, port);
    unsigned sent = 0;
    for (unsigned i = 0, vc = p->first_vc; i < vcs; i++, vc = vc + 1 == vcs ? 0 : vc + 1) {
        for (unsigned n = 0; n < BURST && hx_lane(tail, vc) != hx_lane(heads, vc); n++, sent++) {
            if (!send_packet(b, p, vc, hal_arrival(h, port, vc, hx_lane(tail, vc))))
                break;
            tail = hx_lane_add(tail, vc, 1);
        }
    }
    p->first_vc = (uint8_t)(p->first_vc + 1U == vcs ? 0 : p->first_vc + 1U);
    if (sent)
        hal_release(h, port, tail, tail, none_waits);
    return sent;
}

/* ---- a step ---- */

/* As hal_commit(), and with the buffers that were taken. */
static void commit(struct bridge *b)
{
    struct hal_switch *h = &b->node->hal;
    struct shm_worker *shm = &b->worker->shm;
    if (!(h->sent | h->released | shm->gave | shm->took))
        return;
    if (h->tap)
        shm_tap_step(h);
    shm_note_heads(h, h->ports);
    shm_note_pools(shm, true);
    shm_note_tails(h, h->ports);
    shm_note_pools(shm, false);
    shm_step_commit(&shm->step);
    shm_commit_pools(shm);
    h->sent = h->released = h->gone_changed = 0;
}

unsigned bridge_step(struct bridge *b)
{
    uint64_t now = b->worker->shm.now;
    bool poll = now - b->polled_at >= POLL_NS;
    unsigned moved = 0;
    for (unsigned port = 0; port < HX_CABLE_PORTS; port++) {
        struct bridge_port *p = &b->port[port];
        if (p->wire && poll)
            check_connection(b, p, now);
        if (!p->wire || !p->connected)
            continue;
        unsigned data = unstage(b, port);
        unsigned in = receive(b, port);
        follow_sessions(p);
        send_authenticated(p);
        unsigned out = transmit(b, port);
        send_due_credit(b, p);
        send_notices(b, port);
        wire_flush(p->wire);
        follow_sessions(p);
        if (in)
            atomic_store_explicit(&p->shared->heard_ns, now, memory_order_relaxed);
        if (in + out)
            atomic_store_explicit(&p->shared->moved_ns, now, memory_order_relaxed);
        moved += data + in + out;
    }
    b->polled_at = poll ? now : b->polled_at;
    commit(b);
    return moved;
}

/* ---- life ---- */

void bridge_start(struct bridge *b, struct worker *w, unsigned external, struct node *node)
{
    const struct fab_fabric *f = w->f;
    const unsigned vcs = f->g->vcs;
    size_t bytes = stage_bytes(f->spec.credits);
    *b = (struct bridge){.worker = w, .external = &f->spec.external[external], .node = node};
    uint8_t *memory = hx_allocate((size_t)HX_CABLE_PORTS * vcs, bytes);
    b->memory = memory;
    open_notices(b);
    for (unsigned port = 0; port < HX_CABLE_PORTS; port++) {
        struct bridge_port *p = &b->port[port];
        if (b->external->port[port].cable == HX_CABLE_OUT)
            continue;
        p->wire = &w->wire[external * HX_CABLE_PORTS + port];
        p->shared = &f->cable[external * HX_CABLE_PORTS + port];
        p->cable = (struct cable_end){.plane = (uint8_t)b->external->plane,
                                      .period = CREDIT_PERIOD_NS,
                                      .ask_period = CREDIT_PERIOD_NS,
                                      .quiet_period = b->external->node == HX_NODE_QEMU ? QUIET_PERIOD_NS : 0,
                                      .lose_credit = (uint32_t)b->external->lose_credits,
                                      .key = b->external->authenticated ? &b->external->key : NULL,
                                      .random = hx_random_64()};
        for (unsigned vc = 0; vc < vcs; vc++)
            stage_init(&p->stage[vc], f->spec.credits, memory + ((size_t)port * vcs + vc) * bytes);
        publish_up(b, p, false); /* a predecessor's connection is gone */
    }
}

void bridge_stop(struct bridge *b)
{
    for (unsigned port = 0; port < HX_CABLE_PORTS; port++) {
        if (b->port[port].wire)
            wire_drop(b->port[port].wire);
    }
    HX_FREE(b->memory, b->notices_memory, b->dead_memory);
}

bool bridge_is_up(const struct bridge *b)
{
    bool up = true;
    for (unsigned port = 0; port < HX_CABLE_PORTS; port++)
        up = up && (!b->port[port].wire || atomic_load(&b->port[port].shared->up));
    return up;
}

/* Waiting credit frames do not count: they may wait as long as the peer does not read. */
static bool holds_data(const struct bridge_port *p, unsigned vcs)
{
    bool holds =
        p->authenticated_bytes && hx_frame_ethertype(p->authenticated, p->authenticated_bytes) == HX_ETHERTYPE_DATA;
    for (unsigned vc = 0; vc < vcs; vc++)
        holds = holds || stage_first(&p->stage[vc]);
    return holds;
}

bool bridge_is_quiet(const struct bridge *b, uint64_t *since)
{
    bool holds = false;
    bool restarted = false;
    for (unsigned port = 0; port < HX_CABLE_PORTS; port++) {
        const struct bridge_port *p = &b->port[port];
        if (!p->wire)
            continue;
        restarted = restarted || p->shared->count.sessions > 1;
        uint64_t moved = atomic_load_explicit(&p->shared->moved_ns, memory_order_relaxed);
        *since = moved > *since ? moved : *since;
        holds = holds || holds_data(p, vcs_of(b));
    }
    return !holds && b->worker->shm.now - *since >= (restarted ? quiet_after_restart_ns : QUIET_NS);
}
