/* circuits.c - a plan of circuits as closed links of a schedule (circuits.h). */
#include "spec/circuits/circuits.h"
#include "base/compare.h"
#include "base/value.h"
#include "spec/circuits/circuits_parts.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- all hosts stay joined ---- */

struct change {
    uint64_t at_ns;
    uint32_t link;
    bool opens;
};

static int by_time(const void *a, const void *b)
{
    return hx_compare(((const struct change *)a)->at_ns, ((const struct change *)b)->at_ns);
}

static struct change *changes_of(const struct hx_circuits_plan *p, size_t *count)
{
    struct change *change = hx_allocate(2 * p->closings + 1, sizeof *change);
    *count = 0;
    for (size_t i = 0; i < p->closings; i++) {
        const struct hx_circuits_closing *c = &p->closing[i];
        change[(*count)++] = (struct change){c->from_ns, c->link, false};
        if (c->to_ns != UINT64_MAX)
            change[(*count)++] = (struct change){c->to_ns, c->link, true};
    }
    qsort(change, *count, sizeof *change, by_time);
    return change;
}

static uint32_t root_of(uint32_t *group, uint32_t node)
{
    while (group[node] != node)
        node = group[node] = group[group[node]];
    return node;
}

/* Returns a host that no path joins to host 0; HX_NOWHERE: none. closed: [ports] closings that hold. */
static uint32_t apart(const struct hx_fabric *f, const unsigned *closed, uint32_t *group)
{
    for (uint32_t node = 0; node < f->nodes; node++)
        group[node] = node;
    for (uint32_t node = 0; node < f->nodes; node++)
        for (unsigned port = 0; port < hx_fabric_ports(f, node); port++)
            if (hx_fabric_is_first_end(f, node, port) && !closed[f->node[node].first_port + port])
                group[root_of(group, node)] = root_of(group, hx_fabric_far(f, node, port).node);
    uint32_t first = HX_NOWHERE;
    for (uint32_t host = 0; host < f->hosts; host++) {
        if (f->failed && f->failed[host])
            continue;
        first = first == HX_NOWHERE ? host : first;
        if (root_of(group, host) != root_of(group, first))
            return host;
    }
    return HX_NOWHERE;
}

static bool refuse_time(const struct hx_circuits_plan *p, uint64_t at_ns, uint32_t host, struct hx_problem *problem)
{
    char name[2][HX_NAME_BYTES];
    size_t line = p->lines;
    uint32_t first = 0;
    bool dark = false;
    while (line > 1 && p->line[line - 1].at_ns > at_ns)
        line--;
    while (p->f->failed && p->f->failed[first])
        first++;
    for (size_t i = 0; i < p->closings; i++)
        dark = dark || (p->closing[i].from_ns <= at_ns && at_ns < p->closing[i].to_ns &&
                        p->closing[i].to_ns - at_ns <= p->dark_ns);
    return hx_fail_at(problem, p->l.path, p->line[line - 1].number, 0, "%s no path joins '%.60s' and '%.60s': %s",
                      dark ? "while circuits are dark" : "from this time on",
                      hx_circuits_host_name(name[0], p->f, first), hx_circuits_host_name(name[1], p->f, host),
                      dark ? "keep other circuits, change them one after the other, or say 'dark 0'"
                           : "more circuits, or links that no line names, have to join them");
}

static bool are_joined(const struct hx_circuits_plan *p, struct hx_problem *problem)
{
    size_t count;
    struct change *change = changes_of(p, &count);
    unsigned *closed = hx_allocate(p->f->ports, sizeof *closed);
    uint32_t *group = hx_allocate(p->f->nodes, sizeof *group);
    uint32_t host = HX_NOWHERE;
    for (size_t i = 0; i < count && host == HX_NOWHERE; i++) {
        closed[change[i].link] += change[i].opens ? UINT_MAX : 1; /* -1 */
        if (i + 1 == count || change[i + 1].at_ns != change[i].at_ns)
            host = apart(p->f, closed, group);
        if (host != HX_NOWHERE)
            (void)refuse_time(p, change[i].at_ns, host, problem);
    }
    HX_FREE(change, closed, group);
    return host == HX_NOWHERE;
}

/* ---- the schedule ---- */

static int by_begin(const void *a, const void *b)
{
    const struct hx_circuits_closing *p = a;
    const struct hx_circuits_closing *q = b;
    int from = hx_compare(p->from_ns, q->from_ns);
    return from ? from : hx_compare(p->link, q->link);
}

static void put_closing(const struct hx_circuits_plan *p, const struct hx_circuits_closing *c, struct hx_faults *faults)
{
    char line[HX_FAULT_TEXT];
    char port[HX_VALUE_TEXT];
    char at[HX_VALUE_TEXT];
    char lasts[HX_VALUE_TEXT];
    struct hx_fault fault;
    struct hx_problem problem;
    uint32_t node = p->owner[c->link];
    unsigned number = c->link - p->f->node[node].first_port;
    (void)snprintf(port, sizeof port, "%u", number);
    int used =
        snprintf(line, sizeof line, "%s/%s closed at %s", p->text[node],
                 hx_is_host(p->f, node) ? hx_port_letters[number] : port, hx_value_write_duration(at, c->from_ns));
    if (c->to_ns != UINT64_MAX)
        (void)snprintf(line + used, sizeof line - (size_t)used, " for %s",
                       hx_value_write_duration(lasts, c->to_ns - c->from_ns));
    if (!hx_fault_parse(&fault, line, p->f, &problem))
        hx_die_of(&problem); /* places and times are valid */
    (void)hx_faults_put(faults, &fault);
}

bool hx_circuits_read(struct hx_faults *faults, const char *path, const struct hx_fabric *f, struct hx_problem *problem)
{
    if (f->mesh.nodes)
        return hx_fail(problem, HX_EXIT_CONFIG, path,
                       "circuits are links of a graph or another fabric with searched routes, not of a HammingMesh");
    struct hx_circuits_plan p = {.f = f};
    bool good = hx_circuits_plan_read(&p, path, problem) && are_joined(&p, problem);
    if (good && p.closings)
        qsort(p.closing, p.closings, sizeof *p.closing, by_begin);
    for (size_t i = 0; good && i < p.closings; i++)
        put_closing(&p, &p.closing[i], faults);
    hx_circuits_plan_free(&p);
    return good;
}
