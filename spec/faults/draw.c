/* draw.c - random faults (faults.h). */
#include "base/rng.h"
#include "base/value.h"
#include "spec/faults/faults.h"
#include "topology/name.h"

#include <stdio.h>

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
