/* draw.c - random faults (faults.h). */
#include "base/error.h"
#include "base/rng.h"
#include "base/value.h"
#include "spec/faults/faults.h"
#include "topology/name.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Draws a port with a link; all are equally likely. */
static void draw_link(char *text, size_t bytes, uint64_t *state, const struct hx_fabric *f)
{
    for (;;) {
        unsigned plane = hx_rng_below(state, f->planes);
        uint32_t node = hx_rng_below(state, f->nodes);
        unsigned port = hx_rng_below(state, hx_fabric_ports(f, node));
        char name[HX_NAME_BYTES];
        if (hx_fabric_far(f, node, port).node == HX_NOWHERE)
            continue;
        (void)snprintf(text, bytes, "%s", hx_port_name(name, f, plane, node, port));
        return;
    }
}

static void draw_group(char *text, size_t bytes, uint64_t *state, const struct hx_fabric *f)
{
    uint32_t group = hx_rng_below(state, f->groups);
    if (f->mesh.nodes)
        (void)snprintf(text, bytes, "board%u,%u", group % (unsigned)f->mesh.x, group / (unsigned)f->mesh.x);
    else
        (void)snprintf(text, bytes, "group%u", group);
}

static uint64_t draw_time(uint64_t *state, uint64_t mean)
{
    double ns = hx_rng_exponential(state, (double)mean);
    return ns < 1 ? 1 : ns < (double)HX_MOST_FAULT_TIME ? (uint64_t)ns : HX_MOST_FAULT_TIME;
}

/* Writes a line of a schedule, so that random faults can be repeated. */
static void draw_fault(char *line, size_t bytes, uint64_t *state, uint64_t at_ns, uint64_t mttr_ns,
                       const struct hx_fabric *f)
{
    char place[HX_NAME_BYTES + 16];
    char name[HX_NAME_BYTES];
    char at[HX_VALUE_TEXT];
    char lasts[HX_VALUE_TEXT];
    const char *what = "down";
    unsigned kind = hx_rng_below(state, 10);
    draw_link(place, sizeof place, state, f);
    if (kind == 0)
        (void)snprintf(place, sizeof place, "%s",
                       hx_node_name(name, f, hx_rng_below(state, f->planes), hx_rng_below(state, f->nodes)));
    else if (kind == 1)
        draw_group(place, sizeof place, state, f);
    else if (kind == 2)
        what =
            hx_rng_below(state, 2) ? "flaps every 4us" : "loss=5% corrupt=1% duplicate=2% reorder=5% credit-loss=20%";
    (void)snprintf(line, bytes, "%s %s at %s for %s", place, what, hx_value_write_duration(at, at_ns),
                   hx_value_write_duration(lasts, draw_time(state, mttr_ns)));
}

void hx_faults_draw(struct hx_faults *faults, const struct hx_fault_draw *draw, const struct hx_fabric *f)
{
    uint64_t state = draw->seed;
    uint64_t at = draw_time(&state, draw->mtbf_ns);
    for (; at < draw->until_ns && at < HX_MOST_FAULT_TIME; at += draw_time(&state, draw->mtbf_ns)) {
        char line[HX_FAULT_TEXT];
        struct hx_problem problem;
        draw_fault(line, sizeof line, &state, at, draw->mttr_ns, f);
        if (!hx_faults_add(faults, line, NULL, f, &problem))
            hx_die_of(&problem); /* random faults are valid */
    }
}

/* ---- links that are closed from the start ---- */

/* The links of all planes, and which of them are drawn. A link is a number: plane * ports + the index of its first end
 * in hx_fabric.port. */
struct drawn {
    const struct hx_fabric *f;
    uint32_t *link; /* [links]: in the order of drawing */
    uint32_t links;
    uint8_t *closed; /* [planes * ports]: both ends */
    uint32_t *node;  /* [ports]: the node of a port */
    uint32_t *open;  /* [nodes]: reached by a search */
    uint32_t *seen;  /* [nodes]: the last search that reached it */
    uint32_t searches;
};

static struct drawn drawn_of(const struct hx_fabric *f, uint64_t seed)
{
    struct drawn d = {.f = f,
                      .link = hx_allocate((size_t)f->planes * f->ports + 1, sizeof *d.link),
                      .closed = hx_allocate((size_t)f->planes * f->ports + 1, sizeof *d.closed),
                      .node = hx_allocate(f->ports + 1U, sizeof *d.node),
                      .open = hx_allocate(f->nodes, sizeof *d.open),
                      .seen = hx_allocate(f->nodes, sizeof *d.seen)};
    for (uint32_t node = 0; node < f->nodes; node++) {
        for (unsigned port = 0; port < hx_fabric_ports(f, node); port++) {
            const uint32_t at = f->node[node].first_port + port;
            d.node[at] = node;
            for (unsigned plane = 0; plane < f->planes && hx_fabric_is_first_end(f, node, port); plane++)
                d.link[d.links++] = plane * f->ports + at;
        }
    }
    hx_rng_shuffle(&seed, d.link, d.links);
    return d;
}

static void drawn_free(struct drawn *d)
{
    free(d->link);
    free(d->closed);
    free(d->node);
    free(d->open);
    free(d->seen);
}

/* Whether open links of a plane lead from one node to another. */
static bool leads(struct drawn *d, unsigned plane, uint32_t from, uint32_t to)
{
    const uint8_t *closed = d->closed + (size_t)plane * d->f->ports;
    uint32_t reached = 0;
    d->seen[from] = ++d->searches;
    d->open[reached++] = from;
    for (uint32_t next = 0; next < reached && d->seen[to] != d->searches; next++) {
        const uint32_t node = d->open[next];
        for (unsigned port = 0; port < hx_fabric_ports(d->f, node); port++) {
            const uint32_t far = hx_fabric_far(d->f, node, port).node;
            if (far == HX_NOWHERE || closed[d->f->node[node].first_port + port] || d->seen[far] == d->searches)
                continue;
            d->seen[far] = d->searches;
            d->open[reached++] = far;
        }
    }
    return d->seen[to] == d->searches;
}

/* Closes a link, or opens it again if its ends are not joined any other way. Returns whether it is closed. */
static bool close_link(struct drawn *d, uint32_t link)
{
    const struct hx_fabric *f = d->f;
    const uint32_t at = link % f->ports;
    const uint32_t node = d->node[at];
    const struct hx_end far = hx_fabric_far(f, node, at - f->node[node].first_port);
    uint8_t *ends[] = {&d->closed[link], &d->closed[link - at + f->node[far.node].first_port + far.port]};
    *ends[0] = *ends[1] = 1;
    const bool joined = leads(d, link / f->ports, node, far.node);
    *ends[0] = *ends[1] = joined;
    return joined;
}

static void add_closed(struct hx_faults *faults, const struct drawn *d, uint32_t link)
{
    char name[HX_NAME_BYTES];
    char line[HX_FAULT_TEXT];
    struct hx_problem problem;
    const uint32_t at = link % d->f->ports;
    const uint32_t node = d->node[at];
    (void)snprintf(line, sizeof line, "%s closed",
                   hx_port_name(name, d->f, link / d->f->ports, node, at - d->f->node[node].first_port));
    if (!hx_faults_add(faults, line, NULL, d->f, &problem))
        hx_die_of(&problem); /* each link has a name */
}

bool hx_faults_draw_closed(struct hx_faults *faults, uint64_t count, uint64_t seed, const struct hx_fabric *f,
                           struct hx_problem *problem)
{
    uint64_t closed = 0;
    if (count == 0)
        return true;
    struct drawn d = drawn_of(f, seed);
    for (uint32_t i = 0; i < d.links && closed < count; i++) {
        if (!close_link(&d, d.link[i]))
            continue;
        add_closed(faults, &d, d.link[i]);
        closed++;
    }
    drawn_free(&d);
    return closed == count || hx_fail(problem, HX_EXIT_USAGE, "--failures",
                                      "after %" PRIu64 " of them each other link of this fabric is the last that joins "
                                      "two parts (draw %" PRIu64 " at most)",
                                      closed, closed);
}
