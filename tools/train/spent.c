/* spent.c - where the time of a job goes (spent.h). */
#include "tools/train/spent.h"
#include "base/text.h"
#include "topology/name.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void spent_free(struct train_spent *s)
{
    free(s->stage);
    s->stage = NULL;
}

/* ---- purposes and stages ---- */

/* Numbers of the purposes that are listed: those with a name, then operations without one if there are any. Returns how
 * many. */
static unsigned listed(const struct executor_plan *plan, unsigned number[SCHEDULE_MOST_PURPOSES])
{
    unsigned count = 0;
    bool any_other = false;
    for (unsigned i = 1; i < SCHEDULE_MOST_PURPOSES; i++) {
        if (plan->schedule->head->purpose[i] != SCHEDULE_NO_NAME)
            number[count++] = i;
    }
    for (uint32_t rank = 0; rank < schedule_ranks(plan->schedule); rank++)
        any_other = any_other || plan->result[rank].purpose[SCHEDULE_NO_PURPOSE].busy_ps > 0;
    if (any_other)
        number[count++] = SCHEDULE_NO_PURPOSE;
    return count;
}

void spent_take_purposes(struct train_spent *s, const struct executor_plan *plan, const double *bytes,
                         double iterations)
{
    const uint32_t ranks = schedule_ranks(plan->schedule);
    const double each = 1.0 / ranks / iterations;
    unsigned number[SCHEDULE_MOST_PURPOSES];
    s->purposes = listed(plan, number);
    for (unsigned i = 0; i < s->purposes; i++) {
        struct train_purpose *p = &s->purpose[i];
        *p = (struct train_purpose){.bytes = bytes ? bytes[number[i]] * each : 0};
        (void)hx_text_copy(p->name, TRAIN_NAME, plan->schedule->names + plan->schedule->head->purpose[number[i]]);
        for (uint32_t rank = 0; rank < ranks; rank++) {
            const struct executor_purpose *of = &plan->result[rank].purpose[number[i]];
            p->bytes += (double)of->bytes * each;
            p->seconds += (double)of->busy_ps * 1e-12 * each;
            p->hidden += (double)of->hidden_ps * 1e-12 * each;
            p->exposed += (double)of->exposed_ps * 1e-12 * each;
        }
    }
}

void spent_take_stages(struct train_spent *s, const struct executor_plan *plan, const uint32_t *stage_of,
                       uint32_t count, double iterations)
{
    const uint32_t ranks = schedule_ranks(plan->schedule);
    const double each = (double)count / ranks / iterations;
    unsigned number[SCHEDULE_MOST_PURPOSES];
    (void)listed(plan, number);
    s->stages = count;
    s->stage = hx_allocate(count, sizeof *s->stage);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        struct train_stage *stage = &s->stage[stage_of[rank]];
        stage->computing += (double)plan->result[rank].computing_ps * 1e-12 * each;
        for (unsigned i = 0; i < s->purposes; i++)
            stage->exposed[i] += (double)plan->result[rank].purpose[number[i]].exposed_ps * 1e-12 * each;
    }
}

/* ---- links ---- */

void spent_take_link(struct train_spent *s, const struct train_link *link)
{
    unsigned at = s->links;
    for (; at > 0 && s->link[at - 1].busy < link->busy; at--) {
        if (at < TRAIN_LINKS)
            s->link[at] = s->link[at - 1];
    }
    if (at == TRAIN_LINKS || link->busy <= 0)
        return;
    s->link[at] = *link;
    s->links += s->links < TRAIN_LINKS;
}

/* Adds the link behind a port, on all planes. */
static void add_link(struct train_spent *s, const struct hx_fabric *g, uint32_t node, unsigned port, double busy,
                     struct train_class *class)
{
    const struct hx_end far = hx_fabric_far(g, node, port);
    for (unsigned plane = 0; plane < g->planes; plane++) {
        struct train_link link = {.busy = busy};
        class->links++;
        class->busy += busy;
        class->busiest = fmax(class->busiest, busy);
        if (busy <= 0 || (s->links == TRAIN_LINKS && busy <= s->link[TRAIN_LINKS - 1].busy))
            continue;
        (void)hx_port_name(link.from, g, plane, node, port);
        (void)hx_port_name(link.to, g, plane, far.node, far.port);
        spent_take_link(s, &link);
    }
}

void spent_take_links(struct train_spent *s, const struct collective_loads *l, const double *load, double seconds)
{
    const struct hx_fabric *g = l->g;
    struct train_class class[HX_MAX_LINK_CLASSES] = {{.links = 0}};
    for (uint32_t node = 0; node < g->nodes; node++) {
        for (unsigned port = 0; port < hx_fabric_ports(g, node); port++) {
            const uint32_t at = g->node[node].first_port + port;
            if (hx_fabric_far(g, node, port).node != HX_NOWHERE)
                add_link(s, g, node, port, seconds > 0 ? load[at] * l->slowness[at] / seconds : 0,
                         &class[g->port[at].link_class]);
        }
    }
    for (unsigned i = 0; i < g->link_classes; i++) {
        struct train_class *to = &s->link_class[s->link_classes];
        if (class[i].links <= 0)
            continue;
        *to = class[i];
        (void)hx_text_copy(to->name, TRAIN_NAME, g->link_class[i].name);
        to->busy /= to->links;
        s->link_classes++;
    }
}
