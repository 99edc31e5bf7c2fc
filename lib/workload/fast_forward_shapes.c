/* fast_forward_shapes.c - collectives that load links alike (fast_forward_parts.h). */
#include "base/split_mix.h"
#include "workload/collective_choice.h"
#include "workload/fast_forward_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- configurations ---- */

static bool same_dimensions(const struct hx_collective_config *a, const struct hx_collective_config *b)
{
    bool same = a->dimensions == b->dimensions;
    for (unsigned i = 0; i < a->dimensions && same; i++)
        same = a->dimension[i].size == b->dimension[i].size && a->dimension[i].algorithm == b->dimension[i].algorithm;
    return same;
}

/* Whether two collectives send alike; position 0 stands for all. */
static bool same_config(const struct hx_collective_config *a, const struct hx_collective_config *b)
{
    return a->bytes == b->bytes && a->chunk == b->chunk && a->size == b->size && a->root == b->root &&
           a->kind == b->kind && a->algorithm == b->algorithm && a->type == b->type && a->window == b->window &&
           a->planes == b->planes && a->stripes == b->stripes && same_dimensions(a, b) && !a->outgoing && !b->outgoing;
}

/* Each member waits for all others, and they send equally much. */
static bool is_eligible(const struct hx_collective_config *c)
{
    return !c->outgoing && (c->kind == HX_ALL_REDUCE || c->kind == HX_REDUCE_SCATTER || c->kind == HX_ALL_GATHER ||
                            c->kind == HX_COLLECTIVE_ALL_TO_ALL);
}

/* ---- the walk ---- */

/* A walk from the members' hosts over ports with load, in the order of nodes found, then of ports. */
struct walk {
    struct fast_forward *f;
    uint32_t *node; /* [nodes], in the order of finding */
    uint32_t nodes;
    struct form *form; /* [ports] */
    uint32_t *port;    /* [ports] */
    uint32_t ports;
};

static uint32_t number_node(struct walk *w, uint32_t node)
{
    if (!w->f->number[node]) {
        w->node[w->nodes++] = node;
        w->f->number[node] = w->nodes;
    }
    return w->f->number[node];
}

static void walk_node(struct walk *w, uint32_t node)
{
    struct fast_forward *f = w->f;
    for (unsigned i = 0; i < hx_fabric_ports(f->g, node); i++) {
        const uint32_t port = f->g->node[node].first_port + i;
        if (f->load[port] <= 0)
            continue;
        const struct hx_end far = hx_fabric_far(f->g, node, i);
        w->form[w->ports] = (struct form){.bytes = f->load[port],
                                          .slowness = f->loads.slowness[port],
                                          .latency = f->loads.latency[port],
                                          .behind = far.node == HX_NOWHERE ? 0 : number_node(w, far.node)};
        w->port[w->ports++] = port;
    }
}

/* Lists the ports with load from some hosts on; the load is zero again. The caller frees form and port. */
static struct walk walk_from(struct fast_forward *f, const uint32_t *host, uint32_t hosts)
{
    uint32_t ports = 0;
    for (uint32_t i = 0; i < f->g->ports; i++)
        ports += f->load[i] > 0;
    struct walk w = {.f = f};
    w.node = hx_allocate(hosts + ports + 1, sizeof *w.node);
    w.form = hx_allocate(ports + 1, sizeof *w.form);
    w.port = hx_allocate(ports + 1, sizeof *w.port);
    for (uint32_t i = 0; i < hosts; i++)
        (void)number_node(&w, host[i]);
    for (uint32_t i = 0; i < w.nodes; i++)
        walk_node(&w, w.node[i]);
    for (uint32_t i = 0; i < w.nodes; i++)
        f->number[w.node[i]] = 0;
    for (uint32_t i = 0; i < w.ports; i++)
        f->load[w.port[i]] = 0;
    free(w.node);
    w.node = NULL;
    return w;
}

/* ---- shapes ---- */

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-6 * fmax(a, b);
}

static bool same_forms(const struct form *a, const struct form *b, uint32_t ports)
{
    bool same = true;
    for (uint32_t i = 0; i < ports && same; i++)
        same = a[i].behind == b[i].behind && near(a[i].bytes, b[i].bytes) && near(a[i].slowness, b[i].slowness) &&
               near(a[i].latency, b[i].latency);
    return same;
}

static uint64_t hash_of(const struct executor_choice *choice, const struct walk *w)
{
    const uint64_t bytes = choice->config.bytes;
    uint64_t hash = split_mix_bytes(w->ports, &bytes, sizeof bytes);
    for (uint32_t i = 0; i < w->ports; i++)
        hash = split_mix_bytes(hash, &w->form[i].behind, sizeof w->form[i].behind);
    return hash;
}

static struct shape *new_shape(struct fast_forward *f, const struct executor_choice *choice, const struct walk *w)
{
    struct shape *s = hx_allocate(1, sizeof *s);
    double slowest = 0;
    *s = (struct shape){.number = ++f->shape_count, .choice = choice, .form = w->form, .ports = w->ports};
    s->size = choice->config.size;
    s->proved = f->loads.split || choice->config.algorithm != HX_BY_RING ? PROVED : 1;
    for (uint32_t i = 0; i < w->ports; i++) {
        const struct hx_fabric_port *port = &f->g->port[w->port[i]];
        slowest = fmax(slowest, w->form[i].bytes * w->form[i].slowness);
        s->bytes += port->far.node == HX_NOWHERE ? w->form[i].bytes : 0; /* into an endpoint */
    }
    s->alone = s->duration = (uint64_t)(slowest * 1e12);
    s->latency = UINT64_MAX;
    s->harmful = INFINITY;
    s->eligible = is_eligible(&choice->config) && s->duration >= LEAST_DELAYS * f->config.delay;
    return s;
}

/* Takes over the walk's forms. */
static struct shape *shape_of(struct fast_forward *f, const struct executor_choice *choice, struct walk *w)
{
    const uint64_t key = hash_of(choice, w);
    struct found_shape *found = hx_table_find(&f->shapes, &key);
    for (; found; found = hx_table_find_next(&f->shapes, found)) {
        const struct shape *s = found->shape;
        if (s->ports == w->ports && same_config(&s->choice->config, &choice->config) &&
            same_forms(s->form, w->form, w->ports)) {
            free(w->form);
            return found->shape;
        }
    }
    struct shape *s = new_shape(f, choice, w);
    found = hx_table_add(&f->shapes, &key);
    found->shape = s;
    return s;
}

/* ---- kinds ---- */

static void find_ports(struct job *j, struct kind *k, uint32_t group)
{
    struct fast_forward *f = j->f;
    const struct schedule *s = j->plan->schedule;
    struct collective_job job = {.config = k->choice->config, .placed = true};
    const uint32_t size = schedule_group_size(s, group);
    job.host = hx_allocate(size, sizeof *job.host);
    for (uint32_t i = 0; i < size; i++) {
        const uint32_t member = k->choice->member ? k->choice->member[i] : i;
        job.host[i] = j->plan->host[schedule_group(s, group)[member]];
    }
    job.root_host = job.host[job.config.root];
    f->loads.split = false;
    collective_lay_as(&job, &f->loads, f->load);
    struct walk w = walk_from(f, job.host, size);
    k->shape = shape_of(f, k->choice, &w);
    k->port = w.port;
    free(job.host);
}

struct kind *shapes_kind(struct job *j, const struct executor_collective *c)
{
    const struct schedule_operation *o = schedule_at(j->plan->schedule, c->rank, c->operation);
    const struct executor_choice *choice = schedule_choose(j->plan->choices, o);
    const uint64_t key = (uint64_t)(uintptr_t)choice;
    struct found_kind *found = hx_table_find(&j->kinds, &key);
    if (found)
        return found->kind;
    struct kind *k = hx_allocate(1, sizeof *k);
    *k = (struct kind){.choice = choice, .number = j->f->kinds++};
    find_ports(j, k, c->group);
    found = hx_table_add(&j->kinds, &key);
    found->kind = k;
    return k;
}

struct found_pair *shapes_pair(struct job *j, uint32_t from, uint32_t to)
{
    struct fast_forward *f = j->f;
    const uint64_t key = (uint64_t)from << 32 | to;
    struct found_pair *p = hx_table_find(&j->pairs, &key);
    if (p)
        return p;
    collective_loads_begin(&f->loads);
    const struct collective_path path = collective_loads_path(&f->loads, j->plan->host[from], j->plan->host[to]);
    collective_loads_lay(&f->loads, &path, 1, f->load);
    struct walk w = walk_from(f, &j->plan->host[from], 1);
    free(w.form);
    p = hx_table_add(&j->pairs, &key);
    p->port = w.port;
    p->ports = w.ports;
    return p;
}

/* ---- links in common ---- */

static uint64_t find_overlap(struct fast_forward *f, const struct kind *of, const struct kind *beside)
{
    uint64_t id = 0;
    for (uint32_t i = 0; i < of->shape->ports; i++)
        f->number[of->port[i]] = i + 1;
    for (uint32_t i = 0; i < beside->shape->ports; i++) {
        const uint64_t pair = (uint64_t)f->number[beside->port[i]] << 32 | i;
        if (pair >> 32)
            id = split_mix_bytes(id ? id : beside->shape->number, &pair, sizeof pair) | 1;
    }
    for (uint32_t i = 0; i < of->shape->ports; i++)
        f->number[of->port[i]] = 0;
    return id;
}

uint64_t shapes_overlap(struct fast_forward *f, const struct kind *of, const struct kind *beside)
{
    const uint64_t key = (uint64_t)of->number << 32 | beside->number;
    struct found_overlap *found = hx_table_find(&f->overlaps, &key);
    if (found)
        return found->id;
    const uint64_t id = find_overlap(f, of, beside);
    found = hx_table_add(&f->overlaps, &key);
    found->id = id;
    return id;
}
