/* machines.c - all machines of a fabric (machines.h). */
#include "machines.h"
#include "base/error.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MOST_HOPELESS = 3, /* consecutive ends before it was ready */
    MOST_STARTS = 1000 /* of one machine, before the run fails */
};

void machines_open(struct machines *m, const struct fab_fabric *f)
{
    const struct hx_spec *spec = &f->spec;
    *m = (struct machines){.f = f};
    if (spec->externals)
        m->list = hx_allocate(spec->externals, sizeof *m->list);
    for (unsigned i = 0; i < spec->externals; i++) {
        const struct hx_external *e = &spec->external[i];
        if (e->node == HX_NODE_QEMU)
            machine_open(&m->list[m->count++], f, i);
    }
}

void machines_close(struct machines *m)
{
    for (unsigned i = 0; i < m->count; i++)
        machine_close(&m->list[i]);
    free(m->list);
    *m = (struct machines){.f = m->f};
}

struct machine *machines_of(const struct machines *m, unsigned external)
{
    struct machine *of = m->list;
    while (of->external != external)
        of++;
    return of;
}

bool machines_expect(struct machines *m, const struct traffic *traffic, bool restart, struct hx_problem *problem)
{
    m->traffic = traffic;
    m->restart = restart;
    for (unsigned i = 0; i < m->count; i++) {
        if (!machine_supports(traffic, m->list[i].rank, m->list[i].name, problem))
            return false;
    }
    return true;
}

/* ---- during the run ---- */

static bool start(const struct machines *m, struct machine *one, struct hx_problem *problem)
{
    if (one->pid || (one->starts && !m->restart))
        return true;
    if (one->hopeless >= MOST_HOPELESS)
        return hx_fail(problem, HX_EXIT_FAILED, one->name,
                       "its machine ended %u times in a row before it was ready: it is not started again",
                       one->hopeless);
    if (one->starts >= MOST_STARTS)
        return hx_fail(problem, HX_EXIT_FAILED, one->name, "its machine ended %u times: it is not started again",
                       one->starts);
    char *text = machine_text(m->f, &m->f->spec.external[one->external], m->traffic);
    bool started = machine_start(one, text, problem);
    free(text);
    return started;
}

/* Shows an image's counts like those of any accelerator. */
static void show(const struct machines *m, const struct machine *one)
{
    const struct hx_endpoint_stats stats = {.messages_sent = machine_number(one, "messages_sent"),
                                            .messages_received = machine_number(one, "messages_received"),
                                            .messages_failed = machine_number(one, "messages_failed"),
                                            .packets_sent = machine_number(one, "packets_sent"),
                                            .packets_repeated = machine_number(one, "packets_repeated"),
                                            .packets_delivered = machine_number(one, "packets_delivered"),
                                            .bytes_delivered = machine_number(one, "bytes_delivered")};
    hx_metrics_set_accelerator(&m->f->metrics.accelerator[one->rank], &stats);
}

/* Images send from the start of the run to its draining, like local accelerators. */
bool machines_attend(struct machines *m, struct hx_problem *problem)
{
    uint32_t phase = atomic_load(&m->f->control->phase);
    for (unsigned i = 0; i < m->count; i++) {
        if (!start(m, &m->list[i], problem))
            return false;
        if (phase != FAB_STARTING)
            machine_send(&m->list[i], phase == FAB_RUNNING ? 'g' : 'd');
        machine_read(&m->list[i]);
        show(m, &m->list[i]);
    }
    return true;
}

const struct machine *machines_ended(struct machines *m, pid_t pid)
{
    for (unsigned i = 0; i < m->count; i++) {
        if (m->list[i].pid == pid) {
            machine_ended(&m->list[i]);
            return &m->list[i];
        }
    }
    return NULL;
}

void machines_stop(struct machines *m)
{
    for (unsigned i = 0; i < m->count; i++)
        machine_ask_to_stop(&m->list[i]);
    for (unsigned i = 0; i < m->count; i++) {
        machine_stop(&m->list[i]);
        show(m, &m->list[i]);
    }
}

/* ---- results ---- */

uint64_t machines_messages(const struct machines *m)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < m->count; i++)
        sum += traffic_messages(m->traffic, m->list[i].rank);
    return sum;
}

bool machines_are_good(const struct machines *m)
{
    bool good = true;
    for (unsigned i = 0; i < m->count; i++)
        good = good && machine_number(&m->list[i], "bytes_corrupted") == 0 &&
               machine_number(&m->list[i], "messages_failed") == 0;
    return good;
}

json_t *machines_json(const struct machines *m)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < m->count; i++)
        (void)json_array_append_new(list, machine_json(&m->list[i]));
    return list;
}

void machines_print(const struct machines *m)
{
    for (unsigned i = 0; i < m->count; i++) {
        const struct machine *one = &m->list[i];
        printf("    %-14s image in QEMU: %" PRIu64 " messages sent, %" PRIu64 " received, %" PRIu64
               " bytes corrupted, %" PRIu64 " packet-hops, started %u time%s\n",
               one->name, machine_number(one, "messages_sent"), machine_number(one, "messages_received"),
               machine_number(one, "bytes_corrupted"), machine_number(one, "hops"), one->starts,
               hx_plural(one->starts));
    }
}
