/* notice.c - keeps and passes on notices of dead links (include/hxmesh/notice.h). */
#include "hxmesh/notice.h"

size_t hx_notices_bytes(const struct hx_geometry *g)
{
    return g->nodes * sizeof(struct hx_notice_state);
}

void hx_notices_init(struct hx_notices *n, const struct hx_geometry *g, struct hx_dead_links *dead, void *memory)
{
    *n = (struct hx_notices){.g = g, .dead = dead, .state = memory};
}

/* Of any two numbers one is ahead, also if they are half a circle apart: else neighbours with both would answer each
 * other forever. */
static bool is_ahead(uint32_t a, uint32_t b)
{
    const uint32_t half = UINT32_C(1) << 31;
    return a - b == half ? a > b : a != b && a - b < half;
}

/* ---- the digest ---- */

static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

/* A notice's part of the digest; 0: nothing was said. */
static uint64_t part_of(uint32_t node, const struct hx_notice_state *s)
{
    return s->sequence ? mixed(mixed((uint64_t)node << 32 | s->sequence) ^ s->dead) : 0;
}

/* ---- what waits ---- */

static void wait_for(struct hx_notices *n, uint32_t node, uint64_t ports)
{
    struct hx_notice_state *s = &n->state[node];
    for (uint64_t left = ports & n->open & ~s->waits; left; left &= left - 1)
        n->waiting[__builtin_ctzll(left)]++;
    s->waits |= ports & n->open;
}

static void wait_no_more(struct hx_notices *n, uint32_t node, unsigned port)
{
    struct hx_notice_state *s = &n->state[node];
    n->waiting[port] -= (uint32_t)(s->waits >> port & 1);
    s->waits &= ~((uint64_t)1 << port);
}

static void send_all(struct hx_notices *n, unsigned port, uint64_t now)
{
    n->again_at[port] = now;
    for (uint32_t node = 0; node < n->g->nodes; node++)
        if (n->state[node].sequence)
            wait_for(n, node, (uint64_t)1 << port);
}

/* ---- what is kept ---- */

static void update_links(struct hx_notices *n, uint32_t node, uint64_t changed)
{
    for (; changed; changed &= changed - 1) {
        unsigned port = (unsigned)__builtin_ctzll(changed);
        struct hx_end far = hx_far_end(n->g, node, port);
        bool dead =
            n->state[node].dead >> port & 1 || (far.node != HX_NOWHERE && n->state[far.node].dead >> far.port & 1);
        n->changes += hx_dead_links_set(n->dead, n->g, node, port, dead);
    }
}

/* Keeps a notice, to be sent by all ports but those of `but`. */
static void keep(struct hx_notices *n, uint32_t node, uint32_t sequence, uint64_t dead, uint64_t but)
{
    struct hx_notice_state *s = &n->state[node];
    uint64_t changed = s->dead ^ dead;
    n->digest ^= part_of(node, s);
    s->sequence = sequence;
    s->dead = dead;
    n->digest ^= part_of(node, s);
    update_links(n, node, changed);
    wait_for(n, node, ~but);
}

/* A notice with a number ahead of `sequence`; 0 is none. */
static void keep_own(struct hx_notices *n, uint32_t node, uint32_t sequence, uint64_t dead)
{
    keep(n, node, sequence + 1 ? sequence + 1 : 1, dead, 0);
}

bool hx_notices_say(struct hx_notices *n, uint32_t node, uint64_t dead, uint64_t now)
{
    struct hx_notice_state *s = &n->state[node];
    s->own = true;
    if (s->dead == dead)
        return true;
    if (n->said && now - n->said_at < n->hold)
        return false;
    n->said = true;
    n->said_at = now;
    keep_own(n, node, s->sequence, dead);
    return true;
}

/* ---- sessions ---- */

void hx_notices_open(struct hx_notices *n, unsigned port, uint64_t now)
{
    n->open |= (uint64_t)1 << port;
    n->sent_at[port] = now;
    send_all(n, port, now);
}

void hx_notices_close(struct hx_notices *n, unsigned port)
{
    for (uint32_t node = 0; n->waiting[port] && node < n->g->nodes; node++)
        wait_no_more(n, node, port);
    n->open &= ~((uint64_t)1 << port);
}

/* ---- frames ---- */

/* Whether a notice replaces the one that is kept. A node that restarted may use a number again: the greater set counts,
 * until that node says a number ahead of both. */
static bool is_newer(const struct hx_notice *got, const struct hx_notice_state *s)
{
    return s->sequence == 0 || is_ahead(got->sequence, s->sequence) ||
           (got->sequence == s->sequence && got->dead > s->dead);
}

static bool is_possible(const struct hx_geometry *g, const struct hx_notice *got)
{
    if (got->node >= g->nodes || got->sequence == 0)
        return false;
    unsigned ports = got->node < g->accelerators ? HX_LOCAL : hx_node_ports(g, got->node);
    return ports == 64 || got->dead >> ports == 0;
}

static void take_one(struct hx_notices *n, unsigned port, const struct hx_notice *got)
{
    const uint64_t bit = (uint64_t)1 << port;
    struct hx_notice_state *s = &n->state[got->node];
    if (got->sequence == s->sequence && got->dead == s->dead)
        wait_no_more(n, got->node, port);
    else if (s->own && is_newer(got, s))
        keep_own(n, got->node, got->sequence, s->dead);
    else if (is_newer(got, s)) {
        wait_no_more(n, got->node, port);
        keep(n, got->node, got->sequence, got->dead, bit);
    } else
        wait_for(n, got->node, bit);
}

void hx_notices_take(struct hx_notices *n, unsigned port, const struct hx_notice_frame *f, uint64_t now)
{
    for (unsigned i = 0; i < f->count; i++)
        if (is_possible(n->g, &f->notice[i]))
            take_one(n, port, &f->notice[i]);
    bool settled = f->count < HX_NOTICES && n->waiting[port] == 0;
    if (settled && f->digest != n->digest && now - n->again_at[port] >= n->period) {
        send_all(n, port, now);
        n->differ |= (uint64_t)1 << port; /* also if nothing is kept here: the peer learns of it */
    }
}

bool hx_notices_are_due(const struct hx_notices *n, unsigned port, uint64_t now)
{
    return n->waiting[port] || n->differ >> port & 1 || (n->digest && now - n->sent_at[port] >= n->period);
}

void hx_notices_next(struct hx_notices *n, unsigned port, struct hx_notice_frame *f, uint64_t now)
{
    f->count = 0;
    for (uint32_t seen = 0; seen < n->g->nodes && n->waiting[port] && f->count < HX_NOTICES; seen++) {
        uint32_t node = n->next[port];
        const struct hx_notice_state *s = &n->state[node];
        n->next[port] = node + 1 == n->g->nodes ? 0 : node + 1;
        if (!(s->waits >> port & 1))
            continue;
        f->notice[f->count++] = (struct hx_notice){.node = node, .sequence = s->sequence, .dead = s->dead};
        wait_no_more(n, node, port);
    }
    f->digest = n->digest;
    n->differ &= ~((uint64_t)1 << port);
    n->sent_at[port] = now;
}
