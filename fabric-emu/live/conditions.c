/* conditions.c - applies link conditions (conditions.h). */
#include "conditions.h"
#include "base/error.h"
#include "base/random.h"

#include <stdlib.h>
#include <string.h>

/* Whether the link from port (plane, node, port) is down or closed: it takes no packets. */
static bool link_is_shut(const struct fab_fabric *f, unsigned plane, uint32_t node, unsigned port)
{
    return fab_link_is_shut(f, fab_first_port(f, plane, node) + port);
}

/* Whether packets on the link arrive as sent, so that it needs no stage. A closed link may be intact. */
static bool is_intact(const struct shm_condition *c)
{
    struct shm_condition open = *c;
    static const struct shm_condition intact;
    open.closed = 0;
    return memcmp(&open, &intact, sizeof intact) == 0;
}

static void insert_faulty(struct worker *w, struct node *n, unsigned port, uint32_t number)
{
    const struct fab_fabric *f = w->f;
    struct faulty_link *l = hx_allocate(1, sizeof *l);
    *l = (struct faulty_link){.node = n, .port = port};
    l->f.worker = &w->shm;
    l->f.from = n->hal.rx[port].link;
    l->f.to = fab_faulty(f, number);
    l->f.cost = &f->faulted[number];
    l->f.vcs = f->g->vcs;
    l->f.size = f->slots;
    l->f.checked = worker_checks(w);
    l->f.dice = hx_random_64();
    shm_faulty_begin(&l->f, &n->hal.rx[port]);
    if (!n->faulty)
        n->faulty = hx_allocate(n->hal.ports, sizeof(struct faulty_link *));
    n->faulty[port] = l;
    w->faulty = hx_grow(w->faulty, w->faulties, &w->faulty_room, sizeof(void *));
    w->faulty[w->faulties++] = l;
}

/* The receive window restarts where the link stands, also for a capture. */
static bool remove_faulty(struct worker *w, unsigned at)
{
    struct faulty_link *l = w->faulty[at];
    struct node *n = l->node;
    if (!shm_faulty_end(&l->f, &n->hal.rx[l->port], &n->sw.input[l->port]))
        return false;
    if (n->hal.tap)
        n->hal.tap->seen[l->port] = n->hal.rx[l->port].seen;
    n->faulty[l->port] = NULL;
    free(l);
    w->faulty[at] = w->faulty[--w->faulties];
    return true;
}

static void follow_port(struct worker *w, struct node *n, unsigned port, struct hx_end far)
{
    uint32_t number = fab_first_port(w->f, n->plane, far.node) + far.port;
    const struct shm_condition c = fab_condition(w->f, number);
    bool intact = is_intact(&c);
    if (!intact && !(n->faulty && n->faulty[port]))
        insert_faulty(w, n, port, number);
    if (!n->faulty || !n->faulty[port])
        return;
    n->faulty[port]->f.condition = c;
    n->faulty[port]->f.leaving = intact;
}

/* Whether a host has a working link to a node numbered `least` or above. */
static bool host_leads(const struct fab_fabric *f, unsigned plane, uint32_t host, uint32_t least)
{
    for (unsigned port = 0; port < HX_LOCAL; port++) {
        uint32_t far = hx_fabric_far(f->g, host, port).node;
        if (far != HX_NOWHERE && far >= least && !link_is_shut(f, plane, host, port))
            return true;
    }
    return false;
}

static bool has_link(const struct fab_fabric *f, uint32_t host)
{
    bool any = false;
    for (unsigned plane = 0; plane < f->g->planes; plane++)
        any = any || host_leads(f, plane, host, 0);
    return any;
}

static void note_alone(struct worker *w)
{
    uint64_t now = shm_clock_ns(w->clock);
    uint32_t hosts = w->f->g->hosts;
    if (!w->alone_since) {
        w->alone_since = hx_allocate(hosts, sizeof *w->alone_since);
        memset(w->alone_since, UINT8_MAX, hosts * sizeof *w->alone_since); /* none is alone */
    }
    for (uint32_t host = 0; host < hosts; host++) {
        if (has_link(w->f, host))
            w->alone_since[host] = UINT64_MAX;
        else if (w->alone_since[host] == UINT64_MAX)
            w->alone_since[host] = now;
    }
}

bool conditions_host_is_alone(const struct worker *w, uint32_t host, uint64_t ns)
{
    uint64_t since = w->alone_since[host];
    return since != UINT64_MAX && w->shm.now > since && w->shm.now - since >= ns;
}

void conditions_follow(struct worker *w)
{
    note_alone(w);
    for (unsigned i = 0; i < w->switch_nodes; i++) {
        struct node *n = &w->node[i];
        for (unsigned port = 0; port < n->hal.ports; port++) {
            struct hx_end far = hx_fabric_far(w->f->g, n->id, port);
            if (far.node != HX_NOWHERE && n->hal.brings >> port & 1)
                follow_port(w, n, port, far);
        }
    }
}

void conditions_end(struct worker *w)
{
    for (unsigned i = 0; i < w->faulties; i++)
        free(w->faulty[i]);
    for (unsigned i = 0; i < w->nodes; i++)
        free(w->node[i].faulty);
    free(w->faulty);
    free(w->alone_since);
    w->alone_since = NULL;
    w->faulty = NULL;
    w->faulties = w->faulty_room = 0;
}

unsigned conditions_step(struct worker *w)
{
    unsigned moved = 0;
    shm_set_now(&w->shm, shm_clock_ns(w->clock));
    for (unsigned i = 0; i < w->faulties;) {
        moved += shm_faulty_step(&w->faulty[i]->f);
        if (!w->faulty[i]->f.leaving || !remove_faulty(w, i))
            i++;
    }
    return moved;
}

bool conditions_hold(const struct worker *w)
{
    for (unsigned i = 0; i < w->faulties; i++) {
        if (shm_faulty_holds(&w->faulty[i]->f))
            return true;
    }
    return false;
}

static bool is_up(const struct worker *w, uint32_t node)
{
    return !w->f->layout.dead[node] && !(w->down >> w->f->layout.worker[node] & 1U);
}

uint64_t conditions_ports_up(const struct worker *w, unsigned plane, uint32_t node)
{
    uint64_t up = 0;
    for (unsigned port = 0; port < hx_fabric_ports(w->f->g, node); port++) {
        struct hx_end far = hx_fabric_far(w->f->g, node, port);
        bool local = node < w->f->g->hosts && port == HX_LOCAL;
        bool wired = far.node != HX_NOWHERE && is_up(w, far.node) && fab_port_is_up(w->f, plane, far.node, far.port) &&
                     !link_is_shut(w->f, plane, node, port);
        up |= (uint64_t)(local || wired) << port;
    }
    return up;
}
