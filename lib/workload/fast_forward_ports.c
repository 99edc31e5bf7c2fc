/* fast_forward_ports.c - the ports that collectives and messages use (fast_forward_parts.h). */
#include "workload/collective_choice.h"
#include "workload/fast_forward_parts.h"

#include <stdlib.h>

/* Lists the ports with bytes of `load`, which is zero again. */
static uint32_t *list_ports(struct fast_forward *f, uint32_t *count)
{
    uint32_t ports = 0;
    for (uint32_t i = 0; i < f->g->ports; i++)
        ports += f->load[i] > 0;
    uint32_t *list = hx_allocate(ports + 1, sizeof *list);
    *count = 0;
    for (uint32_t i = 0; i < f->g->ports; i++) {
        if (f->load[i] > 0)
            list[(*count)++] = i;
        f->load[i] = 0;
    }
    return list;
}

const struct found_pair *ports_pair(struct job *j, uint32_t from, uint32_t to)
{
    const uint64_t key = (uint64_t)from << 32 | to;
    struct found_pair *p = hx_table_find(&j->pairs, &key);
    if (p)
        return p;
    collective_loads_begin(&j->f->loads);
    const struct collective_path path = collective_loads_path(&j->f->loads, j->plan->host[from], j->plan->host[to]);
    collective_loads_lay(&j->f->loads, &path, 1, j->f->load);
    p = hx_table_add(&j->pairs, &key);
    p->port = list_ports(j->f, &p->ports);
    return p;
}

static bool is_eligible(const struct hx_collective_config *c)
{
    return !c->outgoing && (c->kind == HX_ALL_REDUCE || c->kind == HX_REDUCE_SCATTER || c->kind == HX_ALL_GATHER ||
                            c->kind == HX_COLLECTIVE_ALL_TO_ALL);
}

static void find_ports(struct job *j, struct kind *k, uint32_t group)
{
    const struct schedule *s = j->plan->schedule;
    struct collective_job job = {.config = k->choice->config};
    job.host = hx_allocate(k->size, sizeof *job.host);
    for (uint32_t i = 0; i < k->size; i++) {
        const uint32_t member = k->choice->member ? k->choice->member[i] : i;
        job.host[i] = j->plan->host[schedule_group(s, group)[member]];
    }
    job.root_host = job.host[job.config.root];
    job.placed = true;
    collective_lay_as(&job, &j->f->loads, j->f->load);
    free(job.host);
    k->port = list_ports(j->f, &k->ports);
}

struct kind *ports_kind(struct job *j, const struct executor_collective *c)
{
    const struct schedule_operation *o = schedule_at(j->plan->schedule, c->rank, c->operation);
    const struct executor_choice *choice = schedule_choose(j->plan->choices, o);
    const uint64_t key = (uint64_t)(uintptr_t)choice;
    struct found_kind *found = hx_table_find(&j->kinds, &key);
    if (found)
        return found->kind;
    struct kind *k = hx_allocate(1, sizeof *k);
    *k = (struct kind){.choice = choice, .size = schedule_group_size(j->plan->schedule, c->group)};
    k->eligible = is_eligible(&choice->config);
    find_ports(j, k, c->group);
    found = hx_table_add(&j->kinds, &key);
    found->kind = k;
    return k;
}
